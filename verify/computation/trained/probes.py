"""Linear probes in closed form, evaluated on words to which they were not fitted.

The streams of m words are an array X of shape (m, D), where D is the width.
"""

from __future__ import annotations

import numpy as np

from verify.evidence.statistics import Mean, estimated, ratio

RIDGE = 1e-6  # of the mean variance, which keeps a covariance from being singular


def explained(fit: np.ndarray, values: np.ndarray, X: np.ndarray, wanted: np.ndarray) -> Mean:
    """The R², on new data, of the affine least-squares fit of `values` to the inputs `fit`.

    The new data are the inputs X and the values `wanted`.  R² is 1 minus the squared error divided
    by the squared deviation of `wanted` from the mean of `values`.
    """
    read, *_ = np.linalg.lstsq(_with_one(fit), values, rcond=1e-9)
    left = ratio((_with_one(X) @ read - wanted) ** 2, (wanted - values.mean()) ** 2)
    return Mean(1 - left.mean, left.error, left.freedom)


def discriminated(fit: np.ndarray, classes: np.ndarray, X: np.ndarray, wanted: np.ndarray) -> Mean:
    """The accuracy on new data of linear discriminants, fitted to `fit` and `classes`.

    `fit` (m, D) are inputs, and `classes` (m, k) are k classes of each input, one of each of k
    kinds. The new data are the inputs X and the classes `wanted`, in the same shapes.  A row is
    right if all its k classes are right.  The class that is predicted for each kind has the largest
    xᵀC⁻¹μ − ½ μᵀC⁻¹μ + log p, where x is the input, μ is the mean of the inputs of the class, p is
    the fraction of inputs in the class, and C is the covariance within classes.
    """
    predicted = [_class(fit, kind, X) for kind in classes.T]
    right = (np.stack(predicted, axis=-1) == wanted).all(-1)
    return estimated(right.astype(np.float64))


def _class(fit: np.ndarray, classes: np.ndarray, X: np.ndarray) -> np.ndarray:
    known, row, counts = np.unique(classes, return_inverse=True, return_counts=True)
    means = np.array([fit[row == i].mean(0) for i in range(len(known))])
    inner = fit - means[row]
    spread = ((fit - fit.mean(0)) ** 2).mean() or 1.0
    C = inner.T @ inner / len(fit) + RIDGE * spread * np.eye(fit.shape[1])
    W = np.linalg.solve(C, means.T)
    bias = np.log(counts / len(fit)) - 0.5 * (means.T * W).sum(0)
    return np.asarray(known[(X @ W + bias).argmax(1)])


def _with_one(X: np.ndarray) -> np.ndarray:
    return np.hstack([X, np.ones((len(X), 1))])
