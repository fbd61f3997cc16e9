"""Points and directions unlike those of the claims, for the self-test."""

from __future__ import annotations

import numpy as np


def evenly(drawn: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """In the place of points that crowd, as many that are evenly spaced between the same ends."""
    x, q = drawn
    between = np.linspace(0, 1, x.shape[-1])
    return x[..., :1] + between * (x[..., -1:] - x[..., :1]), q


def leaning(directions: np.ndarray) -> np.ndarray:
    """In the place of orthogonal directions some that lean to the first one, by 45°."""
    leans = directions + directions[:1]
    return leans / np.linalg.norm(leans, axis=-1, keepdims=True)
