"""The four regular tasks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from theory.programs.chomsky.task import Task, uniform

MODULUS = 5
PLUS, MINUS, TIMES = MODULUS, MODULUS + 1, MODULUS + 2
DIGITS = tuple(map(str, range(MODULUS)))


def _even_pairs(x: Sequence[int]) -> list[int]:
    """Whether the number of neighbours 01 and 10 is odd, that is, whether x_0 ≠ x_{n−1}."""
    return [sum(a != b for a, b in pairwise(x)) % 2]


def _expression(length: int, rng: np.random.Generator) -> list[int]:
    """A digit, and then operators and digits in turn; of odd length."""
    x = rng.integers(MODULUS, size=length - (length % 2 == 0)).tolist()
    x[1::2] = rng.integers(PLUS, TIMES + 1, size=len(x) // 2).tolist()
    return [int(token) for token in x]


def _value(x: Sequence[int]) -> list[int]:
    """The value modulo 5 of an expression without brackets; products bind more tightly."""
    total, product = 0, x[0]
    for operator, digit in zip(x[1::2], x[2::2], strict=True):
        if operator == TIMES:
            product *= digit
        else:
            total += product
            product = digit if operator == PLUS else -digit
    return [(total + product) % MODULUS]


REGULAR = (
    Task("even pairs", "regular", ("a", "b"), 2, uniform(2), _even_pairs),
    Task(
        "modular arithmetic",
        "regular",
        (*DIGITS, "+", "−", "·"),
        MODULUS,
        _expression,
        _value,
    ),
    Task("parity check", "regular", ("0", "1"), 2, uniform(2), lambda x: [sum(x) % 2]),
    Task(
        "cycle navigation",
        "regular",
        ("−1", "0", "1"),
        MODULUS,
        uniform(3),
        lambda x: [sum(step - 1 for step in x) % MODULUS],
    ),
)
