"""The four deterministic context-free tasks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from theory.programs.chomsky.regular import DIGITS, MODULUS
from theory.programs.chomsky.task import Level, Sequences, Task, uniform

LEVEL: Level = "deterministic context-free"
EXPRESSION = (*DIGITS, "+", "−", "·", "(", ")")
EQUATION = (*DIGITS, "+", "−", "(", ")", "x", "=")
POP = 2  # the tokens 3 and 4 push 0 and 1


def bracketed(length: int, rng: np.random.Generator, operators: str) -> str:
    """A random expression of this length: d, −d, (d), (−d), or (e o f) for expressions e and f."""
    digit = str(rng.integers(MODULUS))
    if length <= 4:
        return {1: digit, 2: f"−{digit}", 3: f"({digit})", 4: f"(−{digit})"}[length]
    left = int(rng.integers(1, length - 3))
    e, f = (bracketed(each, rng, operators) for each in (left, length - left - 3))
    return f"({e}{rng.choice([*operators])}{f})"


def value(text: str) -> int:
    """The value modulo 5 of an expression as `bracketed` writes it."""

    def parsed(i: int) -> tuple[int, int]:
        """The value of the expression that begins at i, and the place after it."""
        if text[i] == "−":
            return -int(text[i + 1]), i + 2
        if text[i] != "(":
            return int(text[i]), i + 1
        left, i = parsed(i + 1)
        if text[i] == ")":
            return left, i + 1
        right, end = parsed(i + 1)
        found = {"+": left + right, "−": left - right, "·": left * right}[text[i]]
        return found, end + 1

    return parsed(0)[0] % MODULUS


def _expressions(operators: str) -> Sequences:
    return lambda length, rng: [
        EXPRESSION.index(token) for token in bracketed(length, rng, operators)
    ]


def _evaluated(x: Sequence[int]) -> list[int]:
    return [value("".join(EXPRESSION[token] for token in x))]


def _equation(length: int, rng: np.random.Generator) -> list[int]:
    """An expression with + and −, in which one digit is x, then = and its value.

    The digit is the first one from a random position on, cyclically. Sequences of one or two tokens
    are zeros.
    """
    if length < 3:
        return [0] * length
    text = bracketed(length - 2, rng, "+−")
    start = int(rng.integers(len(text)))
    places = [*range(start, len(text)), *range(start)]
    at = next(i for i in places if text[i] in DIGITS)
    written = f"{text[:at]}x{text[at + 1 :]}={value(text)}"
    return [EQUATION.index(token) for token in written]


def _solution(x: Sequence[int]) -> list[int]:
    """The digit x for which the equation holds; there is one, since x has the coefficient ±1."""
    if len(x) < 3:
        return [0]
    text, _, wanted = "".join(EQUATION[token] for token in x).partition("=")
    [digit] = (d for d in DIGITS if value(text.replace("x", d)) == int(wanted))
    return [int(digit)]


def _actions(length: int, rng: np.random.Generator) -> list[int]:
    """A stack of bits from bottom to top, and then actions; of length 1, a bit."""
    height = 1 if length == 1 else int(rng.integers(1, length))
    stack = rng.integers(2, size=height)
    return [int(token) for token in (*stack, *rng.integers(POP, 5, size=length - height))]


def _popped(x: Sequence[int]) -> list[int]:
    """The stack from top to bottom after all actions, the end mark 2, and zeros, n + 1 in all."""
    stack: list[int] = []
    for token in x:
        if token != POP:
            stack.append(token if token < POP else token - 3)
        elif stack:
            stack.pop()
    return [*reversed(stack), 2, *[0] * (len(x) - len(stack))]


CONTEXT_FREE = (
    Task(
        "modular arithmetic, brackets", LEVEL, EXPRESSION, MODULUS, _expressions("+−"), _evaluated
    ),
    Task(
        "modular arithmetic, brackets and products",
        LEVEL,
        EXPRESSION,
        MODULUS,
        _expressions("+−·"),
        _evaluated,
    ),
    Task("reverse string", LEVEL, ("0", "1"), 2, uniform(2), lambda x: [*reversed(x)]),
    Task("solve equation", LEVEL, EQUATION, MODULUS, _equation, _solution),
    Task(
        "stack manipulation",
        LEVEL,
        ("0", "1", "POP", "PUSH 0", "PUSH 1"),
        3,
        _actions,
        _popped,
    ),
)
