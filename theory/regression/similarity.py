"""The similarity of predictors: of their errors, and of the weights they induce.

A predictor is given by its predictions. Shapes: `m` prompts, `n` predictions for each prompt (entry
t is the prediction of label t + 1 from the first t examples), `d` features, `T` queries, `k` and
`l` predictors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import InputError, Reals, checked
from theory.scaling import near_one

First: TypeAlias = Annotated[Any, Reals("k m n")]
"""Predictions of k predictors, shape (k, m, n)."""
Second: TypeAlias = Annotated[Any, Reals("l m n")]
"""Predictions of l predictors, shape (l, m, n)."""
PromptLabels: TypeAlias = Annotated[Any, Reals("m n")]
"""The labels that are predicted, shape (m, n)."""
Queries: TypeAlias = Annotated[Any, Reals("... T d")]
"""Queries after the same examples, shape (…, T, d)."""
Predictions: TypeAlias = Annotated[Any, Reals("... T")]
"""Predictions at the queries, shape (…, T)."""
FirstWeights: TypeAlias = Annotated[Any, Reals("k m n d")]
"""Weights that k predictors induce, shape (k, m, n, d)."""
SecondWeights: TypeAlias = Annotated[Any, Reals("l m n d")]
"""Weights that l predictors induce, shape (l, m, n, d)."""
OfPrompts: TypeAlias = Annotated[Any, Reals("... m")]
"""Quantities of m prompts, shape (…, m)."""


@dataclass(frozen=True)
class Estimate:
    """The means (`mean`) of quantities over prompts, and their standard errors (`error`)."""

    mean: np.ndarray
    error: np.ndarray

    @staticmethod
    @checked
    def over_prompts(values: OfPrompts) -> Estimate:
        """The mean over m ≥ 2 prompts and its standard error, from an array `values` (…, m).

        The last axis of `values` indexes the prompts, which must be independent. The standard error
        of the mean is s/√m, where s is the sample standard deviation of the m values.

        Raises `ValueError` for fewer than 2 prompts.
        """
        return _over_prompts(values)


def _over_prompts(values: np.ndarray) -> Estimate:
    m = values.shape[-1]
    if m < 2:
        raise InputError(
            f"values has shape {values.shape}, and its last axis indexes the prompts: give at "
            "least 2 prompts"
        )
    error = values.std(-1, ddof=1) / np.sqrt(m)
    return Estimate(np.asarray(values.mean(-1)), np.asarray(error))


@checked
def error_similarity(first: First, second: Second, labels: PromptLabels) -> Estimate:
    """The mean cosines (k, l) between the errors of k and of l predictors [Fu2024].

    `first` (k, m, n) contains the predictions of k predictors, and `second` (l, m, n) those of l
    predictors. Each predictor predicts the n labels of each of m prompts, `labels` (m, n). The
    errors of a predictor on a prompt form a vector of length n, predictions minus labels. The
    cosine between the error vectors of two predictors is computed on each prompt. The result
    contains the mean of the cosine over the m prompts, and the standard error of the mean. If all
    errors of a predictor on a prompt are 0, the cosine counts as 0.

    Raises `ValueError` for fewer than 2 prompts.
    """
    return _over_prompts(error_cosines(first, second, labels))


@checked
def error_cosines(first: First, second: Second, labels: PromptLabels) -> np.ndarray:
    """The cosines (k, l, m) between the errors of k and of l predictors, on each of m prompts.

    `first` (k, m, n) contains the predictions of k predictors, and `second` (l, m, n) those of l
    predictors. Each predictor predicts the n labels of each of m prompts, `labels` (m, n). The
    cosine is between the vectors of n errors, predictions minus labels, of two predictors on a
    prompt. `error_similarity` returns the mean of these cosines over prompts.

    Raises `ValueError` for fewer than 2 prompts.
    """
    _several(first)
    return _cosines(first - labels, second - labels)


@checked
def error_distance(first: First, second: Second, labels: PromptLabels) -> Estimate:
    """The mean squared differences (k, l) between the predictions of k and of l predictors.

    `first` (k, m, n) contains the predictions of k predictors, and `second` (l, m, n) those of l
    predictors. Each predictor predicts the n labels of each of m prompts, `labels` (m, n). Let p
    and q be the vectors of the n predictions of two predictors on a prompt. The result contains the
    mean of ‖p − q‖²/n over prompts, and the standard error of this mean.

    Raises `ValueError` for fewer than 2 prompts.
    """
    return _over_prompts(error_distances(first, second, labels))


@checked
def error_distances(first: First, second: Second, labels: PromptLabels) -> np.ndarray:
    """The mean squared differences (k, l, m) of predictions of k and l predictors, on m prompts.

    `first` (k, m, n) contains the predictions of k predictors, and `second` (l, m, n) those of l
    predictors. Each predictor predicts the n labels of each of m prompts, `labels` (m, n). The
    difference of two predictors on a prompt is ‖p − q‖²/n, where p and q are their vectors of n
    predictions. `error_distance` returns the mean of these differences over prompts.

    Raises `ValueError` for fewer than 2 prompts.
    """
    _several(first)
    a, b = first - labels, second - labels
    with np.errstate(over="ignore", invalid="ignore"):
        squares = (a * a).sum(-1)[:, None] + (b * b).sum(-1)[None] - 2 * _products(a, b)
    return _finite(np.asarray(np.maximum(squares, 0) / a.shape[-1]))


@checked
def induced_weights(queries: Queries, predictions: Predictions) -> tuple[np.ndarray, np.ndarray]:
    """The weights of the linear function of the query that fits a predictor best [Fu2024].

    `predictions` (…, T) contains the predictions at T > d `queries` (…, T, d) that follow the same
    examples. The function returns the least-squares weights (…, d) and the R² (…,) of the fit. R²
    is 1 minus the quotient of the sum of the squared residuals and the sum of the squared
    predictions. R² is 1 if the predictor is linear in the query. If all predictions are 0, R²
    counts as 0.

    Raises `ValueError` if T ≤ d.
    """
    Q, p = queries, predictions
    T, d = Q.shape[-2:]
    if d >= T:
        raise InputError(
            f"queries has {T} rows of dimension {d}, too few for a fit: give more than {d} queries"
        )
    unit = abs(p).max(-1, keepdims=True)
    unit[unit == 0] = 1  # all predictions are 0
    with np.errstate(over="ignore", invalid="ignore"):
        w = (np.linalg.pinv(Q) @ p[..., None])[..., 0]
        left = (((p - (Q @ w[..., None])[..., 0]) / unit) ** 2).sum(-1)
        total = ((p / unit) ** 2).sum(-1)
    _finite(np.concatenate([w.ravel(), left.ravel()]), "queries and predictions")
    return w, np.asarray(1 - np.divide(left, total, out=np.ones_like(total), where=total > 0))


@checked
def weight_similarity(first: FirstWeights, second: SecondWeights) -> Estimate:
    """The mean cosines (k, l) between the induced weights of k and of l predictors [Fu2024].

    The weights that a predictor induces after a prefix of a prompt are the least-squares fit of its
    predictions by a linear function of the query. `first` (k, m, n, d) and `second` (l, m, n, d)
    are the induced weights of dimension d, for k and for l predictors, m prompts and n prefixes of
    each prompt. The cosine between the weights of two predictors is averaged over the n prefixes,
    then over the m prompts. The standard error of the mean over prompts is returned as well.

    Raises `ValueError` for fewer than 2 prompts.
    """
    return _over_prompts(weight_cosines(first, second))


@checked
def weight_cosines(first: FirstWeights, second: SecondWeights) -> np.ndarray:
    """The mean cosines (k, l, m) between the induced weights of k and l predictors, on m prompts.

    The weights that a predictor induces after a prefix of a prompt are the least-squares fit of its
    predictions by a linear function of the query. `first` (k, m, n, d) and `second` (l, m, n, d)
    are the induced weights of dimension d, for k and for l predictors, m prompts and n prefixes of
    each prompt. The cosine between the weights of two predictors is averaged over the n prefixes.
    `weight_similarity` returns the mean of the results over prompts.

    Raises `ValueError` for fewer than 2 prompts.
    """
    _several(first)
    return np.asarray(_cosines(first, second).mean(-1))


def _several(first: np.ndarray) -> None:
    """Raises ValueError for fewer than 2 prompts: the standard error is not defined."""
    if first.shape[1] < 2:
        raise InputError(
            f"the array first has shape {first.shape}, and its axis 1 indexes the prompts: give at "
            "least 2 prompts"
        )


def _products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The inner products ⟨a_i, b_j⟩ along the last axis, (k, l, …)."""
    return np.einsum("k...n,l...n->kl...", a, b, optimize=True)


def _cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    (a, _), (b, _) = near_one(a, -1), near_one(b, -1)
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(a, axis=-1)[:, None] * np.linalg.norm(b, axis=-1)[None]
        products = _products(a, b)
    _finite(lengths)
    _finite(products)
    return np.divide(products, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def _finite(products: np.ndarray, names: str = "first, second and labels") -> np.ndarray:
    """Returns the products unchanged. Raises ValueError if one of them overflowed."""
    if not np.isfinite(products).all():
        raise InputError(f"products of {names} overflow float64: rescale {names}")
    return products
