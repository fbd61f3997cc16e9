"""Ordinary least squares, the minimum-norm solution."""

import numpy as np
from numpy.typing import ArrayLike

from theory import checks


def ols(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """w = X⁺ y = S⁺ b (…, d): of all minimisers of ‖Xw − y‖², the one of least norm.

    x (…, n, d), y (…, n). Computed from the singular values of X, not of S = XᵀX, so that a
    condition number of X up to 1/(max(n, d)·eps), not only up to its square root, is resolved;
    singular values below `rank_cut` count as zero.

    Raises `ValueError` for shapes that do not match and for NaN or infinite entries.
    """
    x, y = checks.examples(x, y)
    return np.matvec(np.linalg.pinv(x, rcond=rank_cut(x)), y)


def rank_cut(x: np.ndarray) -> float:
    """max(n, d)·eps: singular values of x (…, n, d) that are a smaller share of σmax count as zero,
    since the decomposition's own error is as large [Higham2002, Chapter 20]."""
    return max(x.shape[-2:]) * float(np.finfo(np.float64).eps)
