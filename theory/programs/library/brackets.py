"""Programs on brackets."""

from __future__ import annotations

from collections.abc import Sequence

from theory.kinds import InputError, checked
from theory.programs.language import (
    LinearSequenceMap,
    Map,
    SequenceMap,
    SOp,
    indices,
    length,
)
from theory.programs.library.counts import fraction_of_previous
from theory.programs.library.positions import at, everywhere
from theory.programs.values import Value


def pair_balance(opening: Value = "(", closing: Value = ")") -> SOp:
    """The number of opening minus that of closing brackets in x_0, …, x_i, divided by i + 1."""
    opened, closed = fraction_of_previous(opening), fraction_of_previous(closing)
    return LinearSequenceMap(opened, closed, 1, -1)


def depth(opening: Value = "(", closing: Value = ")") -> SOp:
    """The number of opening brackets minus that of closing ones in x_0, …, x_i."""
    return SequenceMap(lambda mean, i: mean * (i + 1), pair_balance(opening, closing), indices)


def balanced(opening: Value = "(", closing: Value = ")") -> SOp:
    """1 at all positions if the brackets of this type match, and 0 otherwise.

    They match if the numbers of opening and closing brackets are equal, and no prefix has more
    closing ones. Other tokens are skipped.
    """
    return shuffle_dyck([(opening, closing)])


@checked
def shuffle_dyck(pairs: Sequence[tuple[Value, Value]]) -> SOp:
    """1 at all positions if the brackets of each type match on their own, and 0 otherwise.

    `pairs` contains the opening and the closing bracket of each type. Types may be interleaved in
    any way, as in ([)].

    Raises ValueError if there is no pair.
    """
    if not pairs:
        raise InputError("pairs is empty: give at least one pair of brackets")
    found: SOp | None = None
    for opening, closing in pairs:
        balance = pair_balance(opening, closing)
        never_negative = everywhere(balance >= 0)
        at_the_end = Map(lambda value: int(value == 0), at(length - 1, balance))
        both = SequenceMap(lambda a, b: a * b, never_negative, at_the_end)
        found = both if found is None else SequenceMap(lambda a, b: a * b, found, both)
    assert found is not None
    return found
