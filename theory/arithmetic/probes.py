"""Linear probes: leave-one-out accuracy of ridge regression from embeddings to classes.

Let E (p, D) contain p embeddings, Y the one-hot classes of its rows, and X the centred rows of E
with a column of ones.  Ridge regression with penalty λ predicts HY at its training rows, where
H = X(XᵀX + λ)⁻¹Xᵀ = K(K + λ)⁻¹ and K = XXᵀ.  The regression fitted to all rows except row i
predicts, at row i,

    (HY − diag(H) Y)_i / (1 − H_ii),

so one regression gives the predictions for all p rows.  The predicted class has the largest entry.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from theory import machine
from theory.kinds import InputError, Integers, Positive, Reals, Within, checked


@checked
def probe_accuracies(
    E: Annotated[Any, Reals("p D")],
    classes: Annotated[Any, Integers("... p", Within(least=0, below=2**31))],
    ridge: Positive = 1.0,
) -> np.ndarray:
    """The leave-one-out accuracies of linear classifiers that predict classes from embeddings, (…).

    The embeddings are the p rows of E (p, D).  `classes` (…, p) contains one or several assignments
    of an integer class ≥ 0 to every row, and the result contains the accuracy for each assignment.
    Let x_i be row i of E minus the mean of all p rows, followed by a 1, and let y_i be the one-hot
    vector of its class.  The class of row i is predicted as the argmax of x_i W, where W is the
    ridge regression on the other rows: W minimises Σ_{j≠i} ‖x_j W − y_j‖² + ridge·‖W‖².  So the
    mean includes row i, and the penalty includes the constant.  Raises `ValueError` for fewer than
    two rows, or for a ridge too small for float64.
    """
    if len(E) < 2:
        raise InputError(f"E has shape {E.shape}: give an E of shape (p, D) with p ≥ 2 rows")
    X = np.column_stack([E - E.mean(0), np.ones(len(E))])
    K = X @ X.T
    try:
        H = np.linalg.solve(K + ridge * np.eye(len(K)), K)
    except np.linalg.LinAlgError:
        H = np.full_like(K, np.nan)
    own = np.diag(H)[:, None]
    if not (own < 1).all():  # in exact arithmetic it is
        raise InputError(f"ridge is {ridge:g}, which float64 loses in the sum: give a larger ridge")
    largest = int(classes.max(initial=0))
    machine.fits_in_memory(
        f"one-hot vectors of classes up to {largest}", 32 * len(E) * (largest + 1), "renumber them"
    )
    right = np.empty(classes.shape[:-1])
    for at in np.ndindex(right.shape):
        Y = np.zeros((len(E), classes[at].max() + 1))
        Y[np.arange(len(E)), classes[at]] = 1
        predicted = (H @ Y - own * Y) / (1 - own)
        right[at] = np.mean(predicted.argmax(1) == classes[at])
    return right
