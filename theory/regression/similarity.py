"""How alike two predictors are: their errors, the weights they induce, what they forget.

A predictor is known by what it predicts.  Shapes: `m` prompts, `n` predictions of each (entry t for
example t + 1 from the first t examples), `d` features, `T` queries, `k` and `l` predictors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import InputError, Reals, checked

First: TypeAlias = Annotated[Any, Reals("k m n")]
"""Predictions of k predictors, shape (k, m, n)."""
Second: TypeAlias = Annotated[Any, Reals("l m n")]
"""Predictions of l predictors, shape (l, m, n)."""
PromptLabels: TypeAlias = Annotated[Any, Reals("m n")]
"""What is predicted, shape (m, n)."""
Queries: TypeAlias = Annotated[Any, Reals("... T d")]
"""Queries after the same examples, shape (…, T, d)."""
Predictions: TypeAlias = Annotated[Any, Reals("... T")]
"""Their predictions, shape (…, T)."""
FirstWeights: TypeAlias = Annotated[Any, Reals("k m n d")]
"""Weights that k predictors induce, shape (k, m, n, d)."""
SecondWeights: TypeAlias = Annotated[Any, Reals("l m n d")]
"""Weights that l predictors induce, shape (l, m, n, d)."""


@dataclass(frozen=True)
class Estimate:
    """Means over prompts and their standard errors."""

    mean: np.ndarray
    error: np.ndarray

    @staticmethod
    def over_prompts(values: np.ndarray) -> Estimate:
        """From values (…, m) of independent prompts, m ≥ 2."""
        m = values.shape[-1]
        return Estimate(values.mean(-1), values.std(-1, ddof=1) / np.sqrt(m))


@checked
def error_similarity(first: First, second: Second, labels: PromptLabels) -> Estimate:
    """E cos∠(first − labels, second − labels): the similarity of errors [Fu2024].

    first (k, m, n) and second (l, m, n) are predictions of labels (m, n); the cosine is between the
    n errors on a prompt, and the mean over the m prompts, (k, l).  A predictor without any error on
    a prompt has no direction there: its cosine counts as 0.

    Raises `ValueError` for fewer than 2 prompts.
    """
    return Estimate.over_prompts(error_cosines(first, second, labels))


@checked
def error_cosines(first: First, second: Second, labels: PromptLabels) -> np.ndarray:
    """The cosines (k, l, m) of every prompt, whose mean is `error_similarity`; errors as there."""
    _several(first)
    return _cosines(first - labels, second - labels)


@checked
def error_distance(first: First, second: Second, labels: PromptLabels) -> Estimate:
    """E ‖first − second‖²/n, the mean squared difference of predictions; as `error_similarity`."""
    return Estimate.over_prompts(error_distances(first, second, labels))


@checked
def error_distances(first: First, second: Second, labels: PromptLabels) -> np.ndarray:
    """The mean squares (k, l, m) of every prompt, whose mean is `error_distance`."""
    _several(first)
    a, b = first - labels, second - labels
    squares = (a * a).sum(-1)[:, None] + (b * b).sum(-1)[None] - 2 * _products(a, b)
    return np.asarray(np.maximum(squares, 0) / a.shape[-1])


@checked
def induced_weights(queries: Queries, predictions: Predictions) -> tuple[np.ndarray, np.ndarray]:
    """The linear function that fits a predictor best, and how much of it that explains.

    queries (…, T, d) after the same examples, T > d, predictions (…, T) → w (…, d) of least squares
    and R² (…): 1 where the predictor is linear in the query [Fu2024].

    Raises `ValueError` for T ≤ d.
    """
    Q, p = queries, predictions
    T, d = Q.shape[-2:]
    if d >= T:
        raise InputError(f"queries has {T} rows of dimension {d}: give more than {d}")
    w = (np.linalg.pinv(Q) @ p[..., None])[..., 0]
    left = ((p - (Q @ w[..., None])[..., 0]) ** 2).sum(-1)
    total = (p**2).sum(-1)
    return w, np.asarray(1 - np.divide(left, total, out=np.zeros_like(total), where=total > 0))


@checked
def weight_similarity(first: FirstWeights, second: SecondWeights) -> Estimate:
    """E cos∠(w, w') of induced weights, first (k, m, n, d) and second (l, m, n, d) → (k, l).

    The mean over the n prefixes, then over the m prompts [Fu2024].

    Raises `ValueError` for fewer than 2 prompts.
    """
    return Estimate.over_prompts(weight_cosines(first, second))


@checked
def weight_cosines(first: FirstWeights, second: SecondWeights) -> np.ndarray:
    """The mean cosines (k, l, m) of every prompt, whose mean is `weight_similarity`."""
    _several(first)
    return np.asarray(_cosines(first, second).mean(-1))


def _several(first: np.ndarray) -> None:
    """ValueError for predictions of fewer than 2 prompts, which have no standard error."""
    if first.shape[1] < 2:
        raise InputError(f"first has shape {first.shape}: give at least 2 prompts")


def _products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """⟨a_i, b_j⟩ along the last axis, (k, l, …)."""
    return np.einsum("k...n,l...n->kl...", a, b, optimize=True)


def _cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(a, axis=-1)[:, None] * np.linalg.norm(b, axis=-1)[None]
    return np.divide(_products(a, b), lengths, out=np.zeros_like(lengths), where=lengths > 0)
