"""Ordinary least squares, the minimum-norm solution."""

from __future__ import annotations

import numpy as np

from theory.kinds import Inputs, Labels, checked


@checked
def ols(x: Inputs, y: Labels) -> np.ndarray:
    """w = X⁺ y = S⁺ b (…, d): of all minimisers of ‖Xw − y‖², the one of least norm.

    x (…, n, d), y (…, n). Computed from the singular values of X, not of S = XᵀX, so that a
    condition number of X up to 1/(max(n, d)·eps), not only up to its square root, is resolved;
    singular values below `rank_cut` count as zero.
    """
    return np.matvec(np.linalg.pinv(x, rcond=rank_cut(x)), y)


def rank_cut(x: np.ndarray) -> float:
    """max(n, d)·eps: singular values of x (…, n, d) that are a smaller share of σmax count as zero,
    since the decomposition's own error is as large [Higham2002, Chapter 20]."""
    return max(x.shape[-2:]) * float(np.finfo(np.float64).eps)
