"""A priori error bounds of softmax heads in place of linear heads, for regression prompts.

Let ‖x_i‖, ‖x_q‖ ≤ R and |y_i| ≤ Y for n examples (x_i, y_i) and a query x_q.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from constructions.stock.gadgets import Gadgets
from constructions.stock.softened import scale_of


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
    scores: Sequence[float],
    soft: Gadgets,
    alpha: float,
    L: float,
    R: float,
    Y: float,
    n: int,
    d: int,
) -> float:
    """An upper bound on the error of k Newton–Schulz steps from αI in a stock model.

    The model is the construction `newton_direct`, with α = `alpha`. The prompt has n examples
    (x_i, y_i) and a query x_q in R^d, with ‖x_i‖, ‖x_q‖ ≤ R, |y_i| ≤ Y and λmax(S) ≤ L for
    S = Σ x_i x_iᵀ. `scores` contains a bound B_j on the scores of each layer j = 0, …, k of
    `newton_direct`, in the last layer on those of the query. `soft` are the parameters of the stock
    model, which divides scores by `scale_of(B_j)`. Layer norms and rounding are not included. The
    result is NaN if αL > 1, and if the errors of scores may be larger than B_j.

    Proof. Let m = 2^j, and let M = M_j be the estimate of S⁻¹ after j steps without errors. X has
    the rows x_i, and r = min(n, d). After j steps token t contains U_t/m, where U_t approximates
    Mx_t. Let XM + G have the rows U_i of the examples, and let U_q = Mx_q + e. The head of layer j
    has the scores ⟨x_i, U_t⟩/m and values proportional to U_i, and the step is

        U_t ← (I + F − GᵀX)U_t + E_t,      F = I − MS = (I − αS)^m.

    Let ε and σ be the results of `soft.parts` for the scores B = B_j + max(‖G‖L^½, ‖Xe‖)/m, which
    are not exceeded. By Cauchy's inequality,

        ‖E_t‖ ≤ ε Σ|⟨x_i, U_t⟩|‖U_i‖ + σmB Σ‖U_i‖ ≤ (ε‖XU_t‖ + σmB n^½)·‖XM + G‖_F.

    S has at most r non-zero eigenvalues λ ≤ L. The eigenvalues of M are p/λ for
    p = 1 − (1 − αλ)^m ≤ min(mαλ, P), P = min(mαL, 1). So p² ≤ mαλP, and

        ‖XM‖ ≤ (mαP)^½,      ‖XM‖_F ≤ (rmαP)^½,      ‖XMXᵀ‖_F ≤ r^½·P.

    Let F' = I − XMXᵀ, for which XF = F'X and 0 ≤ F' ≤ I. For the rows of the examples, the step is
    G ← G(I + F) − (I − F' + GXᵀ)G + E = GF + F'G − GXᵀG + E. So a bound g on ‖G‖_F becomes

        2g + L^½g² + (ε(r^½P + L^½g) + σmBn)·((rmαP)^½ + g).

    At the query, e ← (I + F)e + c with c = E_q − GᵀXU_q. The product of the matrices I + F of the
    next s steps has the eigenvalues (1 − (1 − z)^l)/z ≤ min(l, 1/z) ≤ (l/z)^½ for l = 2^s and
    z = 1 − (1 − αλ)^(2m) ≥ αλ. So X times this product has a norm of at most
    a_l = min(lL^½, (l/α)^½), and ‖Xe‖ ≤ f for the sum f of a_l‖c‖ over the steps so far, where
    l = 1 for the last one, and

        ‖c‖ ≤ g·q + (εq + σmBn^½)·((rmαP)^½ + g),      q = (mαP)^½R + f ≥ ‖XU_q‖.

    The prediction Σ y_i⟨x_i, U_q⟩ has an error of at most n^½Y(f + εq) + σmBnY, with m = 2^k.
    """
    if not alpha * L <= 1:
        return math.nan
    r, largest, g, added = min(n, d), math.sqrt(L), 0.0, list[float]()
    for j, known in enumerate(scores):
        m, P = 2.0**j, min(2.0**j * alpha * L, 1.0)
        growths = (min(2.0**s * largest, math.sqrt(2.0**s / alpha)) for s in range(j))
        f = sum(a * c for a, c in zip(growths, reversed(added), strict=True))
        off = max(g * largest, f) / m
        if not off <= known:
            return math.nan
        eps, sink = soft.parts(soft.theta * (known + off) / scale_of(known), n)
        left = sink * m * (known + off)
        q, size = math.sqrt(m * alpha * P) * R + f, math.sqrt(r * m * alpha * P) + g
        added.append(g * q + (eps * q + left * math.sqrt(n)) * size)
        g = 2 * g + largest * g**2 + (eps * (math.sqrt(r) * P + largest * g) + left * n) * size
    return float(Y * (math.sqrt(n) * (f + eps * q) + left * n))
