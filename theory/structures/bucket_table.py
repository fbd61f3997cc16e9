"""A table of extra cells, each with the index of the point nearest to the middle of a bucket.

The range is divided into T buckets of equal length.  The first lookup is at the extra cell of the
bucket that contains the query q.  The second lookup is at the point whose index is in this extra
cell.  This point is the nearest neighbour of q iff the same point is nearest to q and to the middle
of the bucket.  For N independent uniform points on (0, 1), and numbers u ≤ v,

    P(u and v have the same nearest neighbour) = N ∫₀¹ (1 − |A_x ∪ B_x|)^{N−1} dx,

where A_x is the set of the numbers in (0, 1) that are nearer to u than x is, and B_x the set of the
numbers that are nearer to v than x is.  A point at x is the nearest point to both u and v iff no
other point is in the union of A_x and B_x, and this holds for at most one of the N points.  The
union is the interval from min(x, 2u − x) to max(x, 2v − x), intersected with (0, 1).  Its length ℓ
is a linear function of x between the numbers 0, u, v, 1, 2u and 2v − 1.  If its slope s in such a
piece from x = a to x = b is not 0, the integral of N(1 − ℓ)^{N−1} over the piece is the difference
((1 − ℓ(a))^N − (1 − ℓ(b))^N)/s.

The probability that the table finds the nearest neighbour of a uniform query is the mean of this
probability over the query, where the other number is the middle of the query's bucket.  Within each
quarter of a bucket, the order of the numbers 0, u, v, 1, 2u and 2v − 1 is constant, so the
probability is a polynomial of degree at most N in the query.  Its mean by Gauss quadrature with
⌊N/2⌋ + 1 nodes is exact up to rounding.

As T → ∞ at fixed N the probability that the table finds the nearest neighbour tends to 1.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import inf, lcm
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory import machine
from theory.kinds import Count, InputError, Reals, Within, checked
from theory.structures.points import End, NumberArray, Points, Queries, Size, check_range

Integrated: TypeAlias = Annotated[Count, Within(most=1024)]
"""An integer from 1 to 1024: a number of points or cells in an integral."""
Places: TypeAlias = Annotated[Any, Reals("...", Within(least=0, most=1))]
"""Numbers from 0 to 1, of any shape."""


@checked
def bucket_of(queries: NumberArray, n_cells: Size, low: End, high: End) -> np.ndarray:
    """The bucket ⌊T(q − low)/(high − low)⌋ of each query q, (…,) for queries (…,).

    The range from low to high is divided into T = `n_cells` buckets of equal length, numbered from
    0.  A query q = high is in bucket T − 1.  Raises ValueError if low ≥ high, or if a query is
    outside the range.
    """
    check_range(low, high)
    if not ((queries >= low) & (queries <= high)).all():
        raise InputError(
            f"some queries are outside {low:g} to {high:g}: give low "
            "and high that enclose the queries"
        )
    # In exact arithmetic: for T = 100 and range (0, 1), the float 0.7 is in bucket 69, not 70.
    a, b = (Fraction(end.item()) for end in (low, high))
    D = lcm(a.denominator, b.denominator)
    A, B = int(a * D), int(b * D)

    def bucket(q: float) -> int:
        p, k = q.as_integer_ratio()
        return min(n_cells * (p * D - A * k) // (k * (B - A)), n_cells - 1)

    found = [bucket(q) for q in queries.ravel().tolist()]
    return np.array(found, dtype=np.int64).reshape(queries.shape)


@checked
def table_of(points: Points, n_cells: Size, low: End, high: End) -> np.ndarray:
    """A table with the index of the point nearest to the middle of each bucket, (…, T).

    The range from low to high is divided into T = `n_cells` buckets of equal length.  If two points
    are equally near to the middle of a bucket, the table contains the index of the first.  Points
    (…, N) are in ascending order.  Raises ValueError if low ≥ high, or for arrays that do not fit
    in memory.
    """
    x, T = points, n_cells
    machine.fits_in_memory(
        f"{T:.3g} cells and {x.size} points", 24 * T * x.size, "take fewer cells"
    )
    check_range(low, high)
    middle = _middles(np.arange(T), T, low, high)
    return abs(2 * T * _wide(x, T)[..., None, :] - middle[:, None]).argmin(-1)


def _middles(bucket: np.ndarray, T: int, low: Any, high: Any) -> np.ndarray:
    """2T times the middles of the buckets; with integers, comparisons are then exact."""
    a, b = low.item(), high.item()
    if 2.0 * T * (abs(a) + abs(b)) == inf:
        raise OverflowError  # floats of Python become infinite without an error
    if T * max(abs(a), abs(b)) > 2**59:  # 2Ta too could overflow
        bucket = bucket.astype(object)
    return np.asarray(2 * T * a + (2 * bucket + 1) * (b - a))


def _wide(x: np.ndarray, T: int) -> np.ndarray:
    """The same numbers, as Python's integers if 2T times a difference of them could overflow."""
    if x.dtype.kind not in "iu" or not x.size:
        return x
    largest = max(abs(x.min().item()), abs(x.max().item()))
    return x.astype(object) if T * largest > 2**59 else x


