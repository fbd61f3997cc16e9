"""Programs for tasks that move, find and count tokens, in constant depth [Deletang2023]."""

from __future__ import annotations

from functools import reduce
from operator import add

from theory.programs.chomsky.context_sensitive import HIDDEN, PADDING
from theory.programs.chomsky.selections import exists, inputs, outputs_before, token_at, where
from theory.programs.language import (
    Map,
    SelectorWidth,
    SequenceMap,
    SOp,
    indices,
    length,
    tokens,
)
from theory.programs.library import reverse

EMPTY = 2  # after the tokens 0 and 1
SIZE = 5  # of the alphabet of bucket sort


def _first_that_is_a_bit(one: SOp, other: SOp) -> SOp:
    return SequenceMap(lambda a, b: a if a < EMPTY else b, one, other)


def reverse_string() -> SOp:
    """The input in reverse order, by a lookup: the reverse of the input and its empty tokens."""
    return reverse()


def duplicate_string() -> SOp:
    """The input twice, by two lookups: position i reads i − n or, if that is empty, i − 2n."""
    n = inputs(EMPTY)
    first = token_at(indices - n, EMPTY)
    return _first_that_is_a_bit(first, token_at(indices - 2 * n, EMPTY))


def odds_first() -> SOp:
    """The tokens x_1, x_3, …, then x_0, x_2, …, by two lookups.

    Output r reads 2r + 1 or, if that is not in the input, 2(r − ⌊n/2⌋).
    """
    n = inputs(EMPTY)
    even = 2 * indices - 2 * n
    odd = token_at(even + 1, EMPTY)
    return _first_that_is_a_bit(odd, token_at(even - Map(lambda n: n // 2 * 2, n), EMPTY))


def missing_duplicate() -> SOp:
    """The hidden bit of ww, by two lookups and a count.

    Position i reads i + ⌊n/2⌋ or, if that is not a bit, i − ⌊n/2⌋. The symbol is 0 if the hidden
    token reads 0, and 1 otherwise, so that it is 1 at length 1.
    """
    half = Map(lambda n: n // 2, length)
    later, earlier = (token_at(place, PADDING) for place in (indices + half, indices - half))
    twin = _first_that_is_a_bit(later, earlier)
    return 1 - exists(where(tokens == HIDDEN) & where(twin == 0))


def bucket_sort() -> SOp:
    """The sorted tokens, by counts.

    Output r is the number of k = 1, …, 4 such that at most r tokens are smaller than k.
    """
    r = outputs_before(SIZE)
    smaller = [SelectorWidth(where(tokens < k)) for k in range(1, SIZE)]
    at_most_r = [Map(lambda excess: int(excess <= 0), count - r) for count in smaller]
    return reduce(add, at_most_r)
