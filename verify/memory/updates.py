"""Models of modern Hopfield networks against their definition in balls and torch's attention.

Float64 values are compared within `rounding_bound`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from constructions import modern_hopfield_update
from constructions.transformer import Transformer
from theory.memory.hopfield_balls import updated
from theory.memory.retrieval_bounds import longest, rounding_bound, update_rounding
from verify.claim import Run
from verify.domains import Ball, outputs
from verify.evidence.enclosure import BITS, coincide
from verify.finding import Finding, as_stated, at_most, same


def in_floats(
    patterns: np.ndarray, states: np.ndarray, beta: float, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """The states (m, d) after `steps` updates of m states, and bounds (m,) on float64 errors.

    The returned states are computed in balls and rounded. A bound is on the error of the same
    updates in float64.
    """
    with Ball.precision(BITS):
        exact = updated(patterns, states, beta, steps)
    rounded = np.array([[float(u) for u in xi] for xi in exact])
    bound = rounding_bound(patterns, beta, steps, longest(states))
    return rounded, bound + 2.0**-53 * np.linalg.norm(rounded, axis=1)


def equals_definition(
    model: Transformer, X: np.ndarray, queries: np.ndarray, beta: float, steps: int
) -> Finding:
    """The finding that enclosures of the transformer's outputs and of the updates overlap."""
    with Ball.precision(BITS):
        got = outputs(model, model.prompt(queries), Ball()).tolist()
        wanted = updated(X, queries, beta, steps)
        sizes = f"{len(queries)} queries, {len(X)} patterns"
        made = f"{steps} modern Hopfield update{'s' * (steps != 1)}"
        name = f"output of the transformer against {made} ({sizes})"
        detail = f"patterns {X.tolist()}, queries {queries.tolist()}"
        return coincide("definition", name, got, wanted, detail=detail)


def slow_network(X: np.ndarray) -> tuple[np.ndarray, float]:
    """A network that converges slowly, so that successive states differ: patterns and β.

    The patterns are the rows of X and −2 times the longest row. The inverse temperature is β
    = 1/M², where M is the largest norm of a pattern.
    """
    X = np.concatenate([X, -2 * X[[(X * X).sum(1).argmax()]]])
    return X, float(1 / (X * X).sum(1).max())


def numbers_of_updates(
    run: Run,
    id: str,
    name: str,
    network: tuple[np.ndarray, float],
    results: Sequence[np.ndarray],
    bounds: Sequence[float | np.ndarray],
) -> Finding:
    """The finding that a model with `steps` = s computes exactly s updates, for s = 0, 1, 2, ….

    `results` contains the states after 0, 1, 2, … updates of one state in a slow network. The
    output of the model with `steps` = s must be within bounds[s] of the state after s updates, and
    farther than bounds[s] from the states after other numbers of updates.
    """
    made = []
    for steps, bound in enumerate(bounds):
        got = run.build(modern_hopfield_update, *network, steps)(results[0]).numpy()
        off = np.array([np.linalg.norm(got - after) for after in results])
        made.append(off if np.isnan(off).any() else np.flatnonzero(off <= bound))
    return same(id, name, made, [[steps] for steps in range(len(bounds))], evidence="float")


def torch_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray, beta: float) -> np.ndarray:
    """The attention softmax(βQKᵀ)V by torch's scaled_dot_product_attention, in float64."""
    q, k, v = (torch.as_tensor(M, dtype=torch.float64)[None, None] for M in (Q, K, V))
    attended = torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=beta)
    return np.asarray(attended[0, 0].numpy())


def update_against_torch(
    model: Transformer, X: np.ndarray, queries: np.ndarray, beta: float
) -> Finding:
    """The finding that an update equals torch's attention with X as keys and as values."""
    off = longest(model(queries).numpy() - torch_attention(queries, X, X, beta))
    name = "distance of modern_hopfield_update from torch's scaled_dot_product_attention(scale=β)"
    bound = 2 * rounding_bound(X, beta, 1, longest(queries))
    finding = at_most("torch/update", name, "float", off, bound)
    # Two updates at β = 2 of states of norm 3, for patterns at ±1, whose mean is 0.
    pair, eps = np.array([[1.0], [-1.0]]), 2.0**-52
    first = update_rounding(2, 1, 2.0, 1.0, 3.0, eps)
    second = update_rounding(2, 1, 2.0, 1.0, 1.0 + first, eps) + 2 * first
    computed = [rounding_bound(pair, 2.0, steps, 3.0, eps) for steps in (1, 2)]
    return as_stated(finding, computed, [first, second])


def layer_against_torch(
    model: Transformer, weights: list[np.ndarray], Y: np.ndarray, R: np.ndarray, beta: float
) -> Finding:
    """The finding that `hopfield_attention` equals torch's attention with values Y W_K W_V.

    The bound is on the rounding errors of both sides. Keys, queries and values are exact. On both
    sides the multiplication by W_V adds d_k rounded products, where d_k is the dimension of the
    keys.
    """
    W_Q, W_K, W_V = weights
    Q, K = R @ W_Q, Y @ W_K
    off = longest(model(Y, R).numpy() - torch_attention(Q, K, K @ W_V, beta))
    one = rounding_bound(K, beta, 1, longest(Q)) + (W_V.shape[0] + 3) * 2.0**-52 * longest(K)
    name = "distance of hopfield_attention from torch's attention with values Y W_K W_V"
    bound = 2 * one * float(np.linalg.norm(W_V))
    return at_most("torch/layer", name, "float", off, bound)


def updates_against_torch(run: Run, X: np.ndarray, query: np.ndarray) -> Finding:
    """The finding that s updates equal torch's attention applied s times, for s = 0, 1, 2."""
    X, beta = slow_network(X)
    applied = [query]
    for _ in range(3):
        applied.append(torch_attention(applied[-1], X, X, beta))
    # The errors of both sides are at most the bound for the largest number of updates.
    bounds = [2 * rounding_bound(X, beta, steps + 1, longest(query)) for steps in range(3)]
    name = (
        "number of applications of torch's attention that give the output of the model, for "
        "steps = 0, 1, 2"
    )
    return numbers_of_updates(run, "torch/steps", name, (X, beta), applied, bounds)
