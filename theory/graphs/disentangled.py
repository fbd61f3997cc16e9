"""The disentangled transformer by its formula, in whole numbers.

    h_0 = [I, A],   h_{l+1} = [h_l, S_l h_l],   S_l = relu(h_l W_l h_lᵀ)

as [Ye2026] has it, but for a division by n, which is left to W_l.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError
from theory.graphs.adjacency import as_adjacency


def disentangled_features(A: ArrayLike, weights: Sequence[ArrayLike]) -> np.ndarray:
    """h_L (n, 2^(L+1)·n) of one graph A (n, n), as an array of Python integers.

    `weights` are whole numbers W_l (2^(l+1)·n, 2^(l+1)·n).  Raises `ValueError` as `as_adjacency`,
    for several graphs, weights that are no whole numbers, and weights of another shape.
    """
    graph = as_adjacency(A)
    if graph.ndim != 2:
        raise InputError(f"A has shape {graph.shape}: give one graph (n, n) at a time")
    if not hasattr(weights, "__len__"):
        raise InputError("weights are no list: give one matrix for each layer")
    h = np.concatenate([np.eye(len(graph), dtype=np.int64), graph], axis=1).astype(object)
    for layer, given in enumerate(weights):
        W = checks.array_of(f"weights[{layer}]", given)
        whole = W.dtype.kind in "biu" or all(isinstance(each, Integral) for each in W.flat)
        if W.shape != (h.shape[1], h.shape[1]) or not whole:
            raise InputError(
                f"weights[{layer}] has shape {W.shape} and dtype {W.dtype}: "
                f"give whole numbers ({h.shape[1]}, {h.shape[1]})"
            )
        scores = h @ W.astype(object) @ h.T
        h = np.concatenate([h, np.maximum(scores, 0) @ h], axis=1)
    return h
