"""k-hop: the induction head's task, iterated."""

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.retrieval.induction import find, find_by_definition


def _then(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """i ↦ second(first(i)) for maps of 0, …, T to themselves (…, T + 1), the last place being ⊥."""
    return np.take_along_axis(second, first, axis=-1)


def hop_positions(tokens: ArrayLike, k: int) -> np.ndarray:
    """findᵏ(i) = find(find(… find(i))), k ≥ 1 times (…, T); −1 (⊥) once any of them is −1.

    tokens (…, T), integers ≥ 0 [Sanford2024]. By repeated squaring of the map `find`, in
    O(T log T + T log k) per sequence.

    Raises `ValueError` for tokens that are not integers ≥ 0, for an empty sequence and for a k that
    is not an integer ≥ 1.
    """
    k = checks.dimension("k", k)
    once = find(tokens)
    length = once.shape[-1]
    bottom = np.full((*once.shape[:-1], 1), length)
    power = np.concatenate([np.where(once < 0, length, once), bottom], axis=-1)
    hops = np.broadcast_to(np.arange(length + 1), power.shape)
    while k:
        if k % 2:
            hops = _then(hops, power)
        k //= 2
        if k:
            power = _then(power, power)
    return np.where(hops == length, -1, hops)[..., :-1]


def hop_positions_by_definition(tokens: ArrayLike, k: int) -> list[int]:
    """`hop_positions` of one sequence (T,), one hop after another."""
    once = find_by_definition(tokens)
    k = checks.dimension("k", k)
    positions = list(range(len(once)))
    for _ in range(k):
        positions = [once[p] if p >= 0 else -1 for p in positions]
    return positions


def hop(tokens: ArrayLike, k: int) -> np.ndarray:
    """hop_k(i) = tokens[findᵏ(i)] (…, T), and −1 where findᵏ(i) is −1 [Sanford2024].

    tokens (…, T), integers ≥ 0; hop(tokens, 1) is `induction(tokens)`. Raises `ValueError` as
    `hop_positions` does.
    """
    positions = hop_positions(tokens, k)
    answer = np.take_along_axis(checks.tokens("tokens", tokens), np.maximum(positions, 0), axis=-1)
    return np.where(positions < 0, -1, answer)


def hop_by_definition(tokens: ArrayLike, k: int) -> list[int]:
    """`hop` of one sequence (T,), one hop after another."""
    row = checks.one_sequence("tokens", tokens)
    return [row[p] if p >= 0 else -1 for p in hop_positions_by_definition(row, k)]
