"""Addition with a comb and a bump: how precisely the size of a sum must be known.

Let 10 divide p ≥ 20, let s be the sum, 0 ≤ s < p, and let ε be the error of its size in the logits

    z(c) = C_F(c − s) + α cos(2π(c − s − ε)/p),     α > 0,     candidates c = 0, …, p − 1.

The first term is the comb C_F of a set F of frequencies (`comb.py`); it separates residues mod 10.
The second term is the bump; it separates sizes.  Distances are modulo p.

**Theorem.**  For all |ε| < 5 the maximum of z is attained at c = s only, iff

    2α sin(πd/p) sin(π(10 − d)/p) ≤ C_F(0) − C_F(d)     for d = 1, …, 9.

*Proof.*  For 0 < d ≤ p/2 the bump at s + d exceeds the bump at s by

    g(d, ε) = cos(2π(d − ε)/p) − cos(2πε/p) = 2 sin(πd/p) sin(π(2ε − d)/p).

This is negative for 2ε < d, hence for d ≥ 10, where the comb is at most C_F(0).  For d < 10 it
increases with ε where it is positive, towards its value at ε = 5, which is not attained.  The pair
(−d, −ε) gives the same value as (d, ε).  ∎

For the frequencies of [Zhou2024] the strictest inequality is at d = 5: α ≤ 2/sin²(5π/p).  With
x = π/p,

    sin(dx) sin((10 − d)x) = sin²5x − sin²((5 − d)x)

is largest at d = 5, where C_F(0) − C_F(5) = 4.  At d = 1, 3, 4 the difference C_F(0) − C_F(d) is
above 4 and the product smaller.  At d = 2 the difference is (15 − √5)/4 > 0.79·4, and the product
is a fraction 1 − (sin 3x/sin 5x)² ≤ 1 − 9/25 = 0.64 of sin²5x, as sin is concave up to 5x ≤ π/4.
The other d follow by d → 10 − d.

Without the comb z is largest at the c nearest to s + ε mod p.  Without the bump z is largest at all
c ≡ s mod 10.  At |ε| = 5 the candidates s and s + 10 (or s − 10) tie.

So it suffices to round sizes to multiples of 5: |5·round(n/5) − n| ≤ 2, and the error of the sum of
two sizes is at most 4.
"""

from __future__ import annotations

from math import ceil, floor, log2
from typing import Annotated

import numpy as np

from theory import machine
from theory.arithmetic.comb import ZHOU, Frequencies, comb
from theory.arithmetic.congruence import Candidates
from theory.kinds import (
    Count,
    Finite,
    Integer,
    NonNegative,
    Positive,
    Steps,
    StepsArray,
    Within,
    checked,
    shown,
)

MOST = 2**53  # integers n with 2n + step in int64
SMALLEST = 1074  # binary places of the smallest positive float64
USUAL_BITS, FLOAT64_BITS = 14, 53


