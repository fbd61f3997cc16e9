"""Findings of `attention-is-hopfield` in float64, against torch's scaled_dot_product_attention."""

from __future__ import annotations

import numpy as np
import torch

from constructions.memory.modern_hopfield import (
    HopfieldAttention,
    ModernHopfield,
    modern_hopfield_update,
)
from verify.claim import Run
from verify.finding import Finding, Verdict
from verify.memory.hopfield_balls import rounding_bound
from verify.memory.modern_hopfield import slow_network


def _torch_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray, beta: float) -> np.ndarray:
    q, k, v = (torch.as_tensor(M, dtype=torch.float64)[None, None] for M in (Q, K, V))
    attended = torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=beta)
    return np.asarray(attended[0, 0].numpy())


def _float_finding(name: str, got: np.ndarray, wanted: np.ndarray, bound: float) -> Finding:
    error = float(np.linalg.norm(got - wanted, axis=1).max())
    return Finding(
        name,
        "float",
        f"distance {error:.1e}",
        f"twice the rounding, {bound:.1e}",
        Verdict.of(error <= bound),
    )


def update_against_torch(
    model: ModernHopfield, X: np.ndarray, queries: np.ndarray, beta: float
) -> Finding:
    """Either side is off by at most its rounding."""
    size = float(np.linalg.norm(queries, axis=1).max())
    return _float_finding(
        "modern_hopfield_update and torch's scaled_dot_product_attention(scale=β)",
        model(queries).numpy(),
        _torch_attention(queries, X, X, beta),
        2 * rounding_bound(X, beta, 1, size),
    )


def layer_against_torch(
    run: Run, model: HopfieldAttention, weights: list[np.ndarray], N: int, beta: float
) -> Finding:
    """The keys, queries and values are exact; W_V takes d_k products on either side of softmax."""
    W_Q, W_K, W_V = weights
    Y = run.rng.integers(-9, 10, (N, len(W_K))) / 8
    R = run.rng.integers(-9, 10, (5, len(W_Q))) / 8
    Q, K = R @ W_Q, Y @ W_K
    longest = float(np.linalg.norm(K, axis=1).max())
    one = rounding_bound(K, beta, 1, float(np.linalg.norm(Q, axis=1).max()))
    one += (W_V.shape[0] + 3) * 2.0**-52 * longest
    return _float_finding(
        "hopfield_attention and torch's with values Y W_K W_V",
        model(Y, R).numpy(),
        _torch_attention(Q, K, K @ W_V, beta),
        2 * one * float(np.linalg.norm(W_V)),
    )


def as_many_as_asked(run: Run, X: np.ndarray, query: np.ndarray) -> Finding:
    """s updates are torch's attention applied s times, and s + 1 times is something else."""
    X, beta = slow_network(X)
    size, wrong = float(np.linalg.norm(query)), ""
    applied = [query[None]]
    for _ in range(3):
        applied.append(_torch_attention(applied[-1], X, X, beta))
    for steps in range(3):
        got = run.build(modern_hopfield_update, X, beta, steps)(query[None]).numpy()
        # Both are off by at most the bound of the longer.
        bound = 2 * rounding_bound(X, beta, steps + 1, size)
        near = [s for s in (steps, steps + 1) if np.linalg.norm(got - applied[s]) <= bound]
        if near != [steps]:
            wrong = wrong or f"{steps} updates asked for, attention applied {near} times"
    return Finding(
        "steps = 0, 1, 2 is torch's attention applied so many times, not once more",
        "float",
        wrong or "so many times",
        "within the rounding of its own count only",
        Verdict.of(not wrong),
        wrong,
    )
