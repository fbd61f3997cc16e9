"""Distributions on finite sets, as exact fractions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy as np

from theory.kinds import Count, Exact, InputError, Kind, Within, checked, read

PositiveExact: TypeAlias = Annotated[Exact, Within(above=0)]
"""An integer or a Fraction > 0."""
Counted: TypeAlias = Annotated[Count, Within(most=10**15)]
"""An integer from 1 to 10^15, which float64 represents exactly."""


@dataclass(frozen=True)
class ExactDistribution(Kind):
    """The kind of argument that is a distribution: exact probabilities of the outcomes 0, 1, ….

    The argument is read as a tuple of fractions.
    """

    what = "integers or fractions that are at least 0 and sum to 1"
    example = (Fraction(1, 4), Fraction(3, 4))
    wrong: ClassVar[tuple[Any, ...]] = (
        *(None, object(), 1, "ab", "", [], np.array(1), [0.5, 0.5], [float("nan"), 1], [True, 0]),
        *([Fraction(1, 2), Fraction(1, 3)], [Fraction(3, 2), Fraction(-1, 2)], [[1]], [None]),
    )

    def read(self, name: str, value: Any) -> tuple[Fraction, ...]:
        return distribution(name, value)


Distribution: TypeAlias = Annotated[Any, ExactDistribution()]
"""Exact probabilities of the outcomes 0, 1, …, read as fractions."""


def fractions(name: str, values: Any) -> tuple[Fraction, ...]:
    """Returns integers and fractions as `Fraction`s; raises `ValueError` for other numbers."""
    found: tuple[Fraction, ...] = read(tuple[Exact, ...], name, values)
    return found


def distribution(name: str, values: Any) -> tuple[Fraction, ...]:
    """Returns the probabilities `values` as `Fraction`s.

    Raises `ValueError` unless the values are exact, at least 0, and sum to 1.
    """
    p = fractions(name, values)
    if not p:
        raise InputError(f"{name} is empty: give at least one probability")
    if min(p) < 0:
        raise InputError(f"{name} contains {min(p)}: give probabilities of at least 0")
    if (total := sum(p)) != 1:
        raise InputError(f"{name} sums to {total}: divide the probabilities by their sum")
    return p


def check_alike(**distributions: Sequence[Fraction]) -> None:
    """Raises `ValueError` unless two distributions have the same number of outcomes."""
    (first, p), (second, q) = distributions.items()
    if len(p) != len(q):
        raise InputError(
            f"{first} has {len(p)} outcomes and {second} has {len(q)}: "
            "give two distributions on the same outcomes"
        )


def outcomes(name: str, chosen: Iterable[int], count: int) -> frozenset[int]:
    """Returns the chosen outcomes as a set; raises `ValueError` for outcomes above count − 1."""
    ends = {chosen[0], chosen[-1]} if isinstance(chosen, range) and chosen else set()
    found = frozenset(ends if max(ends, default=0) >= count else chosen)  # a range may be long
    if found and max(found) >= count:
        raise InputError(f"{name} contains {max(found)}: give numbers from 0 to {count - 1}")
    return found


def mass(p: Sequence[Fraction], event: Iterable[int]) -> Fraction:
    """The probability p(event) of a set of outcomes."""
    return sum((p[each] for each in event), start=Fraction(0))


@checked
def distributions_on_grid(
    parts: Annotated[Count, Within(most=1000)], outcomes: Annotated[Count, Within(most=1000)]
) -> Iterator[tuple[Fraction, ...]]:
    """All distributions on a finite set whose probabilities are multiples of 1/parts.

    The set has `outcomes` elements.  Yields tuples of fractions, with one entry for each element.
    """
    for cuts in combinations(range(parts + outcomes - 1), outcomes - 1):
        ends = (-1, *cuts, parts + outcomes - 1)
        yield tuple(Fraction(b - a - 1, parts) for a, b in pairwise(ends))
