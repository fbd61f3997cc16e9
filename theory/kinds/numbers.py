"""Kinds of one number: integers, floats, exact rationals; and seeds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from theory.kinds.arrays import array_of, real
from theory.kinds.errors import InputError, shown
from theory.kinds.kind import ANY, Kind, Within, is_integer

NO_NUMBERS: tuple[Any, ...] = (
    *(None, object(), "1", "", [1], [], (1, 2), 1j, True, np.bool_(True)),
    np.timedelta64(3, "D"),
)
NOT_FINITE = (math.nan, math.inf, -math.inf, np.float64("nan"))


@dataclass(frozen=True)
class _Number(Kind):
    """The base class of kinds of one number."""

    within: Within = ANY

    def narrowed(self, within: Within) -> Kind:
        return replace(self, within=self.within.narrowed(within))


@dataclass(frozen=True)
class Whole(_Number):
    """The kind of a parameter that is one integer, of Python or numpy; it is converted to int.

    True, False and floats such as 1.0 are rejected.

    A kind checks and converts the values of a parameter (`Kind`).
    """

    @property
    def what(self) -> str:
        return f"an integer{self.within}"

    @property
    def example(self) -> int:
        return int(self.within.near(0 if self.within.named else 2))

    @property
    def wrong(self) -> tuple[Any, ...]:
        floats = (2.0, 1.5, Fraction(1, 2), np.float64(2), np.array([2]), np.array(2.0))
        outside = (int(each) for each in self.within.outside())
        return (*NO_NUMBERS, *NOT_FINITE, *floats, *outside)

    def read(self, name: str, value: Any) -> int:
        if type(value) is not int:
            if not is_integer(value):
                raise self.error(name, value)
            value = int(value)
        if not self.within.contains(value):
            raise self.error(name, value)
        return value


@dataclass(frozen=True)
class RealNumber(_Number):
    """The kind of a parameter that is one finite real number; it is converted to float.

    An array of shape () is allowed, and True and False are rejected.

    A kind checks and converts the values of a parameter (`Kind`).
    """

    @property
    def what(self) -> str:
        return f"a finite number{self.within}"

    @property
    def example(self) -> float:
        return float(self.within.near(0.5))

    @property
    def wrong(self) -> tuple[Any, ...]:
        outside = (float(each) for each in self.within.outside())
        return (*NO_NUMBERS, *NOT_FINITE, np.array([0.5]), 10**400, *outside)

    def read(self, name: str, value: Any) -> float:
        if type(value) is not float:
            try:
                array = array_of(name, value)
                number = real(name, array)
            except InputError:  # it has no numbers, or too large ones
                raise self.error(name, value) from None
            if array.ndim or array.dtype.kind == "b":
                raise self.error(name, value)
            value = float(number)
        if not (math.isfinite(value) and self.within.contains(value)):
            raise self.error(name, value)
        return value


@dataclass(frozen=True)
class RationalNumber(_Number):
    """The kind of a parameter that is one exact rational number, an integer or a Fraction.

    The number is converted to Fraction.

    A kind checks and converts the values of a parameter (`Kind`).
    """

    @property
    def what(self) -> str:
        return f"an integer or a fraction{self.within}"

    @property
    def example(self) -> Fraction:
        return Fraction(self.within.near(0.5))

    @property
    def wrong(self) -> tuple[Any, ...]:
        outside = (Fraction(each) for each in self.within.outside())
        return (*NO_NUMBERS, *NOT_FINITE, 0.5, np.float64(1), np.array([1]), *outside)

    def read(self, name: str, value: Any) -> Fraction:
        if not (isinstance(value, Fraction) or is_integer(value)):
            raise self.error(name, value)
        number = Fraction(value if isinstance(value, Fraction) else int(value))
        if not self.within.contains(number):
            raise self.error(name, value)
        return number


@dataclass(frozen=True)
class Random(Kind):
    """The kind of a parameter that is a seed or a numpy Generator; a seed becomes a Generator.

    If the caller passes a Generator, the function advances the state of this Generator.

    A kind checks and converts the values of a parameter (`Kind`).
    """

    what = "a seed, an integer at least 0, or a Generator of numpy"
    example = 0
    wrong = (*NO_NUMBERS, *NOT_FINITE, -1, 1.5, np.array([1]), np.random, np.random.RandomState(0))

    def read(self, name: str, value: Any) -> np.random.Generator:
        if isinstance(value, np.random.Generator):
            return value
        if not is_integer(value) or value < 0:
            raise self.error(name, value)
        return np.random.default_rng(int(value))


def ends_of(name: str, value: Any) -> tuple[float, float]:
    """The ends (low, high) of an interval, which is a number or a pair of numbers.

    NaN and infinity are numbers. Raises ValueError for other values, and for numbers that float64
    does not represent.
    """
    low, high = value if isinstance(value, tuple) and len(value) == 2 else (value, value)
    try:
        return float(low), float(high)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"{name} is {shown(value)}: give a number that float64 represents, or a pair of them"
        ) from None
