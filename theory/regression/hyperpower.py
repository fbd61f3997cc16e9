"""The hyperpower iteration of order p: approximate inverses whose residual is raised to the p."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, TypeAlias

import numpy as np

from theory.kinds import Count, Inputs, Labels, PerPrompt, SquareMatrices, Within, checked
from theory.regression.iterates import Iterations, after
from theory.regression.newton import Start, starting_inverse
from theory.regression.normal_equations import normal_equations

Order: TypeAlias = Annotated[Count, Within(least=2, most=10**9)]
"""The power p to which a step raises the residual; 2 is Newton."""


@checked
def hyperpower_inverses(
    S: SquareMatrices, order: Order, alpha: PerPrompt, start: Start = "gram"
) -> Iterator[np.ndarray]:
    """Yield M₀, M₁, M₂, … (each (…, d, d)) of M ← M (I + E + … + E^(p−1)), E = I − S M, for ever.

    S (…, d, d) symmetric positive semidefinite, p = `order` ≥ 2. The residual obeys
    I − S M_{j+1} = (I − S M_j)^p, so I − S M_k = (I − S M₀)^(p^k); p = 2 is Newton
    [BenIsrael1965]. M₀ = αS or αI, and the condition for convergence, as in `newton_inverses`.
    """
    first = starting_inverse(S, alpha, start)
    identity = np.eye(S.shape[-1])

    def recursion(M: np.ndarray) -> Iterator[np.ndarray]:
        while True:
            yield M
            with np.errstate(over="ignore", invalid="ignore"):
                E = identity - S @ M
                total = M
                for _ in range(order - 1):
                    total = M + total @ E
                M = total

    return recursion(first)


@checked
def hyperpower(
    x: Inputs,
    y: Labels,
    k: Iterations,
    order: Order,
    alpha: PerPrompt,
    start: Start = "gram",
) -> np.ndarray:
    """w_k = M_k b (…, d) after `k` ≥ 0 steps of `hyperpower_inverses` on S = XᵀX, b = Xᵀy.

    x (…, n, d), y (…, n); `alpha` > 0, one number or one per prompt.

    Raises `ValueError` as `normal_equations` does.
    """
    S, b = normal_equations(x, y)
    M = after(k, hyperpower_inverses(S, order, alpha, start))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.matvec(M, b)
