"""A table of extra cells: each names the point that is nearest to the middle of a bucket.

The range is divided into T buckets of equal length.  The first lookup is at the extra cell of the
query's bucket, the second at the point that it names: that is the nearest neighbour a of q iff a is
nearest to the middle c of the bucket too.  For N uniform points on (0, 1), and u ≤ v,

    P(u and v have one nearest neighbour) = N ∫₀¹ (1 − |A_x ∪ B_x|)^{N−1} dx,

with A_x and B_x the places of (0, 1) nearer to u, and to v, than x is: each of the N points is the
common neighbour, at x, iff no other point is there, and two points are not both.  The
union is an interval, from min(x, 2u − x) to max(x, 2v − x) for x between or beside them, cut off at
0 and 1.  Its length is linear between 0, u, v, 1, 2u and 2v − 1, so ⌈N/2⌉ nodes of Gauss in each
piece give the integral up to rounding.

For T → ∞ at fixed N the probability tends to 1.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory import machine
from theory.kinds import Count, InputError, Reals, Within, checked
from theory.structures.points import End, NumberArray, Points, Queries, Size, check_range

GRID = 2**10  # middles of queries, in all buckets together, at least
Integrated: TypeAlias = Annotated[Count, Within(most=1024)]
"""An integer from 1 to 1024: points, or cells, over which is integrated."""
Places: TypeAlias = Annotated[Any, Reals("...", Within(least=0, most=1))]
"""Numbers from 0 to 1, of any shape."""


@checked
def bucket_of(queries: NumberArray, cells: Size, low: End, high: End) -> np.ndarray:
    """⌊T(q − low)/(high − low)⌋ of queries (…,), T = `cells`, and T − 1 of q = high.

    Raises ValueError unless low < high, and for a query outside of the range.
    """
    check_range(low, high)
    if not ((queries >= low) & (queries <= high)).all():
        raise InputError(f"queries are not all from {low:g} to {high:g}: give the range of them")
    bucket = np.floor(cells * (queries - low) / (high - low))
    return np.asarray(np.minimum(bucket, cells - 1), dtype=np.int64)


@checked
def table_of(points: Points, cells: Size, low: End, high: End) -> np.ndarray:
    """The cell that each of T = `cells` extra cells names, for ascending points (…, N), (…, T): of
    two points as near to the middle, the first.

    Raises ValueError unless low < high, and for what no memory holds.
    """
    x, T = points, cells
    machine.fits_in_memory(
        f"{T:.3g} cells beside {x.size} points", 24 * T * x.size, "take fewer cells"
    )
    check_range(low, high)
    middle = _middles(np.arange(T), T, low, high)
    return abs(2 * T * x[..., None, :] - middle[:, None]).argmin(-1)


def _middles(bucket: np.ndarray, T: int, low: Any, high: Any) -> np.ndarray:
    """2T times the middles of buckets, so that integers are compared exactly."""
    return np.asarray(2 * T * low + (2 * bucket + 1) * (high - low))


@checked
def table_lookup(points: Points, queries: Queries, cells: Size, low: End, high: End) -> np.ndarray:
    """The cell (…, m) at which the second lookup is, for ascending points (…, N) and queries
    (…, m).

    Raises ValueError as `bucket_of`.
    """
    middle = _middles(bucket_of(queries, cells, low, high), cells, low, high)
    return abs(2 * cells * points[..., None, :] - middle[..., None]).argmin(-1)


@checked
def table_accuracy(N: Integrated, cells: Integrated) -> float:
    """The fraction of uniform queries whose nearest of N uniform points T = `cells` cells name.

    The mean over the query is that over the middles of at least `GRID` places.
    """
    return _accuracy(N, cells)


@cache
def _accuracy(n: int, T: int) -> float:
    per = -(-GRID // T)
    q = (np.arange(per * T) + 0.5) / (per * T)
    middle = (np.floor(T * q) + 0.5) / T
    return float(share_a_neighbour(n, np.minimum(q, middle), np.maximum(q, middle)).mean())


@checked
def share_a_neighbour(N: Integrated, u: Places, v: Places) -> np.ndarray:
    """P(u and v have one nearest neighbour) among N uniform points on (0, 1), (…,), u ≤ v.

    Raises ValueError for other u and v.
    """
    a, b = u, v
    if (a > b).any():
        raise InputError("u and v are not u ≤ v everywhere: give them in ascending order")
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
