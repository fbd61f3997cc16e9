"""Programs that decode an answer token by token, after their working: what they have in common.

Such a program is causal, and its values are tokens: at the last token of a sequence, the value is
the next token.  It reads the texts of the tokens of an input and then "=", and decodes tokens of
the working and, at the end, the symbols of the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from theory.programs.chomsky.task import Task
from theory.programs.language import (
    Aggregate,
    Full,
    Map,
    Select,
    SelectorWidth,
    SequenceMap,
    SOp,
    indices,
    tokens,
)
from theory.programs.values import Value

EQUALS = "="


@dataclass(frozen=True)
class Scratchpad:
    """A program of constant depth that decodes the answers of a task after its working.

    program  a function that returns the program
    working  the tokens of the working
    steps    the number of decoded tokens for an input, of which the last ones are the answer
    most     the largest number of them for inputs of n tokens
    outputs  for a task that outputs a sequence, the number of symbols for an input of n tokens;
             None for a classification
    """

    program: Callable[[], SOp]
    working: tuple[Value, ...]
    steps: Callable[[Sequence[int]], int]
    most: Callable[[int], int]
    outputs: Callable[[int], int] | None = None

    def vocabulary(self, task: Task) -> tuple[Value, ...]:
        """The texts of the task's tokens, "=", the tokens of the working, and the symbols."""
        return (*task.tokens, EQUALS, *self.working, *range(task.symbols))

    def prompt(self, task: Task, x: Sequence[int]) -> tuple[Value, ...]:
        """The tokens that the program reads for an input."""
        return (*(task.tokens[token] for token in x), EQUALS)

    def answer(self, x: Sequence[int], decoded: Sequence[Any]) -> list[Any]:
        """The symbols of the answer among the decoded tokens."""
        return [*decoded[-(self.outputs(len(x)) if self.outputs else 1) :]]


def token_in(these: Collection[Value]) -> SOp:
    """1 if x_i is one of these tokens, and 0 otherwise."""
    return Map(lambda token: int(token in these), tokens)


def count(flag: SOp) -> SOp:
    """The number of positions up to i at which a flag is 1."""
    return SelectorWidth(Select(flag, Full(1), "=="))


def occurs(token: Value) -> SOp:
    """1 if a token is among x_0, …, x_i, and 0 otherwise."""
    return Aggregate(Select(tokens, Full(token), "=="), Full(1), 0)


def at(place: SOp, values: SOp, default: Value) -> SOp:
    """The value at position `place`, and the default if there is no such position up to i."""
    return Aggregate(Select(indices, place, "=="), values, default)


def numbered(flag: SOp, number: SOp, values: SOp, default: Value) -> SOp:
    """The value at the position at which a flag is 1 for the m-th time, where m = `number`."""
    here = Select(count(flag), number, "==") & Select(flag, Full(1), "==")
    return Aggregate(here, values, default)


def function_of(f: Callable[..., Value], first: SOp, *others: SOp) -> SOp:
    """The values f(a_i, b_i, …) of several s-ops a, b, …"""
    together: SOp = Map(lambda value: (value,), first)
    for other in others:
        together = SequenceMap(lambda values, value: (*values, value), together, other)
    return Map(lambda values: f(*values), together)
