"""Linear probes: how well a residue of a number can be read off its embedding, on rows left out.

With Y the classes of the rows as 0s and 1s, and X the rows of E less their mean, with a column of
1s, ridge regression says HY at its own rows, H = X(XᵀX + λ)⁻¹Xᵀ = K(K + λ)⁻¹ with K = XXᵀ.  Of the
regression on all rows but i it says at row i

    (HY − diag(H) Y)_i / (1 − H_ii)

so that p regressions are one.  The class is that of the largest entry.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from theory.kinds import InputError, Integers, Positive, Reals, Within, checked


@checked
def probe_accuracies(
    E: Annotated[Any, Reals("p D")],
    classes: Annotated[Any, Integers("... p", Within(least=0, below=2**31))],
    ridge: Positive = 1.0,
) -> np.ndarray:
    """The fraction of rows of E (p, D) whose class a regression on all others predicts, for each
    labelling of classes (…, p), integers from 0 on: shape (…).

    Raises `ValueError` for fewer than two rows.
    """
    if len(E) < 2:
        raise InputError(f"E has shape {E.shape}: give rows (p, D), at least two")
    X = np.column_stack([E - E.mean(0), np.ones(len(E))])
    K = X @ X.T
    H = np.linalg.solve(K + ridge * np.eye(len(K)), K)
    own = np.diag(H)[:, None]
    right = np.empty(classes.shape[:-1])
    for at in np.ndindex(right.shape):
        Y = np.eye(classes[at].max() + 1)[classes[at]]
        said = (H @ Y - own * Y) / (1 - own)
        right[at] = np.mean(said.argmax(1) == classes[at])
    return right
