"""Binary search: each lookup is at the middle of the bracket.

The bracket is the cells after lo and before hi, at first all of them (lo = −1, hi = N); the lookup
is at m = ⌊(lo + hi)/2⌋, and m becomes lo if x_m ≤ q and hi otherwise.  With an empty bracket the
lookup is at lo again, or at cell 0.

For N = 2^M − 1 it is m ← m + (2[x_m ≤ q] − 1)·2^{M−2−k} from m = (N − 1)/2, k = 0, 1, …: after M
steps m + ½ is the number of points ≤ q.

On uniform points its accuracy is known exactly.  The two points next to q are always among the
cells looked up, as ancestors of a gap in a search tree; so the nearest neighbour a is found
after i lookups iff the depth of a, from 1, is at most i, for every q.  A point is the nearest
neighbour with probability 1/(N + 1), the expected halves of the two spacings beside it, and 3/2 of
that at both ends, where the whole outer spacing counts.  The sum over the cells of depth at most i
is the accuracy.
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
    """The strategy: yields cells (…,) for queries (…,) in N = `n_points` cells, see `lookup.py`."""
    lo, hi = np.full(queries.shape, -1), np.full(queries.shape, n_points)
    while True:
        cell = np.maximum((lo + hi) // 2, 0)
        right = (yield cell) <= queries
        lo, hi = np.where(right, np.maximum(cell, lo), lo), np.where(right, hi, cell)


@checked
def depths(n_points: CellCount) -> np.ndarray:
    """The depth, from 1, of each of N = `n_points` cells in the tree of binary search, (N,)."""
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
    """The exact accuracy by lookup of binary search, N uniform points and a uniform query."""
    depth = depths(n_points)
    ends = np.ones(n_points, dtype=np.int64)
    ends[0] += 1
    ends[-1] += 1  # twice, where there is one point
    places = np.bincount(depth, weights=1 + ends, minlength=lookups + 1).cumsum()
    return [Fraction(int(places[i]), 2 * (n_points + 1)) for i in range(1, lookups + 1)]
