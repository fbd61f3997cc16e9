"""The claim `head-cover`: a finite cover of the attention heads of bounded norm."""

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
from verify.finding import Finding, Verdict, as_stated, at_least, at_most, same, within_bounds

PAIRS, LONGEST = 300, 40  # pairs of score vectors, and their largest length
CLOSE = Fraction(1, 1024)  # scores of two tokens at which the ratio is nearly 1
SHARP = 1 - 1e-6
VECTORS, HEADS = 40, 30
LENGTHS = 2, 20, 200
RULES, TRIALS, DELTA = 200, 2000, 0.1
FALSE_ALARM = 1e-6  # the probability that a true bound appears to fail in the trials
BITS = 192


@claim(
    faults_seen=[{"d": 6, "k": 8}],
)
def head_cover(
    run: Run,
    *,
    d: Annotated[int, option("dimension of the tokens", min=1, max=200)] = 16,
    k: Annotated[int, option("number of summands in a vector of the cover", min=1, max=1000)] = 50,
) -> Iterator[Finding]:
    """Finitely many attention heads approximate all heads of bounded norm, on prompts of any
    length.

    A head with query vector q and output vector v has the output ⟨v, Σ_t softmax(⟨q, x_t⟩)_t x_t⟩
    on a prompt of tokens x_t in ℝ^d.  Consider all heads with ‖q‖₁ ≤ A and ‖v‖₁ ≤ V, and all tokens
    with ‖x_t‖₂ ≤ B.  For every k there is a set of (2d + 1)^{2k} heads, the cover.  For each head
    there is a head of the cover such that, on all prompts, the outputs of the two heads differ by
    at most VB(BA + 1)/√k.  The proof uses ‖softmax(s) − softmax(s')‖₁ ≤ ‖s − s'‖_∞, whose constant
    1 is sharp.

    A finite cover yields a bound on learning.  Given N classifiers and m independent samples, with
    probability at least 1 − δ every classifier that is right on all m samples has an error
    probability of at most (ln N + ln(1/δ))/m.
    """
    yield _deviation(run)
    yield _lipschitz(run)
    yield _sharp()
    yield _vectors(run, d, k)
    yield _heads(run, d, k)
    yield _occam(run)
    yield _certificate(d)


def _deviation(run: Run) -> Finding:
    """The inequality of the proof over Q: Σ α|Δ − Σ αΔ| ≤ (max Δ − min Δ)/2 ≤ ‖Δ‖_∞."""
    wrong = 0
    for _ in range(PAIRS):
        n = int(run.rng.integers(1, 9))
        alpha, delta = run.rng.integers(1, 50, size=n), run.rng.integers(-50, 51, size=n)
        wrong += speed(alpha.tolist(), delta.tolist()) > Fraction(int(np.ptp(delta)), 2)
    return same(
        "deviation",
        "number of random weighted samples whose mean absolute deviation exceeds half of the "
        "range of the sample, over Q",
        wrong,
        0,
        words=f"{wrong} of {PAIRS} samples",
        wanted="no sample",
    )


def speed(alpha: list[int], delta: list[int]) -> Fraction:
    """The ℓ₁ speed of softmax as scores move along `delta`, for weights proportional to `alpha`.

    The speed is the mean absolute deviation of `delta` under these weights.
    """
    total = sum(alpha)
    mean = Fraction(sum(a * x for a, x in zip(alpha, delta, strict=True)), total)
    return sum((a * abs(x - mean) for a, x in zip(alpha, delta, strict=True)), Fraction(0)) / total


def _lipschitz(run: Run) -> Finding:
    """The largest ratio of the change of softmax to the change of scores, enclosed by balls."""
    most = 0.0
    with Ball.precision(BITS):
        for _ in range(PAIRS):
            n = int(run.rng.integers(2, LONGEST + 1))
            scores = run.rng.normal(size=n) * 2.0 ** run.rng.integers(-3, 4)
            moved = scores + run.rng.uniform(-1, 1, size=n) * 2.0 ** run.rng.integers(-8, 4)
            most = max(most, float(ratio(scores.tolist(), moved.tolist()).upper()))
    return within_bounds(
        "lipschitz",
        f"largest ratio ‖softmax(s) − softmax(s')‖₁/‖s − s'‖_∞, over {PAIRS} random pairs s, s' of "
        f"up to {LONGEST} scores",
        "enclosure",
        most,
        words=f"at most {most:.4f}",
        wanted="a ratio of at most 1",
    )


def ratio(scores: list[float], moved: list[float]) -> arb:
    """The ratio ‖softmax(s) − softmax(s')‖₁/‖s − s'‖_∞ for `scores` s and `moved` scores s'."""
    s, t = ([arb(x) for x in each] for each in (scores, moved))
    a, b = (softmax(each) for each in (s, t))
    far = max((abs(x - y) for x, y in zip(s, t, strict=True)), key=float)
    return sum((abs(x - y) for x, y in zip(a, b, strict=True)), arb(0)) / far


def softmax(scores: list[arb]) -> list[arb]:
    """The softmax of the scores, in enclosing balls."""
    powers = [score.exp() for score in scores]
    total = sum(powers, arb(0))
    return [power / total for power in powers]


