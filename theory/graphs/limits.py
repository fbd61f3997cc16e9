"""Limits of the disentangled transformer beyond distance 3^L.

The model is h ← [h, relu(h W hᵀ)h] from h = [I, A], where A has ones on its diagonal, with outputs
h O + θ; it predicts "connected" where an output is positive.  C_m is the cycle of m nodes, I the
identity and J the all-ones matrix.  There are three theorems; the hypothesis of each theorem is in
brackets.

1. Nonnegative weights, θ = 0 [all entries of W_l and O are ≥ 0].  All scores are ≥ 0, so relu is
the identity on them, and every output is a sum of monomials with coefficients ≥ 0, each in at most
3^L entries of A: h_0 has degree 1, and a layer multiplies three factors.  If output_ij > 0 on G,
one of the monomials is positive.  Its factors are at most 3^L edges, and output_ij > 0 on the
subgraph of these edges, too.
If the model never predicts "connected" for nodes that are not connected, then i and j are connected
in that subgraph: dist(i, j) ≤ 3^L.

2. Nonnegative weights of two channels, any θ [W_l = A_l ⊗ I + B_l ⊗ J ≥ 0 entry by entry, and
likewise O].  With K = J − I this is W_l = (A_l + B_l) ⊗ I + B_l ⊗ K, and W_l ≥ 0 iff A_l + B_l ≥ 0
and B_l ≥ 0; A_l itself may be negative.  Again relu is the identity, so an output is a nonnegative
combination of products of A and K,

    output_ij = θ + Σ_w c_w (A^{k_0} K A^{k_1} K ⋯ K A^{k_r})_ij,   c_w ≥ 0,   k_0 + ⋯ + k_r ≤ 3^L.

At a pair with dist(i, j) > 3^L, products without K are 0. Let k = k_0 + ⋯ + k_r. By the lemma of
`walks.py`, if all degrees of G, loops counted, are at most a = ⌊n/2⌋, a product with r ≥ 1 factors
K is at most a^k N_r there, and at least a^k N_r at a pair between two cliques of ⌊n/2⌋ and ⌈n/2⌉
nodes. So no output of a pair of G with dist > 3^L exceeds an output of a pair between the cliques:
a model that predicts "connected" beyond 3^L on such a G predicts it for all pairs between the
cliques, and is wrong. By (2) of the lemma, pairs of C_2m with dist > 3^L and pairs between two C_m
have the same output if m > 3^L.

3. Two channels of any sign, any θ, on cycles.  For m ≥ 4·3^(L−1) + 1 no model is right on all pairs
of both C_2m and C_m ∪ C_m; for m = 4·3^(L−1) some model is.  The proof is in
`constructions/graphs/two_cycles.py`.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.graphs.adjacency import OneGraph
from theory.graphs.disentangled import IntegerWeights, disentangled_outputs
from theory.kinds import InputError, Steps, Within, checked

Node: TypeAlias = Annotated[Steps, Within(below="n")]
"""One of the nodes 0 … n − 1 of a graph (n, n)."""


@checked
def minimal_subgraph(
    A: OneGraph, weights: IntegerWeights, unembedding: Any, i: Node, j: Node
) -> np.ndarray:
    """A subgraph (n, n) of A on which a disentangled transformer's output (i, j) is positive.

    The outputs for a graph are its `disentangled_outputs` for `weights` and `unembedding`. The
    output (i, j) for the graph A (n, n) must be positive. The edges are taken in turn, and
    an edge is removed if the output (i, j) stays positive without it.

    If all weights are ≥ 0, each output is a nondecreasing function of the entries of A. Then the
    subgraph is minimal: without any one of its edges, the output (i, j) is not positive.

    Raises `ValueError` if the weights or the unembedding are not integers or have a wrong shape,
    and if the output (i, j) for A is not positive.
    """
    output = disentangled_outputs(A, weights, unembedding)[i, j]
    if not output > 0:
        raise InputError(
            f"A is a graph with the output {output} at ({i}, {j}): give a graph with a positive "
            "output"
        )
    for u, v in np.argwhere(np.triu(A, 1)):
        fewer = A.copy()
        fewer[u, v] = fewer[v, u] = 0
        if disentangled_outputs(fewer, weights, unembedding)[i, j] > 0:
            A = fewer
    return A
