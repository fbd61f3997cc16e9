"""All inputs of the tasks of the Chomsky hierarchy: the sequences that the tasks draw."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from theory.kinds import Count, InputError, checked, shown
from theory.programs.chomsky import TASKS
from theory.programs.chomsky.context_free import EQUATION, EXPRESSION, POP, value
from theory.programs.chomsky.context_sensitive import HIDDEN, PADDING, SEPARATOR
from theory.programs.chomsky.regular import DIGITS, MODULUS, PLUS, TIMES

Inputs = Iterator[tuple[int, ...]]


@checked
def all_inputs(name: str, length: Count) -> Inputs:
    """All inputs that the task `name` draws at a length, each once.

    Raises ValueError for another name.
    """
    if name not in TASKS:
        raise InputError(f"name is {shown(name)}: give one of {', '.join(TASKS)}")
    match name:
        case "modular arithmetic":
            return _alternating(length - (length % 2 == 0))
        case "modular arithmetic, brackets":
            return _written(expressions(length, "+−"))
        case "modular arithmetic, brackets and products":
            return _written(expressions(length, "+−·"))
        case "solve equation":
            return _equations(length)
        case "stack manipulation":
            return _actions(length)
        case "binary addition" | "binary multiplication":
            return _two_numbers(length)
        case "compute sqrt":
            return _positive(length)
        case "missing duplicate":
            return _doubled(length)
    return product(range(len(TASKS[name].tokens)), repeat=length)


def expressions(length: int, operators: str) -> Iterator[str]:
    """All expressions of a length: d, −d, (d), (−d), and (e o f) for expressions e and f."""
    if length <= 4:
        form = {1: "{}", 2: "−{}", 3: "({})", 4: "(−{})"}[length]
        yield from (form.format(digit) for digit in DIGITS)
    for left in range(1, length - 3):
        for e in expressions(left, operators):
            for f in expressions(length - left - 3, operators):
                yield from (f"({e}{operator}{f})" for operator in operators)


def _written(texts: Iterator[str]) -> Inputs:
    return (tuple(map(EXPRESSION.index, text)) for text in texts)


def _alternating(length: int) -> Inputs:
    kinds = (range(MODULUS), range(PLUS, TIMES + 1))
    return product(*(kinds[i % 2] for i in range(length)))


def _equations(length: int) -> Inputs:
    if length < 3:
        yield (0,) * length
        return
    found = {
        f"{text[:i]}x{text[i + 1 :]}={value(text)}": None
        for text in expressions(length - 2, "+−")
        for i, each in enumerate(text)
        if each in DIGITS
    }
    yield from (tuple(map(EQUATION.index, text)) for text in found)


def _actions(length: int) -> Inputs:
    for height in range(1, max(length, 2)):
        for stack in product(range(2), repeat=height):
            for actions in product(range(POP, 5), repeat=length - height):
                yield stack + actions


def _positive(length: int) -> Inputs:
    return (bits for bits in product(range(2), repeat=length) if any(bits))


def _two_numbers(length: int) -> Inputs:
    if length <= 2:
        yield from (bits for bits in product(range(2), repeat=length) if not all(bits))
    for first in range(1, length - 1):
        for a in _positive(first):
            yield from ((*a, SEPARATOR, *b) for b in _positive(length - 1 - first))


def _doubled(length: int) -> Inputs:
    if length == 1:
        yield (1,)
    n = length // 2
    for half in product(range(2), repeat=n):
        whole = (*half, *half)
        for i in range(2 * n) if length > 1 else ():
            hidden = (*whole[:i], HIDDEN, *whole[i + 1 :])
            yield hidden + (PADDING,) * (length % 2)
