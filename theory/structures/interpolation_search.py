"""Interpolation search: a lookup at the query's place if the bracket's points were evenly spaced.

N ascending points between low and high are in cells, which are counted from 1 here, and q is the
query.  Initially lo = 0 and hi = N + 1 are the ends of the range, with values v_lo = low and
v_hi = high.  With W = v_hi − v_lo the query's place is C/W, where

    C = (q − v_lo)(hi − lo) + lo·W.

The place is clipped to the remaining cells lo + 1 … hi − 1, which gives T/W with

    T = (lo + 1)W + max(0, C − (lo + 1)W) − max(0, C − (hi − 1)W),

and the lookup is at the integer nearest to T/W; of two equally near integers, at the larger.  No
division is needed, because this integer is the a from 1 to N that maximises 2aT − a²W.  Then lo
becomes a if the value of cell a is ≤ q, and hi becomes a otherwise.  If no cell remains, T/W is
between lo and hi, and one of these two cells is looked up again; the nearest neighbour is one of
the two.

The first lookup, at the integer nearest to (N + 1)(q − low)/(high − low), is nearly optimal on
uniform points (`greedy_bayes.py`).
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import InputError, Numbers, StepsArray, checked
from theory.structures.lookup import Lookups, Strategy
from theory.structures.points import End, NumberArray, Size, check_range

Broadcast: TypeAlias = Annotated[Any, Numbers("+...")]
"""Finite numbers that broadcast with the other arguments."""


@checked
def interpolation_search(low: End, high: End) -> Strategy:
    """The strategy of interpolation search, for ascending points between low and high.

    The strategy is a function that `looked_at` accepts: it takes queries and the number of cells,
    and returns a generator of the cells to look up.  It looks up the place of the query under the
    assumption that the points not yet excluded are evenly spaced.  If points, queries, low and high
    are integers, all comparisons are exact.  Raises ValueError if low ≥ high.  The strategy raises
    ValueError for a query outside the range.
    """
    check_range(low, high)

    @checked
    def strategy(q: NumberArray, N: Size) -> Lookups:
        if q.size and not low <= q.min() <= q.max() <= high:
            raise InputError(
                f"queries are from {q.min():g} to {q.max():g}, "
                f"but the range is {low:g} to {high:g}: "
                "give bounds low and high that enclose all points and queries"
            )
        lo, hi = np.zeros(q.shape, dtype=np.int64), np.full(q.shape, N + 1)
        v_lo, v_hi = (np.full(q.shape, end, dtype=np.result_type(end, q)) for end in (low, high))
        while True:
            cell = np.clip(next_interpolated(q, lo, hi, v_lo, v_hi), 1, N)
            value = yield cell - 1
            right = value <= q
            lo, v_lo = np.where(right, cell, lo), np.where(right, value, v_lo)
            hi, v_hi = np.where(right, hi, cell), np.where(right, v_hi, value)

    return strategy


@checked
def interpolated(
    q: Broadcast, lo: StepsArray, hi: StepsArray, v_lo: Broadcast, v_hi: Broadcast
) -> np.ndarray:
    """The cell that interpolation search looks up next for a query q, (…,).

    All arguments broadcast to the shape (…,).  Earlier lookups have shown that the value v_lo of
    cell lo and the value v_hi of cell hi enclose q.  If the values in the cells between lo and hi
    were evenly spaced, the place of q would be lo + (hi − lo)(q − v_lo)/(v_hi − v_lo).  The result
    is the integer among lo + 1 … hi − 1 that is nearest to this place.  If hi − lo < 2, there is no
    such integer, and the result is lo or hi.  Raises ValueError if lo > hi or v_lo ≥ v_hi.
    """
    if not (lo <= hi).all():
        raise InputError("lo is above hi: give ends of the bracket with lo ≤ hi")
    if not (v_hi > v_lo).all():
        raise InputError("v_lo is not below v_hi: give ends of the bracket with v_lo < v_hi")
    return next_interpolated(q, lo, hi, v_lo, v_hi)


def next_interpolated(
    at: np.ndarray, first: np.ndarray, last: np.ndarray, below: np.ndarray, above: np.ndarray
) -> np.ndarray:
    """The result of `interpolated`; an end of the range may also be a point and the query."""
    whole = [each.dtype.kind == "i" for each in (at, below, above)]
    if all(whole) and at.size:
        widest = max(int(above.max()), int(at.max())) - min(int(below.min()), int(at.min()))
        if 4 * widest * (int(last.max()) + 1) >= 2**63:  # beyond int64: integers of Python
            at, below, above = (each.astype(object) for each in (at, below, above))
            first, last = first.astype(object), last.astype(object)
    elif at.size:  # floats near 1, of which no product overflows
        _, power = np.frexp(np.maximum(np.maximum(abs(at), abs(below)), abs(above)))
        at, below, above = (np.ldexp(each, -power) for each in (at, below, above))
    W = above - below
    W = W + (W == 0)  # 0 if the last point is the end of the range: no cell remains
    C = (at - below) * (last - first) + first * W
    least, most = (first + 1) * W, (last - 1) * W
    kind = object if at.dtype == object else None  # numbers are no arrays
    above_least, above_most = (np.asarray(C - end, dtype=kind) for end in (least, most))
    T = least + np.maximum(0, above_least) - np.maximum(0, above_most)
    return np.asarray((2 * T + W) // (2 * W)).astype(np.int64)
