"""Powers of two that bring numbers near 1, so that their squares and cubes stay in float64."""

from __future__ import annotations

import numpy as np


def near_one(array: np.ndarray, axes: int | tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """An array divided by the power of two that brings its maximum to [½, 1), and the exponent.

    The maximum is that of the absolute values over `axes`, which have length 1 in the exponents;
    where all numbers are 0, the exponent is 0. The quotients have the relative precision of the
    array, except those that underflow.
    """
    _, power = np.frexp(np.abs(array).max(axes, keepdims=True))
    return np.ldexp(array, -power), power
