"""The interface of models that solve a task of the Chomsky hierarchy, hand-built or trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from constructions.interface import Model
from constructions.tokens import Tokens
from theory.kinds import InputError, read, shown
from theory.programs.chomsky import TASKS
from theory.programs.chomsky.solutions import SOLUTIONS


class Symbols(Tokens):
    """The interface of models that solve a task: `model(x)` → the list of output symbols.

    x is a list of tokens of the task, and `model([x, y])` returns the list of the answers to inputs
    x, y of one length.  For an array (…, n) of integers, of numpy or torch, the answers are a
    tensor.  The model reads the input and, if the task outputs a sequence, an empty token for each
    symbol, at which this symbol is read; otherwise the symbol is read at the last token.

    `values` contains the symbol of each column of the logits.

    The call raises ValueError for tokens that the task does not have, and for an empty or too long
    input.
    """

    def __init__(
        self,
        name: str,
        max_length: int,
        values: Sequence[Any],
        margin: float | None = None,
        averages: tuple[float, float] | None = None,
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
        return empties(self.task, n), slice(first, None)

    def objects(self) -> tuple[Sequence[Any], Sequence[Any]]:
        return range(self.vocabulary_size), self.values

    def read(self, outputs: Tensor, *inputs: Any) -> Any:
        places = super().read(outputs, inputs[0])
        symbols = torch.tensor([v if isinstance(v, int) else -1 for v in (*self.values, None)])
        answers = symbols.to(places.device)[places]
        return answers.tolist() if len(inputs) == 2 else answers

    def generate(self, model: Model, tokens: Any, steps: int) -> Tensor:
        """Raises ValueError: the output is one answer."""
        model = read(Model, "model", model)
        raise InputError(f"{model.name} outputs all symbols at once: call the model")


def empties(name: str, n: int) -> tuple[int, ...]:
    """The empty tokens that follow an input of n tokens."""
    return (len(TASKS[name].tokens),) * SOLUTIONS[name].empties(n)
