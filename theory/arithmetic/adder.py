"""Adding with a comb and a bump: how precisely the size of a sum must be known.

Let 10 divide p ≥ 20, s the sum, 0 ≤ s < p, and ε the error with which its size is known:

    z(c) = C_F(c − s) + α cos(2π(c − s − ε)/p),     α > 0,     candidates c = 0, …, p − 1.

The comb C_F (`comb.py`) tells residues mod 10 apart and the bump sizes.  Distances are modulo p.

**z is largest at c = s alone, for all |ε| < 5, iff  2α sin(πd/p) sin(π(10 − d)/p) ≤ C_F(0) − C_F(d)
for d = 1, …, 9.**  For 0 < d ≤ p/2 the bump gains

    g(d, ε) = cos(2π(d − ε)/p) − cos(2πε/p) = 2 sin(πd/p) sin(π(2ε − d)/p)

at s + d.  It is below 0 where 2ε < d, so for d ≥ 10, where the comb gains nothing.  For d < 10 it
rises with ε where it is above 0, towards its value at ε = 5, which is not attained; and
−d and −ε are d and ε.

For the frequencies of [Zhou2024] d = 5 binds: α ≤ 2/sin²(5π/p).  With x = π/p,

    sin(dx) sin((10 − d)x) = sin²5x − sin²((5 − d)x),

is largest at d = 5, where C_F(0) − C_F(5) = 4.  At d = 1, 3, 4 that difference is above 4 and the
product smaller.  At d = 2 it is (15 − √5)/4, nearly 0.8 of 4, and the product is a part
1 − (sin 3x/sin 5x)² ≤ 1 − 9/25 = 0.64 of sin²5x, as sin is concave up to 5x ≤ π/4.  The others are
10 − d.

Without the comb z is largest at the c nearest to s + ε mod p, and without the bump at all
c ≡ s mod 10.  At |ε| = 5 the candidates s and s ± 10 tie.

So a size known to the nearest multiple of 5 is enough: 5·round(n/5) is off by at most 2, and the
sum of two by at most 4.
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

MOST = 2**53  # of integers, so that twice one and a step are int64
SMALLEST = 1074  # binary places of the least number of float64
USUAL_BITS, FLOAT64_BITS = 14, 53


@checked
def candidates(largest: Steps) -> int:
    """The least multiple of 10 above 2·largest, and at least 20: the p of sums up to there."""
    return max(20, 10 * (2 * largest // 10 + 1))


@checked
def coarse(
    n: Annotated[StepsArray, Within(most=MOST)], step: Annotated[Count, Within(most=MOST)]
) -> np.ndarray:
    """The multiple of step nearest to n, integers from 0 to 2^53; halves go up."""
    return np.asarray((2 * n + step) // (2 * step) * step)


@checked
def adder_logits(
    p: Candidates, alpha: NonNegative, s: Integer, error: Finite, F: Frequencies = ZHOU
) -> np.ndarray:
    """z(c), c = 0, …, p − 1, by definition; alpha = 0 leaves out the bump.

    Raises `ValueError` for more candidates than there is memory.
    """
    machine.fits_in_memory(f"the logits of {p:.4g} candidates", 64 * p, "take a smaller p")
    d = np.arange(p) - s % p
    teeth = np.array([float(comb(F, k)) for k in range(10)])
    return teeth[d % 10] + alpha * np.cos(2 * np.pi * (d - error) / p)


@checked
def largest_alpha(p: Candidates, F: Frequencies = ZHOU) -> tuple[float, int]:
    """The largest α with which all sums are right for all |ε| < 5, and the d that binds; 0.0 where
    F does not tell the residues mod 10 apart."""
    d = np.arange(1, 10)
    above = np.array([float(comb(F, 0) - comb(F, int(k))) for k in d])
    limits = above / (2 * np.sin(np.pi * d / p) * np.sin(np.pi * (10 - d) / p))
    return float(limits.min()), int(d[limits.argmin()])


@checked
def usual_alpha(p: Candidates) -> float:
    """64, or the largest power of two within `largest_alpha` of all four periods, where that is
    less (below p = 90)."""
    return min(64.0, 2.0 ** floor(log2(largest_alpha(p)[0])))


@checked
def least_gap(p: Candidates, alpha: NonNegative, error: Steps, F: Frequencies = ZHOU) -> float:
    """min z(s) − z(c) over all c ≠ s and whole errors |ε| ≤ error; below 0 where sums are wrong.

    Of the candidates of one residue mod 10, of which the comb says the same, the bump is largest at
    that nearest to s + ε: within 5 of it as 10 divides p, or within 15 if s itself is left out.

    Raises `ValueError` for more errors than there is memory.
    """
    machine.fits_in_memory(f"errors up to {shown(error)}", 2000 * error, "take fewer of them")
    teeth = np.array([float(comb(F, k)) for k in range(10)])
    e = np.arange(-error, error + 1)[:, None]
    d = e + np.arange(-15, 16)
    others = teeth[d % 10] + alpha * np.cos(2 * np.pi * (d - e) / p)
    right = teeth[0] + alpha * np.cos(2 * np.pi * e[:, 0] / p)
    return float((right - np.where(d % p, others, -np.inf).max(1)).min())


@checked
def rounding_of_logits(alpha: NonNegative, bits: Annotated[Count, Within(most=SMALLEST)]) -> float:
    """How far a logit moves if cosines and sines of a, b and c, and α times those of the bump, are
    rounded to multiples of 2^−bits.

    With δ = 2^{−bits−1}, numbers (cos, sin) of length 1 move by at most √2δ, so a product of three
    of them, as complex numbers, by (1 + √2δ)³ − 1; the bump's third one has length α.  There are
    three combs besides period 2, which is exact.
    """
    off = 2**0.5 * 2.0 ** (-bits - 1)
    return 3 * ((1 + off) ** 3 - 1) + (alpha + off) * (1 + off) ** 2 - alpha


@checked
def most_bits(alpha: Positive) -> int:
    """The most binary places of the weights with which float64 rounds no logit; below 1 if none.

    A logit is a sum of products of three of them, a multiple of 2^{−3·bits} below 2α + 8.
    """
    return (FLOAT64_BITS - 3 - ceil(log2(alpha / 4 + 1))) // 3


@checked
def sufficient_bits(p: Candidates, step: Count, alpha: Positive) -> list[int]:
    """The binary places, up to `most_bits`, with which rounding the weights changes no answer."""
    gap = least_gap(p, alpha, 2 * (step // 2))
    places = range(1, most_bits(alpha) + 1)
    return [bits for bits in places if 2 * rounding_of_logits(alpha, bits) < gap]


@checked
def usual_bits(p: Candidates, step: Count, alpha: Positive) -> int:
    """14 binary places, or more if the answers need them, within `most_bits`."""
    wanted = max([USUAL_BITS, *sufficient_bits(p, step, alpha)[:1]])
    return max(1, min(most_bits(alpha), wanted))
