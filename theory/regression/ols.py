"""Ordinary least squares: the minimum-norm solution.

The Newton–Schulz iteration from M₀ = αS and gradient descent from w₀ = 0 tend to this solution for
X of any rank. Proof: let S = XᵀX and b = Xᵀy. Both methods have w_k = p_k(S) b for a polynomial
p_k. So w_k ∈ range(Xᵀ), and w = X⁺y is the only solution of S w = b in range(Xᵀ). Further, S w_k −
b = −E^N b, with E = I − αS² and N = 2^k for Newton–Schulz (`newton.py`), and with E = I − ηS and N
= k for gradient descent, because a step multiplies the gradient S w − b by I − ηS.  So w_k − w =
−E^N w.  On range(Xᵀ) the eigenvalues of E are 1 − αλ², resp. 1 − ηλ, for the non-zero eigenvalues λ
of S. They lie in (−1, 1) iff 0 < α < 2/λmax², resp. 0 < η < 2/λmax, and then E^N w tends to 0.
"""

from __future__ import annotations

import numpy as np

from theory.kinds import InputError, Inputs, Labels, checked
from theory.regression.iterates import largest
from theory.scaling import near_one


@checked
def ols(x: Inputs, y: Labels) -> np.ndarray:
    """The weights w = X⁺y (…, d) of ordinary least squares: the least-norm minimiser of ‖Xw − y‖².

    The rows of X are the examples x (…, n, d) of a prompt, and y (…, n) are their labels. The
    solution is computed from the singular values of X, not of XᵀX. It is therefore accurate for
    condition numbers of X up to 1/(max(n, d)·eps). If the solution were computed from XᵀX, the
    largest such condition number would be the square root of 1/(max(n, d)·eps). Singular values
    of at most max(n, d)·eps times the largest singular value count as zero.

    Raises `ValueError` if the weights overflow.
    """
    (inputs, power), (labels, of_labels) = near_one(x, (-2, -1)), near_one(y, -1)
    with np.errstate(all="ignore"):
        w = np.matvec(np.linalg.pinv(inputs, rcond=rank_cut(x)), labels)
        w = np.ldexp(w, of_labels - power[..., 0])
    if not np.isfinite(w).all():
        raise InputError(f"the weights overflow float64 ({largest(x=x, y=y)}): rescale x and y")
    return w


def rank_cut(x: np.ndarray) -> float:
    """The relative cut-off max(n, d)·eps of the singular values of x (…, n, d).

    A singular value below this fraction of σmax counts as zero, because the rounding error of the
    singular value decomposition has this size [Higham2002, Chapter 20].
    """
    return max(x.shape[-2:]) * float(np.finfo(np.float64).eps)
