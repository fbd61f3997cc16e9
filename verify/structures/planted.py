"""Mutants for the self-test: samples of points and sets of directions that a claim must reject."""

from __future__ import annotations

import numpy as np


def evenly(drawn: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """A sample (points, queries) with evenly spaced points in place of the given points.

    The first and the last point are unchanged.
    """
    x, q = drawn
    between = np.linspace(0, 1, x.shape[-1])
    return x[..., :1] + between * (x[..., -1:] - x[..., :1]), q


def leaning(directions: np.ndarray) -> np.ndarray:
    """Directions at 45° to the first direction, in place of orthogonal directions."""
    leans = directions + directions[:1]
    return leans / np.linalg.norm(leans, axis=-1, keepdims=True)
