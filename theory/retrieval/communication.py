"""Two tasks as communication games: Alice holds a part of the prompt, Bob the question.

In one layer of attention, the last token depends on Alice's tokens only through a message of few
bits ([SanfordHsu2024], [Peng2024]). If the message has fewer bits than Alice's input, two of her
inputs have the same message. Bob then outputs the same answer for both, although the correct
answers differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from math import log2
from typing import NamedTuple

from theory.kinds import Count, CountFrom2, Seed, checked
from theory.retrieval.composition import composition_by_definition
from theory.retrieval.depth import CompositionBound, composition_bound, one_layer_bound
from theory.retrieval.induction import induction

MARKER, FILLER = 2, 3  # after the bits 0 and 1

Prompt = list[int]


class Game(NamedTuple):
    """A communication game: the inputs of Alice and Bob, and the answer that Bob must output.

    name        the task
    bits        the number of bits of Alice's input
    alice       Alice's positions
    choices     the two symbols that can stand at each of Alice's positions
    prompt      (Alice's symbols, Bob's position) → the prompt
    required    prompt → the answer
    least_size  bits → the smallest size at which Alice's input has more bits, for example "n = 35"
    question    prompt → Bob's question with its answer, as text
    text        prompt → its tokens as text
    forced      (n_heads, d_value, bits of a number) → a lower bound on the error, if known
    """

    name: str
    bits: float
    alice: tuple[int, ...]
    choices: list[tuple[int, int]]
    prompt: Callable[[Sequence[int], int], Prompt]
    required: Callable[[Prompt], int]
    least_size: Callable[[int], str]
    question: Callable[[Prompt], str]
    text: Callable[[Prompt], str]
    forced: Callable[[int, int, int], CompositionBound] | None = None


@checked
def index_game(n_tokens: Count) -> Game:
    """The `Game` INDEX with a prompt of `n_tokens` tokens, in which Alice has the odd positions.

    Alice's tokens are bits. Bob puts a marker before one of the bits, and the answer is the bit
    after the marker [SanfordHsu2024].
    """
    n, B = n_tokens, (n_tokens - 1) // 2

    def prompt(symbols: Sequence[int], position: int) -> Prompt:
        pairs = ((MARKER if t == position else FILLER, bit) for t, bit in enumerate(symbols))
        return [token for pair in pairs for token in pair] + [MARKER]

    def question(tokens: Prompt) -> str:
        bits = "".join(map(str, tokens[1::2]))
        return f"bit {tokens[:-1:2].index(MARKER)} of 0x{int(bits, 2):0{-(-B // 4)}x}"

    return Game(
        name="induction",
        bits=one_layer_bound(n),
        alice=tuple(range(1, n - 1, 2)),
        choices=[(0, 1)] * B,
        prompt=prompt,
        required=lambda tokens: int(induction(tokens)[-1]),
        least_size=lambda bits: f"n = {2 * bits + 3}",
        question=question,
        text=lambda tokens: "".join("01ab"[token] for token in tokens),
    )


@checked
def composition_game(n_points: CountFrom2, seed: Seed) -> Game:
    """The `Game` of function composition, in which Alice has the values of f and Bob has x.

    The prompt is f(0) … f(s − 1), g(0) … g(s − 1), x, '?' with s = `n_points`, where f and g are
    maps of {0, …, s − 1} to itself and g is the identity. The answer is g(f(x)) [Peng2024]. The
    theorem of [Peng2024] holds for all f. In this game f takes one of two values at each point;
    the two values are drawn once, with the given `seed`.
    """
    s, rng = n_points, seed
    u, v = rng.choice(s, size=2, replace=False).tolist()
    return Game(
        name="composition",
        bits=s * log2(s),
        alice=tuple(range(s)),
        choices=[(u, v)] * s,
        prompt=lambda f, x: [*f, *range(s), x, s],
        required=lambda row: composition_by_definition(row[:s], row[s : 2 * s], row[2 * s]),
        least_size=lambda bits: f"s = {next(n for n in count(2) if n * log2(n) > bits)}",
        question=lambda tokens: f"f({tokens[2 * s]}) = {tokens[tokens[2 * s]]}",
        text=lambda tokens: " ".join(map(str, tokens)),
        forced=partial(composition_bound, s),
    )
