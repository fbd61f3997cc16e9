"""The Walsh–Hadamard transform of a Boolean function, in integers [ODonnell2014].

A function f of d letters 0 and 1 is given by its 2^d values −1 and +1, in the order of
`theory.sequences.all_sequences(d, 2)`: the first letter counts most.  Its Fourier coefficients are

    f̂(S) = 2^{−d} Σ_x f(x) χ_S(x),      χ_S(x) = (−1)^{Σ_{i ∈ S} x_i},

and stand in the same order, a set S being the word that is 1 on it.  All of 2^d f̂ are integers.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError
from theory.sequences import all_sequences

MOST_IN_PAIRS = 14  # letters, 2^28 pairs of words
MOST = 24  # letters: 2^24 integers are 128 MiB


def truth_table(values: ArrayLike) -> np.ndarray:
    """`values` (2^d,), d ≥ 1, as int64, every entry −1 or +1.

    Truth values 0 and 1, or False and True, stand for +1 and −1, as χ has them; a table of the
    integer 1 alone is one of +1.
    Raises `ValueError` for a length that is no power of two, of fewer than 1 or more than 24
    letters, and for other values.
    """
    array = checks.array_of("values", values)
    d = array.size.bit_length() - 1
    if array.ndim != 1 or array.size != 2**d or d < 1:
        raise InputError(
            f"values have shape {array.shape}: give the 2^d values of a function of d ≥ 1 letters"
        )
    if d > MOST:
        raise InputError(f"values are those of {d} letters: give a function of at most {MOST}")
    numbers = ((1, -1), (0, 1)) if array.dtype != bool else ((0, 1),)
    array = checks.real("values", array)
    for allowed in numbers:
        if np.isin(array, allowed).all():
            table = array if allowed == (1, -1) else 1 - 2 * array
            return table.astype(np.int64)
    bad = array[~np.isin(array, (-1, 0, 1))]
    found = f"contain {bad[0]:g}" if bad.size else "contain −1 and 0"
    raise InputError(f"values {found}: give −1 and +1 alone, or 0 and 1 alone")


def letters(values: np.ndarray) -> int:
    """d, of values (2^d,)."""
    return values.size.bit_length() - 1


def walsh_hadamard(values: ArrayLike) -> np.ndarray:
    """2^d f̂(S) for all S, (2^d,) int64, in d·2^d additions.

    A pass takes the last letter of what is left and puts its sum and its difference in front; after
    d of them every letter is where it was.  Raises `ValueError` as `truth_table` does.
    """
    spectrum = truth_table(values)
    for _ in range(letters(spectrum)):
        even, odd = spectrum[::2], spectrum[1::2]
        spectrum = np.concatenate([even + odd, even - odd])
    return spectrum


def walsh_hadamard_by_definition(values: ArrayLike) -> np.ndarray:
    """`walsh_hadamard`, as the sum says, in 4^d steps.

    Raises `ValueError` as it does, and for d above 14.
    """
    table = few_letters(truth_table(values))
    words = all_sequences(letters(table), 2)
    return np.array([table @ (1 - 2 * (words @ chosen % 2)) for chosen in words])


def few_letters(table: np.ndarray) -> np.ndarray:
    """The table, if all pairs of its words can be gone through; else `ValueError`."""
    if letters(table) > MOST_IN_PAIRS:
        raise InputError(
            f"tables of {letters(table)} letters have 4^{letters(table)} pairs of words: give at "
            f"most {MOST_IN_PAIRS} letters"
        )
    return table


def set_sizes(d: int) -> np.ndarray:
    """|S| for all S, (2^d,), in the order of the spectrum."""
    return np.bitwise_count(np.arange(2**d)).astype(np.int64)


def fourier_weights(values: ArrayLike) -> list[Fraction]:
    """W_k = Σ_{|S| = k} f̂(S)², k = 0 … d; together 1 (Parseval).

    Raises `ValueError` as `truth_table` does.
    """
    spectrum = walsh_hadamard(values)
    d = letters(spectrum)
    sizes, squares = set_sizes(d), spectrum**2
    return [Fraction(int(squares[sizes == k].sum()), 4**d) for k in range(d + 1)]


def degree(values: ArrayLike) -> int:
    """The largest |S| with f̂(S) ≠ 0; 0 of a constant.  Raises `ValueError` as `truth_table`."""
    return max(k for k, weight in enumerate(fourier_weights(values)) if weight)
