"""Walks: how many there are of each length, in Python integers, which never overflow.

A walk of length k from i to j is i = v_0, …, v_k = j, each a neighbour of the next, so a loop is a
step too.  There are (A^k)_ij; walks_k(i) = (A^k 1)_i start at i, and walks_k = 1ᵀA^k 1 anywhere.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from theory.graphs.adjacency import Graphs
from theory.kinds import Steps, Within, checked

Length: TypeAlias = Annotated[Steps, Within(most=10_000)]
"""A length k ≤ 10 000: counts of n nodes have up to k·log₁₀n digits."""


@checked
def walks_from(A: Graphs, k: Length) -> np.ndarray:
    """walks_k(i) = (A^k 1)_i, (…, n), as Python integers."""
    graph = A.astype(object)
    counts = np.ones((*graph.shape[:-1], 1), dtype=np.int64).astype(object)
    for _ in range(k):
        counts = graph @ counts
    return counts[..., 0]


@checked
def walks(A: Graphs, k: Length) -> np.ndarray:
    """walks_k = 1ᵀA^k 1 (…,), as Python integers."""
    return np.asarray(walks_from(A, k).sum(-1))
