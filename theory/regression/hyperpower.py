"""The hyperpower iteration of order p: approximate inverses whose residual is raised to the p."""

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError, Real
from theory.regression.newton import starting_inverse
from theory.regression.normal_equations import normal_equations


def order_at_least_two(order: int) -> int:
    """`order` as an int, which must be an integer ≥ 2; else `ValueError`."""
    if checks.dimension("order", order) < 2:
        raise InputError(f"order is {order}: give an integer that is at least 2 (2 is Newton)")
    return int(order)


def hyperpower_inverses(
    S: ArrayLike, order: int, alpha: Real, start: str = "gram"
) -> Iterator[np.ndarray]:
    """Yield M₀, M₁, M₂, … (each (…, d, d)) of M ← M (I + E + … + E^(p−1)), E = I − S M, for ever.

    S (…, d, d) symmetric positive semidefinite, p = `order` ≥ 2. The residual obeys
    I − S M_{j+1} = (I − S M_j)^p, so I − S M_k = (I − S M₀)^(p^k); p = 2 is Newton
    [BenIsrael1965]. M₀ = αS or αI, and the condition for convergence, as in `newton_inverses`.

    Raises `ValueError` as `starting_inverse` does, and for an order that is not an integer ≥ 2.
    """
    order = order_at_least_two(order)
    S = checks.real("S", S)
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


def hyperpower(
    x: ArrayLike, y: ArrayLike, k: int, order: int, alpha: Real, start: str = "gram"
) -> np.ndarray:
    """w_k = M_k b (…, d) after `k` ≥ 0 steps of `hyperpower_inverses` on S = XᵀX, b = Xᵀy.

    x (…, n, d), y (…, n); `alpha` > 0, one number or one per prompt.

    Raises `ValueError` for shapes that do not match, for NaN or infinite entries, for an alpha that
    is not finite and positive, for another start, for an order that is not an integer ≥ 2, and for
    a k that is not an integer ≥ 0.
    """
    k = checks.step_count("k", k)
    S, b = normal_equations(x, y)
    M = next(islice(hyperpower_inverses(S, order, alpha, start), k, None))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.matvec(M, b)
