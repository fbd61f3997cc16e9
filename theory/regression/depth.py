"""The number of layers that k Newton steps require, from the degrees of polynomials.

A head of linear or ReLU attention multiplies three quantities that are affine in the residual
stream, and ReLU is piecewise linear. So after L layers every output is piecewise polynomial of
degree at most 3^L in the prompt.  For all d and n ≥ 1, the prediction x_qᵀ M_k Xᵀ y is a polynomial
of degree 2^{k+2} + 1 if M₀ = αS and of degree 2^{k+1} + 1 if M₀ = αI. For one example x = x_q = (s,
0, …) with label y, its leading term is ±α^(2^k) s^(2^{k+2}) y, resp. ±α^(2^k) s^(2^{k+1}) y.  The
output has finitely many pieces, so every open set has an open subset on which it is one polynomial,
and there the degrees agree.  The hypotheses are attention without softmax, no layer norm, and
weights that do not depend on the prompt.
"""

from __future__ import annotations

from math import log
from typing import Annotated, TypeAlias

from theory.kinds import Count, Steps, Within, checked
from theory.regression.newton import Start

FewSteps: TypeAlias = Annotated[Steps, Within(most=10**6)]
"""An integer k from 0 to 10⁶; the limit bounds the time to compute 2^k."""


@checked
def ceil_log3(value: Count) -> int:
    """⌈log₃ value⌉ for an integer value ≥ 1, computed exactly: the smallest L with 3^L ≥ value.

    The computation uses integers only, because the ceiling of a logarithm rounded to float64 may be
    wrong by one.
    """
    # log₃ value ≥ log₃2·(bits − 1), which float64 computes with an error below 1.
    layers = max(0, int(log(2, 3) * (value.bit_length() - 1)) - 1)
    power = 3**layers
    while power < value:
        layers, power = layers + 1, 3 * power
    return layers


@checked
def newton_degree(k: FewSteps, start: Start = "gram") -> int:
    """The degree of the prediction of k Newton–Schulz steps, as a polynomial in the prompt.

    The prompt consists of the matrix X of the examples, the vector y of their labels and the query
    x_q. The prediction is x_qᵀ M_k Xᵀ y, where M_{j+1} = 2M_j − M_j S M_j and S = XᵀX. The degree
    is 2^{k+2} + 1 from M₀ = αS (start "gram") and 2^{k+1} + 1 from M₀ = αI ("identity"). Proof: M_k
    is a polynomial in S of degree 2^{k+1} − 1 from αS and of degree 2^k − 1 from αI; S has degree 2
    in X; and each of the factors x_q, X and y raises the degree by one.
    """
    return 2 ** (k + (2 if start == "gram" else 1)) + 1


@checked
def newton_lower_bound(k: FewSteps, start: Start = "gram") -> int:
    """A lower bound, ⌈log₃ D⌉, on the number of layers that compute k Newton–Schulz steps.

    D is `newton_degree(k, start)`, the degree of the prediction as a polynomial in the prompt. The
    bound holds for models with linear or ReLU attention without layer norm, ReLU MLPs, and weights
    that do not depend on the prompt, because after L layers the outputs of such a model are
    piecewise polynomials of degree at most 3^L.
    """
    return ceil_log3(newton_degree(k, start))
