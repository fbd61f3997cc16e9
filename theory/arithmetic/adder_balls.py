"""The adder theorem in Arb balls: logits, the largest α, and rounded cosines.

Balls have the precision of `flint.ctx`; the theorem is in `adder.py`.
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
    """The number a + b√5 as a ball."""
    a, b = (fmpq(part.numerator, part.denominator) for part in (number.a, number.b))
    return arb(a) + arb(b) * arb(5).sqrt()


def alpha_limit(p: int, F: Iterable[int]) -> tuple[arb, int]:
    """The largest α, and the d that attains the minimum.

    α = min over d of (C_F(0) − C_F(d))/(2 sin(πd/p) sin(π(10 − d)/p))."""
    found = {d: alpha_at(p, F, d) for d in range(1, 10)}
    least = found[1]
    for limit in found.values():
        least = least.min(limit)
    return least, min(found, key=lambda d: float(found[d]))


def alpha_at(p: int, F: Iterable[int], d: int) -> arb:
    """The largest α for which z(s + d) < z(s) for all |ε| < 5."""
    gain = 2 * sin_pi(fmpq(d, p)) * sin_pi(fmpq(10 - d, p))
    return golden_ball(comb(F, 0) - comb(F, d)) / gain


def logits(p: int, alpha: arb, error: Fraction, F: Iterable[int]) -> list[arb]:
    """The logits z(s + d), d = 0, …, p − 1, by definition."""
    e = fmpq(error.numerator, error.denominator)
    teeth = [golden_ball(comb(F, d)) if F else arb(0) for d in range(10)]
    return [teeth[d % 10] + alpha * cos_pi(2 * (d - e) / p) for d in range(p)]


@cache
def turn(period: int, bits: int, times: fmpq | None = None) -> np.ndarray:
    """The rounded values of `times` · (cos, sin) at 2πn/period, n = 0, …, period − 1: (period, 2)
    of int64.

    The unit is 2^−bits; halves are rounded up."""
    with ctx.workprec(BITS):
        angles = [fmpq(2 * n, period) for n in range(period)]
        unit = arb((times or 1) * 2**bits)
        rows = [[_nearest(unit * part(angle)) for part in (cos_pi, sin_pi)] for angle in angles]
    return np.array(rows, dtype=np.int64)


def turn_of_sum(numbers: np.ndarray, period: int, bits: int) -> np.ndarray:
    """The (cos, sin) of the sum of the angles of two numbers (…, 2), computed from rounded (cos,
    sin): (…, 2) of int64, in multiples of 2^{−2·bits}."""
    (c, s), (C, S) = np.moveaxis(turn(period, bits)[numbers % period], (-2, -1), (0, 1))
    return np.stack([c * C - s * S, s * C + c * S], axis=-1)


def rounded_logits(pairs: np.ndarray, p: int, step: int, alpha: float, bits: int) -> np.ndarray:
    """The logits z(c), c = 0, …, p − 1, of pairs (…, 2), computed from rounded cosines: (…, p) of
    int64, in multiples of 2^{−3·bits}."""
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
