"""The polynomials in A that attention without a softmax computes on a graph.

`tripling` repeats H ← H + HHᵀH from H = A: after L times H = p_L(A),

    p_0 = x,   p_{l+1} = p_l + p_l³,

and every odd power up to 3^L is there with a positive coefficient, and no other power.

The disentangled transformer [Friedman2023, Nichani2024] as [Ye2026] has it starts from h = [I, A]
and appends, h ← [h, S h] with S = relu(h W hᵀ)/n.  With S = h hᵀ, K = h hᵀ is a polynomial q_l(A),
and so is the sum s_l(A) of all blocks of h:

    q_0 = 1 + x²,   q_{l+1} = q_l + q_l³,        since [h, Kh][h, Kh]ᵀ = K + K·K·K,
    s_0 = 1 + x,    s_{l+1} = s_l·(1 + q_l),

of degrees 2·3^l and 3^l, with positive coefficients at all even powers and at all powers.  So K is
tripled, from I + A² in place of A.
"""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError
from theory.graphs.adjacency import as_adjacency

MOST_LAYERS = 7  # 3^7 = 2187 coefficients, of as many digits
Polynomial = list[int]  # coefficients of 1, x, x², …


def tripling_polynomial(layers: int) -> Polynomial:
    """p_L.  Raises `ValueError` for layers that are not an integer from 0 to 7."""
    return _tripled([0, 1], _checked(layers))


def gram_polynomial(layers: int) -> Polynomial:
    """q_L.  Raises `ValueError` as `tripling_polynomial`."""
    return _tripled([1, 0, 1], _checked(layers))


def disentangled_polynomial(layers: int) -> Polynomial:
    """s_L.  Raises `ValueError` as `tripling_polynomial`."""
    s, q = [1, 1], [1, 0, 1]
    for _ in range(_checked(layers)):
        s = _product(s, [1 + q[0], *q[1:]])
        q = _tripled(q, 1)
    return s


def of_graph(polynomial: Polynomial, A: ArrayLike) -> np.ndarray:
    """Σ_k c_k A^k (…, n, n), as an array of Python integers.

    Raises `ValueError` as `as_adjacency`, and for coefficients that are no list of integers.
    """
    if not isinstance(polynomial, list) or not all(isinstance(c, Integral) for c in polynomial):
        raise InputError("the polynomial is no list of integers: give those of 1, x, x², …")
    graph = as_adjacency(A).astype(object)
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


def _checked(layers: int) -> int:
    layers = checks.step_count("layers", layers)
    if layers > MOST_LAYERS:
        raise InputError(f"{layers} layers make 3^{layers} powers of A: give at most {MOST_LAYERS}")
    return layers
