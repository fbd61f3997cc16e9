"""Distributions on finite sets, as exact fractions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from theory import checks
from theory.checks import InputError

Exact = int | Fraction


def fractions(name: str, values: Iterable[Exact]) -> tuple[Fraction, ...]:
    """Integers and fractions as fractions; `ValueError` for other numbers, which are not exact."""
    given = checks.listed(name, values)
    for value in given:
        exact = isinstance(value, (int, np.integer, Fraction))
        if not exact or isinstance(value, (bool, np.bool_)):
            shown = f"{value!r}" if isinstance(value, (float, str)) else type(value).__name__
            raise InputError(f"{name} contains {shown}: give integers or fractions")
    return tuple(Fraction(value) for value in given)


def positive_fraction(name: str, value: Exact) -> Fraction:
    """One exact number > 0; else `ValueError`."""
    (found,) = fractions(name, (value,))
    if found <= 0:
        raise InputError(f"{name} is {found}: give a fraction greater than 0")
    return found


def distribution(name: str, values: Iterable[Exact]) -> tuple[Fraction, ...]:
    """Probabilities that are exact, at least 0 and sum to 1; else `ValueError`."""
    p = fractions(name, values)
    if not p:
        raise InputError(f"{name} is empty: give at least one probability")
    if min(p) < 0:
        raise InputError(f"{name} contains {min(p)}: probabilities are at least 0")
    if (total := sum(p)) != 1:
        raise InputError(f"{name} sums to {total}: divide by that")
    return p


def alike(
    p: Iterable[Exact], q: Iterable[Exact]
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Two distributions on one set; `ValueError` for different numbers of outcomes."""
    p, q = distribution("p", p), distribution("q", q)
    if len(p) != len(q):
        raise InputError(f"p has {len(p)} outcomes and q {len(q)}: give them on one set")
    return p, q


def outcomes(name: str, chosen: Iterable[int], count: int) -> frozenset[int]:
    """A set of outcomes 0, …, count − 1; else `ValueError`."""
    found = [checks.integer(name, each) for each in checks.listed(name, chosen)]
    if wrong := [each for each in found if not 0 <= each < count]:
        raise InputError(f"{name} contains {wrong[0]}: give numbers from 0 to {count - 1}")
    return frozenset(found)


def mass(p: Sequence[Fraction], event: Iterable[int]) -> Fraction:
    """p(event)."""
    return sum((p[each] for each in event), start=Fraction(0))
