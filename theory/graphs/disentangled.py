"""The disentangled transformer by its formula, in whole numbers.

    h_0 = [I, A],   h_{l+1} = [h_l, S_l h_l],   S_l = relu(h_l W_l h_lᵀ)

as [Ye2026] has it, but for a division by n, which is left to W_l.
"""

from __future__ import annotations

from numbers import Integral
from typing import Annotated, Any

import numpy as np

from theory.checks import InputError
from theory.graphs.adjacency import OneGraph
from theory.kinds import Many, array_of, checked


@checked
def disentangled_features(A: OneGraph, weights: Annotated[Any, Many(None)]) -> np.ndarray:
    """h_L (n, 2^(L+1)·n) of one graph A (n, n), as an array of Python integers.

    `weights` are integers W_l (2^(l+1)·n, 2^(l+1)·n), of any size.  Raises `ValueError` for weights
    that are no integers or of another shape.
    """
    h = np.concatenate([np.eye(len(A), dtype=np.int64), A], axis=1).astype(object)
    for layer, given in enumerate(weights):
        W = array_of(f"weights[{layer}]", given)
        whole = W.dtype.kind in "biu" or all(isinstance(each, Integral) for each in W.flat)
        if W.shape != (h.shape[1], h.shape[1]) or not whole:
            raise InputError(
                f"weights[{layer}] has shape {W.shape} and dtype {W.dtype}: "
                f"give whole numbers ({h.shape[1]}, {h.shape[1]})"
            )
        scores = h @ W.astype(object) @ h.T
        h = np.concatenate([h, np.maximum(scores, 0) @ h], axis=1)
    return h
