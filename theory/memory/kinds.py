"""Kinds of parameters shared by these modules: patterns, networks, tokens, times, sizes.

Shape glossary: `…` leading dimensions, `N` patterns, `d` neurons or features, `n` tokens.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import (
    Array,
    Count,
    Either,
    InputError,
    Integers,
    Random,
    Reals,
    SignRows,
    Signs,
    Steps,
    Within,
    real,
)


@dataclass(frozen=True)
class Numbers(Array):
    """The kind of arrays of integers or of finite floats.

    The dtype is unchanged: integers are not converted to floats.
    """

    entries = "integers or finite floats"

    @property
    def wrong(self) -> tuple[Any, ...]:
        right = self.example
        return (*super().wrong, right > 0, right + math.nan, right + math.inf)

    def _entries(self, name: str, array: np.ndarray) -> np.ndarray:
        if array.dtype.kind not in "iuf":
            raise InputError(f"{name} has dtype {array.dtype}: give {self.what}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise self.contains(name, array[~np.isfinite(array)].flat[0])
        return array

    def _usual(self, shape: tuple[int, ...]) -> np.ndarray:
        return np.zeros(shape, dtype=np.int64)


@dataclass(frozen=True)
class Extended(Array):
    """The kind of float64 arrays of real numbers and ±∞.

    For example, the separation of a single pattern is infinite.
    """

    entries = "numbers without NaN"

    @property
    def wrong(self) -> tuple[Any, ...]:
        return (*super().wrong, self.example > 0, self.example + math.nan)

    def _entries(self, name: str, array: np.ndarray) -> np.ndarray:
        array = real(name, array)
        if np.isnan(array).any():
            raise self.contains(name, math.nan)
        return array

    def _usual(self, shape: tuple[int, ...]) -> np.ndarray:
        return np.ones(shape)


@dataclass(frozen=True)
class Increasing(Reals):
    """The kind of arrays of finite real numbers in increasing order.

    Equal neighbours are allowed.
    """

    entries = "numbers in increasing order"

    @property
    def wrong(self) -> tuple[Any, ...]:
        return (*super().wrong, self.example[::-1])

    def _entries(self, name: str, array: np.ndarray) -> np.ndarray:
        array = super()._entries(name, array)
        falls = np.diff(array) < 0
        if falls.any():
            place = int(falls.argmax())
            raise InputError(
                f"{name} has {array[place + 1]} after {array[place]}: give {self.what}"
            )
        return array


@dataclass(frozen=True)
class UnitRows(Reals):
    """The kind of arrays with rows of length 1, up to the rounding of a division by the length."""

    entries = "rows of length 1"

    @property
    def wrong(self) -> tuple[Any, ...]:
        return (*super().wrong, 2 * self.example, 0 * self.example)

    def _entries(self, name: str, array: np.ndarray) -> np.ndarray:
        array = super()._entries(name, array)
        with np.errstate(over="ignore"):  # an infinite length is not 1
            lengths = np.linalg.norm(array, axis=-1)
        unit_lengths(name, lengths, array.shape[-1], 2.0**-52)
        return array

    def _usual(self, shape: tuple[int, ...]) -> np.ndarray:
        rows = np.arange(math.prod(shape[:-1])) % shape[-1]
        return np.eye(shape[-1])[rows].reshape(shape)


def unit_lengths(name: str, lengths: np.ndarray, d: int, eps: float) -> None:
    """Raises `ValueError` unless all `lengths` of rows of d entries are 1 up to rounding.

    In a dtype with spacing `eps` at 1, a row divided by its length has length 1 up to (d + 4)·eps.
    """
    bad = abs(lengths - 1) > (d + 4) * eps
    if bad.any():
        raise InputError(
            f"{name} has a row of length {lengths[bad].flat[0]:.17g}: tokens must be of length 1; "
            "divide each row by its length"
        )


Size: TypeAlias = Annotated[Count, Within(most=2**53)]
"""An integer ≥ 1 within the range of float64."""
SizeFrom2: TypeAlias = Annotated[Count, Within(least=2, most=2**53)]
"""An integer ≥ 2 within the range of float64."""
Digits: TypeAlias = Annotated[Count, Within(most=1000)]
"""A number of decimal digits."""

Updates: TypeAlias = Annotated[Steps, Within(most=10**6)]
"""A number of updates, from 0 to 10^6."""

Patterns: TypeAlias = Annotated[Any, Signs("N d")]
"""Patterns of −1 and +1, shape (N, d)."""
States: TypeAlias = SignRows
"""States of −1 and +1, shape (…, d)."""
OneState: TypeAlias = Annotated[Any, Signs("d")]
"""One state of −1 and +1, shape (d,)."""
Weights: TypeAlias = Annotated[Any, Numbers("d d")]
"""Weights of a classical network, shape (d, d)."""
Bias: TypeAlias = Annotated[Any, Numbers("d")]
"""A number for each neuron, shape (d,)."""
Permutation: TypeAlias = Annotated[Any, Integers("d", Within(least=0))]
"""The indices of the neurons in the order of their updates, shape (d,)."""
Order: TypeAlias = Annotated[Any, Either((Random(), Integers("d", Within(least=0))))]
"""A permutation for all sweeps, or a seed or Generator that draws a permutation per sweep."""

PatternVectors: TypeAlias = Annotated[Any, Reals("N d")]
"""Patterns of finite numbers, shape (N, d)."""
Numeric: TypeAlias = Annotated[Any, Extended("+...")]
"""A number or an array that broadcasts with the other arguments; ±∞ is allowed."""

UnitTokens: TypeAlias = Annotated[Any, UnitRows("... n d")]
"""Tokens of length 1, shape (…, n, d)."""
OneUnitTokens: TypeAlias = Annotated[Any, UnitRows("n d")]
"""One set of tokens of length 1, shape (n, d)."""
Times: TypeAlias = Annotated[Any, Increasing("m", Within(least=0))]
"""Times ≥ 0 in increasing order, shape (m,)."""
