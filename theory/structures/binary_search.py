"""Binary search: each lookup is at the middle of the bracket.

The bracket consists of the cells after lo and before hi, initially all cells (lo = −1, hi = N).
The lookup is at m = ⌊(lo + hi)/2⌋; then lo becomes m if x_m ≤ q, and hi becomes m otherwise.  If
the bracket is empty, the lookup is at lo again, or at cell 0.

For N = 2^M − 1 the lookups start at m = (N − 1)/2 and move by m ← m + (2[x_m ≤ q] − 1)·2^{M−2−k},
k = 0, 1, ….  After M steps m + ½ is the number of points ≤ q.

On uniform points the accuracy is known exactly.  The two points next to q are always among the
cells looked up, because they are ancestors of a gap in a search tree.  So for every q the nearest
neighbour a is found after i lookups iff the depth of a, counted from 1, is at most i.  An inner
point is the nearest neighbour with probability 1/(N + 1), half of the expected length of its two
adjacent spacings.  The first and the last point have probability 3/(2(N + 1)), because the whole
outer spacing counts.  The accuracy is the sum of these probabilities over the cells of depth at
most i.
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
    """Binary search as a strategy (`lookup.py`): yields cells (…,) for queries (…,) in N cells."""
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
    """The exact accuracy by lookup of binary search, for N uniform points and a uniform query."""
    depth = depths(n_points)
    ends = np.ones(n_points, dtype=np.int64)
    ends[0] += 1
    ends[-1] += 1  # a single point is the first and the last
    places = np.bincount(depth, weights=1 + ends, minlength=lookups + 1).cumsum()
    return [Fraction(int(places[i]), 2 * (n_points + 1)) for i in range(1, lookups + 1)]
