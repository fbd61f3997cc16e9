"""Tables for regression; `public.py` documents them."""

import numpy as np

FITTED = ("fitted_filter", "fitted_ridge", "unexplained_fraction")
OF_WISHART = ("best_step_size", "gradient_descent_error", "polynomial_errors", "wishart_moments")

FILTERED = {
    "errors": np.linspace(1, 2, 8),
    "components": np.ones((8, 2)),
    "z": np.linspace([0.5, 1], [0.7, 1], 8),
}
ARGUMENTS = {
    "theory.regression.RegisterFormula": {"parts": {}},
    **{f"theory.regression.{name}": FILTERED for name in FITTED},
    **{f"theory.regression.{name}": {"n": 3, "d": 2} for name in OF_WISHART},
    "theory.regression.induced_weights": {"queries": np.eye(3)[:, :2], "predictions": np.ones(3)},
    "theory.regression.newton_digits": {"x": np.eye(2), "alpha": 0.5, "digits": 50},
    "constructions.regression.chebyshev": {"smallest": 0.5, "largest": 2.0},
}
