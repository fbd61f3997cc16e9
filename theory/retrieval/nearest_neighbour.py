"""Nearest neighbours in context, and the softmax head that tends to them.

Shape glossary: `…` leading dimensions, `n` examples, `d` features.
"""

from __future__ import annotations

import decimal
from fractions import Fraction
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import (
    Count,
    InputError,
    Inputs,
    Labels,
    PerPrompt,
    Positive,
    Query,
    Reals,
    Vector,
    Within,
    checked,
)
from theory.scaling import comparable_squares

Input: TypeAlias = Annotated[Any, Reals("n d")]
"""The inputs x of one prompt, shape (n, d)."""
Label: TypeAlias = Annotated[Any, Reals("n")]
"""The labels y of one prompt, shape (n,)."""


def _labels_and_distances(
    x: np.ndarray, y: np.ndarray, x_query: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """y and the squared distances ‖x_query − x_j‖², both (…, n), and the differences (…, n, d).

    Raises `ValueError` if a squared distance overflows.
    """
    with np.errstate(over="ignore"):
        offset = x_query[..., None, :] - x
        squared = np.vecdot(offset, offset)
    if not np.isfinite(squared).all():
        largest = max(np.abs(x).max(), np.abs(x_query).max())
        raise InputError(
            f"a squared distance overflows (the largest entry of x and x_query is {largest:.3g}): "
            "rescale x and x_query"
        )
    return np.broadcast_to(y, squared.shape), squared, offset


@checked
def nearest_neighbour(x: Inputs, y: Labels, x_query: Query) -> np.ndarray:
    """The mean label (…,) of the examples nearest to the query in Euclidean distance.

    The examples are x (…, n, d) with labels y (…, n), and the queries are x_query (…, d). The
    leading dimensions of x and y are the same, and broadcast with those of x_query. The labels of
    equally near examples are averaged. Examples are equally near if their squared distances are
    equal in float64. The comparison is exact for entries that are integers of absolute value below
    2²⁵/√d, and for such integers multiplied by one common power of two.

    Raises `ValueError` if a squared distance overflows.
    """
    y, _, offset = _labels_and_distances(x, y, x_query)
    squared = comparable_squares(offset)
    nearest = squared == squared.min(axis=-1, keepdims=True)
    return np.asarray(np.where(nearest, y, 0).sum(axis=-1) / nearest.sum(axis=-1))


def _one_prompt(x: np.ndarray, y: np.ndarray, query: np.ndarray) -> list[tuple[Fraction, Fraction]]:
    """Squared distance and label of each example of one prompt, exactly."""
    pairs = []
    for row, label in zip(x.tolist(), y.tolist(), strict=True):
        offsets = [Fraction(q) - Fraction(v) for q, v in zip(query.tolist(), row, strict=True)]
        pairs.append((sum((u * u for u in offsets), Fraction(0)), Fraction(label)))
    return pairs


@checked
def nearest_neighbour_by_definition(x: Input, y: Label, x_query: Vector) -> Fraction:
    """The mean label of the examples nearest to the query in Euclidean distance, for one prompt.

    The inputs are read as float64. Their distances are compared in rational arithmetic, with exact
    ties. The labels of equally near examples are averaged.
    """
    pairs = _one_prompt(x, y, x_query)
    least = min(squared for squared, _ in pairs)
    labels = [label for squared, label in pairs if squared == least]
    return sum(labels, Fraction(0)) / len(labels)


@checked
def kernel_smoother(x: Inputs, y: Labels, x_query: Query, beta: PerPrompt) -> np.ndarray:
    """The mean (…,) of the labels of examples, weighted by a Gaussian kernel around the query.

    The mean is Σ_j exp(−beta‖x_query − x_j‖²) y_j / Σ_j exp(−beta‖x_query − x_j‖²) for n examples
    x_j with labels y_j. One softmax head with scores beta(2⟨x_query, x_j⟩ − ‖x_j‖²) and the labels
    as values computes this mean. The mean tends to the mean label of the examples nearest to the
    query (`nearest_neighbour`) as beta grows. Let g be the difference between the smallest squared
    distance of an example from the query and the next larger squared distance. Then the weighted
    mean differs from the mean label of the nearest examples by at most
    (n − 1)·exp(−beta·g)·(max y − min y).

    The examples are x (…, n, d) with labels y (…, n), and the queries are x_query (…, d).
    `beta` > 0 is a number, or an array with a number for each prompt. The smallest squared distance
    is subtracted from all squared distances, so that the largest weight is exactly 1.

    Raises `ValueError` if a squared distance overflows.
    """
    y, squared, _ = _labels_and_distances(x, y, x_query)
    beta = beta[..., None]
    with np.errstate(over="ignore", under="ignore"):
        weights = np.exp(-beta * (squared - squared.min(axis=-1, keepdims=True)))
    return np.asarray(np.vecdot(weights, y) / weights.sum(axis=-1))


@checked
def kernel_smoother_by_definition(
    x: Input,
    y: Label,
    x_query: Vector,
    beta: Positive,
    digits: Annotated[Count, Within(most=1000)] = 50,
) -> float:
    """The mean of labels weighted by a Gaussian kernel around the query, for one prompt.

    The examples are the rows x_j of x, with labels y_j. The weights are
    exp(−beta·‖x_query − x_j‖²), divided by their sum. The result equals that of `kernel_smoother`,
    in decimal arithmetic of `digits` digits. A weight underflows to 0 only below about 10^(−10^18).
    """
    pairs = _one_prompt(x, y, x_query)
    with decimal.localcontext(prec=digits, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX):
        top, bottom = decimal.Decimal(0), decimal.Decimal(0)
        for squared, label in pairs:
            exponent = -Fraction(beta) * squared
            weight = (decimal.Decimal(exponent.numerator) / exponent.denominator).exp()
            top += weight * label.numerator / label.denominator
            bottom += weight
        return float(top / bottom)
