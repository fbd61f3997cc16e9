"""Named families of graphs, all with loops (see `adjacency`).

    path(n)        0 – 1 – … – n−1: one component of diameter n − 1
    clique(n)      the complete graph
    cycles(a, b…)  the disjoint union of cycles of a, b, … nodes
    two_chain(n)   two disjoint paths, of ⌊n/2⌋ and ⌈n/2⌉ nodes
    two_clique(n)  two disjoint complete graphs, of ⌊n/2⌋ and ⌈n/2⌉ nodes

The last two are 2Chain and 2Clique of [Ye2026].
"""

from __future__ import annotations

import numpy as np

from theory import machine
from theory.graphs.adjacency import NodeGraphs, from_edges
from theory.kinds import Count, CountFrom2, InputError, checked, read, shown


@checked
def path(n_nodes: Count) -> np.ndarray:
    """The adjacency matrix (n, n) of the path 0 – 1 – … – n−1 of n = `n_nodes` nodes.

    The matrix has ones on the diagonal.
    """
    _fits(n_nodes)
    return from_edges(np.stack([np.arange(n_nodes - 1), np.arange(1, n_nodes)], axis=1), n_nodes)


@checked
def clique(n_nodes: Count) -> np.ndarray:
    """The adjacency matrix (n, n) of the complete graph of n = `n_nodes` nodes: all ones."""
    _fits(n_nodes)
    return np.ones((n_nodes, n_nodes), dtype=np.int64)


def cycles(*sizes: int) -> np.ndarray:
    """The adjacency matrix of a disjoint union of cycles, one cycle of each of the given sizes.

    The matrix has ones on the diagonal. A size is a number of nodes, at least 3. Raises
    `ValueError` if (a) no size is given, or (b) a size is below 3.
    """
    lengths = [read(Count, "a cycle's size", size, least=3) for size in sizes]
    if not lengths:
        raise InputError("no size is given: give the number of nodes of at least one cycle")
    _fits(sum(lengths))
    return side_by_side(*(_cycle(m) for m in lengths))


def _cycle(m: int) -> np.ndarray:
    nodes = np.arange(m)
    return from_edges(np.stack([nodes, (nodes + 1) % m], axis=1), m)


@checked
def two_chain(n_nodes: CountFrom2) -> np.ndarray:
    """The adjacency matrix (n, n) of two disjoint paths of ⌊n/2⌋ and ⌈n/2⌉ nodes.

    Here n = `n_nodes`. The matrix has ones on the diagonal. The graph is called 2Chain in [Ye2026].
    """
    _fits(n_nodes)
    return side_by_side(path(n_nodes // 2), path(n_nodes - n_nodes // 2))


@checked
def two_clique(n_nodes: CountFrom2) -> np.ndarray:
    """The adjacency matrix (n, n) of two disjoint cliques of ⌊n/2⌋ and ⌈n/2⌉ nodes.

    Here n = `n_nodes`. The matrix has ones on the diagonal. The graph is called 2Clique in
    [Ye2026].
    """
    _fits(n_nodes)
    return side_by_side(clique(n_nodes // 2), clique(n_nodes - n_nodes // 2))


def side_by_side(*graphs: np.ndarray) -> np.ndarray:
    """The adjacency matrix of the disjoint union of graphs, each given by its adjacency matrix.

    Raises `ValueError` if (a) there is no argument, or (b) an argument is not a single graph (n,
    n).
    """
    each = [read(NodeGraphs, f"graphs[{i}]", A) for i, A in enumerate(graphs)]
    if not each or any(A.ndim != 2 for A in each):
        shapes = [A.shape for A in each]
        raise InputError(
            f"graphs have shapes {shapes}: give at least one graph, each of shape (n, n)"
        )
    n = sum(map(len, each))
    whole, at = np.zeros((n, n), dtype=np.int64), 0
    for A in each:
        whole[at : at + len(A), at : at + len(A)] = A
        at += len(A)
    return whole


def _fits(n: int) -> None:
    machine.fits_in_memory(f"the adjacency of {shown(n)} nodes", 24 * n * n, "give fewer nodes")
