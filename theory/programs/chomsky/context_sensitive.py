"""The seven context-sensitive tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isqrt

import numpy as np

from theory.programs.chomsky.task import Level, Task, uniform

LEVEL: Level = "context-sensitive"
BITS = ("0", "1")
SEPARATOR = END = 2
HIDDEN, PADDING = 2, 3


def bits_of(number: int, length: int = 0) -> list[int]:
    """The bits of a number from the lowest on, at least `length` and at least one of them."""
    return [int(bit) for bit in f"{number:b}".zfill(length)[::-1]]


def number_of(bits: Sequence[int]) -> int:
    """The number with these bits, from the lowest on."""
    return sum(bit << i for i, bit in enumerate(bits))


def _positive(length: int, rng: np.random.Generator) -> list[int]:
    """The bits of a uniformly distributed number from 1 to 2^length − 1."""
    while True:
        bits = [int(bit) for bit in rng.integers(2, size=length)]
        if any(bits):
            return bits


def _two_numbers(length: int, rng: np.random.Generator) -> list[int]:
    """Two positive numbers with a separator; of length 1 or 2, one number below 2^length − 1."""
    if length <= 2:
        return bits_of(int(rng.integers(2**length - 1)), length)
    first = int(rng.integers(1, length - 1))
    return [*_positive(first, rng), SEPARATOR, *_positive(length - 1 - first, rng)]


def _numbers(x: Sequence[int]) -> list[int]:
    at = list(x).index(SEPARATOR)
    return [number_of(x[:at]), number_of(x[at + 1 :])]


def _ended(bits: list[int], length: int) -> list[int]:
    """The bits, the end mark 2, and zeros, of this length in all."""
    return [*bits, END, *[0] * (length - 1 - len(bits))]


def _sum(x: Sequence[int]) -> list[int]:
    """n + 1 symbols; one number alone is its own sum."""
    total = sum(_numbers(x)) if SEPARATOR in x else number_of(x)
    return _ended(bits_of(total), len(x) + 1)


def _product(x: Sequence[int]) -> list[int]:
    """n symbols; of one or two tokens, the product is empty or 0."""
    if len(x) <= 2:
        return _ended([0] * (len(x) - 1), len(x))
    a, b = _numbers(x)
    return _ended(bits_of(a * b), len(x))


def _root(x: Sequence[int]) -> list[int]:
    """The integer part of the square root; numbers have their highest bit first."""
    return bits_of(isqrt(number_of(x[::-1])), -(-len(x) // 2))[::-1]


def _doubled(length: int, rng: np.random.Generator) -> list[int]:
    """A sequence ww in which one bit is hidden, padded to odd length; of length 1, the token 1."""
    if length == 1:
        return [1]
    half = rng.integers(2, size=length // 2).tolist()
    x = [*half, *half, *[PADDING] * (length % 2)]
    x[int(rng.integers(2 * len(half)))] = HIDDEN
    return [int(token) for token in x]


def _missing(x: Sequence[int]) -> list[int]:
    """The hidden bit."""
    half = len(x) // 2
    if half == 0:
        return [1]
    at = list(x).index(HIDDEN)
    return [x[at + half if at < half else at - half]]


def _task(
    name: str,
    tokens: tuple[str, ...],
    symbols: int,
    draw: Callable[[int, np.random.Generator], list[int]],
    answer: Callable[[Sequence[int]], list[int]],
) -> Task:
    return Task(name, LEVEL, tokens, symbols, draw, answer)


CONTEXT_SENSITIVE = (
    _task("binary addition", (*BITS, "+"), 3, _two_numbers, _sum),
    _task("binary multiplication", (*BITS, "·"), 3, _two_numbers, _product),
    _task("compute sqrt", BITS, 2, _positive, _root),
    _task("duplicate string", BITS, 2, uniform(2), lambda x: [*x, *x]),
    _task("missing duplicate", (*BITS, "hidden", "padding"), 2, _doubled, _missing),
    _task("odds first", BITS, 2, uniform(2), lambda x: [*x[1::2], *x[::2]]),
    _task("bucket sort", tuple("abcde"), 5, uniform(5), sorted),
)
