"""Two tasks as games of two players: Alice holds a part of the prompt, and Bob asks about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from math import log2
from typing import NamedTuple

import numpy as np

from theory.retrieval import (
    composition_bound,
    composition_by_definition,
    induction,
    one_layer_bound,
)
from verify.retrieval.messages import Split

MARKER, FILLER = 2, 3  # after the bits 0 and 1

Prompt = list[int]


class Game(NamedTuple):
    """What Alice holds and what Bob asks."""

    name: str
    known: float  # bits that Alice holds
    alice: tuple[int, ...]  # her positions
    choices: list[tuple[int, int]]  # two symbols for each of them
    ask: Callable[[Sequence[int], int], Prompt]  # her symbols and Bob's place, as a prompt
    required: Callable[[Prompt], int]  # the answer to a prompt
    follows: Callable[[Split], str]  # from a message of fewer bits
    bites: Callable[[int], str]  # the least size at which so many bits are too few
    shown: Callable[[Prompt], str]
    written: Callable[[Prompt], str]


def index_game(n: int) -> Game:
    """INDEX as a prompt of n tokens [SanfordHsu2024]: Bob's places are 0, 2, …, Alice's 1, 3, …."""
    B = (n - 1) // 2

    def ask(held: Sequence[int], place: int) -> Prompt:
        bits = ((MARKER if t == place else FILLER, bit) for t, bit in enumerate(held))
        return [token for pair in bits for token in pair] + [MARKER]

    def shown(tokens: Prompt) -> str:
        bits = "".join(map(str, tokens[1::2]))
        return f"bit {tokens[:-1:2].index(MARKER)} of 0x{int(bits, 2):0{-(-B // 4)}x}"

    return Game(
        name="induction",
        known=one_layer_bound(n),
        alice=tuple(range(1, n - 1, 2)),
        choices=[(0, 1)] * B,
        ask=ask,
        required=lambda tokens: int(induction(tokens)[-1]),
        follows=lambda split: f"{split.bits} bits < {one_layer_bound(n):g}",
        bites=lambda bits: f"n = {2 * bits + 3}",
        shown=shown,
        written=lambda tokens: "".join("01ab"[token] for token in tokens),
    )


def composition_game(rng: np.random.Generator, s: int) -> Game:
    """f(0) … f(s − 1), g(0) … g(s − 1), x, '?' [Peng2024]; f is Alice's, and g the identity.

    The tables that are tried take two values, drawn once; the theorem is about all tables.
    """
    u, v = rng.choice(s, size=2, replace=False).tolist()

    def follows(split: Split) -> str:
        assert split.format is not None
        attn = split.attn
        R, error = composition_bound(s, attn.n_heads, attn.W_V.shape[-1], split.format.bits)
        return f"{split.bits} bits: R = {R:g}, wrong with probability at least {error:.3f}"

    return Game(
        name="composition",
        known=s * log2(s),
        alice=tuple(range(s)),
        choices=[(u, v)] * s,
        ask=lambda f, x: [*f, *range(s), x, s],
        required=lambda row: composition_by_definition(row[:s], row[s : 2 * s], row[2 * s]),
        follows=follows,
        bites=lambda bits: f"s = {next(size for size in count(2) if size * log2(size) > bits)}",
        shown=lambda tokens: f"f({tokens[2 * s]}) = {tokens[tokens[2 * s]]}",
        written=lambda tokens: " ".join(map(str, tokens)),
    )
