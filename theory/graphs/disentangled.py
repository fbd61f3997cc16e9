"""The disentangled transformer by its formula, in integers.

    h_0 = [I, A],   h_{l+1} = [h_l, S_l h_l],   S_l = relu(h_l W_l h_lᵀ)

for an adjacency matrix A (n, n) and weights W_l, as in [Ye2026].  The division of S_l by n in
[Ye2026] is omitted here, since W_l can absorb the factor.
"""

from __future__ import annotations

from numbers import Integral
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.graphs.adjacency import Graphs
from theory.kinds import InputError, Many, array_of, checked

IntegerWeights: TypeAlias = Annotated[Any, Many(None)]
"""W_l (2^(l+1)·n, 2^(l+1)·n), l = 0, …, L − 1: integers of any size; None is the identity."""


@checked
def disentangled_features(A: Graphs, weights: IntegerWeights) -> np.ndarray:
    """The last stream h_L (…, n, 2^(L+1)·n) of a disentangled transformer, as Python integers.

    A disentangled transformer appends the output of each layer to the stream as new columns. For
    graphs with adjacency matrices A (…, n, n) and L = len(`weights`), the streams are

        h_0 = [I, A],   h_{l+1} = [h_l, relu(h_l W_l h_lᵀ) h_l].

    The matrix W_l = `weights[l]` contains integers and has 2^(l+1)·n rows and columns. If
    `weights[l]` is None, W_l is the identity. Raises `ValueError` if (a) the weights are not
    integers, or (b) they have another shape.
    """
    eye = np.broadcast_to(np.eye(A.shape[-1], dtype=np.int64), A.shape)
    h = np.concatenate([eye, A], axis=-1).astype(object)
    for layer, given in enumerate(weights):
        keys = h.swapaxes(-1, -2)
        if given is not None:
            keys = _integers(f"weights[{layer}]", given, h.shape[-1]) @ keys
        h = np.concatenate([h, np.maximum(h @ keys, 0) @ h], axis=-1)
    return h


@checked
def disentangled_outputs(A: Graphs, weights: IntegerWeights, unembedding: Any) -> np.ndarray:
    """The outputs h_L O (…, n, n) of a disentangled transformer of L layers, as Python integers.

    A disentangled transformer appends the output of each layer to the stream as new columns. For
    graphs with adjacency matrices A (…, n, n) and L = len(`weights`), the streams are

        h_0 = [I, A],   h_{l+1} = [h_l, relu(h_l W_l h_lᵀ) h_l].

    The matrix W_l = `weights[l]` contains integers and has 2^(l+1)·n rows and columns. If
    `weights[l]` is None, W_l is the identity. The matrix O = `unembedding` contains integers and
    has shape (2^(L+1)·n, n).

    Raises `ValueError` if W_l or O has (a) entries that are not integers, or (b) another shape.
    """
    h = disentangled_features(A, weights)
    return np.asarray(h @ _integers("unembedding", unembedding, h.shape[-1], A.shape[-1]))


def _integers(name: str, given: Any, height: int, width: int | None = None) -> np.ndarray:
    """The given matrix as Python integers; by default the width equals the height."""
    W, shape = array_of(name, given), (height, height if width is None else width)
    whole = W.dtype.kind in "biu" or all(isinstance(each, Integral) for each in W.flat)
    if W.shape != shape or not whole:
        raise InputError(
            f"{name} has shape {W.shape} and dtype {W.dtype}: give integers of shape {shape}"
        )
    return W.astype(object)
