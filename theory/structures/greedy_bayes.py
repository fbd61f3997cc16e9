"""The distribution of the nearest neighbour among uniform points, given the query.

Let n points be uniform on (0, 1) and independent, and let u be a query.  The j-th point in order is
the nearest neighbour at distance t if j − 1 points are below u − t and n − j points above u + t.
So its probability is

    p_j(u) = 2n·C(n − 1, j − 1) ∫₀^s (u − t)^{j−1} (1 − u − t)^{n−j} dt,     s = min(u, 1 − u),

where the factor 2 accounts for a nearest neighbour below or above u.  If the ends 0 and 1 are
points too, this is the full probability, because beyond the distance s an end is nearer.  If the
ends are not points, (1 − 2u)^n is added to the first point for u < ½, and (2u − 1)^n to the last
point for u > ½.  The integrand is a polynomial of degree n − 1 without negative terms, so Gauss
quadrature with ⌈n/2⌉ nodes is exact up to rounding.

If cells are chosen from the query q only, they contain the nearest neighbour with probability E_q Σ
p_j(q), the sum over the chosen ranks j.  It is maximal for the most probable ranks.

best_fixed      the accuracy of the i most probable ranks given q, which is the maximum for i
                lookups that are chosen at once
greedy_bayes    the strategy that looks up the most probable cell inside the bracket, given the ends
                of the bracket; the query's place between the ends is rounded to a grid of `GRID`
                places
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Annotated, TypeAlias

import numpy as np
import scipy  # its submodules are loaded when they are used

from theory.kinds import Count, InputError, Within, checked
from theory.structures.bucket_table import Places
from theory.structures.lookup import LookupCount, Lookups, Strategy
from theory.structures.points import End, NumberArray, check_range

GRID = 2**11
PointCount: TypeAlias = Annotated[Count, Within(most=128)]
"""An integer from 1 to 128."""


@checked
def nearest_probabilities(
    n_points: PointCount, u: Places, *, left: bool = False, right: bool = False
) -> np.ndarray:
    """The probability that the j-th smallest of n uniform points is nearest to the query, (…, n).

    The last axis is j = 1 … n.  The n = `n_points` points are independent and uniform on (0, 1),
    and the queries `u` (…,) are in [0, 1].  If `left` is true, the end 0 is a further point, which
    can be nearer than the n points.  If `right` is true, the end 1 is a further point too.
    """
    return _with_ends(_between_points(n_points, u), u, left, right)


def _between_points(n: int, u: np.ndarray) -> np.ndarray:
    """The probabilities if both ends are points: the integrals p_j(u)."""
    nodes, weights = np.polynomial.legendre.leggauss((n + 1) // 2)
    s = np.minimum(u, 1 - u)[..., None]
    t, place = (s * (nodes + 1) / 2)[..., None], u[..., None, None]  # (…, nodes, 1)
    j = np.arange(1, n + 1)
    inside = (place - t) ** (j - 1) * (1 - place - t) ** (n - j)
    summed = ((s * weights / 2)[..., None] * inside).sum(-2)
    return np.asarray(2 * n * scipy.special.comb(n - 1, j - 1) * summed)


def _with_ends(probabilities: np.ndarray, u: np.ndarray, left: bool, right: bool) -> np.ndarray:
    added, n = probabilities.copy(), probabilities.shape[-1]
    if not left:
        added[..., 0] += np.maximum(0, 1 - 2 * u) ** n
    if not right:
        added[..., -1] += np.maximum(0, 2 * u - 1) ** n
    return added


@checked
def best_fixed(n_points: PointCount, lookups: LookupCount) -> np.ndarray:
    """The largest probability of finding the nearest neighbour by i lookups chosen at once, (M,).

    Entry i − 1 is the probability for i lookups, i = 1 … M = `lookups`.  The `n_points` points and
    the query are independent and uniform on (0, 1).  A lookup reads the point of one rank, that is,
    of one place in ascending order.  The ranks are chosen from the query only, before any lookup,
    so the best choice is the i most probable ranks of the nearest neighbour given the query.  The
    mean over the query is computed over the midpoints of 2048 equal intervals.
    """
    probabilities = np.sort(nearest_probabilities(n_points, _middles()), axis=-1)[:, ::-1]
    return np.minimum(1.0, np.cumsum(probabilities, axis=-1).mean(axis=0))[
        np.minimum(np.arange(lookups), n_points - 1)
    ]


@checked
def first_interpolated(n_points: PointCount) -> float:
    """The probability that the first lookup of interpolation search finds the nearest neighbour.

    The `n_points` points and the query are independent and uniform on (0, 1).  The first lookup is
    at the place that the query would have if the points were evenly spaced.  The mean over the
    query is computed over the midpoints of 2048 equal intervals.
    """
    u = _middles()
    rank = np.clip(np.floor((n_points + 1) * u + 0.5), 1, n_points).astype(np.int64) - 1
    return float(
        np.take_along_axis(nearest_probabilities(n_points, u), rank[:, None], axis=-1).mean()
    )


@checked
def greedy_bayes(low: End, high: End) -> Strategy:
    """The strategy that always looks up the cell that most probably contains the nearest neighbour.

    The points are uniform between low and high, and are in cells in ascending order.  The
    probabilities are conditional on two values: the nearest values below and above the query that
    earlier lookups have read, or low and high if there are none.  Only cells between these two
    values are looked up.  The strategy is a function that `looked_at` accepts: it takes queries and
    the number of cells, and returns a generator of the cells to look up.  Raises ValueError if
    low ≥ high.  The strategy raises ValueError for more than 128 cells, or for a query outside the
    range.
    """
    check_range(low, high)

    @checked
    def strategy(q: NumberArray, N: PointCount) -> Lookups:
        if q.size and not low <= q.min() <= q.max() <= high:
            raise InputError(
                f"queries are from {q.min():g} to {q.max():g}, "
                f"but the range is {low:g} to {high:g}: "
                "give bounds low and high that enclose all points and queries"
            )
        table = _likeliest(N)
        lo, hi = np.full(q.shape, -1), np.full(q.shape, N)
        v_lo, v_hi = np.full(q.shape, float(low)), np.full(q.shape, float(high))
        while True:
            width = v_hi / 2 - v_lo / 2  # a difference of halves does not overflow
            width[width == 0] = 1  # the end of the range is a point and the query
            place = np.minimum((GRID * ((q / 2 - v_lo / 2) / width)).astype(np.int64), GRID - 1)
            inside = table[hi - lo - 1, (lo >= 0).astype(int), (hi < N).astype(int), place]
            cell = np.maximum(lo + inside, 0)
            value = yield cell
            right = value <= q
            lo, v_lo = np.where(right, cell, lo), np.where(right, value, v_lo)
            hi, v_hi = np.where(right, hi, cell), np.where(right, v_hi, value)

    return strategy


@checked
def likeliest(n_points: PointCount) -> np.ndarray:
    """A table of the most probable rank of the nearest neighbour, (N + 1, 2, 2, 2048).

    N is `n_points`.  The table is for n uniform points between two ends, and a query between these
    ends.  The first axis is the number n = 0 … N of points between the ends.  The index of the
    second axis is 1 if the left end is a point too, and 0 otherwise; the third axis is the same for
    the right end.  The last axis is the place of the query, in 2048 equal intervals between the
    ends.  Rank 1 is the lowest of the n points, and the entry for n = 0 is 0.
    """
    return _likeliest(n_points).copy()  # the table is kept for later calls


@cache
def _likeliest(N: int) -> np.ndarray:
    table, u = np.zeros((N + 1, 2, 2, GRID), dtype=np.int64), _middles()
    for n in range(1, N + 1):
        between = _between_points(n, u)
        for left, right in product((False, True), repeat=2):
            table[n, int(left), int(right)] = _with_ends(between, u, left, right).argmax(-1) + 1
    return table


def _middles() -> np.ndarray:
    return (np.arange(GRID) + 0.5) / GRID
