"""Standard Boolean functions of words (…, d) of letters 0 and 1, each 0 or 1 (…,).

The majority of all letters is the last answer of `theory.computation.majority`, and the parity of
all of them that of `theory.computation.parity`.  Positions count from 0.

The chance that the flip of a letter changes them, x uniform: a letter of a parity always does; one
of a conjunction of k where the k − 1 others are 1, 2^{1−k}; one of majority where the others tie
(`majority_mean_influence`); the data of a multiplexer of a address letters where addressed, which
is one of 2^a, together 1; and a letter of its address where the two data that it chooses from
differ, ½.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError
from theory.sensitivity.walsh_hadamard import MOST
from theory.sequences import all_sequences

LARGEST = 100_000  # letters of a majority whose influence is a fraction


def distinct_positions(d: int, positions: Sequence[int]) -> tuple[int, ...]:
    """The positions as integers from 0 to d − 1, all different, at least one; else `ValueError`."""
    d = checks.dimension("d", d)
    array = checks.array_of("positions", positions)
    if array.ndim != 1 or not array.size or array.dtype.kind not in "iu":
        raise InputError(f"positions are {array.tolist()}: give a list of at least one integer")
    if array.min() < 0 or array.max() >= d:
        astray = array.min() if array.min() < 0 else array.max()
        raise InputError(f"positions contain {astray}: give numbers from 0 to {d - 1}")
    if len(np.unique(array)) != len(array):
        raise InputError(f"positions are {array.tolist()}: give each of them once")
    return tuple(array.tolist())


def _read(words: ArrayLike, positions: Sequence[int]) -> np.ndarray:
    array = checks.tokens("words", words, 2)
    return array[..., list(distinct_positions(array.shape[-1], positions))]


def subset_parity(words: ArrayLike, positions: Sequence[int]) -> np.ndarray:
    """Σ_{i ∈ positions} x_i mod 2: χ_S, as 0 and 1.

    Raises `ValueError` for letters other than 0 and 1 and for positions that are not distinct
    places of a word, as all functions here do.
    """
    return np.asarray(_read(words, positions).sum(axis=-1) % 2)


def conjunction(words: ArrayLike, positions: Sequence[int]) -> np.ndarray:
    """[x_i = 1 for all i ∈ positions]."""
    return np.asarray(_read(words, positions).min(axis=-1))


def junta(words: ArrayLike, positions: Sequence[int], table: ArrayLike) -> np.ndarray:
    """table[the letters at positions, as a binary number, the first of them the highest].

    table (2^k,) of 0 and 1, for k positions; `ValueError` for another length or other values.
    """
    read = _read(words, positions)
    entries = junta_table(read.shape[-1], table)
    return np.asarray(entries[read @ (1 << np.arange(read.shape[-1])[::-1])])


def junta_table(k: int, table: ArrayLike) -> np.ndarray:
    """`table` as int64 (2^k,) of 0 and 1; else `ValueError`."""
    if checks.dimension("k", k) > MOST:
        raise InputError(f"a table for {k} positions has 2^{k} entries: give at most {MOST}")
    entries = checks.array_of("table", table)
    if entries.shape != (2**k,):
        raise InputError(
            f"table has shape {entries.shape}: give an entry for each of the 2^{k} = {2**k} words "
            f"at {k} positions"
        )
    if not np.isin(checks.real("table", entries), (0, 1)).all():
        raise InputError("table contains other values than 0 and 1: give these alone")
    return entries.astype(np.int64)


def multiplexer(words: ArrayLike, address: int) -> np.ndarray:
    """x_{a + n}, of words of a + 2^a letters, n the binary number of the first a = `address`.

    Raises `ValueError` for words of another length, and unless a ≥ 1.
    """
    a, array = checks.dimension("address", address), checks.tokens("words", words, 2)
    if array.shape[-1] != a + 2 ** min(a, MOST):
        raise InputError(
            f"words have {array.shape[-1]} letters: with {a} of address give {a} + 2^{a}"
        )
    chosen = np.asarray(a + array[..., :a] @ (1 << np.arange(a)[::-1]))
    return np.asarray(np.take_along_axis(array, chosen[..., None], axis=-1)[..., 0])


def tabulated(function: Callable[[np.ndarray], np.ndarray], d: int) -> np.ndarray:
    """The values −1 (of 1) and +1 (of 0) of a function of words (…, d) on all of them, (2^d,).

    Raises `ValueError` unless 1 ≤ d ≤ 24, for what is no function, and for one whose answers (…,)
    are not each 0 or 1: those that are −1 and +1 are a table already, and probabilities are none.
    """
    if not callable(function):
        raise InputError(f"the function is a {type(function).__name__}: give one of words (…, d)")
    if checks.dimension("d", d) > MOST:
        raise InputError(f"d is {d}: a table has 2^d values; give at most {MOST}")
    answers = checks.array_of("the function's answers", function(all_sequences(d, 2)))
    if answers.shape != (2**d,):
        raise InputError(
            f"the function's answers have shape {answers.shape}: give one for each of 2^{d} = "
            f"{2**d} words"
        )
    wrong = answers[~np.isin(checks.real("the function's answers", answers), (0, 1))]
    if wrong.size:
        raise InputError(f"the function's answers contain {wrong[0]}: give 0 and 1 alone")
    return 1 - 2 * answers.astype(np.int64)


def majority_mean_influence(d: int) -> Fraction:
    """C(d − 1, (d − 1)/2)/2^{d−1} ~ √(2/(πd)), d odd: a letter counts where the others tie.

    Raises `ValueError` for an even d.
    """
    if checks.dimension("d", d) % 2 == 0:
        raise InputError(f"d is {d}: the majority of an even number of letters may be none")
    if d > LARGEST:
        raise InputError(f"d is {d}: the fraction has d binary places; give at most {LARGEST}")
    return Fraction(comb(d - 1, (d - 1) // 2), 2 ** (d - 1))
