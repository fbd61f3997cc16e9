"""Numbers of walks, with and without jumps, as Python integers.

A walk of length k from i to j is a sequence i = v_0, …, v_k = j of nodes, each a neighbour of the
next; a loop is a step too.  There are (A^k)_ij such walks; walks_k(i) = (A^k 1)_i walks of length k
start at i, and there are walks_k = 1ᵀA^k 1 in total.

A jump leads from a node to any other node: K = J − I.  Walks of k = k_0 + ⋯ + k_r steps with r
jumps, k_0 steps before the first jump and so on, are counted by A^{k_0} K A^{k_1} K ⋯ K A^{k_r}.
Let N_r = ((n − 1)^r − (−1)^r)/n, the number of walks of r jumps and no step between two given
different nodes.

Lemma.  Let dist(i, j) > k, or let i and j not be connected.
(1)  If all degrees, loops counted, are at most a, at most a^k·N_r such walks lead from i to j.
(2)  If all degrees are a, exactly a^k·N_r do.
(3)  If all components are cliques of at least a nodes each, at least a^k·N_r do.

Proof.  Let P be symmetric with entries ≥ 0 and rows of sum 1, positive only where A is.  Then
PJ = JP = J, so K commutes with P, and as K^r = N_r J + (−1)^r I,

    P^{k_0} K P^{k_1} ⋯ K P^{k_r} = K^r P^k = N_r J + (−1)^r P^k,

whose entry ij is N_r, as (P^k)_ij = 0.  All entries of K are ≥ 0.  So the number of walks is at
most a^k·N_r if A ≤ aP entry by entry, and at least a^k·N_r if A ≥ aP.
(1)  P = A/a + diag(1 − deg/a) ≥ A/a: the diagonal completes each row sum of A/a to 1.
(2)  P = A/a.
(3)  P = A/(size of the component), block by block, and A ≥ aP.                                    ∎
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from theory.graphs.adjacency import Graphs
from theory.kinds import CountFrom2, InputError, Steps, Within, checked

Length: TypeAlias = Annotated[Steps, Within(most=10_000)]
"""A length k ≤ 10 000; the number of walks has up to (k + 1)·log₁₀n digits."""


@checked
def walks_with_jumps(A: Graphs, lengths: list[Length]) -> np.ndarray:
    """The numbers of walks with jumps between all pairs of nodes (…, n, n), as Python integers.

    Entry (i, j) is the number of walks from node i to node j that consist of r + 1 parts. The parts
    have k_0, k_1, …, k_r steps, the entries of `lengths`. A jump leads from the end of each part to
    another node, at which the next part begins.

    A (…, n, n) are the adjacency matrices, with ones on the diagonal: a step may stay at a node.
    The numbers are the entries of A^{k_0} (J − I) A^{k_1} ⋯ (J − I) A^{k_r}, where I is the
    identity and J the all-ones matrix. Raises `ValueError` for an empty list.
    """
    if not lengths:
        raise InputError("lengths is empty: give at least one length")
    graph, n = A.astype(object), A.shape[-1]
    jump = (1 - np.eye(n, dtype=np.int64)).astype(object)
    counts = np.broadcast_to(np.eye(n, dtype=np.int64), graph.shape).astype(object)
    for before, steps in enumerate(lengths):
        if before:
            counts = counts @ jump
        for _ in range(steps):
            counts = counts @ graph
    return np.asarray(counts)


@checked
def jumps(n_nodes: CountFrom2, r: Length) -> int:
    """The number of walks of r jumps between two given different nodes, among n = `n_nodes` nodes.

    A jump leads from a node to any other node. So the number is ((n − 1)^r − (−1)^r)/n.
    """
    return ((n_nodes - 1) ** r - (-1) ** r) // n_nodes


@checked
def walks_from(A: Graphs, k: Length) -> np.ndarray:
    """The number (A^k 1)_i of walks of k steps from each node i, as Python integers (…, n).

    A (…, n, n) are the adjacency matrices, with ones on the diagonal: a step may stay at a node.
    """
    graph = A.astype(object)
    counts = np.ones((*graph.shape[:-1], 1), dtype=np.int64).astype(object)
    for _ in range(k):
        counts = graph @ counts
    return counts[..., 0]


@checked
def walks(A: Graphs, k: Length) -> np.ndarray:
    """The total number 1ᵀA^k 1 of walks of k steps in each graph, as Python integers (…).

    A (…, n, n) are the adjacency matrices, with ones on the diagonal: a step may stay at a node.
    """
    return np.asarray(walks_from(A, k).sum(-1))
