"""Powers of two that bring numbers near 1, so that their squares and cubes stay in float64."""

from __future__ import annotations

import numpy as np

LEAST = 2.0**-1074
"""The smallest float64 above 0."""


def near_one(array: np.ndarray, axes: int | tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """An array divided by the power of two that brings its maximum to [½, 1), and the exponent.

    The maximum is that of the absolute values over `axes`, which have length 1 in the exponents;
    where all numbers are 0, the exponent is 0. The quotients have the relative precision of the
    array, except those that underflow.
    """
    _, power = np.frexp(np.abs(array).max(axes, keepdims=True))
    return np.ldexp(array, -power), power


def comparable_squares(offsets: np.ndarray) -> np.ndarray:
    """The squared lengths (…, N) of vectors (…, N, d), times the power of four for comparisons.

    The power brings the least squared length near 1, so that no other squared length underflows;
    larger ones may be infinite. The array `offsets` is overwritten.
    """
    np.abs(offsets, out=offsets)
    least = offsets.max(-1, keepdims=True).min(-2, keepdims=True)
    _, power = np.frexp(np.where(least > 0, least, LEAST))
    with np.errstate(over="ignore"):
        np.ldexp(offsets, -power, out=offsets)
        return np.asarray(np.square(offsets, out=offsets).sum(-1))
