"""Findings of `attention-is-hopfield` in float64, against torch's scaled_dot_product_attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verify.claim import Run
from verify.finding import Finding, at_most, same
from verify.memory.updates import rounding_bound, slow_network

if TYPE_CHECKING:
    from constructions.transformer import Transformer


def _torch_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray, beta: float) -> np.ndarray:
    import torch

    q, k, v = (torch.as_tensor(M, dtype=torch.float64)[None, None] for M in (Q, K, V))
    attended = torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=beta)
    return np.asarray(attended[0, 0].numpy())


def _distance(id: str, name: str, got: np.ndarray, wanted: np.ndarray, bound: float) -> Finding:
    """Either side is off by at most its rounding."""
    error = float(np.linalg.norm(got - wanted, axis=1).max())
    return at_most(id, name, "float", error, bound)


def update_against_torch(
    model: Transformer, X: np.ndarray, queries: np.ndarray, beta: float
) -> Finding:
    """An update is attention of the queries to keys and values X."""
    size = float(np.linalg.norm(queries, axis=1).max())
    return _distance(
        "torch/update",
        "distance of modern_hopfield_update from torch's scaled_dot_product_attention(scale=β)",
        model(queries).numpy(),
        _torch_attention(queries, X, X, beta),
        2 * rounding_bound(X, beta, 1, size),
    )


def layer_against_torch(
    model: Transformer, weights: list[np.ndarray], Y: np.ndarray, R: np.ndarray, beta: float
) -> Finding:
    """The keys, queries and values are exact; W_V takes d_k products on either side of softmax."""
    W_Q, W_K, W_V = weights
    Q, K = R @ W_Q, Y @ W_K
    longest = float(np.linalg.norm(K, axis=1).max())
    one = rounding_bound(K, beta, 1, float(np.linalg.norm(Q, axis=1).max()))
    one += (W_V.shape[0] + 3) * 2.0**-52 * longest
    return _distance(
        "torch/layer",
        "distance of hopfield_attention from torch's with values Y W_K W_V",
        model(Y, R).numpy(),
        _torch_attention(Q, K, K @ W_V, beta),
        2 * one * float(np.linalg.norm(W_V)),
    )


def as_many_as_asked(run: Run, X: np.ndarray, query: np.ndarray) -> Finding:
    """s updates are torch's attention applied s times, and s + 1 times is something else."""
    from constructions import modern_hopfield_update

    X, beta = slow_network(X)
    size, applied, made = float(np.linalg.norm(query)), [query], []
    for _ in range(3):
        applied.append(_torch_attention(applied[-1], X, X, beta))
    for steps in range(3):
        got = run.build(modern_hopfield_update, X, beta, steps)(query).numpy()
        # Both are off by at most the bound of the longer.
        bound = 2 * rounding_bound(X, beta, steps + 1, size)
        near = [np.linalg.norm(got - applied[s]) <= bound for s in (steps, steps + 1)]
        made.append([steps + more for more in (0, 1) if near[more]])
    name = "steps = 0, 1, 2 is torch's attention applied so many times, not once more"
    return same("torch/steps", name, made, [[0], [1], [2]], evidence="float")
