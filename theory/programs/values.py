"""The values of programs, exact numbers and other hashable objects, and their comparisons."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from theory.kinds import InputError, shown

Value = Hashable
MOST_BITS = 2**20  # of a power
MOST_PLACES = 10**5  # of a Decimal, which becomes a fraction of as many digits


def always(key: Any, query: Any) -> bool:
    """True for every key and query."""
    return True


def never(key: Any, query: Any) -> bool:
    """False for every key and query."""
    return False


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "true": always,
    "false": never,
}
"""Predicates of a key and a query that have a name."""


ADDED: dict[Callable[[Any, Any], Any], int] = {operator.add: 1, operator.sub: -1}
"""Functions a + b and a − b, with the factor of b."""


def exact(value: Any) -> Value:
    """The value as an exact number, if it is a number: an int or a Fraction.

    True is 1 and False is 0, a float or a Decimal is the rational number that it represents, and an
    array of shape () is its entry; so equal numbers are one value. The entries of a tuple become
    exact, too. Other values must be hashable, and are returned unchanged. Raises ValueError for
    NaN, infinities, Decimals of more than 10^5 places and values that are not hashable.
    """
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):  # of numpy or torch
        value = value.item()
    if isinstance(value, np.longdouble):  # whose item is no float
        value = Fraction(*value.as_integer_ratio()) if np.isfinite(value) else float(value)
    if isinstance(value, bool):
        return int(value)
    if type(value) is tuple:
        return tuple(map(exact, value))
    if isinstance(value, float | Decimal):
        # A Decimal may be finite and beyond all floats.
        if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
            raise InputError(f"a value is {value}: values are finite numbers or other objects")
        if isinstance(value, Decimal) and abs(value.adjusted()) > MOST_PLACES:
            raise InputError(f"a value is {value}: give an exponent of at most {MOST_PLACES}")
        value = Fraction(value)
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    try:
        hash(value)
        if hasattr(value, "__array__"):  # arrays of torch are hashed by identity
            raise TypeError
    except TypeError:
        raise InputError(
            f"a value is {shown(value)}, which is not hashable: give, for example, a tuple"
        ) from None
    return value


def is_number(value: Any) -> bool:
    """Whether an exact value is a number."""
    return isinstance(value, int | Fraction)


def quotient(a: Any, b: Any) -> Value:
    """The exact quotient a/b of two numbers."""
    return exact(Fraction(a) / Fraction(b))


def power(a: Any, b: Any) -> Any:
    """The power a^b, exact for integers b; raises ValueError if it may have more than 2^20 bits."""
    if not is_number(a) or not isinstance(b, int):
        return a**b
    if a not in (-1, 0, 1):
        bits = max(Fraction(a).numerator.bit_length(), Fraction(a).denominator.bit_length())
        if bits * abs(b) > MOST_BITS:
            raise InputError(
                f"the exponent is {shown(b)}, and the power may have more than {MOST_BITS} bits: "
                "give a smaller exponent"
            )
    return a**b if b >= 0 else exact(Fraction(a) ** b)


def both(a: Any, b: Any) -> Any:
    """`a and b`."""
    return a and b


def either(a: Any, b: Any) -> Any:
    """`a or b`."""
    return a or b


@dataclass(frozen=True, eq=False)
class WithRight:
    """The function a ↦ f(a, b) of a function f and the value b at its right."""

    f: Callable[[Any, Any], Any]
    b: Value

    def __call__(self, a: Value) -> Any:
        """f(a, b)."""
        return self.f(a, self.b)


def ordered(values: Iterable[Value]) -> tuple[Any, ...]:
    """Different values in a fixed order: None last, numbers by size before all others."""
    found: dict[Any, None] = dict.fromkeys(values)
    numbers = sorted(value for value in found if is_number(value))
    others = [value for value in found if not is_number(value) and value is not None]
    return (*numbers, *others, *([None] if None in found else []))


def integers(values: Iterable[Any]) -> np.ndarray:
    """An array of int64, in which sums of 2^20 of the integers are exact, or of Python's ints."""
    values = [*values]
    small = all(abs(value) < 2**42 for value in values)
    return np.array(values, dtype=np.int64 if small else object)


def unit_of(values: Collection[Any]) -> Fraction:
    """The largest number of which all differences of the values are multiples."""
    unit, first = Fraction(0), next(iter(values))
    for value in values:
        step = Fraction(value) - first
        common = unit.denominator * step.denominator
        unit = Fraction(math.gcd(int(unit * common), int(step * common)), common)
    return unit
