"""Subcubes on which a function of words is constant.

A subcube fixes some symbols of a word and leaves the other symbols free.  Its dimension is the
number of free symbols.  Parity and its negation change with every bit, so they are not constant on
any subcube of dimension 1 or more.  Every other function of bits is constant on some subcube of
dimension 1 or more.  The dimension of the largest constant subcube measures how far a function is
from parity: functions in AC⁰ are constant on subcubes with many free bits, and parity is constant
only on single words [FSS1984].

For words of n symbols from a vocabulary of size V, all (V + 1)^n subcubes are searched.  The values
on a subcube with a free symbol are the values on V smaller subcubes, so minimum and maximum are
computed axis by axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import CountFrom2, InputError, Integer, Integers, Steps, checked

MOST_SUBCUBES = 5_000_000  # 14 bits have 3^14 subcubes


@checked
@dataclass(frozen=True)
class Subcube:
    """A set of words on which a function is constant, and the value of the function there.

    The set is a subcube: some symbols of its words are fixed, and the other symbols are free.
    `symbols` has one entry for each position of a word: the fixed symbol, or None if the symbol is
    free.
    """

    symbols: tuple[Steps | None, ...]
    value: Integer

    @property
    def dimension(self) -> int:
        """The number of free symbols of the subcube (the symbols that are not fixed)."""
        return self.symbols.count(None)

    def __str__(self) -> str:
        return " ".join("*" if symbol is None else str(symbol) for symbol in self.symbols)


Values: TypeAlias = Annotated[Any, Integers("N")]
"""Integers, one for each of N words."""


@checked
def largest_constant_subcube(values: Values, vocabulary_size: CountFrom2 = 2) -> Subcube:
    """One of the largest subcubes on which a function of words of n symbols is constant.

    A subcube is a set of words with some symbols fixed and the other symbols free. It is largest if
    it has the most free symbols. Let V = vocabulary_size. `values` (V^n,) contains the values of
    the function on all words, in lexicographic order: the first symbol is the most significant.

    Raises `ValueError` if (a) the number of values is not V^n for an n ≥ 1, or (b) there are more
    than 5 000 000 subcubes.
    """
    V, n = vocabulary_size, 0
    while V**n < values.size:
        n += 1
    if n < 1 or V**n != values.size:
        raise InputError(
            f"there are {values.size} values: give {V}^n values for the words of n ≥ 1 symbols"
        )
    if (V + 1) ** n > MOST_SUBCUBES:
        raise InputError(
            f"{n} symbols have {V + 1}^{n} subcubes, more than {MOST_SUBCUBES}: give values of "
            "shorter words"
        )
    least = most = values.reshape((V,) * n)
    for axis in range(n):
        least, most = _freed(least, axis, np.minimum), _freed(most, axis, np.maximum)
    constant = np.argwhere(least == most)
    at = tuple(constant[(constant == V).sum(1).argmax()].tolist())
    return Subcube(tuple(None if x == V else x for x in at), int(least[at]))


def _freed(values: np.ndarray, axis: int, joined: np.ufunc) -> np.ndarray:
    """The array with one more entry along the axis: the common value of all symbols there."""
    both = joined.reduce(values, axis=axis, keepdims=True)
    return np.concatenate([values, both], axis=axis)