@checked
def n_candidates(largest: Steps) -> int:
    """The number of candidates for sums up to 2·largest: a multiple of 10, at least 20.

    The result is the smallest multiple of 10 that is above 2·largest and at least 20.
    """
    return max(20, 10 * (2 * largest // 10 + 1))


@checked
def round_to_multiple(
    n: Annotated[StepsArray, Within(most=MOST)], step: Annotated[Count, Within(most=MOST)]
) -> np.ndarray:
    """The multiple of `step` nearest to n, for integers n from 0 to 2^53; halves are rounded up."""
    return np.asarray((2 * n + step) // (2 * step) * step)


@checked
def adder_logits(
    p: Candidates, alpha: NonNegative, s: Integer, error: Finite, F: Frequencies = ZHOU
) -> np.ndarray:
    """The logits z(c) of the candidates c = 0, …, p − 1 for the sum s, (p,).

    z(c) = C_F(c − s) + α cos(2π(c − s − ε)/p), where C_F(d) = Σ_{f ∈ F} cos(2πfd/10).  The first
    term is called the comb, and the second term the bump.  The weight of the bump is α = `alpha`,
    and ε = `error` is the difference between the rounded size of the sum, s + ε, and the sum s.
    Raises `ValueError` if the logits do not fit in memory.
    """
    machine.fits_in_memory(f"the logits of {p:.4g} candidates", 64 * p, "give a smaller p")
    d = np.arange(p) - s % p
    teeth = np.array([float(comb(F, k)) for k in range(10)])
    return teeth[d % 10] + alpha * np.cos(2 * np.pi * (d - error) / p)


@checked
def largest_alpha(p: Candidates, F: Frequencies = ZHOU) -> tuple[float, int]:
    """The largest weight α of the bump with which all sums are right, and the d that limits α.

    The logits of p candidates c for a sum s are C_F(c − s) + α cos(2π(c − s − ε)/p), a comb
    C_F(d) = Σ_{f ∈ F} cos(2πfd/10) plus the bump, where s + ε is the rounded size of the sum.  All
    sums must be right for all errors |ε| < 5.  For a larger α, the logit of candidate s + d for the
    returned d can exceed the logit of s.  The largest α is 0.0 if the comb does not separate the
    residues mod 10.
    """
    d = np.arange(1, 10)
    above = np.array([float(comb(F, 0) - comb(F, int(k))) for k in d])
    limits = above / (2 * np.sin(np.pi * d / p) * np.sin(np.pi * (10 - d) / p))
    return float(limits.min()), int(d[limits.argmin()])


@checked
def default_alpha(p: Candidates) -> float:
    """The default weight α of the bump in the logits of p candidates: 64, or less for p < 90.

    The bump is the term α cos(2π(c − s − ε)/p) in the logit of candidate c for a sum s
    (`adder_logits`).  For p < 90, the default α is the largest power of two up to the limit
    `largest_alpha(p)`.
    """
    return min(64.0, 2.0 ** floor(log2(largest_alpha(p)[0])))


@checked
def least_gap(p: Candidates, alpha: NonNegative, error: Steps, F: Frequencies = ZHOU) -> float:
    """The smallest gap between the logit of the sum s and the logit of a candidate c ≠ s.

    The minimum of z(s) − z(c) is over all candidates c ≠ s and all integers ε with |ε| ≤ `error`,
    where s + ε is the rounded size of the sum.  The minimum is negative iff a sum is wrong.  The
    logits z(c) of the p candidates are computed by `adder_logits`: a comb with frequencies F plus a
    bump of weight `alpha`.  The comb is constant on the candidates of one residue mod 10.  Among
    these candidates the bump is largest at the candidate nearest to s + ε, at a distance of at most
    5 since 10 divides p.  If s is excluded, the distance is at most 15.

    Raises `ValueError` if the errors do not fit in memory.
    """
    machine.fits_in_memory(f"errors up to {shown(error)}", 2000 * error, "give a smaller error")
    teeth = np.array([float(comb(F, k)) for k in range(10)])
    e = np.arange(-error, error + 1)[:, None]
    d = e + np.arange(-15, 16)
    others = teeth[d % 10] + alpha * np.cos(2 * np.pi * (d - e) / p)
    right = teeth[0] + alpha * np.cos(2 * np.pi * e[:, 0] / p)
    return float((right - np.where(d % p, others, -np.inf).max(1)).min())


@checked
def rounding_of_logits(alpha: NonNegative, bits: Annotated[Count, Within(most=SMALLEST)]) -> float:
    """A bound on the change of a logit when all weights are rounded to multiples of 2^−bits.

    The logits of `adder_logits` are a comb plus a bump of weight α = `alpha`.  The weights are
    cosines and sines of the angles of the two numbers and of the candidate; in the bump, the
    cosines and sines of the candidate are multiplied by α.  Rounding changes a number by at most
    δ = 2^{−bits−1}, so a vector (cos, sin) of length 1 changes by at most √2δ.  As complex numbers,
    a product of three such vectors changes by at most (1 + √2δ)³ − 1.  In the bump, the third
    factor has length α.  Three periods of the comb are rounded; period 2 is exact.
    """
    off = 2**0.5 * 2.0 ** (-bits - 1)
    return 3 * ((1 + off) ** 3 - 1) + (alpha + off) * (1 + off) ** 2 - alpha


@checked
def largest_bits(alpha: Positive) -> int:
    """The largest number of binary places of the weights for which logits are exact in float64.

    The result is below 1 if even one binary place is too many.  A logit is a sum of
    products of three weights, a multiple of 2^{−3·bits} below 2·alpha + 8, for weights of `bits`
    binary places.
    """
    return (FLOAT64_BITS - 3 - ceil(log2(alpha / 4 + 1))) // 3


@checked
def sufficient_bits(p: Candidates, step: Count, alpha: Positive) -> list[int]:
    """The numbers of binary places for which rounding the weights changes no prediction.

    The adder has p candidates, sizes that are rounded to multiples of `step`, and weight `alpha` of
    the bump, the term of the logits that depends on the sizes.  All numbers up to
    `largest_bits(alpha)` are tried.
    """
    gap = least_gap(p, alpha, 2 * (step // 2))
    places = range(1, largest_bits(alpha) + 1)
    return [bits for bits in places if 2 * rounding_of_logits(alpha, bits) < gap]


@checked
def default_bits(p: Candidates, step: Count, alpha: Positive) -> int:
    """The default number of binary places of the weights: 14, with two exceptions.

    If 14 places do not suffice (`sufficient_bits`), the default is the smallest sufficient number.
    The default is at most `largest_bits(alpha)`.
    """
    wanted = max([USUAL_BITS, *sufficient_bits(p, step, alpha)[:1]])
    return max(1, min(largest_bits(alpha), wanted))
