"""Standard Boolean functions: they map words (…, d) of bits 0 and 1 to values 0 or 1 (…,).

The majority of all bits is the last value of `theory.computation.majority`, and the parity of
all bits is the last value of `theory.computation.parity`.  Positions count from 0.

The influence of a bit on f is the probability that a flip of the bit changes f(x), for uniform x.
The mean influence over all d bits is called Sens.  Influences of the bits on these functions:

    parity       1 for each bit of the parity
    conjunction  2^{1−k} for each of k bits, the probability that the other k − 1 bits are 1
    majority     C(d − 1, (d − 1)/2)/2^{d−1}, the probability that the other d − 1 bits tie
    multiplexer  with a address bits: 2^{−a} for a data bit, the probability that it is addressed;
                 ½ for an address bit, the probability that the data bits at the two addresses
                 that differ in this bit are different
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import (
    Array,
    Bits,
    Count,
    InputError,
    Integers,
    Positions,
    Within,
    array_of,
    checked,
    real,
)
from theory.sensitivity.walsh_hadamard import MOST
from theory.sequences import all_sequences

MOST_BITS = 22  # of all words of d bits in an array: d·2^d ≤ 2^27
LARGEST = 100_000  # largest number of bits of a majority: its influence is an exact fraction


@dataclass(frozen=True)
class ZeroOne(Array):
    """A domain of arrays with entries 0 and 1 of any numeric dtype or bool, read as int64."""

    entries = "arrays of 0 and 1"

    @property
    def wrong(self) -> tuple[Any, ...]:
        right = self.example
        return (*super().wrong, 2 - right, right - 1, 0.5 * right, right * np.nan)

    def _entries(self, name: str, array: np.ndarray) -> np.ndarray:
        numbers = real(name, array, booleans=True)
        bad = numbers[~np.isin(numbers, (0, 1))]
        if bad.size:
            raise self.contains(name, bad[0])
        return array.astype(np.int64)

    def _usual(self, shape: tuple[int, ...]) -> np.ndarray:
        return np.asarray(np.arange(shape[0]) % 2)


InWords: TypeAlias = Annotated[Any, Integers("k", Within(least=0, below="T"))]
"""Positions 0 … T − 1 of words (…, T), at least one, shape (k,)."""
Entries: TypeAlias = Annotated[Any, ZeroOne("2^k")]
"""A table of 0 and 1, shape (2^k,)."""


@checked
def distinct_positions(d: Count, positions: Positions) -> tuple[int, ...]:
    """Check that positions in words of d bits are distinct, and convert them to a tuple.

    Positions are integers from 0 to d − 1. Raises `ValueError` if a position occurs twice.
    """
    return _distinct(positions)


def _distinct(positions: np.ndarray) -> tuple[int, ...]:
    if len(np.unique(positions)) < len(positions):
        raise InputError(f"positions are {positions.tolist()}: give each position once")
    return tuple(positions.tolist())


def _read(words: np.ndarray, positions: np.ndarray) -> np.ndarray:
    return np.asarray(words[..., list(_distinct(positions))])


@checked
def subset_parity(words: Bits, positions: InWords) -> np.ndarray:
    """The parity of the bits at `positions`, Σ_{i ∈ positions} x_i mod 2, as 0 or 1.

    `words` has the shape (…, d), with one word x of d bits in each row. The result has the shape
    (…,). Raises `ValueError` if a position occurs twice.
    """
    return np.asarray(_read(words, positions).sum(axis=-1) % 2)


@checked
def conjunction(words: Bits, positions: InWords) -> np.ndarray:
    """The conjunction of the bits at `positions`: 1 if x_i = 1 for all i ∈ positions, else 0.

    `words` has the shape (…, d), with one word x of d bits in each row. The result has the shape
    (…,). Raises `ValueError` if a position occurs twice.
    """
    return np.asarray(_read(words, positions).min(axis=-1))


@checked
def junta(words: Bits, positions: InWords, table: Entries) -> np.ndarray:
    """The values of a function of the bits at given positions, which is defined by a table.

    `words` has the shape (…, d), with one word of d bits in each row. `table` has the shape (2^k,)
    for k positions, and entries 0 and 1. The value for a word is the entry of `table` whose index,
    counted from 0, has the bits at `positions` as its binary digits. The bit at the first position
    is the most significant digit. The result has the shape (…,). Raises `ValueError` for a table of
    another length, or if a position occurs twice.
    """
    read = _read(words, positions)
    entries = junta_table(read.shape[-1], table)
    return np.asarray(entries[read @ (1 << np.arange(read.shape[-1])[::-1])])


@checked
def junta_table(k: Annotated[Count, Within(most=MOST)], table: Entries) -> np.ndarray:
    """Check the length of a table (2^k,) of a function of k bits, and convert it to int64.

    The entries of `table` are the values of the function, 0 and 1. Raises `ValueError` for a table
    of another length.
    """
    if table.shape != (2**k,):
        raise InputError(
            f"table has shape {table.shape}: give 2^{k} = {2**k} entries, one for each word of the "
            f"bits at {k} positions"
        )
    return table


@checked
def multiplexer(words: Bits, address: Count) -> np.ndarray:
    """The data bit that the address bits of a word select, (…,).

    `words` (…, a + 2^a) contains one word in each row: first a = `address` address bits, then 2^a
    data bits. The address bits are the binary digits of a number n, the most significant digit
    first. The selected data bit is number n, counted from 0. Raises `ValueError` for words of
    another length.
    """
    a = address
    if words.shape[-1] != a + 2 ** min(a, MOST):
        raise InputError(
            f"words have {words.shape[-1]} bits, and address is {a}: give words of {a} + 2^{a} bits"
        )
    chosen = np.asarray(a + words[..., :a] @ (1 << np.arange(a)[::-1]))
    return np.asarray(np.take_along_axis(words, chosen[..., None], axis=-1)[..., 0])


@checked
def tabulated(
    function: Callable[[np.ndarray], np.ndarray], d: Annotated[Count, Within(most=MOST_BITS)]
) -> np.ndarray:
    """The values ±1 of a Boolean function for all words of d bits in lexicographic order, (2^d,).

    `function` takes an array (2^d, d) of all words of bits 0 and 1, and returns one value 0 or 1
    for each word. The value 0 is converted to +1, and the value 1 to −1. Raises `ValueError` if the
    values of the function are not 0 and 1, one for each word. A function with values −1 and +1
    needs no conversion: its values can be given directly to the functions of this package.
    """
    values = array_of("the function's values", function(all_sequences(d, 2)))
    if values.shape != (2**d,):
        raise InputError(
            f"the function's values have shape {values.shape}: give a function that returns one "
            f"value for each of 2^{d} = {2**d} words"
        )
    wrong = values[~np.isin(real("the function's values", values, booleans=True), (0, 1))]
    if wrong.size:
        raise InputError(
            f"the function's values contain {wrong[0]}: give a function with values 0 and 1"
        )
    return 1 - 2 * values.astype(np.int64)


@checked
def majority_mean_influence(d: Annotated[Count, Within(most=LARGEST)]) -> Fraction:
    """The mean influence of the bits on the majority of d bits: binom(d − 1, (d − 1)/2)/2^{d−1}.

    The influence of a bit is the probability that a flip of this bit changes the majority, for a
    uniform word. The mean influence is asymptotic to √(2/(πd)). Raises `ValueError` for an even d.
    """
    if d % 2 == 0:
        raise InputError(f"d is {d}, and an even number of bits may tie: give an odd number d")
    return Fraction(comb(d - 1, (d - 1) // 2), 2 ** (d - 1))
