"""Information in values beyond their order: on hard points a lookup reveals where branches part.

The N = 2^L − 1 nodes of a balanced tree are in order in N cells.  The query q is near a target t,
and the cell c that is looked up contains another node, with value v.  Let the lowest common
ancestor of c and t be at depth k.  Then q − v has three parts: one independent U(0, a^{L−k−1}), or
the sum of two of these, with the sign of the side of t; at most 2L steps of size at most
a^{L−k−2}; and the noise N(0, 1).  With probability → 1 as a → ∞ the first part exceeds
a^{L−k−3/2}, which is more than twice the sum of the other parts (for the noise because k ≤ L − 2).
So the sign of q − v is the side of t.  The depth k is determined by
a^{L−k−3/2}/2 < |q − v| < 3a^{L−k−1}, as these intervals are disjoint for large a; if c is t,
|q − v| is below all intervals.  Then the order of the cells is the order of the tree, and the
nearest point is t.  So in the limit a lookup reveals k and the side of t; the remaining targets
are the nodes below the ancestor on this side, and the ancestor.

The maximum number of targets found is computed over all strategies of such lookups: a lookup at c
finds c if c is in the set S of remaining targets, and splits the other targets by the outcome.
Strategies attain these maxima in the limit.  They are not upper bounds, because values can reveal
more.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated

from theory.kinds import Count, InputError, Steps, Within, checked

MOST = 4  # largest number of levels for which all strategies are enumerated


@checked
def parting(
    cell: Steps, target: Steps, levels: Annotated[Count, Within(most=60)]
) -> tuple[int, int]:
    """The side, −1 or 1, of the target, and the depth of the lowest common ancestor of two cells.

    There are 2^levels − 1 cells.  The result is (0, depth of the cell) if the two cells are equal.
    Raises ValueError for numbers that are not cells.
    """
    N, c, t = 2**levels - 1, cell, target
    if max(c, t) >= N:
        raise InputError(f"cell is {c} and target is {t}: give cells from 0 to {N - 1}")
    lo, hi, depth = -1, N, 0
    while True:
        middle = (lo + hi) // 2
        if min(c, t) <= middle <= max(c, t):
            return (t > c) - (t < c), depth
        lo, hi, depth = (middle, hi, depth + 1) if c > middle else (lo, middle, depth + 1)


@checked
def most_by_branches(levels: Annotated[Count, Within(most=MOST)], lookups: Steps) -> int:
    """The maximum number of 2^levels − 1 targets found by lookups that reveal where branches part.

    The maximum is over all strategies of M = `lookups` lookups."""
    cells = range(2**levels - 1)

    @cache
    def most(left: frozenset[int], more: int) -> int:
        if not more or not left:
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
