"""The hyperpower iteration of order p: a step raises the residual of M to the power p."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, TypeAlias

import numpy as np

from theory.kinds import (
    Count,
    InputError,
    Inputs,
    Labels,
    PerPrompt,
    SquareMatrices,
    Within,
    checked,
)
from theory.regression.iterates import Iterations, after, finite, finite_product
from theory.regression.newton import ALPHA_REMEDY, Start, starting_inverse
from theory.regression.normal_equations import normal_equations

MOST_PRODUCTS = 10**7  # of matrices, in all steps

Order: TypeAlias = Annotated[Count, Within(least=2, most=10**9)]
"""The order p ≥ 2: a step raises the residual to the power p. Order 2 is Newton's method."""
StepOrder: TypeAlias = Annotated[Order, Within(most=MOST_PRODUCTS)]
"""An order p from 2 to 10^7, whose steps are computed by p products of matrices."""


@checked
def hyperpower_inverses(
    S: SquareMatrices, order: StepOrder, alpha: PerPrompt, start: Start = "gram"
) -> Iterator[np.ndarray]:
    """Yield the approximate inverses M₀, M₁, … (each (…, d, d)) of S by the hyperpower iteration.

    A step is M ← M (I + E + … + E^(p−1)) with E = I − S M, for a symmetric positive semidefinite
    matrix S (…, d, d) and p = `order` ≥ 2. The residual satisfies I − S M_{j+1} = (I − S M_j)^p, so
    I − S M_k = (I − S M₀)^(p^k). For p = 2, the iteration is the Newton–Schulz iteration
    [BenIsrael1965]. M₀ is alpha·S (start "gram") or alpha·I ("identity"). Let λmax be the largest
    eigenvalue of S. The residual tends to 0 on range(S) if and only if alpha is below a bound. The
    bound is 2/λmax² for the start "gram", and 2/λmax for the start "identity".

    Raises `ValueError` if an iterate overflows.
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

    return finite(recursion(first), ALPHA_REMEDY, alpha=alpha, S=S)


@checked
def hyperpower(
    x: Inputs,
    y: Labels,
    k: Iterations,
    order: StepOrder,
    alpha: PerPrompt,
    start: Start = "gram",
) -> np.ndarray:
    """The weights w_k = M_k b (…, d) after `k` ≥ 0 steps of the hyperpower iteration.

    S = XᵀX and b = Xᵀy, where the rows of X are the examples x (…, n, d) of a prompt and y (…, n)
    are their labels. A step is M ← M (I + E + … + E^(p−1)) with E = I − S M and p = `order`, from
    M₀ = alpha·S (start "gram") or M₀ = alpha·I ("identity"). `alpha` > 0 is one number or one per
    prompt.

    Raises `ValueError` if S or b overflows or underflows, if an iterate overflows, or if the steps
    have more than 10^7 products of matrices, p for each step.
    """
    if k * order > MOST_PRODUCTS:
        raise InputError(
            f"k is {k} and order is {order}: give numbers with a product of at most {MOST_PRODUCTS}"
        )
    S, b = normal_equations(x, y)
    return finite_product(after(k, hyperpower_inverses(S, order, alpha, start)), b)
