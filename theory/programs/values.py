"""The values of programs, exact numbers and other hashable objects, and their comparisons."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from theory.kinds import InputError, shown

Value = Hashable

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "true": lambda key, query: True,
    "false": lambda key, query: False,
}
"""Predicates of a key and a query that have a name."""


ADDED: dict[Callable[[Any, Any], Any], int] = {operator.add: 1, operator.sub: -1}
"""Functions a + b and a − b, with the factor of b."""


def exact(value: Any) -> Value:
    """The value as an exact number, if it is a number: an int or a Fraction.

    True is 1 and False is 0, a float or a Decimal is the rational number that it represents, and an
    array of shape () is its entry; so equal numbers are one value. The entries of a tuple become
    exact, too. Other values must be hashable, and are returned unchanged. Raises ValueError for
    NaN, infinities and values that are not hashable.
    """
    if getattr(value, "shape", None) == () and hasattr(value, "item"):  # of numpy or torch
        value = value.item()
    if isinstance(value, bool):
        return int(value)
    if type(value) is tuple:
        return tuple(map(exact, value))
    if isinstance(value, float | Decimal):
        if not math.isfinite(value):
            raise InputError(f"a value is {value}: values are finite numbers or other objects")
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
