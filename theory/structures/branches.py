"""What values reveal beside their order: on the hard distribution, where the branches part.

The nodes of a balanced tree of N = 2^L − 1 stand in order in N cells.  The query is near a target
t, and the cell c that is looked at holds another node: both hang below their lowest common
ancestor, at depth k, by ∓ U(0, a^{L−k−1}) and smaller steps.  So for a → ∞ the size of |q − v|
tells k, and its sign the side: a lookup says where the branches part.  Only what is below that
point, on the target's side, is left — or the ancestor itself, which is as far away.

The most targets that strategies reach are found by trying all of them: from the set S of targets
that are left, a lookup at c finds c if it is one, and parts the others by what it says.
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
    """The most of 2^levels − 1 targets that `lookups` lookups find that learn where branches part,
    by trying all strategies.
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
