"""Algorithms by their definitions, and exact runs of a model, on arrays of any exact type.

Arrays have dtype object: `+`, `*` and `@` then work for fractions, residues, polynomials and balls.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from flint import fmpq

from constructions.interface import Prompt
from verify.domains import outputs, streams, written


def array(entries: Iterable[Any], *shape: int) -> np.ndarray:
    """An object array filled entry by entry: np.array would iterate polynomials."""
    filled = np.empty(shape, dtype=object)
    for place, entry in zip(np.ndindex(*shape), entries, strict=True):
        filled[place] = entry
    return filled


def read(domain: Any, floats: Any) -> np.ndarray:
    """Floats (or fractions) as entries of a domain, exactly."""
    values = np.asarray(floats)
    ratios = [value.as_integer_ratio() for value in values.ravel().tolist()]
    return array((domain.number(*ratio) for ratio in ratios), *values.shape)


def fractions(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Random rationals with small numerators and denominators 1 … 4; some are 0."""
    tops, bottoms = rng.integers(-6, 7, shape), rng.integers(1, 5, shape)
    entries = (fmpq(int(a), int(b)) for a, b in zip(tops.flat, bottoms.flat, strict=True))
    return array(entries, *shape)


def prompt(rng: np.random.Generator, n: int, d: int, m: int = 1) -> tuple[np.ndarray, ...]:
    """Random rational examples (n, d), labels (n,), queries (m, d)."""
    return fractions(rng, n, d), fractions(rng, n), fractions(rng, m, d)


def prompt_of(model: Any, domain: Any, x: np.ndarray, y: np.ndarray, queries: np.ndarray) -> Prompt:
    """The prompt of examples and queries (m, d), the first query if a prompt has one only."""
    return written(model, domain, x, y, queries if model.interface.several_queries else queries[0])


def predict(
    model: Any, domain: Any, x: np.ndarray, y: np.ndarray, queries: np.ndarray
) -> list[Any]:
    """The outputs at the answers: the queries, or every prefix."""
    rows = outputs(model, prompt_of(model, domain, x, y, queries), domain).tolist()
    return [row[0] for row in rows]


def registers(
    model: Any, domain: Any, x: np.ndarray, y: np.ndarray, queries: np.ndarray
) -> list[dict[str, np.ndarray]]:
    """After the embedding and each block: each register (T, width)."""
    held = []
    for H in streams(model, prompt_of(model, domain, x, y, queries), domain):
        rows = array((e for row in H.tolist() for e in row), H.nrows(), H.ncols())
        held.append({name: rows[:, model.stream[name]] for name in model.stream})
    return held


def identity(d: int) -> np.ndarray:
    return array((fmpq(int(i == j)) for i in range(d) for j in range(d)), d, d)


def start_inverse(x: np.ndarray, alpha: Any, start: str) -> np.ndarray:
    return alpha * (x.T @ x if start == "gram" else identity(x.shape[1]))


def newton_inverse(x: np.ndarray, k: int, alpha: Any, start: str) -> np.ndarray:
    """M_k of M ← 2M − M S M."""
    S, M = x.T @ x, start_inverse(x, alpha, start)
    for _ in range(k):
        M = 2 * M - M @ S @ M
    return M


def hyperpower_inverse(x: np.ndarray, k: int, order: int, alpha: Any, start: str) -> np.ndarray:
    """M_k of M ← M (I + E + … + E^(order−1)), E = I − S M."""
    S, M = x.T @ x, start_inverse(x, alpha, start)
    for _ in range(k):
        E, total = identity(len(S)) - S @ M, identity(len(S))
        for _ in range(order - 1):
            total = identity(len(S)) + E @ total
        M = M @ total
    return M


def power_inverse(x: np.ndarray, power: int, alpha: Any, start: str) -> np.ndarray:
    """G with I − S G = (I − S M₀)^power, by G ← G + M₀ (I − S G)."""
    S, first = x.T @ x, start_inverse(x, alpha, start)
    G = 0 * first
    for _ in range(power):
        G = G + first @ (identity(len(S)) - S @ G)
    return G


