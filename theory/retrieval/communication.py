"""Two tasks as communication games: Alice holds a part of the prompt, Bob the question.

What Alice's tokens contribute to the last one, in a layer of attention, is a message of few bits
([SanfordHsu2024], [Peng2024]).  If it is shorter than what she holds, two prompts share a message,
and Bob gets one answer where he needs two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from math import log2
from typing import NamedTuple

import numpy as np

from theory.retrieval.composition import composition_by_definition
from theory.retrieval.depth import CompositionBound, composition_bound, one_layer_bound
from theory.retrieval.induction import induction

MARKER, FILLER = 2, 3  # after the bits 0 and 1

Prompt = list[int]


class Game(NamedTuple):
    """What Alice holds and which questions Bob has.

    name      the task
    known     bits that Alice holds
    alice     her positions
    choices   two symbols for each of them
    ask       (her symbols, Bob's place) → the prompt
    required  prompt → the answer
    enough    bits → the least size of the game at which so many are too few, as "n = 35"
    asked     prompt → Bob's question and Alice's answer to it
    written   prompt → its tokens as text
    forced    (heads, d_value, bits of a number) → the error that a short message forces, where that
              is known
    """

    name: str
    known: float
    alice: tuple[int, ...]
    choices: list[tuple[int, int]]
    ask: Callable[[Sequence[int], int], Prompt]
    required: Callable[[Prompt], int]
    enough: Callable[[int], str]
    asked: Callable[[Prompt], str]
    written: Callable[[Prompt], str]
    forced: Callable[[int, int, int], CompositionBound] | None = None


def index_game(n: int) -> Game:
    """INDEX as a prompt of n tokens [SanfordHsu2024]: Bob's places are 0, 2, …, Alice's 1, 3, …."""
    B = (n - 1) // 2

    def ask(held: Sequence[int], place: int) -> Prompt:
        bits = ((MARKER if t == place else FILLER, bit) for t, bit in enumerate(held))
        return [token for pair in bits for token in pair] + [MARKER]

    def asked(tokens: Prompt) -> str:
        bits = "".join(map(str, tokens[1::2]))
        return f"bit {tokens[:-1:2].index(MARKER)} of 0x{int(bits, 2):0{-(-B // 4)}x}"

    return Game(
        name="induction",
        known=one_layer_bound(n),
        alice=tuple(range(1, n - 1, 2)),
        choices=[(0, 1)] * B,
        ask=ask,
        required=lambda tokens: int(induction(tokens)[-1]),
        enough=lambda bits: f"n = {2 * bits + 3}",
        asked=asked,
        written=lambda tokens: "".join("01ab"[token] for token in tokens),
    )


def composition_game(rng: np.random.Generator, s: int) -> Game:
    """f(0) … f(s − 1), g(0) … g(s − 1), x, '?' [Peng2024]; f is Alice's, and g the identity.

    The tables that are tried take two values, drawn once; the theorem is about all tables.
    """
    u, v = rng.choice(s, size=2, replace=False).tolist()
    return Game(
        name="composition",
        known=s * log2(s),
        alice=tuple(range(s)),
        choices=[(u, v)] * s,
        ask=lambda f, x: [*f, *range(s), x, s],
        required=lambda row: composition_by_definition(row[:s], row[s : 2 * s], row[2 * s]),
        enough=lambda bits: f"s = {next(size for size in count(2) if size * log2(size) > bits)}",
        asked=lambda tokens: f"f({tokens[2 * s]}) = {tokens[tokens[2 * s]]}",
        written=lambda tokens: " ".join(map(str, tokens)),
        forced=partial(composition_bound, s),
    )
