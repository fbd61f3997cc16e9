"""Lookups with outcomes <, = and > find at most min(N, 2^M − 1) of N targets in M lookups.

Suppose that the lookups of a strategy reveal only how the target compares with the cell.  Then the
strategy is a decision tree of M levels that stops at the outcome "=".  The tree has 2^M − 1 nodes,
and a target is found only at a node that looks up the target's cell.  So at most min(N, 2^M − 1)
targets are found, and binary search attains this maximum.  The same holds if the cells are in
another known order.  If the target is uniform, the accuracy is at most (2^M − 1)/N.  This includes
randomised strategies, which are mixtures of such trees.

For N ≥ 2^M − 1 there are C(N, 2^M − 1) best trees.  Proof: a best tree finds a target at each of
its nodes, so its 2^M − 1 cells are distinct.  They can be reached only if they are in order in the
perfect tree, so there is one tree for each set of cells.  Every best tree finds 2^i − 1 targets in
i lookups.  The best tree is unique iff N = 2^M − 1, and then it is binary search.  The number
f(N, M) of best trees also satisfies a recursion, as a best tree whose root is cell c has best trees
of M − 1 levels on both sides:

    f(N, M) = Σ_c f(c, M − 1)·f(N − 1 − c, M − 1),     f(N, 0) = 1.

Now let all M cells be chosen at once, before any lookup, and let the rank of the target be uniform
given the query.  Then the target is found with probability at most M/N.
"""

from __future__ import annotations

from functools import cache
from math import comb
from typing import Annotated, TypeAlias

import numpy as np

from theory import machine
from theory.kinds import Count, InputError, Steps, StepsArray, Within, checked, shown
from theory.structures.points import Size

Recursed: TypeAlias = Annotated[Steps, Within(most=200)]
"""An integer from 0 to 200: a number of cells, or of lookups, in a recursion."""
Depth: TypeAlias = Annotated[Count, Within(most=64)]
"""An integer from 1 to 64: a number of lookups; far fewer than 64 suffice to find all cells."""
MOST_DIGITS = 10**5  # in `best_trees`, nodes or other cells must be at most this many


@checked
def most_found(n_points: Count, lookups: Steps) -> int:
    """The maximum number min(N, 2^M − 1) of targets that M = `lookups` comparisons find.

    The targets are in N = `n_points` cells in ascending order.  A comparison of the target with a
    cell has the outcome <, = or >, and the target is found at the outcome =.
    """
    return min(n_points, 2 ** min(lookups, n_points.bit_length()) - 1)


@checked
def best_trees(n_points: Count, lookups: Depth) -> int:
    """The number C(N, 2^M − 1) of decision trees of M levels that find 2^M − 1 of N targets.

    M is `lookups`, N is `n_points`, and C(N, 2^M − 1) is the binomial coefficient.  The targets are
    in N cells in ascending order.  Each node of a tree compares the target with one cell, with
    outcome <, = or >.  A tree finds a target if it compares the target with the target's own cell.
    Raises ValueError for N < 2^M − 1, where trees can also differ in nodes that no target reaches.
    Raises ValueError if both 2^M − 1 and N − (2^M − 1) exceed 10^5, because the result would have
    too many digits.
    """
    nodes = 2**lookups - 1
    if nodes > n_points:
        raise InputError(f"n_points is {n_points}: give at least 2^{lookups} − 1 = {nodes} points")
    if min(nodes, n_points - nodes) > MOST_DIGITS:
        raise InputError(
            f"n_points is {shown(n_points)} and a tree has {nodes} nodes: the number of trees has "
            "too many digits; give fewer points or lookups"
        )
    return comb(n_points, nodes)


@checked
def decision_trees(n_points: Annotated[Count, Within(most=127)], lookups: Depth) -> np.ndarray:
    """All decision trees of M levels over N cells, an array of shape (N^(2^M − 1), 2^M − 1).

    M is `lookups` and N is `n_points`.  Each row of the array is a tree, and entry i of the row is
    the cell with which node i compares the target.  Node 0 is the root.  If the target is below the
    cell of node i, the next node is 2i + 1; if the target is above it, the next node is 2i + 2.
    Raises ValueError for arrays that do not fit in memory.
    """
    nodes = 2**lookups - 1
    machine.fits_in_memory(
        f"all decision trees of {nodes} nodes over {n_points} cells",
        20 * nodes * n_points ** min(nodes, 64),
        "take fewer cells or lookups",
    )
    numbers = np.arange(n_points**nodes)
    return (numbers[:, None] // n_points ** np.arange(nodes) % n_points).astype(np.int8)


@checked
def found_at(trees: StepsArray, n_points: Size) -> np.ndarray:
    """The number of the lookup in which a decision tree finds each target, (…, N).

    The first lookup has number 1, and a target that is never found has the entry 0.  The targets
    are the N = `n_points` cells 0 … N − 1.  A tree of M levels is given by the cells of its 2^M − 1
    nodes, as rows of `trees` (…, 2^M − 1).  Each node looks up its cell, and the target is found if
    it is this cell.  If the target is below the cell of node i, the next node is 2i + 1; if it is
    above, the next node is 2i + 2.  Raises ValueError (a) if the number of nodes is not 2^M − 1,
    (b) for nodes that are not cells, or (c) for arrays that do not fit in memory.
    """
    given = trees
    nodes = given.shape[-1] if given.ndim else 0
    if nodes & (nodes + 1) or not nodes or given.max() >= n_points:
        raise InputError(
            f"trees have shape {given.shape} and n_points is {n_points}: give trees of shape "
            f"(…, 2^M − 1) with cells from 0 to {n_points - 1}"
        )
    machine.fits_in_memory(
        f"{n_points:.3g} targets", 56 * n_points * (given.size // nodes), "give fewer targets"
    )
    at = np.zeros((*given.shape[:-1], n_points), dtype=np.int64)
    target, node = np.broadcast_to(np.arange(n_points), at.shape), np.zeros_like(at)
    for i in range(1, (nodes + 1).bit_length()):
        cell = np.take_along_axis(given, node, axis=-1)
        at[(cell == target) & (at == 0)] = i
        node = 2 * node + 1 + (target > cell)
    return at


@checked
def perfect_trees(n_points: Recursed, lookups: Recursed) -> int:
    """The number of decision trees of M levels that find 2^M − 1 of N targets, by a recursion.

    M is `lookups` and N is `n_points`.  The targets are in N cells in ascending order.  Each node
    of a tree compares the target with one cell, and finds the target if the target is in this cell.
    The recursion is over the cell at the root of a tree.  The result is 0 for N < 2^M − 1.
    """
    return _perfect(n_points, lookups)


@cache
def _perfect(n: int, M: int) -> int:
    if M == 0:
        return 1
    return sum(_perfect(c, M - 1) * _perfect(n - 1 - c, M - 1) for c in range(n))


@checked
def most_by_roots(n_points: Recursed, lookups: Recursed) -> int:
    """The maximum number of N = `n_points` targets that a decision tree of M levels finds.

    M is `lookups`.  The targets are in N cells in ascending order.  Each node of the tree compares
    the target with one cell, and finds the target if the target is in this cell.  The maximum is
    computed by a recursion over the cell at the root of the tree.
    """
    return _by_roots(n_points, lookups)


@cache
def _by_roots(n: int, M: int) -> int:
    if M == 0 or n == 0:
        return 0
    return 1 + max(_by_roots(c, M - 1) + _by_roots(n - 1 - c, M - 1) for c in range(n))
