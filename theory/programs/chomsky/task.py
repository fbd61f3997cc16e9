"""What a task of the Chomsky hierarchy consists of [Deletang2023]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from theory.kinds import Steps, checked, read

Sequences = Callable[[int, np.random.Generator], list[int]]
Level = Literal["regular", "deterministic context-free", "context-sensitive"]


@dataclass(frozen=True)
class Task:
    """A function from sequences of tokens to sequences of symbols, and a distribution of inputs.

    name      the name of the task
    level     the class of the hierarchy that contains the language of the task
    tokens    the texts of the tokens 0, 1, …
    symbols   the number of output symbols
    draw      (length, generator) → a random input of this length, or of one token less where the
              task has no input of even length
    answer    an input → the output, by definition; one symbol for a classification
    """

    name: str
    level: Level
    tokens: tuple[str, ...]
    symbols: int
    draw: Sequences
    answer: Callable[[Sequence[int]], list[int]]

    @checked
    def shown(self, tokens: Sequence[Steps]) -> str:
        """The text of an input. Raises ValueError if it is not one sequence of tokens."""
        given = read(Sequence[Steps], "tokens", tokens, below=len(self.tokens))
        return " ".join(self.tokens[token] for token in given)


def uniform(count: int) -> Sequences:
    """Sequences of independent uniformly distributed tokens below `count`."""

    def draw(length: int, rng: np.random.Generator) -> list[int]:
        return [int(token) for token in rng.integers(count, size=length)]

    return draw
