"""The polynomials in A that attention without a softmax computes on a graph.

`tripling` repeats H ← H + HHᵀH from H = A: after L times H = p_L(A),

    p_0 = x,   p_{l+1} = p_l + p_l³,

and every odd power up to 3^L is there with a positive coefficient, and no other power.

The disentangled transformer [Friedman2023, Nichani2024] as [Ye2026] has it starts from h = [I, A]
and appends, h ← [h, S h] with S = relu(h W hᵀ)/n.  With S = h hᵀ, K = h hᵀ is a polynomial q_l(A),
and so is the sum s_l(A) of all blocks of h:

    q_0 = 1 + x²,   q_{l+1} = q_l + q_l³,        since [h, Kh][h, Kh]ᵀ = K + K·K·K,
    s_0 = 1 + x,    s_{l+1} = s_l·(1 + q_l),

of degrees 2·3^l and 3^l, with positive coefficients at all even powers and at all powers up to
them.  So the products K = hhᵀ follow the recursion of `tripling`, from I + A² in place of A; and
as entry ij of A^k counts walks of k steps, loops among them, [s_l(A)]_ij > 0 iff dist(i, j) ≤ 3^l.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from theory.graphs.adjacency import Graphs
from theory.kinds import Integer, Steps, Within, checked

Polynomial = list[int]  # coefficients of 1, x, x², …
Layers: TypeAlias = Annotated[Steps, Within(most=7)]
"""Layers L ≤ 7: 3^7 = 2187 coefficients, of as many digits."""


@checked
def tripling_polynomial(layers: Layers) -> Polynomial:
    """p_L."""
    return _tripled([0, 1], layers)


@checked
def gram_polynomial(layers: Layers) -> Polynomial:
    """q_L."""
    return _tripled([1, 0, 1], layers)


@checked
def disentangled_polynomial(layers: Layers) -> Polynomial:
    """s_L."""
    s, q = [1, 1], [1, 0, 1]
    for _ in range(layers):
        s = _product(s, [1 + q[0], *q[1:]])
        q = _tripled(q, 1)
    return s


@checked
def of_graph(polynomial: list[Integer], A: Graphs) -> np.ndarray:
    """Σ_k c_k A^k (…, n, n), as an array of Python integers, by the coefficients of 1, x, x², …"""
    graph = A.astype(object)
    eye = np.eye(graph.shape[-1], dtype=np.int64).astype(object)
    total = np.zeros_like(graph)
    for coefficient in reversed(polynomial):
        total = graph @ total + coefficient * eye
    return total


def _tripled(p: Polynomial, times: int) -> Polynomial:
    """p + p³, so many times."""
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
