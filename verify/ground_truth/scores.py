"""Scores of a method against the truth: the ROC-AUC, and which entries it names."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata


def auc(scores: np.ndarray, true: np.ndarray) -> float:
    """The area under the ROC curve: P(score of a true entry > score of a false one) + ½ P(equal).

    `scores` and the Boolean array `true` have shape (k,). The result is NaN if `true` has equal
    entries.
    """
    n, m = int(true.sum()), int((~true).sum())
    if not n * m:
        return float("nan")
    return float((rankdata(scores)[true].sum() - n * (n + 1) / 2) / (n * m))


def named(scores: np.ndarray, n: int) -> np.ndarray:
    """The probability (k,) with which a method that may name n entries names each.

    It names the entries of the n largest scores, ties in random order, but none of score 0.
    """
    n = min(n, int((scores > 0).sum()))
    if not n:
        return np.zeros(len(scores))
    last = np.sort(scores)[-n]
    above, equal = scores > last, scores == last
    return np.asarray(above + equal * (n - above.sum()) / equal.sum())


def magnitudes(found: np.ndarray) -> np.ndarray:
    """Absolute scores; those up to 10⁻⁹ of the largest are rounding errors, and become 0."""
    sizes = np.abs(found)
    return np.where(sizes > 1e-9 * sizes.max(), sizes, 0.0)