def _sharp() -> Finding:
    """Sharpness of the constant: from scores (0, 0) to (h, −h) the weights move by tanh h."""
    with Ball.precision(BITS):
        h = float(CLOSE)
        found = ratio([0.0, 0.0], [h, -h])
        form = arb(h).tanh() / arb(h)
        finding = at_least(
            "sharp",
            "ratio ‖softmax(s) − softmax(s')‖₁/‖s − s'‖_∞ for s = (0, 0) and s' = (h, −h), "
            f"h = {CLOSE}",
            "enclosure",
            float(found.lower()),
            SHARP,
            words=f"tanh(h)/h = {float(found):.9f}",
            wanted=f"at least {SHARP:g}, which shows that no constant below this suffices",
        )
        if not found.overlaps(form):
            finding.verdict = Verdict.FAILS
        return finding


def _vectors(run: Run, d: int, k: int) -> Finding:
    """The squared distance of vectors to the cover, divided by (A² − ‖q‖²)/k, in fractions."""
    most = Fraction(0)
    for _ in range(VECTORS):
        q, A = bounded(run, d)
        near = nearest_in_cover(q, A, k)
        off = sum((x - y) ** 2 for x, y in zip(q, near, strict=True))
        allowed = (A**2 - sum(x * x for x in q)) / k
        most = max(most, Fraction(off) / allowed if allowed else Fraction(off))
    return within_bounds(
        "vectors",
        "largest ratio of the squared distance of a vector q with ‖q‖₁ ≤ A from its vector in the "
        f"cover to the bound (A² − ‖q‖₂²)/k, over {VECTORS} vectors of dimension {d}, k = {k}",
        "exact",
        float(most),
        words=f"{float(most):.3f}, over Q",
        wanted="a ratio of at most 1",
    )


def bounded(run: Run, d: int) -> tuple[list[Fraction], Fraction]:
    """A random vector of fractions, and a bound on its ℓ₁ norm.

    The vector is dense or sparse, and the bound may or may not be tight.
    """
    values = run.rng.integers(-20, 21, size=d) * (run.rng.random(d) < run.rng.random())
    q = [Fraction(int(x), 7) for x in values]
    A = sum(map(abs, q), Fraction(0)) * int(run.rng.integers(1, 3))
    return q, A or Fraction(1)


def _heads(run: Run, d: int, k: int) -> Finding:
    """The distance of heads to their neighbours in the cover, divided by the bound.

    Half of the prompts contain the direction in which the two heads differ most.
    """
    ratios = {}
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
        ratios[f"T = {T}"] = most
    found = max(ratios.values())
    size = log_cover_size(d, k, k)
    finding = within_bounds(
        "heads",
        "largest ratio of the distance between a head and its head in the cover to the bound "
        "VB²A/√k + VB/√k, for ‖q‖₁ ≤ A, ‖v‖₁ ≤ V and tokens of norm at most B, over "
        f"{HEADS} random heads for each number T of tokens",
        "float",
        found,
        words=", ".join(f"{ratio:.3f} for {name}" for name, ratio in ratios.items())
        + f"; the cover has {2 * d + 1}^{2 * k} = e^{size:.0f} heads",
        wanted="a ratio of at most 1 for every T",
    )
    # A = 2, V = 3, B = ½, and 4 and 9 vectors: 3·¼·2/2 + 3·½/3 = 5/4.
    return as_stated(finding, cover_radius(2.0, 3.0, 0.5, 4, 9), 1.25)


def direction(towards: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """The unit vector along `towards`, or the vector `otherwise` if `towards` is 0."""
    length = np.linalg.norm(towards)
    return towards / length if length else otherwise


def _occam(run: Run) -> Finding:
    """The trials in which one of N rules of error ε, the Occam bound, is right on all samples.

    For independent errors the union bound N(1 − ε)^m is nearly an equality.
    """
    m = 40
    error = occam(math.log(RULES), m, DELTA)
    right = run.rng.random((TRIALS, RULES)) < (1 - error) ** m
    seen = int(right.any(axis=1).sum())
    most = int(binom.isf(FALSE_ALARM, TRIALS, DELTA))
    return at_most(
        "occam",
        f"number of trials in which at least one of {RULES} rules of error {error:.3f} is right on "
        f"all of {m} samples",
        "statistical",
        seen,
        most,
        words=f"{seen} of {TRIALS} trials",
        wanted=f"at most {most} trials; if a trial counts with probability {DELTA:g}, the limit "
        f"is exceeded with probability at most {FALSE_ALARM:g}",
    )


def _certificate(d: int) -> Finding:
    """The growth of the required samples when d is squared, at A = V = 4, margin 1, ‖x‖ ≤ 1."""
    finding = at_most(
        "certificate",
        f"ratio of the numbers of samples that certify an error of 0.1 in dimension {d * d} and in "
        f"dimension {d}, for heads with ‖q‖₁ ≤ 4, ‖v‖₁ ≤ 4 and margin 1",
        "float",
        growth(d),
        2.0,
        words=f"{enough(d * d)}/{enough(d)}",
        wanted="a ratio of at most 2, as for growth like ln d",
    )
    sizes = d, d * d
    # 16·4²·4² + 16·4² vectors, each one of 2d + 1; the statement holds with probability 19/20.
    stated = [math.ceil(10 * (4352 * math.log(2 * each + 1) + math.log(20))) for each in sizes]
    return as_stated(finding, [*map(enough, sizes)], stated)


def growth(d: int) -> float:
    """The ratio of the numbers of samples required in dimension d² and in dimension d."""
    return enough(d * d) / enough(d)


def enough(d: int) -> int:
    """The smallest number of samples at which `margin_certificate` is at most 0.1.

    The tokens have dimension d.  The certificate is proportional to 1/(number of samples).
    """
    return math.ceil(margin_certificate(d, 4.0, 4.0, 1.0, 1.0, 1, 0.05) / 0.1)
