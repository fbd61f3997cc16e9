"""Graphs that connectivity is tried on, by name; all with loops, see `adjacency`.

    path(n)        0 – 1 – … – n−1: one component of diameter n − 1
    cycles(a, b…)  cycles of these many nodes, side by side
    two_chain(n)   two paths, of ⌊n/2⌋ and ⌈n/2⌉ nodes
    two_clique(n)  two complete graphs, of ⌊n/2⌋ and ⌈n/2⌉ nodes

The last two are 2Chain and 2Clique of [Ye2026].
"""

import numpy as np

from theory import checks, machine
from theory.checks import InputError
from theory.graphs.adjacency import as_adjacency, from_edges


def path(n: int) -> np.ndarray:
    """The path (n, n) through all nodes in order.  Raises `ValueError` for an n below 1."""
    n = checks.dimension("n", n)
    _fits(n)
    return from_edges(np.stack([np.arange(n - 1), np.arange(1, n)], axis=1), n)


def clique(n: int) -> np.ndarray:
    """The complete graph (n, n): all ones.  Raises `ValueError` for an n below 1."""
    n = checks.dimension("n", n)
    _fits(n)
    return np.ones((n, n), dtype=np.int64)


def cycles(*sizes: int) -> np.ndarray:
    """Cycles of these many nodes, at least 3 each, side by side.

    Raises `ValueError` for no cycle, and for one of fewer than 3 nodes.
    """
    lengths = [checks.dimension("a cycle's size", size) for size in sizes]
    if not lengths or min(lengths) < 3:
        few = f"a cycle of {min(lengths)} nodes" if lengths else "no cycle"
        raise InputError(f"{few}: give one size or more, each at least 3")
    _fits(sum(lengths))
    return side_by_side(*(_cycle(m) for m in lengths))


def _cycle(m: int) -> np.ndarray:
    nodes = np.arange(m)
    return from_edges(np.stack([nodes, (nodes + 1) % m], axis=1), m)


def two_chain(n: int) -> np.ndarray:
    """Two paths of ⌊n/2⌋ and ⌈n/2⌉ nodes, (n, n).  Raises `ValueError` for an n below 2."""
    first, second = _halves(n)
    return side_by_side(path(first), path(second))


def two_clique(n: int) -> np.ndarray:
    """Two cliques of ⌊n/2⌋ and ⌈n/2⌉ nodes, (n, n).  Raises `ValueError` for an n below 2."""
    first, second = _halves(n)
    return side_by_side(clique(first), clique(second))


def side_by_side(*graphs: np.ndarray) -> np.ndarray:
    """The graphs (n_k, n_k) as one, with no edge from one to another.

    Raises `ValueError` as `as_adjacency`, for no graph, and for several in one array.
    """
    each = [as_adjacency(A) for A in graphs]
    if not each or any(A.ndim != 2 for A in each):
        shapes = [A.shape for A in each]
        raise InputError(f"graphs have shapes {shapes}: give at least one, each (n, n)")
    n = sum(map(len, each))
    whole, at = np.zeros((n, n), dtype=np.int64), 0
    for A in each:
        whole[at : at + len(A), at : at + len(A)] = A
        at += len(A)
    return whole


def _halves(n: int) -> tuple[int, int]:
    n = checks.dimension("n", n)
    if n < 2:
        raise InputError(f"n is {n}: two components take at least 2 nodes")
    _fits(n)
    return n // 2, n - n // 2


def _fits(n: int) -> None:
    machine.fits_in_memory(f"the adjacency of {n:.4g} nodes", 16 * n * n, "give fewer nodes")