@checked
def table_lookup(
    points: Points, queries: Queries, n_cells: Size, low: End, high: End
) -> np.ndarray:
    """The index of the point that a table of buckets gives for each query, (…, m).

    The m queries have shape (…, m).  The range from low to high is divided into `n_cells` buckets
    of equal length.  For each bucket, the table contains the index of the point nearest to the
    middle of the bucket (`table_of`).  The first lookup reads the entry for the query's bucket, and
    the second lookup reads the point with this index.  Points (…, N) are in ascending order.
    Raises ValueError if low ≥ high, or if a query is outside the range.
    """
    middle = _middles(bucket_of(queries, n_cells, low, high), n_cells, low, high)
    return abs(2 * n_cells * _wide(points, n_cells)[..., None, :] - middle[..., None]).argmin(-1)


@checked
def table_accuracy(n_points: Integrated, n_cells: Integrated) -> float:
    """The probability that a table of `n_cells` buckets gives the nearest neighbour of a query.

    The `n_points` points and the query are independent and uniform on (0, 1).  The range (0, 1) is
    divided into `n_cells` buckets of equal length.  For each bucket, the table contains the index
    of the point nearest to the middle of the bucket.  The table gives the point whose index it
    contains for the query's bucket.  The probability is exact up to rounding.
    """
    return _accuracy(n_points, n_cells)


@cache
def _accuracy(n: int, T: int) -> float:
    nodes, weights = np.polynomial.legendre.leggauss(n // 2 + 1)
    within = ((np.arange(4)[:, None] + (nodes + 1) / 2) / 4).ravel()  # in the quarters of a bucket
    total = 0.0
    for bucket in range(T):
        q, middle = (bucket + within) / T, (bucket + 0.5) / T
        found = same_neighbour_probability(n, np.minimum(q, middle), np.maximum(q, middle))
        total += float(np.tile(weights, 4) @ found) / 8
    return total / T


@checked
def same_neighbour_probability(n_points: Integrated, u: Places, v: Places) -> np.ndarray:
    """The probability that the numbers u and v have the same nearest neighbour, (…,).

    The numbers u and v in [0, 1] have shape (…,).  The nearest neighbour of a number is the nearest
    of `n_points` independent points that are uniform on (0, 1).  Raises ValueError if u > v in some
    entry.
    """
    a, b = u, v
    if (a > b).any():
        raise InputError(
            "some entry of u is above the entry of v: give u and v with u ≤ v in every entry"
        )
    zero = np.zeros_like(a)
    breaks = np.stack([zero, a, b, zero + 1, 2 * a, 2 * b - 1], axis=-1)
    breaks = np.sort(np.clip(breaks, 0, 1), axis=-1)
    a, b, middle = a[..., None], b[..., None], (breaks[..., :-1] + breaks[..., 1:]) / 2

    def outside(x: np.ndarray) -> np.ndarray:
        """The length of (0, 1) without the union for points at x."""
        left = np.maximum(0, np.minimum(x, 2 * a - x))
        return np.asarray(1 - np.minimum(1, np.maximum(x, 2 * b - x)) + left)

    slope = np.where(middle > b, 1, -1.0 * (middle > 2 * b - 1))  # of the union's length
    slope -= np.where(middle < a, 1, -1.0 * (middle < 2 * a))
    constant = n_points * np.diff(breaks, axis=-1) * outside(middle) ** (n_points - 1)
    change = -np.diff(outside(breaks) ** n_points, axis=-1)
    return np.asarray(np.where(slope == 0, constant, change / np.where(slope, slope, 1)).sum(-1))
