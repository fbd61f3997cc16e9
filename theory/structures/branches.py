"""Information in values beyond their order: on the hard distribution, where branches part.

The nodes of a balanced tree of N = 2^L − 1 are in order in N cells.  The query q is near a target
t, and the cell c looked up contains another node, of value v.  Let their lowest common ancestor be
at depth k.  Then q − v is one independent U(0, a^{L−k−1}), or the sum of two, with the sign of the
side of t, plus at most 2L steps of size at most a^{L−k−2} and the noise N(0, 1).  With probability
→ 1 as a → ∞ the first part is above a^{L−k−3/2}, which exceeds twice the others, including the
noise as k ≤ L − 2: so the sign is the side, and a^{L−k−3/2}/2 < |q − v| < 3a^{L−k−1} determines k,
as these intervals are disjoint for large a, and |q − v| is below them if c is t.  The order of the
cells is then that of the tree, and the nearest point is t.  So in the limit a lookup reveals k and
the side of t, and the remaining targets are those below the ancestor on that side, or the ancestor.

The most targets that strategies of such lookups find are computed over all strategies: a lookup at
c finds c if it is in the set S of remaining targets, and splits the others by its outcome.  Values
reveal more, so these maxima are attained in the limit, but need not be the largest.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated

from theory.kinds import Count, InputError, Steps, Within, checked

MOST = 4  # levels for which all strategies are enumerated


@checked
def parting(
    cell: Steps, target: Steps, levels: Annotated[Count, Within(most=60)]
) -> tuple[int, int]:
    """The side, −1 or 1, of the target, and the depth of the lowest common ancestor of two cells.

    The cells are of 2^levels − 1; the result is (0, depth of the cell) if they are equal.  Raises
    ValueError for numbers that are not cells.
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

    Computed for M = `lookups` lookups over all strategies."""
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
