"""The k-hop task: the task of induction heads, iterated k times."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from theory.kinds import Count, OneSequence, Tokens, Within, checked
from theory.retrieval.induction import find, find_by_definition
from theory.waiting import announced

Hops: TypeAlias = Annotated[Count, Within(most=100_000)]
"""A number of hops, computed one by one."""


def _then(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """i ↦ second(first(i)) for maps of {0, …, T} to itself (…, T + 1), where T stands for ⊥."""
    return np.take_along_axis(second, first, axis=-1)


@checked
def hop_positions(tokens: Tokens, k: Count) -> np.ndarray:
    """The positions (…, T) reached by k ≥ 1 hops from every position, and −1 if a hop has no match.

    A hop goes from position i to find(i) = max{ 1 ≤ j ≤ i : tokens[j−1] = tokens[i] }, the position
    after the latest earlier occurrence of the token at i. The tokens are (…, T), integers ≥ 0. The
    result at position i is findᵏ(i) = find(find(… find(i))), and −1 if one of the k maxima does not
    exist [Sanford2024]. The map `find` is iterated by repeated squaring, in time O(T log T + T log
    k) per sequence.
    """
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


@checked
def hop_positions_by_definition(tokens: OneSequence, k: Hops) -> list[int]:
    """The positions reached by k hops from every position of one sequence, or −1 without a match.

    A hop goes to the position after the latest earlier occurrence of the same token. The result
    equals that of `hop_positions`. The first hop takes time O(T²) for T tokens, and the hops are
    computed one by one; more than a minute is announced on standard error.
    """
    once = find_by_definition(tokens)
    positions = list(range(len(once)))
    for _ in announced(range(k), "hop_positions_by_definition"):
        positions = [once[p] if p >= 0 else -1 for p in positions]
    return positions


@checked
def hop(tokens: Tokens, k: Count) -> np.ndarray:
    """The tokens (…, T) reached by k hops from every position, and −1 if a hop has no match.

    A hop goes from position i to find(i) = max{ 1 ≤ j ≤ i : tokens[j−1] = tokens[i] }, the position
    after the latest earlier occurrence of the token at i. The tokens are (…, T), integers ≥ 0. The
    result at position i is tokens[findᵏ(i)] [Sanford2024]. hop(tokens, 1) equals
    `induction(tokens)`.
    """
    positions = hop_positions(tokens, k)
    answer = np.take_along_axis(tokens, np.maximum(positions, 0), axis=-1)
    return np.where(positions < 0, -1, answer)


@checked
def hop_by_definition(tokens: OneSequence, k: Hops) -> list[int]:
    """The tokens reached by k hops from every position of one sequence, or −1 without a match.

    A hop goes to the position after the latest earlier occurrence of the same token. The result
    equals that of `hop`. The hops are computed one by one.
    """
    row = tokens.tolist()
    return [row[p] if p >= 0 else -1 for p in hop_positions_by_definition(row, k)]
