"""Ridge regression."""

from __future__ import annotations

import numpy as np

from theory.kinds import InputError, Inputs, Labels, PerPrompt, checked
from theory.regression.iterates import largest
from theory.regression.ols import rank_cut


@checked
def ridge(x: Inputs, y: Labels, penalty: PerPrompt) -> np.ndarray:
    """The weights w (…, d) of ridge regression: the minimiser of ‖Xw − y‖² + penalty·‖w‖².

    The weights are w = (XᵀX + penalty·I)⁻¹ Xᵀy. The rows of X are the examples x (…, n, d) of a
    prompt, y (…, n) are their labels, and `penalty` > 0 is one number, or one number for each
    prompt. The weights are computed as V diag(σ/(σ² + penalty)) Uᵀ y from the singular value
    decomposition X = U diag(σ) Vᵀ. This computation is accurate even if the penalty is far below
    the rounding error of XᵀX. As in `ols`, singular values of at most max(n, d)·eps times the
    largest singular value count as zero.

    Raises `ValueError` if σ² or the weights overflow.
    """
    U, sigma, Vt = np.linalg.svd(x, full_matrices=False)
    sigma = np.where(sigma > rank_cut(x) * sigma[..., :1], sigma, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = sigma**2 + penalty[..., None]
        w = np.vecmat(np.vecmat(y, U) * sigma / squares, Vt)
    if not (np.isfinite(squares).all() and np.isfinite(w).all()):
        raise InputError(
            f"the squared singular values or the weights overflow ({largest(x=x, y=y)}): "
            "rescale x and y"
        )
    return w
