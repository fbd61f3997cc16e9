"""Programs that sort and rank tokens."""

from __future__ import annotations

from theory.programs.language import (
    Aggregate,
    Full,
    Select,
    Selector,
    SelectorWidth,
    SequenceMap,
    SOp,
    indices,
    tokens,
)
from theory.programs.library.counts import histogram, maximum
from theory.programs.library.positions import everywhere, shift_by
from theory.programs.named import named


def _before() -> Selector:
    """The positions of smaller tokens, and of equal tokens that are earlier."""
    equal = Select(tokens, tokens, "==") & Select(indices, indices, "<")
    return Select(tokens, tokens, "<") | equal


@named
def rank() -> SOp:
    """The place of x_i in the sorted sequence; equal tokens keep their order."""
    return SelectorWidth(_before())


@named
def sort_unique() -> SOp:
    """The sorted tokens, if no token occurs twice."""
    smaller = SelectorWidth(Select(tokens, tokens, "<"))
    return Aggregate(Select(smaller, indices, "=="), tokens)


@named
def sort() -> SOp:
    """The sorted tokens; equal tokens keep their order."""
    return Aggregate(Select(rank(), indices, "=="), tokens)


@named
def sort_descending() -> SOp:
    """The tokens from the largest to the smallest."""
    equal = Select(tokens, tokens, "==") & Select(indices, indices, "<")
    place = SelectorWidth(Select(tokens, tokens, ">") | equal)
    return Aggregate(Select(place, indices, "=="), tokens)


@named
def sort_by_frequency() -> SOp:
    """The tokens from the most to the least frequent; equally frequent ones keep their order."""
    key = SequenceMap(lambda count, i: (-count, i), histogram(), indices)
    place = SelectorWidth(Select(key, key, "<"))
    return Aggregate(Select(place, indices, "=="), tokens)


@named
def is_sorted() -> SOp:
    """1 at all positions if no token is larger than the next one, and 0 otherwise."""
    return everywhere(falls() == 0)


@named
def argmax() -> SOp:
    """The first position of the largest token, at all positions."""
    place = SequenceMap(lambda token, i: (token, -i), tokens, indices)
    larger = SelectorWidth(Select(place, place, ">"))
    return Aggregate(Select(larger, Full(0), "=="), indices)


@named
def inversions() -> SOp:
    """The number of earlier tokens that are larger than x_i."""
    return SelectorWidth(Select(indices, indices, "<") & Select(tokens, tokens, ">"))


@named
def second_largest() -> SOp:
    """The largest token below the maximum, at all positions; None if all tokens are equal."""
    top = maximum()
    below = Select(tokens, top, "<")
    larger = SelectorWidth(Select(tokens, tokens, ">") & Select(tokens, top, "<"))
    of_them = Select(larger, Full(0), "==") & below
    return Aggregate(of_them, tokens)


@named
def falls() -> SOp:
    """1 at position i if x_i is smaller than x_{i−1}, and 0 otherwise."""
    before = shift_by(1)
    lower = Select(tokens, before, "<") & Select(indices, indices, "==")
    return SelectorWidth(lower)
