"""Binary search: the middle of the bracket, again and again.

The bracket are the cells after lo and before hi, at first all of them (lo = −1, hi = N); the lookup
is at m = ⌊(lo + hi)/2⌋, and m becomes lo if x_m ≤ q and hi otherwise.  An empty bracket looks at lo
again, or at cell 0.

For N = 2^M − 1 it is m ← m + (2[x_m ≤ q] − 1)·2^{M−2−k} from m = (N − 1)/2, k = 0, 1, …: after M
steps m + ½ is the number of points ≤ q.

On uniform points it has an accuracy that is known exactly.  The two points next to q are always
among the cells on its way, as the ancestors of a gap in a search tree; so the nearest neighbour a
is found after i lookups iff the depth of a, from 1, is at most i, whatever q.  A point is the
nearest neighbour with probability 1/(N + 1), half of the two spacings beside it, and 3/2 of that at
both ends.
"""

from fractions import Fraction

import numpy as np

from theory import checks
from theory.checks import InputError
from theory.structures.lookup import Lookups

MOST_LISTED = 10**6


def binary_search(q: np.ndarray, N: int) -> Lookups:
    """The strategy: cells (…,) for queries (…,) in N cells, see `lookup.py`."""
    lo, hi = np.full(q.shape, -1), np.full(q.shape, N)
    while True:
        cell = np.maximum((lo + hi) // 2, 0)
        right = (yield cell) <= q
        lo, hi = np.where(right, np.maximum(cell, lo), lo), np.where(right, hi, cell)


def depths(N: int) -> np.ndarray:
    """The lookup, from 1, at which each of N cells is looked at when it is on the way, (N,).

    Raises ValueError for N < 1 or above a million.
    """
    if checks.dimension("N", N) > MOST_LISTED:
        raise InputError(f"N is {N}: give at most {MOST_LISTED} cells")
    at, brackets, depth = np.zeros(N, dtype=np.int64), [(-1, N)], 0
    while brackets:
        depth, deeper = depth + 1, []
        for lo, hi in brackets:
            if hi - lo > 1:
                middle = (lo + hi) // 2
                at[middle] = depth
                deeper += [(lo, middle), (middle, hi)]
        brackets = deeper
    return at


def binary_accuracy(N: int, lookups: int) -> list[Fraction]:
    """Its accuracy by lookup on N uniform points and a uniform query, exactly.

    Raises ValueError for counts below 1, or N above a million.
    """
    depth, M = depths(N), checks.dimension("lookups", lookups)
    ends = np.ones(N, dtype=np.int64)
    ends[0] += 1
    ends[-1] += 1  # twice, where there is one point
    shares = [Fraction(int((1 + ends)[depth <= i].sum()), 2 * (N + 1)) for i in range(1, M + 1)]
    return shares
