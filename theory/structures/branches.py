"""Lookups of hard points reveal the common ancestor of cell and target, not only their order.

The hard distribution with base a is defined in `points.py`.  Its N = 2^L − 1 points are the nodes
of a balanced tree, and here they are in N cells in the order of the tree.  The query q is near a
target t, and the cell c that is looked up contains another node, with value v.  Let the lowest
common ancestor of c and t be at depth k.  Then q − v is a sum of three parts.  The first part is
one independent U(0, a^{L−k−1}) variable, or the sum of two such variables, and its sign is the side
of c on which t is.  The second part consists of at most 2L steps of size at most a^{L−k−2}.  The
third part is the noise N(0, 1).  As a → ∞, the probability tends to 1 that the first part exceeds
a^{L−k−3/2}, and that this number is more than twice the sum of the other parts.  The noise is small
enough because k ≤ L − 2.  So the sign of q − v is the side of t.  The depth k is determined by
a^{L−k−3/2}/2 < |q − v| < 3a^{L−k−1}, as these intervals are disjoint for large a.  If c is t, then
|q − v| is below all these intervals.  With the same probability the order of the cells is the order
of the tree, and the point nearest to q is t.  So in the limit a lookup reveals k and the side of t,
and the remaining targets are the ancestor and the nodes below the ancestor on this side.

The maximum number of targets found is computed over all strategies of such lookups.  A lookup at c
finds c if c is in the set of remaining targets, and divides the other targets by the outcome.
Strategies attain these maxima in the limit.  The maxima are not upper bounds, because values can
reveal more.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated

from theory.kinds import Count, InputError, Steps, Within, checked, shown

MOST = 4  # largest number of levels for which all strategies are enumerated


@checked
def parting(
    cell: Steps, target: Steps, levels: Annotated[Count, Within(most=60)]
) -> tuple[int, int]:
    """The pair (side of the target, depth of the lowest common ancestor of cell and target).

    Cells 0 … 2^levels − 2 are the nodes of a balanced binary tree, numbered so that each node is
    between its left and its right subtree.  The root has depth 0.  The side is 1 if the number of
    the target is above that of the cell, and −1 if it is below.  If the cell and the target are
    equal, the result is (0, depth of the cell).  Raises ValueError for numbers that are not cells.
    """
    N, c, t = 2**levels - 1, cell, target
    if max(c, t) >= N:
        raise InputError(
            f"cell is {shown(c)} and target is {shown(t)}: give cells from 0 to {N - 1}"
        )
    lo, hi, depth = -1, N, 0
    while True:
        middle = (lo + hi) // 2
        if min(c, t) <= middle <= max(c, t):
            return (t > c) - (t < c), depth
        lo, hi, depth = (middle, hi, depth + 1) if c > middle else (lo, middle, depth + 1)


@checked
def most_by_branches(levels: Annotated[Count, Within(most=MOST)], lookups: Steps) -> int:
    """The maximum number of targets that a strategy finds if lookups reveal common ancestors.

    The 2^levels − 1 targets are the nodes of a balanced tree.  A lookup at one node reveals on
    which side of it the target is, and the depth of the lowest common ancestor of this node and the
    target.  A target is found by a lookup at the target itself.  The maximum is over all strategies
    of at most `lookups` lookups that choose each lookup from the results of the earlier lookups.
    """
    cells = range(2**levels - 1)

    @cache
    def most(left: frozenset[int], more: int) -> int:
        if not more:
            return 0
        return max(
            (c in left) + sum(most(part, more - 1) for part in parts(left, c)) for c in cells
        )

    def parts(left: frozenset[int], c: int) -> list[frozenset[int]]:
        by_outcome = dict[tuple[int, int], set[int]]()
        for t in left - {c}:
            by_outcome.setdefault(parting(c, t, levels), set()).add(t)
        return [frozenset(part) for part in by_outcome.values()]

    return most(frozenset(cells), min(lookups, 2**MOST))
