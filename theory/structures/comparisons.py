"""What lookups that learn <, = or > can find: at most min(N, 2^M − 1) of N targets.

A strategy that learns from each lookup only how the target compares with the cell is a decision
tree of M levels that stops at "=".  It has 2^M − 1 nodes, and a target is found only at a node that
is its cell: so it finds at most min(N, 2^M − 1) of them.  Cells in another order change nothing, if
the order is known.  If the nearest neighbour's position is uniform, the accuracy is at most (2^M −
1)/N; a strategy that draws at random is a mean of such trees.

For N ≥ 2^M − 1 there are C(N, 2^M − 1) best trees: one for each set of 2^M − 1 cells, which have to
stand in order in the perfect tree.  They are all equally good after every lookup, 2^i − 1 of N:
only at N = 2^M − 1 is binary search the only one.  Counted by the root: a best tree has a cell c
with best trees of M − 1 levels on both sides,

    f(N, M) = Σ_c f(c, M − 1)·f(N − 1 − c, M − 1),     f(N, 0) = 1.

Lookups that are chosen at once, without what the others said, find at most M of N if the rank is
uniform given the query.
"""

from functools import cache
from math import comb

import numpy as np

from theory import checks, machine
from theory.checks import InputError

MOST = 200  # cells of which recursions are run
DEEPEST = 64  # lookups: below that, every cell is found
MOST_DIGITS = 10**5  # of nodes, or of cells that are none, of which sets are counted


def most_found(N: int, lookups: int) -> int:
    """min(N, 2^M − 1).  Raises ValueError for N < 1 or lookups < 0."""
    n, M = checks.dimension("N", N), checks.step_count("lookups", lookups)
    return min(n, 2 ** min(M, n.bit_length()) - 1)


def best_trees(N: int, lookups: int) -> int:
    """C(N, 2^M − 1), the number of trees that find 2^M − 1 of N ≥ 2^M − 1 targets.

    Raises ValueError for N < 2^M − 1, where what a tree does once a target is found decides how one
    counts, counts below 1, and numbers of more than a million digits.
    """
    nodes = 2 ** checks.dimension("lookups", lookups, DEEPEST) - 1
    if checks.dimension("N", N) < nodes:
        raise InputError(f"N is {N}: give at least 2^{lookups} − 1 = {nodes} cells")
    if min(nodes, N - nodes) > MOST_DIGITS:
        raise InputError(f"sets of {nodes} of {N} cells are counted: give fewer than {MOST_DIGITS}")
    return comb(N, nodes)


def decision_trees(N: int, lookups: int) -> np.ndarray:
    """All trees of M levels over N cells, (N^(2^M − 1), 2^M − 1): the children of node i, for < and
    for >, are 2i + 1 and 2i + 2.

    Raises ValueError for counts below 1, N above 127, and for more trees than the memory holds.
    """
    nodes = 2 ** checks.dimension("lookups", lookups, DEEPEST) - 1
    checks.dimension("N", N, 127)
    machine.fits_in_memory(
        f"all decision trees of {nodes} nodes over {N} cells",
        8 * nodes * N ** min(nodes, 64),
        "take fewer cells or lookups",
    )
    numbers = np.arange(N**nodes)
    return (numbers[:, None] // N ** np.arange(nodes) % N).astype(np.int8)


def found_at(trees: np.ndarray, N: int) -> np.ndarray:
    """The lookup, from 1, at which each of N targets is found by trees (…, 2^M − 1), and 0 where it
    is not, (…, N): by running them.

    Raises ValueError for trees of another number of nodes, of what are no cells, and for more
    targets than the memory holds.
    """
    given = checks.step_counts("trees", trees)
    nodes = given.shape[-1] if given.ndim else 0
    if nodes & (nodes + 1) or not nodes or given.max() >= checks.dimension("N", N):
        raise InputError(f"trees have shape {given.shape}: give (…, 2^M − 1) cells from 0 to N − 1")
    machine.fits_in_memory(f"{N:.3g} targets", 40 * N * (given.size // nodes), "take fewer")
    at = np.zeros((*given.shape[:-1], N), dtype=np.int64)
    target, node = np.broadcast_to(np.arange(N), at.shape), np.zeros_like(at)
    for i in range(1, (nodes + 1).bit_length()):
        cell = np.take_along_axis(given, node, axis=-1)
        at[(cell == target) & (at == 0)] = i
        node = 2 * node + 1 + (target > cell)
    return at


def perfect_trees(N: int, lookups: int) -> int:
    """f(N, M), by the recursion over roots.  Raises ValueError for N above 200 or counts below
    0."""
    return _perfect(checks.step_count("N", N, MOST), checks.step_count("lookups", lookups, MOST))


@cache
def _perfect(n: int, M: int) -> int:
    if M == 0:
        return 1
    return sum(_perfect(c, M - 1) * _perfect(n - 1 - c, M - 1) for c in range(n))


def most_by_roots(N: int, lookups: int) -> int:
    """The most targets that a tree finds among N in a row, by the recursion over roots; as
    `perfect_trees`."""
    return _by_roots(checks.step_count("N", N, MOST), checks.step_count("lookups", lookups, MOST))


@cache
def _by_roots(n: int, M: int) -> int:
    if M == 0 or n == 0:
        return 0
    return 1 + max(_by_roots(c, M - 1) + _by_roots(n - 1 - c, M - 1) for c in range(n))
