"""Functions on Arb balls, and on vectors: lists of balls, rationals or polynomials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from flint import arb

Vector = Sequence[Any]
UNIT = arb(0, 1)  # the interval [−1, 1]


def exactly(values: Any) -> Any:
    """The exact balls of a float64 array or of nested lists of floats, as nested lists."""
    listed = values if isinstance(values, list | float | int) else values.tolist()
    return [exactly(value) for value in listed] if isinstance(listed, list) else arb(float(listed))


def inner(a: Iterable[Any], b: Iterable[Any]) -> Any:
    """⟨a, b⟩ = Σ a_i b_i, in any number system."""
    return sum(u * v for u, v in zip(a, b, strict=True))


def minus(a: Vector, b: Vector) -> list[Any]:
    """The difference a − b."""
    return [u - v for u, v in zip(a, b, strict=True)]


def mean(weights: Vector, rows: Sequence[Vector]) -> list[Any]:
    """The weighted sum Σ_j w_j x_j."""
    return [inner(weights, column) for column in zip(*rows, strict=True)]


def norm(v: Iterable[arb]) -> arb:
    """The norm ‖v‖ of a vector of balls; the Frobenius norm if v lists the entries of a matrix."""
    square = sum((u * u for u in v), arb(0))
    # If the ball contains 0, so does the enclosure of its square root.
    return square.sqrt() if square > 0 else square.abs_upper().sqrt() * UNIT


def floats(rows: Sequence[Vector]) -> np.ndarray:
    """The float64 array of the numbers nearest to the midpoints of rows of balls."""
    return np.array([[float(entry) for entry in row] for row in rows])


def softmax(scores: Sequence[arb], beta: arb) -> list[arb]:
    """The softmax e^{βs_j}/Σ_k e^{βs_k} in balls, computed after subtraction of a largest score."""
    largest = max(scores, key=float)
    powers = [(beta * (score - largest)).exp() for score in scores]
    total = sum(powers, arb(0))
    return [power / total for power in powers]
