"""The tasks of the Chomsky hierarchy as compiled programs [Deletang2023]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from constructions.call import construction
from constructions.programs.compiler import compiled
from constructions.programs.symbols import Symbols, empties
from constructions.transformer import Transformer
from theory.kinds import Count, InputError, Positive, shown
from theory.programs.chomsky import TASKS
from theory.programs.chomsky.decoded import SCRATCHPADS
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
    if name in SCRATCHPADS:
        raise InputError(f"name is {shown(name)}: call chomsky_scratchpad for this task")
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


@dataclass(frozen=True)
class OfInput:
    """The content of a register of a task's model, from that of the compiled program."""

    task: str
    content: Callable[[Any], np.ndarray]

    def __call__(self, tokens: Any) -> np.ndarray:
        """The contents (…, T, 1) at the input (…, n) and its empty tokens."""
        x = np.asarray(tokens)
        added = empties(self.task, x.shape[-1])
        more = np.broadcast_to(np.array(added, dtype=int), (*x.shape[:-1], len(added)))
        return self.content(np.concat([x, more], axis=-1))
