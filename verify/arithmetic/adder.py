"""The claim `adder`: a comb and a bump add all pairs, certified by enumeration."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Annotated

import numpy as np
from flint import arb, fmpq

from constructions import adder as construction
from constructions import linear_adder
from constructions.exactness import exact_in
from constructions.transformer import Transformer
from theory.arithmetic.adder import (
    candidates,
    coarse,
    least_gap,
    rounding_of_logits,
    usual_alpha,
)
from theory.arithmetic.adder_balls import alpha_limit, turn
from theory.arithmetic.comb import ZHOU
from verify.arithmetic.pairs import (
    Alpha,
    Enumerated,
    Largest,
    Step,
    ahead,
    all_right,
    enumerated,
    of_size,
    rounds_nothing,
    sums,
)
from verify.claim import Run, claim, option
from verify.domains import Ball
from verify.evidence.enclosure import BITS, below, interval
from verify.evidence.sequences import differences_over_q
from verify.evidence.size import size
from verify.evidence.statement import OverTokens
from verify.finding import Finding, Verdict, equal, labelled, no_counterexample, same, within

FLOAT64_BITS = 53
COARSER = 6, 7  # steps at which sizes are not known well enough
REGISTERS = {"sum2": 5, "sum2_5": 4, "sum5": 2, "sum10": 1}  # frequencies f of 2πfs/10


@claim(
    source="after [Zhou2024]; proved in theory/arithmetic/adder.py",
    picture="verify.arithmetic.pictures:draw_adder",
    faults_seen=[{"largest": 10, "alpha": 4.0}],
)
def adder(
    run: Run,
    *,
    largest: Largest = 260,
    step: Step = 5,
    alpha: Alpha = None,
    bits: Annotated[int | None, option("binary places of the weights")] = None,
) -> Iterator[Finding]:
    """Two layers add with Fourier features, if the size of a number is known to the nearest 5.

    A comb of periods 2, 2.5, 5 and 10 and a bump of weight α: right for every error |ε| < 5 of the
    sum's size iff α is at most 2/sin²(5π/p).  Weights are multiples of a power of two, so that
    float64 rounds nothing, and the enumeration of all pairs on the tensors is a proof.  Without
    Fourier features, 2cs − c² adds in one layer, and bears errors of less than ½.
    """
    L = of_size(run, largest)
    alpha = usual_alpha(candidates(L)) if alpha is None else alpha
    model = built(run, L, step, alpha, bits)
    places = grain(model)
    yield from labelled("fourier", fourier(model, L, step, alpha, places))
    yield tolerance(candidates(L), alpha)
    yield coarser(run, L, alpha, bits)
    yield from labelled("linear", linear(run, L))
    run.draw(model, (min(15, L), min(93, L)))


def built(run: Run, largest: int, step: int, alpha: float, bits: int | None) -> Transformer:
    """The model, with the planted fault if any."""
    return run.build(construction, largest, step, alpha, bits)


def grain(model: Transformer) -> int:
    """The binary places that the model says its weights have."""
    return int(model.name.rpartition("bits=")[2].rstrip(")"))


def fourier(model: Transformer, L: int, step: int, alpha: float, bits: int) -> Iterator[Finding]:
    """Sizes, exactness, all pairs, and their logits beside whole numbers."""
    yield size(model, "adder", L=L)
    tables = Tables(candidates(L), L, step, alpha, bits)
    wrong, longest = list[str](), [0.0]

    def compare(pairs: np.ndarray, logits: np.ndarray, streams: list[np.ndarray]) -> None:
        for name, H in product(model.at_most, streams):
            longest[0] = max(longest[0], float(abs(H[..., model.stream[name]]).max()))
        if not wrong and (found := tables.difference(model, pairs, logits, streams[-1][:, 2])):
            wrong.append(found)

    found = enumerated(model, sums, seen=compare)
    needed, allowed = exact_in(model).bits, max(model.at_most.values())
    yield Finding(
        "exactness",
        "float64 rounds no number on the way to a logit",
        "proved",
        {"bits": needed, "largest sum": longest[0]},
        {"bits": FLOAT64_BITS, "largest sum": allowed},
        Verdict.of(needed <= FLOAT64_BITS and longest[0] <= allowed),
        f"by the exponents of the tensors {needed} bits are enough",
        f"at most {FLOAT64_BITS}; cosines and sines of sums at most {allowed:.6f}",
    )
    yield all_right(model, found, "proved" if rounds_nothing(model) else "float")
    yield gap(found, candidates(L), step, alpha, bits)
    yield equal(
        "whole-numbers",
        f"all {found.pairs * model.interface.n_answers} logits, and the registers, in int64",
        wrong[0] if wrong else None,
        words=f"the formula of cosines rounded to 2^−{bits}, by balls",
    )
    statement = OverTokens("", lambda V, n: model, lambda rows: sums(rows)[..., None], tables.holds)
    few = np.array([(0, 0), (L // 3, L), (L, L - 1)])
    yield no_counterexample(
        "rational",
        "a + b over Q, by another forward pass",
        differences_over_q(statement, model, few),
        words="as in float64 on 3 pairs, with its logits",
    )


class Tables:
    """What weights, registers and logits are as whole numbers of 2^−bits, from balls."""

    def __init__(self, p: int, L: int, step: int, alpha: float, bits: int) -> None:
        self.bits, numbers, answers = bits, np.arange(L + 1), np.arange(p)
        teeth = {f: turn(10, bits)[(f * np.arange(p)) % 10] for f in ZHOU}
        teeth[5][:, 1] = 0
        self.angles = {f: table[: L + 1] for f, table in teeth.items()}
        self.angles[0] = turn(p, bits)[coarse(numbers, step) % p]
        read = [*(teeth[f] for f in ZHOU), turn(p, bits, fmpq(*alpha.as_integer_ratio()))[answers]]
        self.read = np.concatenate(read, axis=1).T

    def of_sums(self, pairs: np.ndarray) -> dict[int, np.ndarray]:
        """(cos, sin) of the sums' angles by frequency, 0 for the size, in units of 2^{−2·bits}."""
        found = {}
        for f, table in self.angles.items():
            (c, s), (C, S) = table[pairs[:, 0]].T, table[pairs[:, 1]].T
            found[f] = np.stack([c * C - s * S, s * C + c * S], axis=1)
        return found

    def holds(self, model: Transformer, pairs: np.ndarray) -> dict[str, np.ndarray]:
        """What registers hold at "=", (…, 1, width)."""
        found = self.of_sums(pairs)
        by_name = {name: found[f] for name, f in REGISTERS.items()} | {"low": found[0]}
        width = {name: model.stream.widths[name] for name in by_name}
        unit = 2.0 ** (-2 * self.bits)
        return {name: unit * held[:, None, : width[name]] for name, held in by_name.items()}

    def difference(
        self, model: Transformer, pairs: np.ndarray, logits: np.ndarray, H: np.ndarray
    ) -> str:
        """The first register at "=", or logit, that is another number; "" if there is none."""
        for name, wanted in self.holds(model, pairs).items():
            if not np.array_equal(H[:, model.stream[name]], wanted[:, 0]):
                return f"register {name} of {pairs[0, 0]} + b"
        found = self.of_sums(pairs)
        held = np.concatenate([found[f] for f in (*ZHOU, 0)], axis=1)
        # Whole numbers below 2^53, so that int64 holds them and float64 too.
        if np.array_equal(np.ldexp(logits, 3 * self.bits), held @ self.read):
            return ""
        return f"logits of {pairs[0, 0]} + b"


