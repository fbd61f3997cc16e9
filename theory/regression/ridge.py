"""Ridge regression."""

from __future__ import annotations

import numpy as np

from theory.kinds import Inputs, Labels, PerPrompt, checked


@checked
def ridge(x: Inputs, y: Labels, penalty: PerPrompt) -> np.ndarray:
    """w = (S + penalty·I)⁻¹ b (…, d), the minimiser of ‖Xw − y‖² + penalty·‖w‖².

    x (…, n, d), y (…, n); `penalty` > 0, one number or one per prompt. Computed as
    V diag(σ/(σ² + penalty)) Uᵀ y from the singular value decomposition X = U diag(σ) Vᵀ, which
    stays accurate for penalties far below the rounding error of S.
    """
    U, sigma, Vt = np.linalg.svd(x, full_matrices=False)
    shrunk = np.vecmat(y, U) * sigma / (sigma**2 + penalty[..., None])
    return np.vecmat(shrunk, Vt)
