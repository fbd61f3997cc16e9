"""Nearest neighbours in context, and the softmax head that tends to them.

Shape glossary: `…` leading dimensions, `n` examples, `d` features.
"""

import decimal
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError, Real


def _labels_and_distances(
    x: ArrayLike, y: ArrayLike, x_query: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """y and the squared distances ‖x_query − x_j‖², both (…, n) with the leading dimensions of all.

    Raises `ValueError` if a squared distance overflows.
    """
    x, y = checks.examples(x, y)
    x_query = checks.real("x_query", x_query)
    checks.example_shapes(x.shape, y.shape, x_query.shape)
    checks.finite("x_query", bool(np.isfinite(x_query).all()))
    with np.errstate(over="ignore"):
        offset = x_query[..., None, :] - x
        squared = np.vecdot(offset, offset)
    if not np.isfinite(squared).all():
        largest = max(np.abs(x).max(), np.abs(x_query).max())
        raise InputError(
            f"a squared distance overflows, the largest entry of x and x_query is {largest:.3g}: "
            "rescale both"
        )
    return np.broadcast_to(y, squared.shape), squared


def nearest_neighbour(x: ArrayLike, y: ArrayLike, x_query: ArrayLike) -> np.ndarray:
    """The mean label of the examples nearest to the query in Euclidean distance (…,).

    x (…, n, d), y (…, n), x_query (…, d), whose leading dimensions broadcast with those of x. With
    one nearest example it is that example's label; ties are averaged. Examples tie when their
    squared distances are equal in float64: for entries that are integers below 2²⁵/√d, or dyadic
    fractions alike, exactly when they are equal.

    Raises `ValueError` for shapes that do not match, for NaN or infinite entries, and for a squared
    distance that overflows.
    """
    y, squared = _labels_and_distances(x, y, x_query)
    nearest = squared == squared.min(axis=-1, keepdims=True)
    return np.asarray(np.where(nearest, y, 0).sum(axis=-1) / nearest.sum(axis=-1))


def _one_prompt(x: ArrayLike, y: ArrayLike, x_query: ArrayLike) -> list[tuple[Fraction, Fraction]]:
    """Squared distance and label of each example of one prompt, exactly."""
    x, y = checks.examples(x, y)
    query = checks.real("x_query", x_query)
    checks.example_shapes(x.shape, y.shape, query.shape)
    checks.finite("x_query", bool(np.isfinite(query).all()))
    if x.ndim != 2 or query.ndim != 1:
        raise InputError(
            f"x has shape {x.shape} and x_query {query.shape}: "
            "the definition takes one prompt, x (n, d) and x_query (d,)"
        )
    pairs = []
    for row, label in zip(x.tolist(), y.tolist(), strict=True):
        offsets = [Fraction(q) - Fraction(v) for q, v in zip(query.tolist(), row, strict=True)]
        pairs.append((sum((u * u for u in offsets), Fraction(0)), Fraction(label)))
    return pairs


def nearest_neighbour_by_definition(x: ArrayLike, y: ArrayLike, x_query: ArrayLike) -> Fraction:
    """`nearest_neighbour` of one prompt, in rational arithmetic: ties are exact ones."""
    pairs = _one_prompt(x, y, x_query)
    least = min(squared for squared, _ in pairs)
    labels = [label for squared, label in pairs if squared == least]
    return sum(labels, Fraction(0)) / len(labels)


def kernel_smoother(x: ArrayLike, y: ArrayLike, x_query: ArrayLike, beta: Real) -> np.ndarray:
    """Σ_j exp(−beta‖x_query − x_j‖²) y_j / Σ_j exp(−beta‖x_query − x_j‖²), (…,).

    This is what one softmax head computes whose scores are beta(2⟨x_query, x_j⟩ − ‖x_j‖²) and whose
    values are labels. It tends to `nearest_neighbour` as beta grows: with g the gap between the
    smallest squared distance and the next one that differs, they differ by at most
    (n − 1)·exp(−beta·g)·(max y − min y).

    Shapes as in `nearest_neighbour`; `beta` > 0, one number or one per prompt. The smallest squared
    distance is subtracted first, so that the largest weight is exactly 1.

    Raises `ValueError` as `nearest_neighbour` does, and for a beta that is not finite and positive.
    """
    y, squared = _labels_and_distances(x, y, x_query)
    beta = checks.per_prompt("beta", beta, squared.shape[:-1])[..., None]
    with np.errstate(over="ignore", under="ignore"):
        weights = np.exp(-beta * (squared - squared.min(axis=-1, keepdims=True)))
    return np.asarray(np.vecdot(weights, y) / weights.sum(axis=-1))


def kernel_smoother_by_definition(
    x: ArrayLike, y: ArrayLike, x_query: ArrayLike, beta: float, digits: int = 50
) -> float:
    """`kernel_smoother` of one prompt, as its formula says, in decimals of so many `digits`.

    Decimal exponents reach 10^18, so that a weight exp(−beta·‖x_query − x_j‖²) is 0 only for
    exponents beyond that.
    """
    pairs = _one_prompt(x, y, x_query)
    checks.positive("beta", beta)
    digits = checks.dimension("digits", digits)
    with decimal.localcontext(prec=digits, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX):
        top, bottom = decimal.Decimal(0), decimal.Decimal(0)
        for squared, label in pairs:
            exponent = -Fraction(beta) * squared
            weight = (decimal.Decimal(exponent.numerator) / exponent.denominator).exp()
            top += weight * label.numerator / label.denominator
            bottom += weight
        return float(top / bottom)
