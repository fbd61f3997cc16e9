"""Functions on Arb balls, and on vectors: lists of balls, rationals or polynomials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from flint import arb

Vector = Sequence[Any]
UNIT = arb(0, 1)  # the interval [−1, 1]


def exactly(values: Any) -> Any:
    """Returns integers or floats, in an array or nested list, as exact Arb balls in lists."""
    listed = values if isinstance(values, list | float | int) else values.tolist()
    return [exactly(value) for value in listed] if isinstance(listed, list) else arb(listed)


def inner(a: Iterable[Any], b: Iterable[Any]) -> Any:
    """The inner product ⟨a, b⟩ = Σ_i a_i b_i of two vectors, in any number system."""
    return sum(u * v for u, v in zip(a, b, strict=True))


def minus(a: Vector, b: Vector) -> list[Any]:
    """The difference a − b."""
    return [u - v for u, v in zip(a, b, strict=True)]


def mean(weights: Vector, rows: Sequence[Vector]) -> list[Any]:
    """The weighted sum Σ_j weights_j · rows_j of vectors, the `rows`."""
    return [inner(weights, column) for column in zip(*rows, strict=True)]


def norm(v: Iterable[arb]) -> arb:
    """The norm ‖v‖ of a vector of balls; the Frobenius norm if v lists the entries of a matrix."""
    square = sum((u * u for u in v), arb(0))
    # If the ball contains 0, so does the enclosure of its square root.
    return square.sqrt() if square > 0 else square.abs_upper().sqrt() * UNIT


def floats(rows: Sequence[Vector]) -> np.ndarray:
    """Returns rows of balls as a float64 array; each ball is replaced by its rounded midpoint."""
    return np.array([[float(entry) for entry in row] for row in rows])


def softmax(scores: Sequence[arb], beta: arb) -> list[arb]:
    """The softmax e^{βs_j}/Σ_k e^{βs_k} of the scores s_j in balls, with β = `beta`.

    A largest score is subtracted from all scores before the exponentials are computed.
    """
    largest = max(scores, key=float)
    powers = [(beta * (score - largest)).exp() for score in scores]
    total = sum(powers, arb(0))
    return [power / total for power in powers]
