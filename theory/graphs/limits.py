"""What no weights of a kind can do beyond distance 3^L.

The disentangled transformer, h ← [h, relu(h W hᵀ)h] from h = [I, A], outputs h O + θ.  Three
theorems, each with its own hypothesis.

Weights that are not negative, threshold 0 [any W and O ≥ 0].  No relu does anything, and an output
is a sum of monomials with coefficients ≥ 0 and at most 3^L entries of A each (h_l has degree 3^l:
a layer multiplies three of them).  If output_ij > 0 on G, a monomial is positive, so output_ij > 0
already on the subgraph of its at most 3^L edges.  A model that never says "connected" of nodes that
are not finds i and j connected in there: dist(i, j) ≤ 3^L.

Not negative, two channels, any threshold [W = A ⊗ I + B ⊗ J ≥ 0, O alike].  At a pair farther apart
than 3^L only words with a J are left, with walks_k(i) = (A^k 1)_i and walks_k = 1ᵀA^k 1,

    output_ij = Σ_w c_w walks_{k_0}(i) · Π_m walks_{k_m} · walks_{k_r}(j),   c_w ≥ 0.

If all degrees, loops counted, are at most a = ⌊n/2⌋, walks_k(i) ≤ a^k and walks_k ≤ n·a^k; two
cliques of ⌊n/2⌋ and ⌈n/2⌉ nodes have at least as many.  So no far pair has a larger output than any
pair between the cliques, and whoever says "connected" beyond 3^L says it on 2Clique.  And where all
degrees are equal, the words are: far pairs of C_2m have the output of pairs between two C_m.

Any sign, two channels, any threshold, cycles: none is right on all pairs of both C_2m and C_m ∪ C_m
from m = 4·3^(L−1) + 1 on, as `constructions/graphs/two_cycles.py` proves; at one node fewer one is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from theory.graphs.adjacency import OneGraph
from theory.graphs.disentangled import IntegerWeights, disentangled_outputs
from theory.graphs.search import Node
from theory.kinds import checked


@checked
def smallest_subgraph(
    A: OneGraph, weights: IntegerWeights, read_out: Any, i: Node, j: Node
) -> np.ndarray:
    """A without the edges that output_ij > 0 holds without: they are taken away one by one.

    Raises `ValueError` as `disentangled_outputs`.
    """
    for u, v in np.argwhere(np.triu(A, 1)):
        fewer = A.copy()
        fewer[u, v] = fewer[v, u] = 0
        if disentangled_outputs(fewer, weights, read_out)[i, j] > 0:
            A = fewer
    return A
