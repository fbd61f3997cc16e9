"""The polynomials in A that attention without softmax computes on a graph.

`tripling` iterates H ← H + HHᵀH from H = A.  After L steps H = p_L(A),

    p_0 = x,   p_{l+1} = p_l + p_l³,

in which every odd power up to 3^L has a positive coefficient, and all other coefficients are 0.

The disentangled transformer [Friedman2023, Nichani2024] in the form of [Ye2026] starts from
h = [I, A]; a layer is h ← [h, S h] with S = relu(h W hᵀ)/n.  With S = h hᵀ, both K = h hᵀ and the
sum of all blocks of h are polynomials in A, q_l(A) and s_l(A):

    q_0 = 1 + x²,   q_{l+1} = q_l + q_l³,        since [h, Kh][h, Kh]ᵀ = K + K·K·K,
    s_0 = 1 + x,    s_{l+1} = s_l·(1 + q_l),

q_l has degree 2·3^l and positive coefficients at all even powers up to it; s_l has degree 3^l and
positive coefficients at all powers up to it.  So K = hhᵀ follows the recursion of `tripling`,
starting from I + A² instead of A; and as (A^k)_ij > 0 iff dist(i, j) ≤ k, [s_l(A)]_ij > 0 iff
dist(i, j) ≤ 3^l.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from theory.graphs.adjacency import Graphs
from theory.kinds import Integer, Steps, Within, checked

Polynomial = list[int]  # coefficients of 1, x, x², …
Layers: TypeAlias = Annotated[Steps, Within(most=7)]
"""A number of layers L ≤ 7; p_7 has degree 3^7 = 2187."""


@checked
def tripling_polynomial(n_layers: Layers) -> Polynomial:
    """The coefficients of the polynomial p_L, where p_0 = x and p_{l+1} = p_l + p_l³.

    Here L = `n_layers`. For an adjacency matrix A, p_L(A) is the result of L layers of tripling. A
    layer of tripling is H ← H + HHᵀH, and H = A at first.
    """
    return _tripled([0, 1], n_layers)


@checked
def gram_polynomial(n_layers: Layers) -> Polynomial:
    """The coefficients of the polynomial q_L, where q_0 = 1 + x² and q_{l+1} = q_l + q_l³.

    Here L = `n_layers`. For an adjacency matrix A, q_L(A) = h hᵀ, where h is the stream of a
    disentangled transformer after L layers. The stream is [I, A] at first. A layer is h ← [h, h hᵀ
    h], which appends new columns.
    """
    return _tripled([1, 0, 1], n_layers)


@checked
def disentangled_polynomial(n_layers: Layers) -> Polynomial:
    """The coefficients of the polynomial s_L that a disentangled transformer of L layers computes.

    The polynomials are s_0 = 1 + x and s_{l+1} = s_l·(1 + q_l) with q_0 = 1 + x² and
    q_{l+1} = q_l + q_l³, and L = `n_layers`. The transformer starts from h = [I, A] for an
    adjacency matrix A (n, n). A layer is h ← [h, h hᵀ h], which appends new columns. After L
    layers, s_L(A) is the sum of all n × n blocks of h.
    """
    s, q = [1, 1], [1, 0, 1]
    for _ in range(n_layers):
        s = _product(s, [1 + q[0], *q[1:]])
        q = _tripled(q, 1)
    return s


@checked
def polynomial_of_graph(polynomial: list[Integer], A: Graphs) -> np.ndarray:
    """The matrices Σ_k c_k A^k (…, n, n) as Python integers, for c_k = `polynomial[k]`.

    A (…, n, n) are the adjacency matrices of graphs.
    """
    graph = A.astype(object)
    eye = np.eye(graph.shape[-1], dtype=np.int64).astype(object)
    total = np.zeros_like(graph)
    for coefficient in reversed(polynomial):
        total = graph @ total + coefficient * eye
    return total


def _tripled(p: Polynomial, times: int) -> Polynomial:
    """p, after `times` steps p ← p + p³."""
    for _ in range(times):
        cube = _product(_product(p, p), p)
        p = [a + b for a, b in zip(cube, p + [0] * (len(cube) - len(p)), strict=True)]
    return p


def _product(p: Polynomial, q: Polynomial) -> Polynomial:
    product = [0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        if a:
            for j, b in enumerate(q, start=i):
                product[j] += a * b
    return product
