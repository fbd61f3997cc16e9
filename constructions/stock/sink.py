"""Prompts with a sink in front, for linear heads that are translated into softmax heads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from torch import Tensor

from constructions.interface import Draw, Interface, Prompt
from constructions.tokens import Tokens


class Sunk(Interface):
    """An interface that puts a sink token in front of the prompts of another interface.

    Prompts of vectors get two more columns, which are 1 or 0: the first is 1 for the sink, and the
    second is 1 for tokens after the examples.  With `behind_examples`, only tokens after the
    examples have answers.
    """

    def __init__(self, inner: Interface, sink: int | None, behind_examples: bool) -> None:
        super().__init__()
        self.inner, self.sink, self.behind = inner, sink, behind_examples
        self.context, self.margin, self.chooses = inner.context, inner.margin, inner.chooses
        if sink is not None and inner.context is not None:
            self.context = inner.context + 1

    def check(self, like: Tensor, *inputs: Any) -> tuple[Any, ...]:
        return self.inner.check(like, *inputs)

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        tokens, n_examples, answers = self.inner.write(xp, *inputs)
        ahead = self.sink is not None
        if isinstance(self.inner, Tokens):
            T = tokens.shape[-1]
            if ahead:
                tokens = xp.concat([tokens[..., :1] * 0 + self.sink, tokens], axis=-1)
        else:
            T, zero = tokens.shape[-2], tokens[..., :1] * 0
            behind = xp.concat([zero[..., :n_examples, :], zero[..., n_examples:, :] + 1], axis=-2)
            tokens = xp.concat([tokens, zero, behind], axis=-1)
            if ahead:
                blank = tokens[..., :1, :] * 0
                sink = xp.concat([blank[..., :-2], blank[..., -1:] + 1, blank[..., -1:]], axis=-1)
                tokens = xp.concat([sink, tokens], axis=-2)
        at = range(T)[answers]
        first = max(at.start, n_examples) if self.behind else at.start
        return Prompt(tokens, n_examples + ahead, slice(first + ahead, at.stop + ahead, at.step))

    def all_inputs(self, most: int, causal: bool) -> Iterator[tuple[Any, ...]] | None:
        return self.inner.all_inputs(most, causal)

    def random_inputs(self, draw: Draw, rng: np.random.Generator) -> tuple[Any, ...] | None:
        return self.inner.random_inputs(draw, rng)

    def read(self, outputs: Tensor, *inputs: Any) -> Any:
        return self.inner.read(outputs, *inputs)
