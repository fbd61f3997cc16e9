"""The tasks of the Chomsky hierarchy as compiled programs [Deletang2023]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from constructions.call import construction
from constructions.interface import Model
from constructions.programs.compiler import compiled
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory.kinds import Count, InputError, Positive, shown
from theory.programs.chomsky import TASKS
from theory.programs.chomsky.solutions import SOLUTIONS


@construction
def chomsky_task(name: str, max_length: Count, *, sharpness: Positive | None = None) -> Transformer:
    """The transformer that solves a task: `chomsky_task("reverse string", 500)([0, 1, 1])`.

    `name` is the name of a task in `theory.programs.chomsky.TASKS`, and an input is a list of at
    most `max_length` tokens 0, 1, … of the task. The answer is the list of output symbols, as
    `TASKS[name].answer` defines it for the inputs that the task draws; other sequences of tokens
    have some answer. The model is the compiled program of `SOLUTIONS[name]` in
    `theory.programs.chomsky.solutions`, which also states its idea, and its number of layers is
    bounded at all lengths. A `sharpness` gives softmax attention at this inverse temperature.

    Raises ValueError for another name, and for a sharpness at which answers could be wrong, with
    the smallest sufficient one.
    """
    if name not in SOLUTIONS:
        raise InputError(f"name is {shown(name)}: give one of {', '.join(map(repr, SOLUTIONS))}")
    solution, count = SOLUTIONS[name], len(TASKS[name].tokens)
    vocabulary = range(count + bool(solution.outputs))
    made = compiled(solution.program(), vocabulary, max_length + solution.empties(max_length))
    words = made.interface
    return Transformer(
        made.embed,
        list(made.blocks),
        made.unembed,
        pos_embed=made.pos_embed,
        interface=Symbols(name, max_length, words.values, words.margin, words.averages),
        stream=made.stream,
        stages=tuple(replace(each, holds=OfInput(name, each.holds)) for each in made.stages),
        at_most=made.at_most,
        source="[Deletang2023]; [Weiss2021]",
    ).sharpened(sharpness)


class Symbols(Tokens):
    """The interface of models that solve a task: `model(x)` → the list of output symbols.

    x is a list of tokens of the task, and `model([x, y])` returns the list of the answers to inputs
    x, y of one length.  For an array (…, n) of integers, of numpy or torch, the answers are a
    tensor.  The model reads the input and, if the task outputs a sequence, an empty token for each
    symbol, at which this symbol is read; otherwise the symbol is read at the last token.

    The call raises ValueError for tokens that the task does not have, and for an empty or too long
    input.
    """

    def __init__(
        self,
        name: str,
        max_length: int,
        values: tuple[Any, ...],
        margin: float,
        averages: tuple[float, float],
    ) -> None:
        self.task, self.values = name, values
        count, bos = (
            len(TASKS[name].tokens),
            len(TASKS[name].tokens) + bool(SOLUTIONS[name].outputs),
        )
        super().__init__(count, max_length, prefix=(bos,), labels=len(values), margin=margin)
        self.averages = averages
        self.context += SOLUTIONS[name].empties(max_length)

    def check(self, like: Tensor, *inputs: Any) -> tuple[Any, ...]:
        """The tokens and, unless they are an array, True: to return a list."""
        if len(inputs) == 1 and isinstance(inputs[0], str):
            most = self.vocabulary_size - 1
            raise InputError(f"tokens is {shown(inputs[0])}: give a list of integers 0 to {most}")
        (tokens,) = super().check(like, *inputs)
        return (tokens,) if isinstance(inputs[0], Tensor | np.ndarray) else (tokens, True)

    def ends(self, n: int) -> tuple[tuple[int, ...], slice]:
        first = n + 1 if SOLUTIONS[self.task].outputs else n
        return _empties(self.task, n), slice(first, None)

    def objects(self) -> tuple[Sequence[Any], Sequence[Any]]:
        return range(self.vocabulary_size), self.values

    def read(self, outputs: Tensor, *inputs: Any) -> Any:
        places = super().read(outputs, inputs[0])
        symbols = torch.tensor([v if isinstance(v, int) else -1 for v in (*self.values, None)])
        answers = symbols.to(places.device)[places]
        return answers.tolist() if len(inputs) == 2 else answers

    def generate(self, model: Model, tokens: Any, steps: int) -> Tensor:
        """Raises ValueError: the output is one answer."""
        raise InputError(f"{model.name} outputs all symbols at once: call the model")


@dataclass(frozen=True)
class OfInput:
    """The content of a register of a task's model, from that of the compiled program."""

    task: str
    content: Callable[[Any], np.ndarray]

    def __call__(self, tokens: Any) -> np.ndarray:
        """The contents (…, T, 1) at the input (…, n) and its empty tokens."""
        x = np.asarray(tokens)
        empties = _empties(self.task, x.shape[-1])
        added = np.broadcast_to(np.array(empties, dtype=int), (*x.shape[:-1], len(empties)))
        return self.content(np.concat([x, added], axis=-1))


def _empties(name: str, n: int) -> tuple[int, ...]:
    """The empty tokens that follow an input of n tokens."""
    return (len(TASKS[name].tokens),) * SOLUTIONS[name].empties(n)
