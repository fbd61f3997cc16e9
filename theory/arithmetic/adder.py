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

from math import ceil, expm1, floor, fmod, inf, ldexp, log1p, log2, nextafter
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
    """The number of candidates for the sum of two numbers from 0 to `largest`.

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
    """The logits z(c) of the candidates c = 0, …, p − 1 for the sum s, as an array (p,).

    z(c) = C_F(c − s) + α cos(2π(c − s − ε)/p), where C_F(d) = Σ_{f ∈ F} cos(2πfd/10) for a set F of
    frequencies from 1 to 5.  The first term compares c and s mod 10, and the second term compares
    their sizes.  Here α = `alpha` and ε = `error`.  The second term contains the approximate sum
    s + ε instead of s, for example the sum of two rounded numbers.  Raises `ValueError` if the
    logits do not fit in memory.
    """
    machine.fits_in_memory(f"the logits of {p:.4g} candidates", 64 * p, "give a smaller p")
    d = np.arange(p) - s % p
    teeth = np.array([float(comb(F, k)) for k in range(10)])
    return teeth[d % 10] + alpha * np.cos(2 * np.pi * (d - fmod(error, p)) / p)


@checked
def largest_alpha(p: Candidates, F: Frequencies = ZHOU) -> tuple[float, int]:
    """The largest weight α with which the logits of all sums are right, and the d that limits α.

    The logits of p candidates c for a sum s are C_F(c − s) + α cos(2π(c − s − ε)/p).  Here
    C_F(d) = Σ_{f ∈ F} cos(2πfd/10) for a set F of frequencies from 1 to 5, and s + ε is the
    approximate sum.  The logits are right if s has the largest logit for all errors |ε| < 5.  For a
    larger α, the logit of the candidate s + d can exceed the logit of s, where d is the second
    number returned.  The largest α is 0.0 unless C_F(d) is largest at d ≡ 0 mod 10 only.
    """
    d = np.arange(1, 10)
    above = np.array([float(comb(F, 0) - comb(F, int(k))) for k in d])
    limits = above / (2 * np.sin(np.pi * d / p) * np.sin(np.pi * (10 - d) / p))
    return float(limits.min()), int(d[limits.argmin()])


@checked
def default_alpha(p: Candidates) -> float:
    """The default weight α of the second term in the logits of p candidates, at most 64.

    The logits are those of `adder_logits`.  Their second term is α cos(2π(c − s − ε)/p) for a
    candidate c, where s is the sum and s + ε the approximate sum.  The default α is 64 for p ≥ 90.
    For p < 90, it is the largest power of two up to the α that `largest_alpha(p)` returns.
    """
    return min(64.0, 2.0 ** floor(log2(largest_alpha(p)[0])))


@checked
def least_gap(p: Candidates, alpha: NonNegative, error: Steps, F: Frequencies = ZHOU) -> float:
    """The smallest difference between the logit of the sum s and the logit of a candidate c ≠ s.

    The logits z(c) of p candidates are those of `adder_logits` with frequencies F and weight
    `alpha`: C_F(c − s) + α cos(2π(c − s − ε)/p), where C_F(d) = Σ_{f ∈ F} cos(2πfd/10) and s + ε is
    the approximate sum.  The result is the minimum of z(s) − z(c) over all sums s, all candidates
    c ≠ s, and all integers ε with |ε| ≤ `error`.  It is negative iff some candidate c ≠ s has a
    larger logit than s for some s and ε.  The minimum is computed from the candidates at a distance
    of at most 15 from s + ε.  Proof that they suffice: the first term depends only on c mod 10.
    Among the candidates of one residue mod 10, the second term is largest at the candidate nearest
    to s + ε, at a distance of at most 5 since 10 divides p.  If this candidate is s, the next one
    has a distance of at most 15.

    Raises `ValueError` if the errors do not fit in memory.
    """
    machine.fits_in_memory(f"errors up to {shown(error)}", 2800 * error, "give a smaller error")
    below = np.array([float(comb(F, 0) - comb(F, k)) for k in range(10)])
    e = np.arange(-error, error + 1)[:, None]
    d = e + np.arange(-15, 16)
    # cos a − cos b = 2 sin((b + a)/2) sin((b − a)/2), without the loss of digits in a difference.
    product = 2 * np.sin(np.pi * d / p) * np.sin(np.pi * (d - 2 * e) / p)
    with np.errstate(over="ignore"):
        gaps = below[d % 10] + alpha * product
    return float(gaps[d % p != 0].min())


@checked
def rounding_of_logits(alpha: NonNegative, bits: Annotated[Count, Within(most=SMALLEST)]) -> float:
    """A bound on the change of a logit when all weights are rounded to multiples of 2^−bits.

    The logits are C_F(c − s) + α cos(2π(c − s − ε)/p), as in `adder_logits`, with α = `alpha`.  The
    term C_F is the sum of cosines of the frequencies F = (5, 4, 2, 1).  Each cosine in the logits
    is the real part of a product of three complex numbers of length 1: one for each of the two
    summands, and one for the candidate.  The weights are the real and imaginary parts of these
    numbers, cosines and sines; in the term with the factor α, the number for the candidate is
    multiplied by α.  Rounding changes a weight by at most δ = 2^{−bits−1}, so a complex number
    changes by at most √2·δ.  A product of three numbers of length 1 changes by at most (1 + √2·δ)³
    − 1.  In C_F, three cosines change by rounding; the cosine of frequency 5 is exact, because its
    weights are 0 and ±1.
    """
    places = min(bits, 500)  # with more, the bound is half as large for each
    off = 2**0.5 * 2.0 ** (-places - 1)
    # (1 + off)^k − 1, without the loss of digits in a difference of nearly equal numbers.
    bound = 3 * expm1(3 * log1p(off)) + alpha * expm1(2 * log1p(off)) + off * (1 + off) ** 2
    return bound if places == bits else nextafter(ldexp(bound, places - bits), inf)


@checked
def largest_bits(alpha: Positive) -> int:
    """The largest number of binary places of the weights for which logits are exact in float64.

    The logits are those of `adder_logits`: a sum of four cosines, plus a cosine multiplied by
    α = `alpha`.  A logit is a sum of products of three weights.  For weights with b binary places,
    it is therefore a multiple of 2^{−3b}, and its absolute value is below 2α + 8.  Such a number is
    exact in float64 if 2^{3b}(2α + 8) ≤ 2^53.  The result is below 1 if even one binary place is
    too many.
    """
    return (FLOAT64_BITS - 3 - ceil(log2(alpha / 4 + 1))) // 3


@checked
def sufficient_bits(p: Candidates, step: Count, alpha: Positive) -> list[int]:
    """The numbers of binary places with which rounded weights provably give the right sums.

    The adder is a transformer with the logits of `adder_logits` for p candidates c: a function of
    c − s mod 10, plus α cos(2π(c − s − ε)/p) with α = `alpha`.  Here s is the sum of two numbers,
    and s + ε is the sum after each of the two numbers is rounded to a multiple of `step`.  A number
    of places suffices if twice the bound `rounding_of_logits` on the change of a logit is below the
    smallest gap between the logit of the sum and another logit.  All numbers from 1 to
    `largest_bits(alpha)` are tried.
    """
    machine.fits_in_memory(f"the gaps of step {shown(step)}", 2800 * step, "give a smaller step")
    gap = least_gap(p, alpha, 2 * (step // 2))
    places = range(1, largest_bits(alpha) + 1)
    return [bits for bits in places if 2 * rounding_of_logits(alpha, bits) < gap]


@checked
def default_bits(p: Candidates, step: Count, alpha: Positive) -> int:
    """The default number of binary places of the weights of an adder: 14, with exceptions.

    The adder is a transformer with the logits of `adder_logits` for p candidates c: a function of
    c − s mod 10, plus α cos(2π(c − s − ε)/p) with α = `alpha`.  Here s is the sum of two numbers,
    and s + ε is the sum after each of the two numbers is rounded to a multiple of `step`.  If 14
    places do not suffice according to `sufficient_bits`, but a larger number suffices, the default
    is the smallest sufficient number.  The default is at least 1.  If `largest_bits(alpha)` is at
    least 1, the default is at most this number.
    """
    wanted = max([USUAL_BITS, *sufficient_bits(p, step, alpha)[:1]])
    return max(1, min(largest_bits(alpha), wanted))
