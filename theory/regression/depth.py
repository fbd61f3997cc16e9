"""The number of layers that k Newton steps require, from the degrees of polynomials.

A head of linear or ReLU attention multiplies three quantities that are affine in the stream, and
ReLU is piecewise linear, so after L layers every output is piecewise polynomial of degree at most
3^L in the prompt.  The prediction x_qᵀ M_k Xᵀ y is a polynomial of degree 2^{k+2} + 1 from M₀ = αS
and 2^{k+1} + 1 from M₀ = αI, for all d and n ≥ 1: its leading part in x_q = X = (s, 0, …) and one
label y is ±α^(2^k) s^(2^{k+2}) y, resp. ±α^(2^k) s^(2^{k+1}) y.  The output has finitely many
pieces, so every open set has an open subset on which it is one polynomial, and there the degrees
agree.  The hypotheses are attention without softmax, no layer norm, and weights that do not depend
on the prompt.
"""

from __future__ import annotations

from math import log
from typing import Annotated, TypeAlias

from theory.kinds import Count, Steps, Within, checked
from theory.regression.newton import Start

FewSteps: TypeAlias = Annotated[Steps, Within(most=10**6)]
"""An integer k from 0 to 10⁶: 2^k is computed."""


@checked
def ceil_log3(value: Count) -> int:
    """⌈log₃ value⌉ for an integer value ≥ 1, in integers: the smallest L with 3^L ≥ value.

    (k·log₃2 is irrational for k ≥ 1, but its float64 value may still round to the wrong side.)
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
    X and y add one each.
    """
    return 2 ** (k + (2 if start == "gram" else 1)) + 1


@checked
def newton_lower_bound(k: FewSteps, start: Start = "gram") -> int:
    """The layers necessary with linear or ReLU attention and ReLU MLPs, ⌈log₃(degree)⌉."""
    return ceil_log3(newton_degree(k, start))
