"""Pairs of ReLUs with opposite inputs and outputs, which together are linear.

relu(s)·v + relu(−s)·(−v) = s·v
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def paired_heads(
    masks: Sequence[str],
    W_Q: np.ndarray,
    W_K: np.ndarray,
    W_V: np.ndarray,
    W_O: np.ndarray,
    b_Q: np.ndarray,
    b_K: np.ndarray,
) -> tuple[list[int], list[int]]:
    """One head of each pair of ReLU heads that act as one linear head, and the heads without pair.

    The arrays are the weights of `Attention`, whose first dimension numbers the heads. The heads of
    a pair have the same mask.
    """
    heads = range(len(W_Q))
    inputs = [_key(W_Q[h], b_Q[h]) for h in heads]
    opposite = [_key(-W_Q[h], -b_Q[h]) for h in heads]
    rest = [(masks[h], _key(W_K[h], b_K[h], W_V[h])) for h in heads]
    return _pairs(
        [(inputs[h], rest[h], _key(W_O[h])) for h in heads],
        [(opposite[h], rest[h], _key(-W_O[h])) for h in heads],
    )


def paired_neurons(
    W_in: np.ndarray, b_in: np.ndarray, W_out: np.ndarray
) -> tuple[list[int], list[int]]:
    """One neuron of each pair of neurons that act as one linear map, and those without pair.

    The arrays are the weights of `MLP`: W_in (D, M), b_in (M,) and W_out (M, D).
    """
    neurons = range(len(b_in))
    return _pairs(
        [(_key(W_in[:, m], b_in[m : m + 1]), _key(W_out[m])) for m in neurons],
        [(_key(-W_in[:, m], -b_in[m : m + 1]), _key(-W_out[m])) for m in neurons],
    )


def _pairs(keys: list[object], opposites: list[object]) -> tuple[list[int], list[int]]:
    """The second index of each pair with keys[i] = opposites[j], and the indices without a pair."""
    waiting: dict[object, list[int]] = {}
    found = []
    for index, (key, opposite) in enumerate(zip(keys, opposites, strict=True)):
        if waiting.get(opposite):
            waiting[opposite].pop()
            found.append(index)
        else:
            waiting.setdefault(key, []).append(index)
    return found, sorted(index for indices in waiting.values() for index in indices)


def _key(*arrays: np.ndarray) -> bytes:
    """The bytes of the arrays, equal for equal numbers: adding 0.0 turns −0.0 into 0.0."""
    return b"".join((np.asarray(array, dtype=np.float64) + 0.0).tobytes() for array in arrays)
