"""The Newton–Schulz iteration (Iterative Newton): quadratically convergent inverses of S."""

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
    alpha the recursion diverges, which is computed and raises no error. From αS the limit is S⁺.

    Proof: M_k is a polynomial in S, so it commutes with S and
    I − S(2M − M S M) = (I − S M)²; by induction the residual is the power 2^k of I − S M₀. On an
    eigenvector of S with eigenvalue λ it is (1 − αλ²)^(2^k), which is 1 for λ = 0 and for λ > 0
    tends to 0 iff |1 − αλ²| < 1. Hence S M_k b − b = −(I − S M₀)^(2^k) b and, with w = S⁺b,
    |qᵀM_k b − qᵀw| ≤ ρ^(2^k) ‖q‖ ‖w‖ for b in range(S) and M₀ = αS, ρ the largest |1 − αλ²| over
    the λ > 0. This is at most ε once 2^k ≥ ln(‖q‖‖w‖/ε)/(−ln ρ).

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