def chebyshev_inverse(x: np.ndarray, k: int, smallest: Any, largest: Any) -> np.ndarray:
    """Q_k with I − S Q_k = T_k(l(S))/τ_k by the three-term recurrence.

    P_k = (τ_k I − T_k) S⁻¹ obeys P_{k+1} = 2 l P_k − P_{k−1} + 4τ_k/(b − a), and Q_k = P_k/τ_k.
    """
    S, unit = x.T @ x, identity(x.shape[1])
    sigma, rate = (largest + smallest) / (largest - smallest), 2 / (largest - smallest)
    line = sigma * unit - rate * S
    P, following, tau, tau_following = 0 * unit, rate * unit, fmpq(1), sigma
    for _ in range(k):
        P, following = following, 2 * line @ following - P + 2 * rate * tau_following * unit
        tau, tau_following = tau_following, 2 * sigma * tau_following - tau
    return P * (1 / tau)


def gradient_descent_weights(x: np.ndarray, y: np.ndarray, k: int, eta: Any) -> np.ndarray:
    w = array([fmpq(0)] * x.shape[1], x.shape[1])
    for _ in range(k):
        w = w - eta * ((x.T @ x) @ w - x.T @ y)
    return w


def online_weights(x: np.ndarray, y: np.ndarray, step_size: Any = None) -> np.ndarray:
    """One pass, by steps of this size or by those that fit each example."""
    w = array([fmpq(0)] * x.shape[1], x.shape[1])
    for row, label in zip(x, y, strict=True):
        if any(row):
            w = w + (step_size or 1 / (row @ row)) * (label - w @ row) * row
    return w


def chebyshev_polynomial(k: int, t: Any) -> Any:
    """T_k(t) by the three-term recurrence."""
    previous, value = Fraction(1), t
    if k == 0:
        return previous
    for _ in range(k - 1):
        previous, value = value, 2 * t * value - previous
    return value


def rounding_bound(
    model: Any, x: Any, y: Any, x_query: Any, unit: float = 2.0**-53
) -> torch.Tensor:
    """A bound on |model(x, y, x_query) − exact value| for linear and paired-ReLU layers.

    Every monomial of the prediction is multiplied by at most R factors 1 + δ, |δ| ≤ unit, so the
    error is at most R·unit/(1 − R·unit) times the same network with all numbers in absolute value.
    R triples in an attention layer, which multiplies three readings of the stream, and every
    sum of N terms adds at most N.
    """
    majorant = copy.deepcopy(model).double()
    for weights in majorant.parameters():
        weights.abs_()
    sizes = majorant(*(torch.as_tensor(a).double().abs() for a in (x, y, x_query)))
    D, T = model.d_model, torch.as_tensor(x).shape[-2] + torch.as_tensor(x_query).numel()
    # Each weight and each input may have been rounded once; keys may hold a quotient x/‖x‖².
    roundings = 2 * D + model.interface.d + 4
    for block in model.blocks:
        if block.attn is not None:
            heads, d_head, d_value = block.attn.W_Q.shape[0], *_widths(block.attn)
            roundings = 3 * (roundings + D + 3) + d_head + T + heads * d_value + 5
        if block.mlp is not None:
            roundings += D + block.mlp.W_in.shape[1] + 5
    roundings += D + 1
    return sizes.abs() * (roundings * unit / (1 - roundings * unit))


def _widths(attn: Any) -> tuple[int, int]:
    return attn.W_Q.shape[-1], attn.W_V.shape[-1]


def close_to_exact(
    model: Any,
    x: Any,
    y: Any,
    x_query: Any,
    exact: Callable[[], Any],
    unit: float = 2.0**-53,
    widest: float = 1e-6,
) -> None:
    """Assert that the float prediction is within its bound, and that the bound is not vacuous."""
    value, bound = model(x, y, x_query), rounding_bound(model, x, y, x_query, unit)
    wanted = torch.tensor([float(e) for e in exact()], dtype=torch.float64).reshape(value.shape)
    # float() rounds the exact value once more.
    bound = bound + 2.0**-52 * wanted.abs()
    assert (bound <= widest).all(), f"the bound {bound} is too wide to mean much"
    assert ((value.double() - wanted).abs() <= bound).all(), (value, wanted, bound)
