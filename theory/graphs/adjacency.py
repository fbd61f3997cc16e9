"""Graphs as the matrices that models read: symmetric, of 0 and 1, with ones on the diagonal.

Shape glossary: `…` leading dimensions, `n` nodes.  A (…, n, n) with A_ij = 1 iff i = j or ij is an
edge.  A node is its own neighbour: without these loops A^k has holes, since a walk between two
nodes of an even cycle cannot have any length, and "A^k_ij > 0" would not say "distance at most k".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from theory import checks, machine
from theory.checks import InputError

MOST_LISTED = 6  # nodes: 2^15 graphs of 6, 2^21 of 7


def as_adjacency(A: ArrayLike, n: int | None = None) -> np.ndarray:
    """A (…, n, n) as int64, of n nodes if that is given.

    Raises `ValueError` for another shape, other entries than 0 and 1, an asymmetric matrix, and a
    node without its loop.
    """
    array = checks.array_of("A", A)
    if array.dtype.kind not in "biuf":
        array = checks.real("A", array)
    check_adjacency(array, None if n is None else checks.dimension("n", n))
    return array.astype(np.int64)


def check_adjacency(A: Any, n: int | None = None) -> None:
    """Raise `ValueError` as `as_adjacency`, for an array or a tensor A."""
    shape = tuple(A.shape)
    if len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] < 1:
        raise InputError(f"A has shape {shape}: give an adjacency matrix (…, n, n)")
    if n is not None and shape[-1] != n:
        raise InputError(
            f"A has {shape[-1]} nodes and {n} are expected: give A of shape (…, {n}, {n})"
        )
    at = _first((A != 0) & (A != 1))
    if at is not None:
        value = checks.array_of("A", A)[at]
        raise InputError(f"A contains {value}: give 1 for an edge and 0 for none")
    at = _first(A.swapaxes(-1, -2) != A)
    if at is not None:
        i, j = at[-2:]
        raise InputError(
            f"A is not symmetric at nodes {i} and {j}: give each edge both ways, e.g. A | A.T"
        )
    at = _first(A.diagonal(0, -2, -1) != 1)
    if at is not None:
        raise InputError(
            f"A has no loop at node {at[-1]}: give A with ones on its diagonal, "
            "e.g. A | np.eye(n, dtype=int)"
        )


def _first(wrong: Any) -> tuple[int, ...] | None:
    """Where the first of these is, if there is any."""
    if not bool(wrong.any()):
        return None
    return tuple(np.argwhere(checks.array_of("A", wrong))[0].tolist())


def from_edges(edges: ArrayLike, n: int) -> np.ndarray:
    """A (n, n) of edges (m, 2), pairs of nodes in 0 … n − 1.

    Raises `ValueError` for an n below 1, another shape, and numbers that are no nodes.
    """
    n = checks.dimension("n", n)
    machine.fits_in_memory(f"the adjacency of {n} nodes", 8 * n * n, "give fewer nodes")
    pairs = checks.array_of("edges", edges)
    pairs = pairs.reshape(0, 2).astype(int) if pairs.shape in ((0,), (0, 2)) else pairs
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"edges have shape {pairs.shape}: give pairs of nodes (m, 2)")
    if not np.issubdtype(pairs.dtype, np.integer):
        raise InputError(f"edges have dtype {pairs.dtype}: give integers from 0 to {n - 1}")
    bad = pairs[(pairs < 0) | (pairs >= n)]
    if bad.size:
        raise InputError(f"an edge has node {bad[0]}: give numbers from 0 to {n - 1}")
    A = np.eye(n, dtype=np.int64)
    A[pairs[:, 0], pairs[:, 1]] = A[pairs[:, 1], pairs[:, 0]] = 1
    return A


def relabelled(A: ArrayLike, order: ArrayLike) -> np.ndarray:
    """The same graphs (…, n, n) with node `order[i]` in place i: A[order][:, order].

    Raises `ValueError` as `as_adjacency`, and for an order that is no permutation of the nodes.
    """
    array = as_adjacency(A)
    places, n = checks.array_of("order", order), array.shape[-1]
    whole = places.dtype.kind in "iu"
    if not whole or places.shape != (n,) or sorted(places.tolist()) != list(range(n)):
        raise InputError(f"order is no permutation of {n} nodes: give each of 0 … {n - 1} once")
    return array[..., places[:, None], places]


def all_graphs(n: int) -> np.ndarray:
    """All graphs on n labelled nodes, (2^(n(n−1)/2), n, n).

    Raises `ValueError` for an n below 1, and above 6, from where on there are millions.
    """
    n = checks.dimension("n", n)
    pairs = n * (n - 1) // 2
    if n > MOST_LISTED:
        raise InputError(f"there are 2^{pairs} graphs on {n} nodes: give at most {MOST_LISTED}")
    bits = (np.arange(2**pairs)[:, None] >> np.arange(pairs)) & 1
    A = np.zeros((2**pairs, n, n), dtype=np.int64)
    i, j = np.triu_indices(n, 1)
    A[:, i, j] = A[:, j, i] = bits
    A[:, range(n), range(n)] = 1
    return A
