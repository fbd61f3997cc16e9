"""A priori error bounds of softmax heads in place of linear heads, for regression prompts.

Let ‖x_i‖, ‖x_q‖ ≤ R, |y_i| ≤ Y, n examples, and ε the relative error of a head (`Gadgets.head`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def descent_bound(k: int, eta: float, eps: float, B: float, R: float, Y: float, n: int) -> float:
    """An upper bound on the error of k steps of causal gradient descent in a stock model.

    The prompt has n examples (x_i, y_i) with ‖x_i‖ ≤ R and |y_i| ≤ Y, and the scores are at most B.
    The step size is η = `eta`, and ε = `eps` is the relative error of a softmax head
    (`Gadgets.head`). The bound requires η ≤ 2/λmax(S) for S = Σ x_i x_iᵀ, so that I − ηS is a
    contraction. The bound is NaN if k·ηnB·ε > 1/12.

    Let u be the register that gradient descent changes. A head adds an error of at most εηBnR to u
    and an error of at most εηBnY to the prediction, and the prediction multiplies errors of u by at
    most ηnRY. Errors of u add up, so that the error of k steps is at most

        1.1·ε·ηnB·Y·(k + ηnR²·k(k − 1)/2),        if k·ηnB·ε ≤ 1/12,

    where ε is the relative error for 1.1 times the largest scaled score, because errors of u
    increase scores by less than a tenth.
    """
    if not k * eta * n * B * eps <= 1 / 12:
        return math.nan
    return 1.1 * eps * eta * n * B * Y * (k + eta * n * R**2 * k * (k - 1) / 2)


def newton_bound(
    scores: Sequence[float], eps: float, alpha: float, R: float, Y: float, n: int
) -> float:
    """An upper bound on the error of k Newton–Schulz steps from αI in a stock model.

    The model is the construction `newton_direct`, with α = `alpha`. The prompt has n examples
    (x_i, y_i) with ‖x_i‖ ≤ R and |y_i| ≤ Y, and α·λmax(S) ≤ 1 is required, where S = Σ x_i x_iᵀ.
    `scores` contains a bound B_j on the scores of each layer j = 0, …, k, and ε = `eps` is the
    relative error of a head for 1.1 times these bounds. The result is NaN if scores may be larger
    than 1.1 times the bounds.

    Let M_j be the estimate of S⁻¹ after j steps, and U_t = 2^j u_t, where u_t is the register of
    token t with input x_t; U_t approximates M_j x_t. Let H = Σ_i U_i x_iᵀ and F = I − H. A step
    adds H U_t with an error E_t, so that

        U_t ← (I + F)U_t + E_t,      F ← F² − Σ_i E_i x_iᵀ,
        ‖E_t‖ ≤ η = 2^j·ε·B_j Σ_i ‖U_i‖.

    Without errors E_t, F is (I − αS)^{2^j}, a contraction, and ‖M_j‖ ≤ α2^j. Let Δ be the error of
    F and ρ the largest error of a U_t. In one step, Δ becomes at most 2Δ + Δ² + nRη, and ρ becomes
    at most (2 + Δ)ρ + Δα2^jR + η. After k steps, the prediction Σ_i y_i⟨x_i, U_q⟩ at the query
    token q has an error of at most nYRρ, plus at most 2^k·ε·B_k·nY from the head that computes it.
    """
    rho = delta = 0.0
    for j, B in enumerate(scores):
        if R * rho / 2**j > 0.1 * B:
            return math.nan
        if j == len(scores) - 1:
            break
        held = alpha * 2**j * R
        eta = 2**j * eps * B * n * (held + rho)
        rho, delta = (
            (2 + delta) * rho + delta * held + eta,
            2 * delta + delta**2 + n * R * eta,
        )
    return float(n * Y * (R * rho + 2 ** (len(scores) - 1) * eps * scores[-1]))
