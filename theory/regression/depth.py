"""The number of layers that k Newton steps require, from the degrees of polynomials.

A head of linear or ReLU attention multiplies three quantities that are affine in the stream, and
ReLU is piecewise linear, so after L layers every output is piecewise polynomial of degree at most
3^L in the prompt.  For all d and n ≥ 1, the prediction x_qᵀ M_k Xᵀ y is a polynomial of degree
2^{k+2} + 1 if M₀ = αS and of degree 2^{k+1} + 1 if M₀ = αI. For one example x = x_q = (s, 0, …)
with label y, its leading term is ±α^(2^k) s^(2^{k+2}) y, resp. ±α^(2^k) s^(2^{k+1}) y.  The output
has finitely many pieces, so every open set has an open subset on which it is one polynomial, and
there the degrees agree.  The hypotheses are attention without softmax, no layer norm, and weights
that do not depend on the prompt.
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
    """⌈log₃ value⌉ for an integer value ≥ 1, in integers: the smallest L with 3^L ≥ value.

    In float64, the ceiling of a rounded logarithm may be wrong by one.
    """
    # log₃ value ≥ log₃2·(bits − 1), which float64 computes with an error below 1.
    layers = max(0, int(log(2, 3) * (value.bit_length() - 1)) - 1)
    power = 3**layers
    while power < value:
        layers, power = layers + 1, 3 * power
    return layers


@checked
def newton_degree(k: FewSteps, start: Start = "gram") -> int:
    """The degree of the k-step prediction in the prompt: 2^{k+2} + 1 from αS, 2^{k+1} + 1 from αI.

    M_k is a polynomial of degree 2^{k+1} − 1 in S (2^k − 1 from αI), S has degree 2 in X, and x_q,
    X and y each raise the degree by one.
    """
    return 2 ** (k + (2 if start == "gram" else 1)) + 1


@checked
def newton_lower_bound(k: FewSteps, start: Start = "gram") -> int:
    """The number ⌈log₃(degree)⌉ of layers that k Newton steps require without softmax."""
    return ceil_log3(newton_degree(k, start))
