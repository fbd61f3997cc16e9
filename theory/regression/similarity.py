"""How alike two predictors are: their errors, the weights they induce, what they forget.

A predictor is known by what it predicts.  Shapes: `m` prompts, `n` predictions of each (entry t for
example t + 1 from the first t examples), `d` features, `T` queries, `k` and `l` predictors.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError


@dataclass(frozen=True)
class Estimate:
    """Means over prompts and their standard errors."""

    mean: np.ndarray
    error: np.ndarray

    @staticmethod
    def over_prompts(values: np.ndarray) -> "Estimate":
        """From values (…, m) of independent prompts, m ≥ 2."""
        m = values.shape[-1]
        return Estimate(values.mean(-1), values.std(-1, ddof=1) / np.sqrt(m))


def error_similarity(first: ArrayLike, second: ArrayLike, labels: ArrayLike) -> Estimate:
    """E cos∠(first − labels, second − labels): the similarity of errors [Fu2024].

    first (k, m, n) and second (l, m, n) are predictions of labels (m, n); the cosine is between the
    n errors on a prompt, and the mean over the m prompts, (k, l).  A predictor without any error on
    a prompt has no direction there: its cosine counts as 0.

    Raises `ValueError` for shapes that do not match, fewer than 2 prompts, and NaN.
    """
    return Estimate.over_prompts(error_cosines(first, second, labels))


def error_cosines(first: ArrayLike, second: ArrayLike, labels: ArrayLike) -> np.ndarray:
    """The cosines (k, l, m) of every prompt, whose mean is `error_similarity`; errors as there."""
    return _cosines(_errors("first", first, labels), _errors("second", second, labels))


def error_distance(first: ArrayLike, second: ArrayLike, labels: ArrayLike) -> Estimate:
    """E ‖first − second‖²/n, the mean squared difference of predictions; as `error_similarity`."""
    return Estimate.over_prompts(error_distances(first, second, labels))


def error_distances(first: ArrayLike, second: ArrayLike, labels: ArrayLike) -> np.ndarray:
    """The mean squares (k, l, m) of every prompt, whose mean is `error_distance`."""
    a, b = _errors("first", first, labels), _errors("second", second, labels)
    squares = (a * a).sum(-1)[:, None] + (b * b).sum(-1)[None] - 2 * _products(a, b)
    return np.asarray(np.maximum(squares, 0) / a.shape[-1])


def induced_weights(queries: ArrayLike, predictions: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """The linear function that fits a predictor best, and how much of it that explains.

    queries (…, T, d) after the same examples, T > d, predictions (…, T) → w (…, d) of least squares
    and R² (…): 1 where the predictor is linear in the query [Fu2024].

    Raises `ValueError` for shapes that do not match and for T ≤ d.
    """
    Q, p = checks.real("queries", queries), checks.real("predictions", predictions)
    if Q.ndim < 2 or Q.shape[:-1] != p.shape:
        raise InputError(
            f"queries has shape {Q.shape} and predictions {p.shape}: give (…, T, d) and (…, T)"
        )
    T, d = Q.shape[-2:]
    if d >= T:
        raise InputError(f"queries has {T} rows of dimension {d}: give more than {d}")
    checks.finite("queries", bool(np.isfinite(Q).all()))
    checks.finite("predictions", bool(np.isfinite(p).all()))
    w = (np.linalg.pinv(Q) @ p[..., None])[..., 0]
    left = ((p - (Q @ w[..., None])[..., 0]) ** 2).sum(-1)
    total = (p**2).sum(-1)
    return w, np.asarray(1 - np.divide(left, total, out=np.zeros_like(total), where=total > 0))


def weight_similarity(first: ArrayLike, second: ArrayLike) -> Estimate:
    """E cos∠(w, w') of induced weights, first (k, m, n, d) and second (l, m, n, d) → (k, l).

    The mean over the n prefixes, then over the m prompts [Fu2024].

    Raises `ValueError` for shapes that do not match and fewer than 2 prompts.
    """
    return Estimate.over_prompts(weight_cosines(first, second))


def weight_cosines(first: ArrayLike, second: ArrayLike) -> np.ndarray:
    """The mean cosines (k, l, m) of every prompt, whose mean is `weight_similarity`."""
    a, b = checks.real("first", first), checks.real("second", second)
    if a.ndim != 4 or b.ndim != 4 or a.shape[1:] != b.shape[1:] or a.shape[1] < 2:
        raise InputError(
            f"first has shape {a.shape} and second {b.shape}: give (k, m, n, d) and (l, m, n, d), "
            "m at least 2"
        )
    return np.asarray(_cosines(a, b).mean(-1))


def _errors(name: str, predictions: ArrayLike, labels: ArrayLike) -> np.ndarray:
    p, y = checks.real("predictions", predictions), checks.real("labels", labels)
    if p.ndim != 3 or p.shape[1:] != y.shape or len(y) < 2:
        raise InputError(
            f"{name} has shape {p.shape} and labels {y.shape}: give (k, m, n) and (m, n), m at "
            "least 2"
        )
    if np.isnan(p).any() or np.isnan(y).any():
        raise InputError(f"{name} or labels contains NaN: leave such prompts out")
    return p - y


def _products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """⟨a_i, b_j⟩ along the last axis, (k, l, …)."""
    return np.einsum("k...n,l...n->kl...", a, b, optimize=True)


def _cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(a, axis=-1)[:, None] * np.linalg.norm(b, axis=-1)[None]
    return np.divide(_products(a, b), lengths, out=np.zeros_like(lengths), where=lengths > 0)