def gap(found: Enumerated, p: int, step: int, alpha: float, bits: int) -> Finding:
    """The least gap is that of unrounded cosines, but for what rounding them moves."""
    unrounded = least_gap(p, alpha, 2 * (step // 2))
    moved = 2 * rounding_of_logits(alpha, bits)
    return within(
        "gap",
        "least distance of the right logit from the next",
        "float",
        found.least,
        (unrounded - moved, unrounded + moved),
        words=f"{found.least:.4f}",
        wanted=f"{unrounded:.4f} for cosines that are not rounded, ± {moved:.4f}",
    )


def tolerance(p: int, alpha: float) -> Finding:
    """α is at most the theorem's limit, beyond which a candidate wins at an error ε < 5: of cosines
    that are not rounded, whatever the bits."""
    with Ball.precision(BITS):
        limit, d = alpha_limit(p, ZHOU)
        verdict = below(arb(alpha), limit)
        gain = alpha * 2 * (arb(fmpq(d, p)).sin_pi() * arb(fmpq(10 - d, p)).sin_pi())
        detail = (
            f"c = s + {d} wins from some ε < 5 on: the bump gains up to {float(gain):.4g} there"
        )
        found = interval(limit)
    return Finding(
        "tolerance",
        f"cosines that are not rounded: right for every error |ε| < 5 of the size, p = {p}",
        "enclosure",
        alpha,
        found,
        verdict,
        f"α = {alpha:g}",
        f"at most 2/sin²(5π/p) = {found[0]:.1f}",
        detail * (verdict is not Verdict.HOLDS),
    )


def coarser(run: Run, L: int, alpha: float, bits: int | None) -> Finding:
    """Sizes to the nearest 6 and 7: wrong, or a tie but for rounding, where |ε| ≥ 5, and there
    alone: nearer than that the right logit is ahead by that of unrounded cosines but for rounding.
    """
    counts = {f"step {step}": not_as_said(run, L, step, alpha, bits) for step in COARSER}
    strange = {name: strange for name, (strange, _) in counts.items()}
    return same(
        "coarser",
        "pairs not told apart if sizes are known to the nearest 6, 7",
        strange,
        dict.fromkeys(strange, 0),
        words=", ".join(f"{name}: {beyond}" for name, (_, beyond) in counts.items()),
        wanted="those of |ε| ≥ 5, and no others",
    )


def not_as_said(run: Run, L: int, step: int, alpha: float, bits: int | None) -> tuple[int, int]:
    """How many pairs are not as `coarser` says, and how many have |ε| ≥ 5."""
    model = built(run, L, step, alpha, bits)
    moved = 2 * rounding_of_logits(alpha, grain(model))
    least, found = least_gap(candidates(L), alpha, 4) - moved, np.zeros(2, dtype=np.int64)

    def compare(pairs: np.ndarray, logits: np.ndarray, streams: list[np.ndarray]) -> None:
        beyond, lead = (
            abs(coarse(pairs, step).sum(1) - sums(pairs)) >= 5,
            ahead(logits, sums(pairs)),
        )
        as_said = np.where(beyond, lead <= moved, lead >= least)
        found[:] += (~as_said).sum(), beyond.sum()

    enumerated(model, sums, seen=compare)
    return int(found[0]), int(found[1])


def linear(run: Run, L: int) -> Iterator[Finding]:
    """2cs − c² on all pairs, and its tolerance."""
    model = run.build(linear_adder, L)
    yield size(model, "linear-adder", L=L)
    wrong = list[str]()

    def compare(pairs: np.ndarray, logits: np.ndarray, streams: list[np.ndarray]) -> None:
        c, s = np.arange(2 * L + 1), sums(pairs)[:, None]
        if not np.array_equal(logits, 2 * c * s - c * c):
            wrong.append(f"logits of {pairs[0, 0]} + b")

    found = enumerated(model, sums, seen=compare)
    yield equal("logits", "2cs − c² in whole numbers, all pairs", wrong[0] if wrong else None)
    yield all_right(model, found, "proved" if rounds_nothing(model) else "float")
    eighths = [Fraction(k, 8) for k in range(-12, 13)]
    right = [e for e in eighths if adds_with_error(e)]
    words = f"errors in eighths that it bears: {right[0]} … {right[-1]}" if right else "none"
    yield same(
        "tolerance",
        "right iff |ε| < ½",
        [str(e) for e in right],
        [str(e) for e in eighths if abs(e) < Fraction(1, 2)],
        words=words,
        wanted="those below ½, on both sides",
    )


def adds_with_error(error: Fraction) -> bool:
    """Whether 2c(s + ε) − c² is largest at s alone, s = 10 of 0 … 20."""
    logits = [2 * c * (10 + error) - c * c for c in range(21)]
    return all(logits[10] > z for c, z in enumerate(logits) if c != 10)
