"""Connectivity by tripling distances: H ← H + HHᵀH, one linear head of width n in each layer.

Token i is row i of the adjacency matrix A (n, n), with ones on its diagonal.  Query, key and value
of the head are the whole row, W_Q = W_K = W_V = W_O = I, and scores are not scaled: token i adds

    Σ_j ⟨h_i, h_j⟩ h_j = row i of HHᵀH.

Theorem.  After L layers H_ij > 0 iff dist(i, j) ≤ 3^L, and H_ij = 0 otherwise; and (HHᵀ)_ij > 0
iff dist(i, j) ≤ 2·3^L.
Proof.  H is a polynomial p_L in A: p_0 = x, p_{l+1} = p_l + p_l³, as A is symmetric.  Its
coefficients are integers ≥ 0, its degree is 3^L, and the coefficient of x^(3^L) is 1.  Entry ij of
A^k counts walks of k steps from i to j, where a loop is a step, so it is positive iff
dist(i, j) ≤ k.  Hence H_ij > 0 iff dist(i, j) is at most the degree.  HHᵀ = p_L(A)² has degree
2·3^L.                                                                                           ∎

The factor is 3 because a layer multiplies a query, a key and a value.

Floating point.  All entries are ≥ 0, and rounding is monotone: an entry ≥ 1 is not rounded to 0,
and 0 is exact.  So the support is right in every dtype in which nothing overflows.  The entries
themselves grow fast: at most to c_L, where c_0 = 1, c_{l+1} = c_l + n²c_l³, attained on the
complete graph.

Clipped form.  An MLP of n hidden neurons subtracts relu(H − 1), so that H ← min(1, H + HHᵀH) is the
0/1 matrix of {dist ≤ 3^l} after l layers: all entries are integers, at most n² + 1 at any depth.
⌈log₃D⌉ layers output all connected pairs, where D ≥ 1 is the largest distance between connected
nodes.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from constructions.assembly import Head, block, embed, unembed
from constructions.blocks import Stage
from constructions.call import construction
from constructions.graphs.graph import Graph
from constructions.primitives import ReLU
from constructions.stream import Stream, one
from constructions.transformer import Transformer
from theory.graphs.distances import within
from theory.graphs.tripling import polynomial_of_graph, tripling_polynomial
from theory.kinds import Count, Steps


@construction
def tripling(n_nodes: Count, n_layers: Steps, *, clipped: bool = False) -> Transformer:
    """A transformer that outputs which pairs of nodes of a graph are at distance at most 3^L.

    The graph has n = `n_nodes` nodes, and L = `n_layers` is the number of layers. For adjacency
    matrices A (…, n, n) with ones on the diagonal, `tripling(n, L)(A)` (…, n, n) is 1 for nodes at
    distance at most 3^L, and 0 elsewhere. So the model outputs all connected pairs of every graph
    whose components have diameter at most 3^L. `logits` are p_L(A) for the polynomials p_0(x) = x
    and p_{l+1} = p_l + p_l³; with `clipped`, the logits are the predictions 0 and 1.

    The model has one linear head in each layer and width n. With `clipped`, each layer also has an
    MLP of n hidden neurons, and all entries of the residual stream are at most n² + 1.

    Raises ValueError if the weights do not fit in memory.  The model raises ValueError for an input
    that is not an adjacency matrix of n nodes, and for outputs that overflow.
    """
    stream = Stream(reached=n_nodes)
    stream.fits(n_layers, shared=True)
    reached = stream.read("reached")
    head = Head(reached, reached, reached, "reached")
    cut = [ReLU(reached - one, "reached", -1.0)] if clipped else []
    layer = block(stream, [head], cut, mask="full")
    interface = Graph(n_nodes, threshold=0.5, margin=1.0 if clipped else None)
    return Transformer(
        embed(stream, A={"reached": 1.0}),
        [layer] * n_layers,
        unembed(stream, reached),
        interface=interface,
        stream=stream,
        stages=tuple(
            Stage(after, "reached", partial(within, distance=3 ** min(after, n_nodes.bit_length())))
            if clipped
            else Stage(after, "reached", partial(_polynomial, after))
            for after in range(n_layers + 1)
        ),
        at_most={"reached": 1.0} if clipped else None,
        source="[Ye2026] for the distance 3^L",
    )


def _polynomial(layers: int, A: np.ndarray) -> np.ndarray:
    """p_l(A) of `theory.graphs.tripling`, l = `layers`."""
    return polynomial_of_graph(tripling_polynomial(layers), A)
