"""What lookups that learn <, = or > can find: at most min(N, 2^M − 1) of N targets.

A strategy that learns from each lookup only how the target compares with the cell is a decision
tree of M levels that stops at "=".  It has 2^M − 1 nodes, and a target is found only at a node that
is its cell: so it finds at most min(N, 2^M − 1) of them, and binary search finds as many.  Cells in
another order change nothing, if the order is known.  If the target is uniform, the accuracy is at
most (2^M − 1)/N; a randomised strategy is a mixture of such trees.

For N ≥ 2^M − 1 there are C(N, 2^M − 1) best trees: a best tree finds a target at each of its nodes,
so its 2^M − 1 cells are distinct, and to be reached they have to stand in order in the perfect
tree: one tree for each set of cells.  All find 2^i − 1 targets in i lookups, and only for
N = 2^M − 1 there is one such set, and binary search is the tree.  Counted by the root: a best tree
has a cell c with best trees of M − 1 levels on both sides,

    f(N, M) = Σ_c f(c, M − 1)·f(N − 1 − c, M − 1),     f(N, 0) = 1.

Lookups chosen at once, without the outcomes of others, find at most M of N if the rank is uniform
given the query.
"""

from __future__ import annotations

from functools import cache
from math import comb
from typing import Annotated, TypeAlias

import numpy as np

from theory import machine
from theory.kinds import Count, InputError, Steps, StepsArray, Within, checked
from theory.structures.points import Size

Recursed: TypeAlias = Annotated[Steps, Within(most=200)]
"""An integer from 0 to 200: cells, or lookups, of which recursions are run."""
Depth: TypeAlias = Annotated[Count, Within(most=64)]
"""An integer from 1 to 64: lookups; below that, every cell is found."""
MOST_DIGITS = 10**5  # of nodes, or of cells that are none, of which sets are counted


@checked
def most_found(N: Count, lookups: Steps) -> int:
    """min(N, 2^M − 1) for M = `lookups`."""
    return min(N, 2 ** min(lookups, N.bit_length()) - 1)


@checked
def best_trees(N: Count, lookups: Depth) -> int:
    """C(N, 2^M − 1), the number of trees that find 2^M − 1 of N ≥ 2^M − 1 targets.

    Raises ValueError for N < 2^M − 1, where what a tree does once a target is found decides how one
    counts, and numbers of more than a million digits.
    """
    nodes = 2**lookups - 1
    if nodes > N:
        raise InputError(f"N is {N}: give at least 2^{lookups} − 1 = {nodes} cells")
    if min(nodes, N - nodes) > MOST_DIGITS:
        raise InputError(f"sets of {nodes} of {N} cells are counted: give fewer than {MOST_DIGITS}")
    return comb(N, nodes)


@checked
def decision_trees(N: Annotated[Count, Within(most=127)], lookups: Depth) -> np.ndarray:
    """All trees of M levels over N cells, (N^(2^M − 1), 2^M − 1): the children of node i, for < and
    for >, are 2i + 1 and 2i + 2.

    Raises ValueError for more trees than the memory holds.
    """
    nodes = 2**lookups - 1
    machine.fits_in_memory(
        f"all decision trees of {nodes} nodes over {N} cells",
        8 * nodes * N ** min(nodes, 64),
        "take fewer cells or lookups",
    )
    numbers = np.arange(N**nodes)
    return (numbers[:, None] // N ** np.arange(nodes) % N).astype(np.int8)


@checked
def found_at(trees: StepsArray, N: Size) -> np.ndarray:
    """The lookup, from 1, at which each of N targets is found by trees (…, 2^M − 1), and 0 where it
    is not, (…, N): by running them.

    Raises ValueError for trees of another number of nodes, of what are no cells, and for more
    targets than the memory holds.
    """
    given = trees
    nodes = given.shape[-1] if given.ndim else 0
    if nodes & (nodes + 1) or not nodes or given.max() >= N:
        raise InputError(f"trees have shape {given.shape}: give (…, 2^M − 1) cells from 0 to N − 1")
    machine.fits_in_memory(f"{N:.3g} targets", 40 * N * (given.size // nodes), "take fewer")
    at = np.zeros((*given.shape[:-1], N), dtype=np.int64)
    target, node = np.broadcast_to(np.arange(N), at.shape), np.zeros_like(at)
    for i in range(1, (nodes + 1).bit_length()):
        cell = np.take_along_axis(given, node, axis=-1)
        at[(cell == target) & (at == 0)] = i
        node = 2 * node + 1 + (target > cell)
    return at


@checked
def perfect_trees(N: Recursed, lookups: Recursed) -> int:
    """f(N, M), by the recursion over roots."""
    return _perfect(N, lookups)


@cache
def _perfect(n: int, M: int) -> int:
    if M == 0:
        return 1
    return sum(_perfect(c, M - 1) * _perfect(n - 1 - c, M - 1) for c in range(n))


@checked
def most_by_roots(N: Recursed, lookups: Recursed) -> int:
    """The most targets that a tree finds among N in a row, by the recursion over roots."""
    return _by_roots(N, lookups)


@cache
def _by_roots(n: int, M: int) -> int:
    if M == 0 or n == 0:
        return 0
    return 1 + max(_by_roots(c, M - 1) + _by_roots(n - 1 - c, M - 1) for c in range(n))
