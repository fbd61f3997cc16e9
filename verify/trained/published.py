"""Published tables: similarity of errors between the layers of a transformer and algorithms.

From [Fu2024]: 12 layers, d = 20, 41 points; rows are steps, columns layers.
"""

from __future__ import annotations

from importlib.resources import files

import numpy as np


def published(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Steps (k,) and similarities (k, 12) of a table: isotropic_newton, ill_conditioned_newton,
    isotropic_gradient_descent or ill_conditioned_gradient_descent."""
    text = (files("verify.trained") / "published" / f"{name}.csv").read_text("utf-8")
    rows = np.array([[float(cell) for cell in row.split(",")] for row in text.splitlines()[1:]])
    return rows[:, 0].astype(int), rows[:, 1:]
