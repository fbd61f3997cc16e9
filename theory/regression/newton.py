"""The Newton–Schulz iteration (Iterative Newton), which converges quadratically to an inverse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

import numpy as np

from theory.kinds import Inputs, Labels, PerPrompt, SquareMatrices, checked
from theory.regression.iterates import Iterations, after, finite, finite_product
from theory.regression.normal_equations import normal_equations

Start = Literal["gram", "identity"]
"""The start: "gram" is M₀ = αS, "identity" is M₀ = αI."""

STARTS: tuple[Start, ...] = get_args(Start)

ALPHA_REMEDY = "give fewer steps, a smaller alpha, or smaller x and y"


def starting_inverse(S: np.ndarray, alpha: np.ndarray, start: Start) -> np.ndarray:
    """The matrix M₀ (…, d, d): alpha·S for `start="gram"`, alpha·I for `start="identity"`.

    S has the shape (…, d, d), and `alpha` > 0 is one number, or one number for each matrix S.
    """
    with np.errstate(over="ignore"):
        return alpha[..., None, None] * (
            S if start == "gram" else np.broadcast_to(np.eye(S.shape[-1]), S.shape)
        )


@checked
def newton_inverses(
    S: SquareMatrices, alpha: PerPrompt, start: Start = "gram"
) -> Iterator[np.ndarray]:
    """Yield the approximate inverses M₀, M₁, M₂, … (each (…, d, d)) of S by M ← 2M − M S M.

    S (…, d, d) is symmetric positive semidefinite with largest eigenvalue λmax, and α = `alpha` > 0
    is one number or one per matrix. From M₀ = αS (start "gram"), the residual of M_k is I − S M_k =
    (I − αS²)^(2^k). From M₀ = αI (start "identity"), it is (I − αS)^(2^k) [Schulz1933]. The
    residual on range(S) tends to 0 if and only if α is below a bound: 2/λmax² for the start "gram",
    and 2/λmax for the start "identity" [BenIsrael1965]. For a larger α, the iterates diverge, and
    only overflow raises an error. From αS, the limit of M_k is the pseudo-inverse S⁺.

    Proof: M_k is a polynomial in S, so M_k commutes with S and I − S(2M − M S M) = (I − S M)². By
    induction the residual is (I − S M₀)^(2^k). From αS, the residual multiplies an eigenvector of S
    with eigenvalue λ by (1 − αλ²)^(2^k). The factor is 1 for λ = 0; for λ > 0 the factor tends to 0
    if and only if |1 − αλ²| < 1.

    Let b be in range(S), M₀ = αS and w = S⁺b, and let ρ be the largest |1 − αλ²| over the
    eigenvalues λ > 0. Then S M_k b − b = −(I − S M₀)^(2^k) b, hence |qᵀM_k b − qᵀw| ≤ ρ^(2^k) ‖q‖
    ‖w‖ for every query q. For ε > 0, this bound is at most ε once 2^k ≥ ln(‖q‖‖w‖/ε)/(−ln ρ).

    For singular S, the iterates from αI grow like 2^k on the null space of S. In float64, the
    accuracy is lost again if the iteration is continued long after convergence [Soderstrom1974].

    Raises `ValueError` if an iterate overflows.
    """
    first = starting_inverse(S, alpha, start)

    def recursion(M: np.ndarray) -> Iterator[np.ndarray]:
        while True:
            yield M
            with np.errstate(over="ignore", invalid="ignore"):
                M = 2 * M - M @ S @ M

    return finite(recursion(first), ALPHA_REMEDY, alpha=alpha, S=S)


@checked
def newton(
    x: Inputs, y: Labels, k: Iterations, alpha: PerPrompt, start: Start = "gram"
) -> np.ndarray:
    """The weights w_k = M_k b (…, d) after `k` ≥ 0 steps of the Newton–Schulz iteration.

    S = XᵀX and b = Xᵀy, where the rows of X are the examples x (…, n, d) of a prompt and y (…, n)
    are their labels. A step is M ← 2M − M S M. M₀ is alpha·S (start "gram") or alpha·I
    ("identity"), and `alpha` > 0 is one number or one per prompt [Fu2024, Theorem 5.1]. The
    docstring of `newton_inverses` contains the condition for convergence.

    Raises `ValueError` if S or b overflows or underflows, or if an iterate overflows.
    """
    S, b = normal_equations(x, y)
    return finite_product(after(k, newton_inverses(S, alpha, start)), b)
