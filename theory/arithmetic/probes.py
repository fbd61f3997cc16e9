"""Linear probes: how well a residue of a number can be read off its embedding, on rows left out.

With Y the classes of the rows as 0s and 1s, and X the rows of E less their mean, with a column of
1s, ridge regression says HY at its own rows, H = X(XᵀX + λ)⁻¹Xᵀ = K(K + λ)⁻¹ with K = XXᵀ.  Of the
regression on all rows but i it says at row i

    (HY − diag(H) Y)_i / (1 − H_ii)

so that p regressions are one.  The class is that of the largest entry.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError


def probe_accuracies(E: ArrayLike, classes: ArrayLike, ridge: float = 1.0) -> np.ndarray:
    """The share of rows of E (p, D) whose class is read off by a regression on all others, for each
    labelling of classes (…, p), whole numbers from 0 on: shape (…).

    Raises `ValueError` for other shapes, NaN or infinite entries, classes that are no whole numbers
    or below 0, fewer than two rows, and a ridge that is not above 0.
    """
    rows, ridge = checks.real("E", E), checks.positive_number("ridge", ridge)
    if rows.ndim != 2 or len(rows) < 2:
        raise InputError(f"E has shape {rows.shape}: give rows (p, D), at least two")
    checks.finite("E", bool(np.isfinite(rows).all()))
    labels = checks.tokens("classes", classes, 2**31)
    if labels.shape[-1:] != (len(rows),):
        raise InputError(
            f"classes have shape {labels.shape} and E has {len(rows)} rows: give p each"
        )
    X = np.column_stack([rows - rows.mean(0), np.ones(len(rows))])
    K = X @ X.T
    H = np.linalg.solve(K + ridge * np.eye(len(K)), K)
    own = np.diag(H)[:, None]
    right = np.empty(labels.shape[:-1])
    for at in np.ndindex(right.shape):
        Y = np.eye(labels[at].max() + 1)[labels[at]]
        said = (H @ Y - own * Y) / (1 - own)
        right[at] = np.mean(said.argmax(1) == labels[at])
    return right
