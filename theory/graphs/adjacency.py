"""Adjacency matrices: symmetric, with entries 0 and 1 and ones on the diagonal.

Shape glossary: `…` leading dimensions, `n` nodes.  A (…, n, n) with A_ij = 1 iff i = j or ij is an
edge.  Every node has a loop, so that (A^k)_ij > 0 iff dist(i, j) ≤ k.  Without loops this fails:
between two given nodes of an even cycle all walks have lengths of the same parity.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory import machine
from theory.kinds import Array, Count, InputError, Integers, Within, array_of, checked, real

MOST_LISTED = 6  # nodes: 2^15 graphs of 6, 2^21 of 7
MOST_LABELLED = 8  # nodes: 8! orders


@dataclass(frozen=True)
class Adjacency(Array):
    """Adjacency matrices of any numeric dtype, converted to int64."""

    entries = "symmetric matrices of 0 and 1 with ones on the diagonal"

    @property
    def wrong(self) -> tuple[Any, ...]:
        right, alone = self.example, np.eye(2, dtype=np.int64)
        asymmetric, half = np.tri(2), 0.5 * alone
        return (*super().wrong, asymmetric, half, alone * 0, alone * 2, -alone, right * np.nan)

    def _entries(self, name: str, array: np.ndarray) -> np.ndarray:
        if array.dtype.kind not in "biuf":
            array = real(name, array)
        check_adjacency(array)
        return array.astype(np.int64)

    def _usual(self, shape: tuple[int, ...]) -> np.ndarray:
        return np.broadcast_to(np.eye(shape[-1], dtype=np.int64), shape)


@dataclass(frozen=True)
class Pairs(Integers):
    """Pairs of integers (m, 2), m ≥ 0, converted to int64."""

    shape: str = "m 2"
    within: Within = Within(least=0)  # noqa: RUF009 it is frozen
    empty: bool = True

    @property
    def wrong(self) -> tuple[Any, ...]:
        return tuple(each for each in super().wrong if not isinstance(each, list | tuple) or each)

    def read(self, name: str, value: Any) -> np.ndarray:
        array = array_of(name, value)
        none = array.shape in ((0,), (0, 2))
        return np.zeros((0, 2), dtype=np.int64) if none else super().read(name, array)


Graphs: TypeAlias = Annotated[Any, Adjacency("... n n")]
"""Graphs on n nodes, shape (…, n, n)."""
NodeGraphs: TypeAlias = Annotated[Any, Adjacency("... n_nodes n_nodes")]
"""Graphs on the call's `n_nodes` nodes, shape (…, n_nodes, n_nodes)."""
OneGraph: TypeAlias = Annotated[Any, Adjacency("n n")]
"""One graph on n nodes, shape (n, n)."""
Edges: TypeAlias = Annotated[Any, Pairs(within=Within(least=0, below="n_nodes"))]
"""Pairs u → v of the nodes 0 … n_nodes − 1, shape (m, 2), m ≥ 0."""


@checked
def as_adjacency(A: NodeGraphs, n_nodes: Count | None = None) -> np.ndarray:
    """The adjacency matrices A (…, n, n) as int64, after a check.

    An adjacency matrix is symmetric, with entries 0 and 1 and ones on the diagonal. Raises
    `ValueError` if (a) A does not consist of such matrices, or (b) `n_nodes` is given and is not
    the number n of nodes.
    """
    return A


