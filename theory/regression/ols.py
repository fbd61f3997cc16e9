"""Ordinary least squares, the minimum-norm solution.

The Newton–Schulz iteration from M₀ = αS and gradient descent from w₀ = 0 tend to it, whatever the
rank of X.  Proof: with S = XᵀX and b = Xᵀy, either has w_k = p_k(S) b for a polynomial p_k, so
w_k ∈ range(Xᵀ), where w = X⁺y is the only solution of S w = b.  And S w_k − b = −E^N b, with
E = I − αS², N = 2^k (`newton.py`), respectively E = I − ηS, N = k, since a step of gradient
descent takes the gradient g = S w − b to (I − ηS) g.  So w_k − w = −E^N w.  On range(Xᵀ) the
eigenvalues of E are 1 − αλ² (1 − ηλ) for the non-zero eigenvalues λ of S; they lie in (−1, 1) iff
0 < α < 2/λmax² (0 < η < 2/λmax), and then E^N w tends to 0.
"""

from __future__ import annotations

import numpy as np

from theory.kinds import Inputs, Labels, checked
from theory.regression.iterates import finite_product


@checked
def ols(x: Inputs, y: Labels) -> np.ndarray:
    """The minimum-norm minimiser w = X⁺ y = S⁺ b (…, d) of ‖Xw − y‖².

    x (…, n, d), y (…, n). Computed from the singular values of X, not of S = XᵀX, so that a
    condition number of X up to 1/(max(n, d)·eps), not only up to its square root, is resolved;
    singular values below `rank_cut` count as zero.

    Raises `ValueError` if the weights overflow.
    """
    with np.errstate(all="ignore"):
        return finite_product(np.linalg.pinv(x, rcond=rank_cut(x)), y)


def rank_cut(x: np.ndarray) -> float:
    """The relative cut-off max(n, d)·eps of the singular values of x (…, n, d).

    A singular value below it, as a fraction of σmax, counts as zero: the rounding error of the
    decomposition is as large [Higham2002, Chapter 20].
    """
    return max(x.shape[-2:]) * float(np.finfo(np.float64).eps)
