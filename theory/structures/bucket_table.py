"""A table of extra cells: each names the point that is nearest to the middle of a bucket.

The range is divided into T buckets of equal length.  The first lookup is at the extra cell of the
query's bucket, the second at the point that it names: that is the nearest neighbour a of q iff a is
nearest to the middle c of the bucket too.  For N uniform points on (0, 1), and u ≤ v,

    P(u and v have one nearest neighbour) = N ∫₀¹ (1 − |A_x ∪ B_x|)^{N−1} dx,

A_x and B_x what is nearer to u, and to v, than x, within (0, 1): no other point may be there.  The
union is an interval, from min(x, 2u − x) to max(x, 2v − x) for x between or beside them, cut off at
0 and 1.  Its length is linear between 0, u, v, 1, 2u and 2v − 1, so ⌈N/2⌉ nodes of Gauss in each
piece give the integral up to rounding.

For T → ∞ at fixed N the share tends to 1.
"""

from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from theory import checks, machine
from theory.checks import InputError
from theory.structures.points import as_points, as_queries

GRID = 2**10  # middles of queries, in all buckets together, at least
MOST = 1024  # points
MOST_CELLS = 10**9  # of which float64 knows the bucket


def bucket_of(queries: ArrayLike, cells: int, low: float, high: float) -> np.ndarray:
    """⌊T(q − low)/(high − low)⌋ of queries (…,), and T − 1 of q = high.

    Raises ValueError for cells < 1 or above 10^9, unless low < high, and for a query outside of the
    range.
    """
    T, q = checks.dimension("cells", cells, MOST_CELLS), checks.real("queries", queries)
    low, high = checks.finite_number("low", low), checks.finite_number("high", high)
    if not low < high:
        raise InputError(f"the range is from {low:g} to {high:g}: give low < high")
    if not ((q >= low) & (q <= high)).all():
        raise InputError(f"queries are not all from {low:g} to {high:g}: give the range of them")
    return np.minimum(np.floor(T * (q - low) / (high - low)), T - 1).astype(np.int64)


def table_of(points: ArrayLike, cells: int, low: float, high: float) -> np.ndarray:
    """The cell that each of T extra cells names, for ascending points (…, N), (…, T): of two points
    as near to the middle, the first.

    Raises ValueError for cells < 1, unless low < high, for what no memory holds, and as
    `as_points`.
    """
    x, T = as_points(points), checks.dimension("cells", cells, MOST_CELLS)
    machine.fits_in_memory(
        f"{T:.3g} cells beside {x.size} points", 24 * T * x.size, "take fewer cells"
    )
    ends = checks.finite_number("low", low), checks.finite_number("high", high)
    if not ends[0] < ends[1]:
        raise InputError(f"the range is from {low:g} to {high:g}: give low < high")
    middle = _middles(np.arange(T), T, low, high)
    return abs(2 * T * x[..., None, :] - middle[:, None]).argmin(-1)


def _middles(bucket: np.ndarray, T: int, low: float, high: float) -> np.ndarray:
    """2T times the middles of buckets, so that whole numbers are compared exactly."""
    return np.asarray(2 * T * low + (2 * bucket + 1) * (high - low))


def table_lookup(
    points: ArrayLike, queries: ArrayLike, cells: int, low: float, high: float
) -> np.ndarray:
    """The cell (…, m) at which the second lookup is, for ascending points (…, N) and queries
    (…, m).

    Raises ValueError as `bucket_of` and `table_of`.
    """
    x = as_points(points)
    q = as_queries(queries, x)
    middle = _middles(bucket_of(q, cells, low, high), cells, low, high)
    return abs(2 * cells * x[..., None, :] - middle[..., None]).argmin(-1)


def table_accuracy(N: int, cells: int) -> float:
    """The share of uniform queries whose nearest of N uniform points T = `cells` extra cells name.

    The mean over the query is that over the middles of at least `GRID` places.  Raises ValueError
    for counts below 1, and N or T above 1024.
    """
    n, T = checks.dimension("N", N), checks.dimension("cells", cells)
    if max(n, T) > MOST:
        raise InputError(f"N is {n} and cells are {T}: give at most {MOST}")
    return _accuracy(n, T)


@cache
def _accuracy(n: int, T: int) -> float:
    per = -(-GRID // T)
    q = (np.arange(per * T) + 0.5) / (per * T)
    middle = (np.floor(T * q) + 0.5) / T
    return float(share_a_neighbour(n, np.minimum(q, middle), np.maximum(q, middle)).mean())


def share_a_neighbour(N: int, u: ArrayLike, v: ArrayLike) -> np.ndarray:
    """P(u and v have one nearest neighbour) among N uniform points on (0, 1), (…,), 0 ≤ u ≤ v ≤ 1.

    Raises ValueError for N < 1 or above 1024, and for other u and v.
    """
    if checks.dimension("N", N) > MOST:
        raise InputError(f"N is {N}: give at most {MOST} points")
    a, b = checks.real("u", u), checks.real("v", v)
    if a.shape != b.shape or not ((a >= 0) & (a <= b) & (b <= 1)).all():
        raise InputError("u and v are not 0 ≤ u ≤ v ≤ 1: give them in ascending order")
    nodes, weights = np.polynomial.legendre.leggauss((N + 1) // 2)
    zero = np.zeros_like(a)
    breaks = np.stack([zero, a, b, zero + 1, 2 * a, 2 * b - 1], axis=-1)
    breaks = np.sort(np.clip(breaks, 0, 1), axis=-1)
    half = np.diff(breaks, axis=-1)[..., None] / 2
    x = breaks[..., :-1, None] + half * (nodes + 1)
    a, b = a[..., None, None], b[..., None, None]
    left = np.maximum(0, np.minimum(x, 2 * a - x))
    right = np.minimum(1, np.maximum(x, 2 * b - x))
    return np.asarray(N * (half * weights * (1 - (right - left)) ** (N - 1)).sum((-1, -2)))
