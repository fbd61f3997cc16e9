"""Search trees for queries of unequal frequency: the treap, and the best tree.

Cells 0 … N − 1 are targets with known weights w, and a lookup reveals <, = or > (`comparisons.py`).

    treap    the root is the cell of the largest weight (of equal weights, the first), and the
             subtrees are the treaps of the cells on both sides; with predicted weights it is the
             learning-augmented tree of [Lin2022]
    best     the tree of M levels that finds the largest total weight f(0, N, M), by the recursion

                 f(lo, hi, M) = max_c w_c + f(lo, c, M − 1) + f(c + 1, hi, M − 1)

             over the root c of the tree of the cells lo … hi − 1

No strategy of comparisons finds more than the best tree.  Proof: the first lookup, at c, finds w_c
and leaves M − 1 lookups for the cells on one side of c.  A lookup outside the remaining cells finds
and reveals nothing.  So by induction on M the recursion gives the best strategy.  Levels 1 … M of
the treap are a tree of M levels.  The best tree depends on M, and the treap does not.

If all orders of distinct weights are equally likely, the distribution of levels in the treap is
known.  The treap is the binary search tree into which the cells are inserted by descending weight,
so the r-th cell is inserted at each of the r open places with probability 1/r.  Let B_r(l) be the
expected number of open places at level l before the r-th cell is inserted.  Initially there is one
open place, at level 1, and each place that is filled is replaced by two at the next level:

    B_{r+1}(l) = B_r(l) + (2B_r(l − 1) − B_r(l))/r,
    E[weight at levels up to i] = Σ_r w_(r) Σ_{l ≤ i} B_r(l)/r,        w_(1) > w_(2) > …
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import Count, InputError, Integers, Reals, Within, checked
from theory.structures.lookup import LookupCount

MOST = 256  # largest number of cells for which the best tree is computed
Weights: TypeAlias = Annotated[Any, Reals("N", Within(least=0))]
"""Numbers ≥ 0, one for each cell, shape (N,)."""


@checked
def treap_depths(weights: Weights) -> np.ndarray:
    """The level of each cell in the treap of the weights, (N,); the root has level 1.

    The treap is a search tree over N cells with the weights (N,).  Its root is the cell of the
    largest weight.  The left subtree is the treap of the cells before the root, and the right
    subtree is the treap of the cells after the root.  Of equal weights, the first counts as the
    largest.
    """
    w = weights
    depth, brackets = np.zeros(len(w), dtype=np.int64), [(0, len(w), 1)]
    while brackets:
        lo, hi, level = brackets.pop()
        if lo < hi:
            root = lo + int(w[lo:hi].argmax())
            depth[root] = level
            brackets += [(lo, root, level + 1), (root + 1, hi, level + 1)]
    return depth


@checked
def found_by_depth(
    depths: Annotated[Any, Integers("N", Within(least=0))], weights: Weights, lookups: LookupCount
) -> np.ndarray:
    """The total weight of the cells at levels 1 … i of a search tree, (M,).

    Entry i − 1 is the total for i = 1 … M = `lookups`.  This is the weight that is found within i
    lookups, because a search visits one level of the tree in each lookup.  `depths` (N,) contains
    the level of each of N cells, and `weights` (N,) contains the weight of each cell.
    """
    return np.array([weights[depths <= i].sum() for i in range(1, lookups + 1)])


@checked
def most_by_weight(weights: Weights, lookups: Annotated[Count, Within(most=MOST)]) -> np.ndarray:
    """The maximum total weight of the cells in the first i levels of a search tree, (M,).

    Entry i − 1 is the maximum for i = 1 … M = `lookups`.  The maximum is over all search trees
    whose nodes are N cells in their order, where cell c has weight `weights[c]`.  Raises ValueError
    for more than 256 weights.
    """
    w, M = weights, lookups
    N = len(w)
    if N > MOST:
        raise InputError(f"there are {N} weights: give at most {MOST} weights")
    most, found = np.zeros((N + 1, N + 1)), []
    for _ in range(M):
        deeper = np.zeros_like(most)
        for size in range(1, N + 1):
            lo = np.arange(N + 1 - size)[:, None]
            root = lo + np.arange(size)
            split = w[root] + most[lo, root] + most[root + 1, lo + size]
            deeper[lo[:, 0], lo[:, 0] + size] = split.max(axis=1)
        most = deeper
        found.append(most[0, N])
    return np.array(found)


@checked
def treap_found(weights: Weights, lookups: LookupCount) -> np.ndarray:
    """The expected total weight of the cells in the first i levels of a treap, (M,).

    Entry i − 1 is the expectation for i = 1 … M = `lookups`.  A treap is a search tree over N cells
    in which each node has the largest weight of its subtree.  The N distinct weights (N,) are
    assigned to the cells in a uniformly random order.  Raises ValueError if two weights are equal.
    """
    w, M = np.sort(weights)[::-1], lookups
    if (w[1:] == w[:-1]).any():
        raise InputError(
            "weights have equal entries: give distinct weights, so that all orders of the weights "
            "are equally likely"
        )
    open_, found = np.zeros(M), np.zeros(M)
    open_[0] = 1.0
    for r, each in enumerate(w, start=1):
        found += each * open_.cumsum() / r
        open_ += (np.append(0, 2 * open_[:-1]) - open_) / r
    return found
