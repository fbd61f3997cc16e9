"""Linear probes in closed form, evaluated on data to which they were not fitted."""

from __future__ import annotations

import numpy as np

from theory.scaling import near_one
from verify.evidence.statistics import Mean, estimated, ratio

RIDGE = 1e-6  # of the mean variance, which keeps a covariance from being singular


def explained(fit: np.ndarray, values: np.ndarray, X: np.ndarray, wanted: np.ndarray) -> Mean:
    """The R², on new data, of the affine least-squares fit of `values` to the inputs `fit`.

    `fit` (…, D) are inputs, and `values` (…) or (…, w) numbers, or vectors of width w. The new data
    are the inputs X and the values `wanted`, in the same form, whose first axis indexes independent
    samples. R² is 1 minus the sum of squared errors divided by the sum of squared deviations of
    `wanted` from the mean of `values`. Its standard error is over the samples.
    """
    axes = fit.ndim - 1
    (fit, X), (values, wanted) = _centred(fit, X, axes), _centred(values, wanted, axes)
    flat = values.reshape(-1, *values.shape[axes:])
    read, *_ = np.linalg.lstsq(fit.reshape(-1, fit.shape[-1]), flat, rcond=1e-9)
    squares = (X @ read - wanted) ** 2, wanted**2
    left = ratio(*(each.reshape(len(X), -1).sum(1) for each in squares))
    return Mean(1 - left.mean, left.error, left.freedom)


def _centred(fit: np.ndarray, new: np.ndarray, axes: int) -> tuple[np.ndarray, np.ndarray]:
    """Both arrays minus the mean of `fit` over its first axes, divided by one power of two.

    The maximum of `fit` is then in [½, 1). Differences from an entry, which come first, are exactly
    0 if all entries are equal.
    """
    origin = fit[(0,) * axes]
    fit, new = fit - origin, new - origin
    mean = fit.mean(tuple(range(axes)))
    fit, power = near_one(fit - mean, tuple(range(fit.ndim)))
    return fit, np.ldexp(new - mean, -power)


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
