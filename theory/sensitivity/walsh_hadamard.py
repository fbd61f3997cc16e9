"""The Walsh–Hadamard transform of a Boolean function, in integers [ODonnell2014].

A function f of d bits 0 and 1 is given by its 2^d values −1 and +1, in the order of
`theory.sequences.all_sequences(d, 2)`: the first bit is the most significant.  Its Fourier
coefficients are

    f̂(S) = 2^{−d} Σ_x f(x) χ_S(x),      χ_S(x) = (−1)^{Σ_{i ∈ S} x_i},

in the same order, where a set S is given by its indicator word.  All 2^d f̂(S) are integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import Array, InputError, array_of, checked, real
from theory.sequences import all_sequences

MOST_IN_PAIRS = 14  # largest number of bits if all 2^28 pairs of words are enumerated
MOST = 24  # largest number of bits: 2^24 integers are 128 MiB


@dataclass(frozen=True)
class BooleanFunction(Array):
    """A domain of tables (2^d,): the values of a Boolean function of d ≥ 1 bits.

    Tables are read as int64 with entries −1 and +1. Truth values 0 and 1, or False and True, are
    read as +1 and −1.  In a table without 0 and −1, the integer 1 is read as +1.
    """

    shape: str = "2^d"
    most: int = MOST
    """The largest d."""

    entries = "arrays of −1 and +1 only, or of 0 and 1 only"

    @property
    def what(self) -> str:
        return f"{self.entries}, 2^d of them, d from 1 to {self.most}"

    @property
    def wrong(self) -> tuple[Any, ...]:
        others = ([1, -1, 1], [1], [1, 2], [0.5, 1.0], [0, -1], [np.nan, 1.0])
        return (*super().wrong, *others, np.broadcast_to(np.int8(1), 2 ** (self.most + 1)))

    def read(self, name: str, value: Any) -> np.ndarray:
        array = array_of(name, value)
        d = array.size.bit_length() - 1
        if array.ndim != 1 or array.size != 2**d or not 1 <= d <= self.most:
            raise InputError(f"{name} has shape {array.shape}: give {self.what}")
        return self._entries(name, array)

    def _entries(self, name: str, array: np.ndarray) -> np.ndarray:
        pairs = ((1, -1), (0, 1)) if array.dtype != bool else ((0, 1),)
        array = real(name, array, booleans=True)
        for allowed in pairs:
            if np.isin(array, allowed).all():
                table = array if allowed == (1, -1) else 1 - 2 * array
                return table.astype(np.int64)
        bad = array[~np.isin(array, (-1, 0, 1))]
        raise self.contains(name, bad[0] if bad.size else "−1 and 0")

    def _usual(self, shape: tuple[int, ...]) -> np.ndarray:
        return np.asarray(1 - 2 * (np.arange(shape[0]) % 2))


Values: TypeAlias = Annotated[Any, BooleanFunction()]
"""The values of a Boolean function of at most 24 bits, shape (2^d,)."""
FewValues: TypeAlias = Annotated[Any, BooleanFunction(most=MOST_IN_PAIRS)]
"""The values of a Boolean function of at most 14 bits, all of whose pairs can be enumerated."""


@checked
def truth_table(values: Values) -> np.ndarray:
    """The values of a Boolean function of d bits as int64 with entries −1 and +1, (2^d,).

    `values` (2^d,) contains the value for each word of d bits in lexicographic order, 1 ≤ d ≤ 24.
    Truth values 0 and 1, or False and True, are read as +1 and −1. If all values are the number 1
    (not True), they are read as +1, not as the truth value 1.
    """
    return values


def n_bits(values: np.ndarray) -> int:
    """The number d of bits of a Boolean function, whose table `values` has the shape (2^d,)."""
    return values.size.bit_length() - 1


@checked
def walsh_hadamard(values: Values) -> np.ndarray:
    """The Walsh–Hadamard transform Σ_x f(x) χ_S(x) for all sets S of bits, (2^d,) int64.

    `values` (2^d,) contains f(x) for all words x of d bits in lexicographic order; f is read as a
    Boolean function with values ±1. The sum is over all words x, and χ_S(x) = (−1)^{Σ_{i ∈ S} x_i}.
    The index of the entry for S is the number whose binary digits are 1 at the bits in S. This
    entry is 2^d times the Fourier coefficient f̂(S). The transform takes d·2^d additions, in d
    passes. Each pass transforms the last bit and moves this bit to the front, so that the order is
    restored after d passes.
    """
    spectrum = values
    for _ in range(n_bits(spectrum)):
        even, odd = spectrum[::2], spectrum[1::2]
        spectrum = np.concatenate([even + odd, even - odd])
    return spectrum


@checked
def walsh_hadamard_by_definition(values: FewValues) -> np.ndarray:
    """The Walsh–Hadamard transform Σ_x f(x) χ_S(x) for all sets S, by the sums of the definition.

    `values` (2^d,) contains f(x) for all words x of d ≤ 14 bits in lexicographic order; f is read
    as a Boolean function with values ±1. The sum is over all words x, and χ_S(x) = (−1)^{Σ_{i ∈ S}
    x_i} for a set S of bits. The result equals `walsh_hadamard(values)` and takes 4^d steps.
    """
    words = all_sequences(n_bits(values), 2)
    return np.array([values @ (1 - 2 * (words @ chosen % 2)) for chosen in words])


def set_sizes(d: int) -> np.ndarray:
    """The sizes |S| of all sets S of d bits, (2^d,), in the order of `walsh_hadamard`."""
    return np.bitwise_count(np.arange(2**d)).astype(np.int64)


@checked
def fourier_weights(values: Values) -> list[Fraction]:
    """The Fourier weights W_0, …, W_d of a Boolean function f of d bits, as fractions.

    `values` (2^d,) contains f(x) for all words x of d bits in lexicographic order; f is read as a
    function with values ±1. W_k is the sum of the squares of the Fourier coefficients f̂(S) over
    the sets S of k bits. The weights sum to 1 by Parseval's identity.
    """
    spectrum = walsh_hadamard(values)
    d = n_bits(spectrum)
    sizes, squares = set_sizes(d), spectrum**2
    return [Fraction(int(squares[sizes == k].sum()), 4**d) for k in range(d + 1)]


@checked
def degree(values: Values) -> int:
    """The degree of a Boolean function f: the largest |S| with Fourier coefficient f̂(S) ≠ 0.

    `values` (2^d,) contains f(x) for all words x of d bits in lexicographic order. S is a set of
    the d bits. The degree of a constant is 0.
    """
    return max(k for k, weight in enumerate(fourier_weights(values)) if weight)
