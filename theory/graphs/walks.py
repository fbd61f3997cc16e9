"""Walks: how many there are of each length, in Python integers, which never overflow.

A walk of length k from i to j is i = v_0, …, v_k = j, each a neighbour of the next, so a loop is a
step too.  There are (A^k)_ij; walks_k(i) = (A^k 1)_i start at i, and walks_k = 1ᵀA^k 1 anywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError
from theory.graphs.adjacency import as_adjacency

MOST_STEPS = 10_000  # counts of n nodes have up to k·log₁₀n digits


def walk_counts(A: ArrayLike, k: int) -> np.ndarray:
    """A^k (…, n, n), as an array of Python integers.

    Raises `ValueError` as `as_adjacency`, and for a k that is not an integer from 0 to 10000.
    """
    k = _length(k)
    graph = as_adjacency(A).astype(object)
    counts = np.broadcast_to(np.eye(graph.shape[-1], dtype=np.int64), graph.shape).astype(object)
    while k:
        counts = counts @ graph if k & 1 else counts
        graph, k = graph @ graph if k > 1 else graph, k >> 1
    return counts


def walks_from(A: ArrayLike, k: int) -> np.ndarray:
    """walks_k(i) = (A^k 1)_i, (…, n), as Python integers.  Raises `ValueError` as `walk_counts`."""
    k = _length(k)
    graph = as_adjacency(A).astype(object)
    counts = np.ones((*graph.shape[:-1], 1), dtype=np.int64).astype(object)
    for _ in range(k):
        counts = graph @ counts
    return counts[..., 0]


def walks(A: ArrayLike, k: int) -> np.ndarray:
    """walks_k = 1ᵀA^k 1 (…,), as Python integers.  Raises `ValueError` as `walk_counts`."""
    return np.asarray(walks_from(A, k).sum(-1))


def _length(k: int) -> int:
    k = checks.step_count("k", k)
    if k > MOST_STEPS:
        raise InputError(f"k is more than {MOST_STEPS}: give walks of at most so many steps")
    return k
