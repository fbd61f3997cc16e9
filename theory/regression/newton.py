"""Iterative Newton (Newton–Schulz): quadratically convergent approximate inverses of S."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

import numpy as np

from theory.kinds import Inputs, Labels, PerPrompt, SquareMatrices, checked
from theory.regression.iterates import Iterations, after
from theory.regression.normal_equations import normal_equations

Start = Literal["gram", "identity"]
"""M₀ = αS or αI."""

STARTS: tuple[Start, ...] = get_args(Start)


def starting_inverse(S: np.ndarray, alpha: np.ndarray, start: Start) -> np.ndarray:
    """M₀ (…, d, d): αS for `start="gram"`, αI for `start="identity"`.

    S (…, d, d); `alpha` > 0, one number or one per matrix.
    """
    return alpha[..., None, None] * (
        S if start == "gram" else np.broadcast_to(np.eye(S.shape[-1]), S.shape)
    )


@checked
def newton_inverses(
    S: SquareMatrices, alpha: PerPrompt, start: Start = "gram"
) -> Iterator[np.ndarray]:
    """Yield M₀, M₁, M₂, … (each (…, d, d)) of M ← 2M − M S M, for ever.

    S (…, d, d) symmetric positive semidefinite. From M₀ = αS the residual is
    I − S M_k = (I − αS²)^(2^k), from M₀ = αI it is (I − αS)^(2^k) [Schulz1933]. On range(S) it
    tends to 0 if and only if 0 < α < 2/λmax², resp. 2/λmax, strictly [BenIsrael1965]; for a larger
    alpha the recursion diverges, which is computed, not refused. From αS the limit is S⁺.
    For singular S the iterates from αI grow like 2^k on the null space of S, and in float64 every
    iteration run long after convergence loses what it gained there [Soderstrom1974].
    """
    first = starting_inverse(S, alpha, start)

    def recursion(M: np.ndarray) -> Iterator[np.ndarray]:
        while True:
            yield M
            with np.errstate(over="ignore", invalid="ignore"):
                M = 2 * M - M @ S @ M

    return recursion(first)


@checked
def newton(
    x: Inputs, y: Labels, k: Iterations, alpha: PerPrompt, start: Start = "gram"
) -> np.ndarray:
    """w_k = M_k b (…, d) after `k` ≥ 0 steps of `newton_inverses` on S = XᵀX, b = Xᵀy.

    x (…, n, d), y (…, n); `alpha` > 0, one number or one per prompt [Fu2024, Theorem 5.1].

    Raises `ValueError` as `normal_equations` does.
    """
    S, b = normal_equations(x, y)
    M = after(k, newton_inverses(S, alpha, start))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.matvec(M, b)
