"""The claim `head-cover`: finitely many heads come close to all of bounded norm, at any length."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

import numpy as np
from flint import arb
from scipy.stats import binom

from theory.language import (
    cover_radius,
    head,
    log_cover_size,
    margin_certificate,
    nearest_in_cover,
    occam,
)
from verify.claim import Run, claim, option
from verify.domains import Ball
from verify.finding import Finding, Verdict, at_least, at_most, same

PAIRS, LONGEST = 300, 40  # pairs of scores in balls, and how many of them there are at most
CLOSE = Fraction(1, 1024)  # scores of two tokens at which the constant is all but reached
SHARP = 1 - 1e-6
VECTORS, HEADS = 40, 30
LENGTHS = 2, 20, 200
RULES, TRIALS, DELTA = 200, 2000, 0.1
CHANCE = 1e-6  # that a true bound on a probability is seen to fail in so many trials
BITS = 192


@claim(
    source="proved in theory/language/head_cover.py; after [Edelman2022]",
    faults_seen=[{"d": 6, "k": 8}],
)
def head_cover(
    run: Run,
    *,
    d: Annotated[int, option("dimension of the tokens", min=1, max=200)] = 16,
    k: Annotated[int, option("summands of each vector of the cover", min=1, max=1000)] = 50,
) -> Iterator[Finding]:
    """Finitely many attention heads approximate all of bounded norm, on prompts of any length.

    Of the heads ⟨v, Σ_t softmax(⟨q, x_t⟩)_t x_t⟩ with ‖q‖₁ ≤ A, ‖v‖₁ ≤ V and ‖x_t‖₂ ≤ B,
    (2d + 1)^{2k} are within VB(BA + 1)/√k of all on all prompts.  The proof uses
    ‖softmax(s) − softmax(s')‖₁ ≤ ‖s − s'‖_∞, whose constant 1 is sharp; of N rules that are right
    on m samples none has an error above (ln N + ln(1/δ))/m, with probability at least 1 − δ.
    """
    yield _deviation(run)
    yield _lipschitz(run)
    yield _sharp()
    yield _vectors(run, d, k)
    yield _heads(run, d, k)
    yield _occam(run)
    yield _certificate(d)


def _deviation(run: Run) -> Finding:
    """The step of the proof, over the rationals: Σ α|Δ − Σ αΔ| ≤ (max Δ − min Δ)/2 ≤ ‖Δ‖_∞."""
    wrong = 0
    for _ in range(PAIRS):
        n = int(run.rng.integers(1, 9))
        alpha, delta = run.rng.integers(1, 50, size=n), run.rng.integers(-50, 51, size=n)
        wrong += speed(alpha.tolist(), delta.tolist()) > Fraction(int(np.ptp(delta)), 2)
    return same(
        "deviation",
        f"mean deviations above half of the range, {PAIRS} random ones, over Q",
        wrong,
        0,
        words=f"{wrong}",
        wanted="none: at most the standard deviation, and this at most half of the range",
    )


def speed(alpha: list[int], delta: list[int]) -> Fraction:
    """Σ α|Δ − Σ αΔ| of weights proportional to α: how fast softmax moves along Δ, in ℓ₁."""
    total = sum(alpha)
    mean = Fraction(sum(a * x for a, x in zip(alpha, delta, strict=True)), total)
    return sum((a * abs(x - mean) for a, x in zip(alpha, delta, strict=True)), Fraction(0)) / total


def _lipschitz(run: Run) -> Finding:
    most = 0.0
    with Ball.precision(BITS):
        for _ in range(PAIRS):
            n = int(run.rng.integers(2, LONGEST + 1))
            scores = run.rng.normal(size=n) * 2.0 ** run.rng.integers(-3, 4)
            moved = scores + run.rng.uniform(-1, 1, size=n) * 2.0 ** run.rng.integers(-8, 4)
            most = max(most, float(ratio(scores.tolist(), moved.tolist()).upper()))
    return at_most(
        "lipschitz",
        f"‖softmax(s) − softmax(s')‖₁/‖s − s'‖_∞ of {PAIRS} random pairs of up to {LONGEST} scores",
        "enclosure",
        most,
        1.0,
        words=f"≤ {most:.4f}",
    )


def ratio(scores: list[float], moved: list[float]) -> arb:
    """How far softmax moves, in ℓ₁, over how far its scores do, in ℓ_∞."""
    s, t = ([arb(x) for x in each] for each in (scores, moved))
    a, b = (softmax(each) for each in (s, t))
    far = max((abs(x - y) for x, y in zip(s, t, strict=True)), key=float)
    return sum((abs(x - y) for x, y in zip(a, b, strict=True)), arb(0)) / far


def softmax(scores: list[arb]) -> list[arb]:
    """e^s/Σ e^s in balls."""
    powers = [score.exp() for score in scores]
    total = sum(powers, arb(0))
    return [power / total for power in powers]


def _sharp() -> Finding:
    """Two tokens: from scores (0, 0) to (h, −h) the weights move by tanh h."""
    with Ball.precision(BITS):
        h = float(CLOSE)
        found = ratio([0.0, 0.0], [h, -h])
        form = arb(h).tanh() / arb(h)
        finding = at_least(
            "sharp",
            f"the same for two equal tokens and ±{CLOSE}",
            "enclosure",
            float(found.lower()),
            SHARP,
            words=f"tanh(h)/h = {float(found):.9f}",
            wanted="the constant is 1 and no less",
        )
        if not found.overlaps(form):
            finding.verdict = Verdict.FAILS
        return finding


def _vectors(run: Run, d: int, k: int) -> Finding:
    """Vectors of the cover, computed, beside (A² − ‖q‖²)/k; in fractions."""
    most = Fraction(0)
    for _ in range(VECTORS):
        q, A = bounded(run, d)
        near = nearest_in_cover(q, A, k)
        off = sum((x - y) ** 2 for x, y in zip(q, near, strict=True))
        room = (A**2 - sum(x * x for x in q)) / k
        most = max(most, Fraction(off) / room if room else Fraction(off))
    return at_most(
        "vectors",
        f"square of the distance to the cover, over (A² − ‖q‖²)/k, {VECTORS} vectors of dimension "
        f"{d}, k = {k}",
        "exact",
        float(most),
        1.0,
        words=f"≤ {float(most):.3f}, over Q",
    )


def bounded(run: Run, d: int) -> tuple[list[Fraction], Fraction]:
    """A random vector of fractions, dense or sparse, and a bound on its ℓ₁ norm: reached or not."""
    values = run.rng.integers(-20, 21, size=d) * (run.rng.random(d) < run.rng.random())
    q = [Fraction(int(x), 7) for x in values]
    A = sum(map(abs, q), Fraction(0)) * int(run.rng.integers(1, 3))
    return q, A or Fraction(1)


def _heads(run: Run, d: int, k: int) -> Finding:
    """Heads and those of the cover that are near, on random prompts and on steep ones."""
    shares = {}
    for T in LENGTHS:
        most = 0.0
        for _ in range(HEADS):
            (q, A), (v, V) = bounded(run, d), bounded(run, d)
            X = run.rng.normal(size=(50, T, d))
            X /= np.linalg.norm(X, axis=-1, keepdims=True)
            both = [np.array(each, dtype=np.float64) for each in (q, v)]
            near = [
                np.array(nearest_in_cover(each, bound, k), dtype=np.float64)
                for each, bound in ((q, A), (v, V))
            ]
            X[:25, 0] = direction(both[0] - near[0], X[0, 0])
            apart = abs(head(both[0], both[1], X) - head(near[0], near[1], X)).max()
            most = max(most, float(apart) / cover_radius(float(A), float(V), 1.0, k, k))
        shares[f"T = {T}"] = most
    found = max(shares.values())
    size = log_cover_size(d, k, k)
    return at_most(
        "heads",
        f"how far heads are from the cover, over VB²A/√k + VB/√k, {HEADS} heads of each length",
        "float",
        found,
        1.0,
        words=", ".join(f"{name}: {share:.3f}" for name, share in shares.items())
        + f"; {2 * d + 1}^{2 * k} = e^{size:.0f} heads",
        wanted="1, at every length",
    )


def direction(towards: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """A vector of length 1 along another; `otherwise` if that is 0."""
    length = np.linalg.norm(towards)
    return towards / length if length else otherwise


def _occam(run: Run) -> Finding:
    """Rules that all err with the probability of the bound, ε: how often one is right on m samples.

    Independent errors make N(1 − ε)^m all but an equality.
    """
    m = 40
    error = occam(math.log(RULES), m, DELTA)
    right = run.rng.random((TRIALS, RULES)) < (1 - error) ** m
    seen = int(right.any(axis=1).sum())
    most = int(binom.isf(CHANCE, TRIALS, DELTA))
    return at_most(
        "occam",
        f"trials in which one of {RULES} rules of error {error:.3f} is right on all of {m} samples",
        "statistical",
        seen,
        most,
        words=f"{seen} of {TRIALS}",
        wanted=f"a share δ = {DELTA:g}: at most {most}, but for one chance in {1 / CHANCE:.0f}",
    )


def _certificate(d: int) -> Finding:
    """What the bound asks for at norms A = V = 4, margin 1, ‖x‖ ≤ 1: as d grows, by ln d."""
    return at_most(
        "certificate",
        f"samples for P(wrong) ≤ 0.1 at A = V = 4, γ = 1, d² = {d * d} over d = {d} dimensions",
        "float",
        growth(d),
        2.0,
        words=f"{enough(d * d)} over {enough(d)}",
        wanted="2: they grow like ln d",
    )


def growth(d: int) -> float:
    """By how much the samples grow as d is squared."""
    return enough(d * d) / enough(d)


def enough(d: int) -> int:
    """The least m at which `margin_certificate` is at most 0.1: it falls as 1/m."""
    return math.ceil(margin_certificate(d, 4.0, 4.0, 1.0, 1.0, 1, 0.05) / 0.1)
