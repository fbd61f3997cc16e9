"""Binary search: each lookup is at the middle of the bracket.

Cells 0 … N − 1 contain ascending points x_0 < … < x_{N−1}, and q is the query.  The bracket
consists of the cells after lo and before hi.  Initially lo = −1 and hi = N, so that the bracket
contains all cells.  The lookup is at m = ⌊(lo + hi)/2⌋; then lo becomes m if x_m ≤ q, and hi
becomes m otherwise.  If the bracket is empty, cell lo is looked up again, or cell 0 if lo = −1.

For N = 2^M − 1 the first lookup is at m = (N − 1)/2, and after lookup k = 0, 1, … the cell is moved
by m ← m + (2[x_m ≤ q] − 1)·2^{M−2−k}.  After M lookups m + ½ is the number of points ≤ q.

For uniform points and queries the accuracy is known exactly.  The two points next to q are always
among the cells looked up, because in the search tree both are ancestors of the gap that contains q.
So for every q the nearest neighbour is found within i lookups iff its depth in the tree is at most
i, where the root has depth 1.  A point other than the first and the last is the nearest neighbour
with probability 1/(N + 1), half of the expected length of its two adjacent spacings.  The first and
the last point have probability 3/(2(N + 1)), because the whole outer spacing counts.  The accuracy
after i lookups is the sum of these probabilities over the cells of depth at most i.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, TypeAlias

import numpy as np

from theory.kinds import Count, Within, checked
from theory.structures.lookup import LookupCount, Lookups
from theory.structures.points import NumberArray, Size

CellCount: TypeAlias = Annotated[Count, Within(most=10**6)]
"""An integer from 1 to 10^6."""


@checked
def binary_search(queries: NumberArray, n_points: Size) -> Lookups:
    """A generator that yields, for each query, the cell that binary search looks up next.

    The N = `n_points` points are in cells 0 … N − 1 in ascending order, and `queries` has any shape
    (…,).  The generator yields an array (…,) of cells, one for each query.  The caller then sends
    it the values in these cells, an array (…,), and receives the next cells.  The function can be
    given to `looked_at` as a strategy.
    """
    lo, hi = np.full(queries.shape, -1), np.full(queries.shape, n_points)
    while True:
        cell = np.maximum((lo + hi) // 2, 0)
        right = (yield cell) <= queries
        lo, hi = np.where(right, np.maximum(cell, lo), lo), np.where(right, hi, cell)


@checked
def depths(n_points: CellCount) -> np.ndarray:
    """The number of the lookup at which binary search reaches each cell, (N,) for N = `n_points`.

    The number is the depth of the cell in the tree of binary search.  The cell that is looked up
    first is the root of the tree and has depth 1.
    """
    at, brackets, depth = np.zeros(n_points, dtype=np.int64), [(-1, n_points)], 0
    while brackets:
        depth, deeper = depth + 1, []
        for lo, hi in brackets:
            if hi - lo > 1:
                middle = (lo + hi) // 2
                at[middle] = depth
                deeper += [(lo, middle), (middle, hi)]
        brackets = deeper
    return at


@checked
def binary_accuracy(n_points: CellCount, lookups: LookupCount) -> list[Fraction]:
    """The exact probability that binary search has found the nearest neighbour after each lookup.

    The result is a list of `lookups` fractions: entry i − 1 is the probability after i lookups.
    The `n_points` points and the query are independent and uniform on one interval.  The points are
    in cells in ascending order.  A lookup finds the nearest neighbour if it reads the cell of the
    point that is nearest to the query.
    """
    depth = depths(n_points)
    ends = np.ones(n_points, dtype=np.int64)
    ends[0] += 1
    ends[-1] += 1  # a single point is the first and the last
    places = np.bincount(depth, weights=1 + ends, minlength=lookups + 1).cumsum()
    return [Fraction(int(places[i]), 2 * (n_points + 1)) for i in range(1, lookups + 1)]
