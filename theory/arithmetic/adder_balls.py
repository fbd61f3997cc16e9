"""The comb and the bump of an adder in Arb balls: logits, the largest α, and rounded cosines.

Balls have the precision of `flint.ctx`.  Comb, bump and the theorem on them are in `adder.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache

import numpy as np
from flint import arb, ctx, fmpq

from theory.arithmetic.adder import round_to_multiple
from theory.arithmetic.comb import ZHOU, comb
from theory.arithmetic.golden import Golden

BITS = 192  # precision of cosines before rounding, enough to decide every rounding
cos_pi, sin_pi = arb.cos_pi_fmpq, arb.sin_pi_fmpq


def golden_ball(number: Golden) -> arb:
    """The number a + b√5 of Q(√5) as an Arb ball, for rational a and b."""
    a, b = (fmpq(part.numerator, part.denominator) for part in (number.a, number.b))
    return arb(a) + arb(b) * arb(5).sqrt()


def alpha_limit(p: int, F: Iterable[int]) -> tuple[arb, int]:
    """The largest weight α of the bump with which all sums are right, and the d that limits α.

    The logits of p candidates c for a sum s are C_F(c − s) + α cos(2π(c − s − ε)/p), a comb
    C_F(d) = Σ_{f ∈ F} cos(2πfd/10) plus the bump, where s + ε is the rounded size of the sum.  All
    sums must be right for all errors |ε| < 5.  The largest α is the minimum over d = 1, …, 9 of
    (C_F(0) − C_F(d))/(2 sin(πd/p) sin(π(10 − d)/p)), computed as a ball; the returned d attains the
    minimum.
    """
    found = {d: alpha_at(p, F, d) for d in range(1, 10)}
    least = found[1]
    for limit in found.values():
        least = least.min(limit)
    return least, min(found, key=lambda d: float(found[d]))


def alpha_at(p: int, F: Iterable[int], d: int) -> arb:
    """The largest weight α of the bump for which candidate s + d stays below the right candidate s.

    The logits of p candidates c for a sum s are C_F(c − s) + α cos(2π(c − s − ε)/p), a comb
    C_F(d) = Σ_{f ∈ F} cos(2πfd/10) plus the bump, where s + ε is the rounded size of the sum.  For
    all errors |ε| < 5, the logit of s + d must be below the logit of s.
    """
    gain = 2 * sin_pi(fmpq(d, p)) * sin_pi(fmpq(10 - d, p))
    return golden_ball(comb(F, 0) - comb(F, d)) / gain


def logits(p: int, alpha: arb, error: Fraction, F: Iterable[int]) -> list[arb]:
    """The logits of the candidates s + d, d = 0, …, p − 1, for a sum s, as balls, by definition.

    The logit of s + d is C_F(d) + α cos(2π(d − ε)/p), a comb C_F(d) = Σ_{f ∈ F} cos(2πfd/10) plus a
    bump of weight α = `alpha`.  The rounded size of the sum is s + ε with the error ε = `error`.
    """
    e = fmpq(error.numerator, error.denominator)
    teeth = [golden_ball(comb(F, d)) if F else arb(0) for d in range(10)]
    return [teeth[d % 10] + alpha * cos_pi(2 * (d - e) / p) for d in range(p)]


@cache
def turn(period: int, bits: int, times: fmpq | None = None) -> np.ndarray:
    """The rounded values of times·(cos, sin) at the angles 2πn/period, (period, 2) int64.

    The rows are n = 0, …, period − 1.  The values are in multiples of 2^−bits; halves are rounded
    up.  `times` is 1 by default.
    """
    with ctx.workprec(BITS):
        angles = [fmpq(2 * n, period) for n in range(period)]
        unit = arb((times or 1) * 2**bits)
        rows = [[_nearest(unit * part(angle)) for part in (cos_pi, sin_pi)] for angle in angles]
    return np.array(rows, dtype=np.int64)


def turn_of_sum(numbers: np.ndarray, period: int, bits: int) -> np.ndarray:
    """The (cos, sin) of the sum of the angles of two numbers, (…, 2) int64, from rounded cosines.

    The angle of a number n is 2πn/period, and `numbers` has shape (…, 2).  Cosines and sines of
    single angles are rounded to multiples of 2^−bits, and the results are in multiples of
    2^{−2·bits}.
    """
    (c, s), (C, S) = np.moveaxis(turn(period, bits)[numbers % period], (-2, -1), (0, 1))
    return np.stack([c * C - s * S, s * C + c * S], axis=-1)


def rounded_logits(pairs: np.ndarray, p: int, step: int, alpha: float, bits: int) -> np.ndarray:
    """The logits of the candidates 0, …, p − 1 for each pair, (…, p) int64, from rounded cosines.

    Pairs have shape (…, 2).  Sizes are rounded to multiples of `step`, and `alpha` is the weight of
    the bump, the term of the logits that depends on the sizes.  Cosines and sines are rounded to
    multiples of 2^−bits, and the logits are in multiples of 2^{−3·bits}.
    """
    combs = [turn_of_sum(f * pairs, 10, bits) for f in ZHOU]
    sizes = turn_of_sum(round_to_multiple(pairs, step), p, bits)
    return np.asarray(np.concatenate([*combs, sizes], axis=-1) @ _unembedding(p, alpha, bits))


@cache
def _unembedding(p: int, alpha: float, bits: int) -> np.ndarray:
    """(cos, sin) of the angles of all candidates, and α times those of their sizes, (10, p)."""
    combs = [turn(10, bits)[f * np.arange(p) % 10] for f in ZHOU]
    return np.concatenate([*combs, turn(p, bits, fmpq(*alpha.as_integer_ratio()))], axis=1).T


def _nearest(value: arb) -> int:
    whole = (value + arb(fmpq(1, 2))).floor().unique_fmpz()
    if whole is None:
        raise ArithmeticError(f"{value} is too close to a half to be rounded")
    return int(whole)
