"""Programs on brackets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, TypeAlias

from theory.kinds import InputError, Instance, checked, shown
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
from theory.programs.named import named
from theory.programs.values import Value, exact

Pairs: TypeAlias = Annotated[
    Iterable[Sequence[Value]], Instance(Iterable, "a list of pairs, such as ('(', ')')", ["()"])
]


@named
def pair_balance(opening: Value = "(", closing: Value = ")") -> SOp:
    """The number of opening minus that of closing brackets in x_0, …, x_i, divided by i + 1.

    Raises ValueError for equal brackets.
    """
    if exact(opening) == exact(closing):
        raise InputError(f"opening and closing are both {shown(opening)}: give different brackets")
    opened, closed = fraction_of_previous(opening), fraction_of_previous(closing)
    return LinearSequenceMap(opened, closed, 1, -1)


@named
def depth(opening: Value = "(", closing: Value = ")") -> SOp:
    """The number of opening brackets minus that of closing ones in x_0, …, x_i."""
    return SequenceMap(lambda mean, i: mean * (i + 1), pair_balance(opening, closing), indices)


@named
def balanced(opening: Value = "(", closing: Value = ")") -> SOp:
    """1 at all positions if the brackets of this type match, and 0 otherwise.

    They match if the numbers of opening and closing brackets are equal, and no prefix has more
    closing ones. Other tokens are skipped.
    """
    return shuffle_dyck([(opening, closing)])


@named
@checked
def shuffle_dyck(pairs: Pairs) -> SOp:
    """1 at all positions if the brackets of each type match on their own, and 0 otherwise.

    `pairs` contains the opening and the closing bracket of each type. Types may be interleaved in
    any way, as in ([)]. A pair is a tuple, or a text such as "()".

    Raises ValueError if there is no pair, and for a pair of equal brackets.
    """
    try:
        given = [*pairs]
    except TypeError:  # an array of shape ()
        raise InputError(f"pairs is {shown(pairs)}: give pairs such as ('(', ')')") from None
    if not given:
        raise InputError("pairs is empty: give at least one pair of brackets")
    found: SOp | None = None
    for pair in given:
        if not isinstance(pair, Sequence) or len(pair) != 2:
            raise InputError(f"pairs contains {shown(pair)}: give pairs such as ('(', ')')")
        opening, closing = pair
        balance = pair_balance(opening, closing)
        never_negative = everywhere(balance >= 0)
        at_the_end = Map(lambda value: int(value == 0), at(length - 1, balance))
        both = SequenceMap(lambda a, b: a * b, never_negative, at_the_end)
        found = both if found is None else SequenceMap(lambda a, b: a * b, found, both)
    assert found is not None
    return found