def check_adjacency(A: Any, n_nodes: int | None = None) -> None:
    """Raise `ValueError` unless the array or tensor A (…, n, n) consists of adjacency matrices.

    An adjacency matrix is symmetric, with entries 0 and 1 and ones on the diagonal.
    """
    shape = tuple(A.shape)
    if len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] < 1:
        raise InputError(f"A has shape {shape}: give adjacency matrices of shape (…, n, n)")
    n = shape[-1] if n_nodes is None else n_nodes
    if shape[-1] != n:
        raise InputError(
            f"A has {shape[-1]} nodes, and n_nodes is {n}: give A of shape (…, {n}, {n})"
        )
    at = _first((A != 0) & (A != 1))
    if at is not None:
        value = array_of("A", A)[at]
        raise InputError(f"the matrix A contains {value}: give 1 for an edge and 0 for no edge")
    at = _first(A.swapaxes(-1, -2) != A)
    if at is not None:
        i, j = at[-2:]
        raise InputError(
            f"A is not symmetric at nodes {i} and {j}: give each edge in both directions, "
            "e.g. A | A.T"
        )
    at = _first(A.diagonal(0, -2, -1) != 1)
    if at is not None:
        raise InputError(
            f"A has no loop at node {at[-1]}: give A with ones on its diagonal, "
            "e.g. A | np.eye(n, dtype=int)"
        )


def _first(wrong: Any) -> tuple[int, ...] | None:
    """The index of the first nonzero entry, or None."""
    if not bool(wrong.any()):
        return None
    return tuple(np.argwhere(array_of("A", wrong))[0].tolist())


@checked
def from_edges(edges: Edges, n_nodes: Count) -> np.ndarray:
    """The adjacency matrix (n, n) of the undirected graph with n = `n_nodes` nodes and given edges.

    The edges (m, 2) are pairs of nodes in 0 … n − 1. The matrix has ones on the diagonal.

    Raises `ValueError` if the matrix does not fit in memory.
    """
    needed = 8 * n_nodes**2
    machine.fits_in_memory(f"the adjacency of {n_nodes} nodes", needed, "give fewer nodes")
    A = np.eye(n_nodes, dtype=np.int64)
    A[edges[:, 0], edges[:, 1]] = A[edges[:, 1], edges[:, 0]] = 1
    return A


@checked
def relabelled(
    A: Graphs, order: Annotated[Any, Integers("n", Within(least=0, below="n"))]
) -> np.ndarray:
    """The graphs A (…, n, n) with relabelled nodes: node `order[i]` becomes node i.

    A and the result are adjacency matrices. Entry (i, j) of the result is A_{order[i], order[j]}.

    Raises `ValueError` for an order that is not a permutation of the nodes.
    """
    n = len(order)
    if len(np.unique(order)) < n:
        raise InputError(
            f"order is not a permutation of {n} nodes: give each node 0 … {n - 1} once"
        )
    return np.asarray(A[..., order[:, None], order])


@checked
def all_graphs(n_nodes: Annotated[Count, Within(most=MOST_LISTED)]) -> np.ndarray:
    """All graphs on n = `n_nodes` ≤ 6 labelled nodes, as matrices (2^(n(n−1)/2), n, n).

    Each matrix is an adjacency matrix with ones on the diagonal. The graphs are undirected.
    """
    pairs = n_nodes * (n_nodes - 1) // 2
    bits = (np.arange(2**pairs)[:, None] >> np.arange(pairs)) & 1
    A = np.zeros((2**pairs, n_nodes, n_nodes), dtype=np.int64)
    i, j = np.triu_indices(n_nodes, 1)
    A[:, i, j] = A[:, j, i] = bits
    A[:, range(n_nodes), range(n_nodes)] = 1
    return A


@checked
def labellings(A: OneGraph) -> np.ndarray:
    """All m labelled graphs (m, n, n) that are isomorphic to the graph A (n, n), each once.

    Graphs are given by their adjacency matrices. Raises `ValueError` for n > 8 nodes.
    """
    if len(A) > MOST_LABELLED:
        raise InputError(f"A has {len(A)} nodes: give a graph of at most {MOST_LABELLED} nodes")
    orders = np.array([*permutations(range(len(A)))])
    named = A[orders[:, :, None], orders[:, None, :]]
    _, first = np.unique(np.packbits(named.reshape(len(named), -1), 1), axis=0, return_index=True)
    return np.asarray(named[first])
