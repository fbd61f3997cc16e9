"""Kinds in regression: parameters without any, examples of classes, calls that work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# Packages whose functions have no kinds yet: whoever has declared them takes the name out.
MIGRATING: set[str] = set()

# "theory.regression.function", or "theory.regression.function:parameter": why it has no kind.
WITHOUT: dict[str, str] = {}

# Of each class that parameters are of, by its name: makes one.
EXAMPLES: dict[str, Callable[[], Any]] = {}

FITTED = ("fitted_filter", "fitted_ridge", "unfiltered")
OF_WISHART = ("best_step_size", "descent_error", "polynomial_errors", "wishart_moments")

# Arguments of a call that works, where the examples of the kinds make none; the others stay theirs.
FILTERED = {
    "errors": np.linspace(1, 2, 8),
    "shares": np.ones((8, 2)),
    "z": np.linspace([0.5, 1], [0.7, 1], 8),
}
ARGUMENTS: dict[str, dict[str, Any]] = {
    **{f"theory.regression.{name}": FILTERED for name in FITTED},
    **{f"theory.regression.{name}": {"n": 3, "d": 2} for name in OF_WISHART},
    "theory.regression.induced_weights": {"queries": np.eye(3)[:, :2], "predictions": np.ones(3)},
    "theory.regression.newton_digits": {"x": np.eye(2), "alpha": 0.5, "digits": 50},
    "constructions.regression.chebyshev": {"smallest": 0.5, "largest": 2.0},
}
