"""The claim `adder`: Fourier features with a comb and a bump add all pairs of numbers, by
enumeration.
"""

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
    default_alpha,
    default_bits,
    least_gap,
    n_candidates,
    round_to_multiple,
    rounding_of_logits,
)
from theory.arithmetic.adder_balls import alpha_limit, rounded_logits
from theory.arithmetic.comb import ZHOU
from verify.arithmetic.pairs import (
    Alpha,
    Enumerated,
    Largest,
    Step,
    ahead,
    all_right,
    called_with,
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
from verify.finding import Finding, Verdict, as_stated, labelled, no_counterexample, same, within

FLOAT64_BITS = 53
COARSER = 6, 7  # steps at which sizes are rounded too coarsely


@claim(
    picture="verify.arithmetic.pictures:draw_adder",
    faults_seen=[{"largest": 10, "alpha": 4.0}],
)
def adder(
    run: Run,
    *,
    largest: Largest = 260,
    step: Step = 5,
    alpha: Alpha = None,
    bits: Annotated[int | None, option("binary places of the weights", min=1, max=1074)] = None,
) -> Iterator[Finding]:
    """Two layers of linear attention add integers by Fourier features of periods 2, 2.5, 5, 10.

    Let L be `largest`, and let p ≥ 20 be the smallest multiple of 10 above 2L.  The model has width
    23 and 4 ReLUs.  The embedding of an integer n contains the cosines and sines of 2πn/T for these
    four periods T.  It also contains the cosine and the sine of 2πm(n)/p, where m(n) is the
    multiple of `step` nearest to n.  The logit of a candidate c is the sum of cos(2π(c − a − b)/T)
    over the four periods T, plus α cos(2π(c − m(a) − m(b))/p).  For all L ≥ 1 the model outputs a +
    b for all integers a and b from 0 to L if `step` is at most 5 and 0 < α ≤ 2/sin²(5π/p).  Weights
    are multiples of a power of two, so logits are exact in float64.  Therefore a run of the model
    on all pairs (a, b) is a proof for L = `largest`.

    Without Fourier features, one layer of uniform attention has the logits 2c(a + b) − c² for the
    candidates c = 0, …, 2L.  If a + b in these logits has an error below 1/2, the largest logit is
    still at a + b.  In the model with Fourier features, the largest logit is still at a + b if m(a)
    + m(b) differs from a + b by less than 5.
    """
    L = of_size(run, largest)
    alpha = default_alpha(n_candidates(L)) if alpha is None else alpha
    p, models = n_candidates(L), dict[int, Transformer]()
    for each in (step, *COARSER):
        places = default_bits(p, each, alpha) if bits is None else bits
        models[each] = run.build(construction, L, each, alpha, places)
    yield from labelled("fourier", fourier(models[step]))
    yield tolerance(p, alpha)
    yield coarser({f"step {each}": models[each] for each in COARSER})
    yield from labelled("linear", linear(run, L))
    run.draw(models[step], (min(15, L), min(93, L)))


def fourier(model: Transformer) -> Iterator[Finding]:
    """The findings on the Fourier adder: size, exactness of the logits, and predictions."""
    L, step, alpha, bits = called_with(model, "largest", "step", "alpha", "bits")
    yield size(model, "adder", L=L)
    p, wrong, longest = model.interface.n_answers, list[str](), [0.0]

    def compare(pairs: np.ndarray, logits: np.ndarray, streams: list[np.ndarray]) -> None:
        for name, H in product(model.at_most, streams):
            longest[0] = max(longest[0], float(abs(H[..., model.stream[name]]).max()))
        if not wrong:
            wanted = rounded_logits(pairs, p, step, alpha, bits) * 2.0 ** (-3 * bits)
            wrong.extend(differences(model, pairs, logits, streams, wanted))

    found = enumerated(model, sums, seen=compare)
    needed, allowed = exact_in(model).bits, max(model.at_most.values())
    yield Finding(
        "exactness",
        "number of bits that exact logits require in float64, and largest cosine or sine of a sum",
        "proved",
        {"bits": needed, "largest sum": longest[0]},
        {"bits": FLOAT64_BITS, "largest sum": allowed},
        Verdict.of(needed <= FLOAT64_BITS and longest[0] <= allowed),
        f"{needed} bits by the exponents of the tensors; cosines and sines of sums are at most "
        f"{longest[0]:.6f}",
        f"at most {FLOAT64_BITS} bits, and cosines and sines of at most {allowed:.6f}",
    )
    yield all_right(model, found, "proved" if rounds_nothing(model) else "float")
    yield gap(model, found)
    yield no_counterexample(
        "whole-numbers",
        f"all {found.pairs * model.interface.n_answers} logits and all registers, compared with "
        "the "
        f"formula with cosines rounded to multiples of 2^−{bits}, in int64",
        wrong,
        words="equal",
    )
    statement = OverTokens("", lambda V, n: model, lambda rows: sums(rows)[..., None])
    few = np.array([(0, 0), (L // 3, L), (L, L - 1)])
    yield no_counterexample(
        "rational",
        "predictions over Q compared with a + b, and logits over Q compared with logits in "
        "float64, by an independent forward pass",
        differences_over_q(statement, model, few),
        words="equal on 3 pairs",
    )


def differences(
    model: Transformer,
    pairs: np.ndarray,
    logits: np.ndarray,
    streams: list[np.ndarray],
    wanted: np.ndarray,
) -> Iterator[str]:
    """The registers at "=" and the logits that differ in any bit from the formulas of the proof.

    `wanted` are the logits by the formula.  Every logit is a power of two times an integer below
    2^53, so int64 and float64 represent the logits exactly.
    """
    for stage in model.stages:
        values = streams[stage.after][:, 2, model.stream[stage.register]]
        if not np.array_equal(stage.times * values, stage.holds(pairs)[:, 0]):
            yield f"register {stage} of {pairs[0, 0]} + b"
    if not np.array_equal(logits, wanted):
        yield f"logits of {pairs[0, 0]} + b"


def gap(model: Transformer, found: Enumerated) -> Finding:
    """The finding that the smallest gap is the gap of unrounded cosines, up to rounding."""
    step, alpha, bits = called_with(model, "step", "alpha", "bits")
    unrounded = least_gap(model.interface.n_answers, alpha, 2 * (step // 2))
    moved = 2 * rounding_of_logits(alpha, bits)
    finding = within(
        "gap",
        "smallest difference between the right logit and another logit, over all pairs",
        "float",
        found.least,
        (unrounded - moved, unrounded + moved),
        words=f"{found.least:.4f}",
        wanted=f"{unrounded:.4f} ± {moved:.4f}, the difference for unrounded cosines ± the effect "
        "of rounding",
    )
    # A logit is a sum of three cosines that are rounded, each the real part of a product of three
    # numbers, and of one such product with the factor α.
    u = 2.0 ** (-bits - 0.5)
    stated = 9 * u + 9 * u**2 + 3 * u**3 + alpha * (2 * u + u**2) + u * (1 + u) ** 2
    return as_stated(finding, moved, 2 * stated)


def tolerance(p: int, alpha: float) -> Finding:
    """The finding that the weight α of the bump is at most the limit for unrounded cosines.

    The size of the sum s is rounded to s + ε.  For α above the limit, a wrong candidate has the
    largest logit at some error ε < 5.
    """
    with Ball.precision(BITS):
        limit, d = alpha_limit(p, ZHOU)
        verdict = below(arb(alpha), limit)
        gain = alpha * 2 * (arb(fmpq(d, p)).sin_pi() * arb(fmpq(10 - d, p)).sin_pi())
        detail = (
            f"c = s + {d} has the largest logit for some ε < 5: the bump gains up to "
            f"{float(gain):.4g} there"
        )
        found = interval(limit)
    return Finding(
        "tolerance",
        "weight α of the bump, compared with the largest weight that tolerates all errors |ε| < 5 "
        f"of the size of a sum, for p = {p} candidates",
        "enclosure",
        alpha,
        found,
        verdict,
        f"α = {alpha:g}",
        f"at most 2/sin²(5π/p) = {found[0]:.1f}",
        detail * (verdict is not Verdict.HOLDS),
    )


def coarser(models: dict[str, Transformer]) -> Finding:
    """The finding that a prediction is wrong or a tie iff the size has an error of at least 5.

    The sizes of numbers are rounded to multiples of 6 and 7.  For all other pairs, the gap is the
    gap of unrounded cosines, up to rounding.
    """
    counts = {name: unlike_theorem(model) for name, model in models.items()}
    strange = {name: strange for name, (strange, _) in counts.items()}
    return same(
        "coarser",
        "pairs whose prediction is wrong or a tie if sizes are rounded to multiples of 6 and 7",
        strange,
        dict.fromkeys(strange, 0),
        words=", ".join(
            f"{beyond} pairs for {name.replace('step', 'multiples of')}"
            for name, (_, beyond) in counts.items()
        ),
        wanted="exactly the pairs for which the rounded size of the sum has an error of at least 5",
    )


def unlike_theorem(model: Transformer) -> tuple[int, int]:
    """The number of pairs that contradict the finding `coarser`, and of pairs with |ε| ≥ 5.

    ε is the error of the size of a sum.
    """
    step, alpha, bits = called_with(model, "step", "alpha", "bits")
    moved, found = 2 * rounding_of_logits(alpha, bits), np.zeros(2, dtype=np.int64)
    least = least_gap(model.interface.n_answers, alpha, 4) - moved

    def compare(pairs: np.ndarray, logits: np.ndarray, streams: list[np.ndarray]) -> None:
        beyond = abs(round_to_multiple(pairs, step).sum(1) - sums(pairs)) >= 5
        lead = ahead(logits, sums(pairs))
        agree = np.where(beyond, lead <= moved, lead >= least)
        found[:] += (~agree).sum(), beyond.sum()

    enumerated(model, sums, seen=compare)
    return int(found[0]), int(found[1])


def linear(run: Run, L: int) -> Iterator[Finding]:
    """The findings on the adder without Fourier features: logits, predictions and tolerance.

    The logit of candidate c is 2cs − c² for the sum s.
    """
    model = run.build(linear_adder, L)
    yield size(model, "linear-adder", L=L)
    wrong, c = list[str](), np.arange(2 * L + 1)

    def compare(pairs: np.ndarray, logits: np.ndarray, streams: list[np.ndarray]) -> None:
        s = sums(pairs)[:, None]
        wrong.extend(differences(model, pairs, logits, streams, 2 * c * s - c * c))

    found = enumerated(model, sums, seen=compare)
    yield no_counterexample(
        "logits",
        "logit of every candidate c for all pairs of sum s, compared with the integer 2cs − c²",
        wrong,
        words="equal",
    )
    yield all_right(model, found, "proved" if rounds_nothing(model) else "float")
    eighths = [Fraction(k, 8) for k in range(-12, 13)]
    right = [e for e in eighths if adds_with_error(e)]
    words = f"{right[0]} … {right[-1]}" if right else "none"
    yield same(
        "tolerance",
        "multiples ε of 1/8 for which 2c(s + ε) − c² is largest at the candidate c = s, for the "
        "sum s = 10 of numbers up to 10",
        [str(e) for e in right],
        [str(e) for e in eighths if abs(e) < Fraction(1, 2)],
        words=words,
        wanted="the errors with |ε| < ½",
    )


def adds_with_error(error: Fraction) -> bool:
    """Whether 2c(s + error) − c² is largest at c = s only, for s = 10 and c = 0 … 20."""
    logits = [2 * c * (10 + error) - c * c for c in range(21)]
    return all(logits[10] > z for c, z in enumerate(logits) if c != 10)
