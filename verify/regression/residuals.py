"""Residual factors R_k(λ) of methods after k steps, for eigenvalues λ in [1, κ]."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from theory.regression import (
    chebyshev_residual,
    gradient_descent_residual,
    hyperpower_residual,
    newton_residual,
)

RESIDUALS: dict[str, Callable[[np.ndarray, int, float], np.ndarray]] = {
    "gradient descent": lambda lam, k, c: gradient_descent_residual(lam, k, 1 / c),
    "gradient descent at its best step": (
        lambda lam, k, c: gradient_descent_residual(lam, k, 2 / (1 + c))
    ),
    "Newton from αS": lambda lam, k, c: newton_residual(lam, k, 1 / c**2),
    "Newton from αI": lambda lam, k, c: newton_residual(lam, k, 1 / c, "identity"),
    "hyperpower of order 3": lambda lam, k, c: hyperpower_residual(lam, k, 3, 1 / c**2),
    "Chebyshev": lambda lam, k, c: chebyshev_residual(lam, k, 1.0, c),
}
"""For each method, the function (λ, k, κ) → R_k(λ). The best step size depends on λmin and λmax."""
