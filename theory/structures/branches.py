"""What values reveal beside their order: on the hard distribution, where the branches part.

The nodes of a balanced tree of N = 2^L − 1 stand in order in N cells.  The query q is near a target
t, and the cell c that is looked at holds another node, of value v.  Let their lowest common
ancestor be at depth k.  Then q − v is one independent U(0, a^{L−k−1}), or the sum of two, with the
sign of the side of t, plus at most 2L steps of size at most a^{L−k−2} and the noise N(0, 1).  With
probability → 1 as a → ∞ the first part is above a^{L−k−3/2}, which exceeds twice the others, the
noise too as k ≤ L − 2: so the sign is the side, and a^{L−k−3/2}/2 < |q − v| < 3a^{L−k−1} determines
k, as these intervals are disjoint for large a, and |q − v| is below them if c is t.  The order of
the cells is then that of the tree, and the nearest point is t.  So in the limit a lookup reveals k
and the side of t, and the targets left are those below the ancestor on that side, or the ancestor.

The most targets that strategies of such lookups find are computed by trying all: of the set S of
targets that are left, a lookup at c finds c if it is in S, and splits the others by its outcome.
Values reveal more than that, so the maxima are attained in the limit, and need not be the most.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated

from theory.kinds import Count, InputError, Steps, Within, checked

MOST = 4  # levels of which all strategies are tried


@checked
def parting(
    cell: Steps, target: Steps, levels: Annotated[Count, Within(most=60)]
) -> tuple[int, int]:
    """The side, −1 or 1, on which the target is, and the depth of the lowest common ancestor of two
    cells of 2^levels − 1; (0, depth of the cell) where they are one.

    Raises ValueError for what are no cells.
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
    """The most of 2^levels − 1 targets that M = `lookups` lookups find if each reveals where the
    branches of cell and target part, by trying all strategies.
    """
    cells = range(2**levels - 1)

    @cache
    def most(left: frozenset[int], more: int) -> int:
        if not more or not left:
            return 0
        return max(
            (c in left) + sum(most(part, more - 1) for part in parts(left, c)) for c in cells
        )

    def parts(left: frozenset[int], c: int) -> list[frozenset[int]]:
        told = dict[tuple[int, int], set[int]]()
        for t in left - {c}:
            told.setdefault(parting(c, t, levels), set()).add(t)
        return [frozenset(part) for part in told.values()]

    return most(frozenset(cells), min(lookups, 2**MOST))
