"""Programs that find patterns, repetitions and runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import Count, Kind, checked
from theory.programs.language import (
    Aggregate,
    Full,
    Map,
    Select,
    SelectorWidth,
    SequenceMap,
    SOp,
    indices,
    tokens,
)
from theory.programs.library.counts import up_to_here
from theory.programs.library.positions import at, everywhere
from theory.programs.named import named
from theory.programs.values import Value, exact
from theory.waiting import announced


@dataclass(frozen=True)
class TokenPattern(Kind):
    """The kind of a parameter that is a list of at least one token, or a text of tokens.

    A kind checks and converts the values of a parameter (`Kind`).
    """

    what = "a list of at least one token, or a text whose characters are tokens"
    example = "ab"
    wrong = (None, object(), 1, "", [], [[1]], [None], [float("nan")], np.array(1), np.array(None))

    def read(self, name: str, value: Any) -> tuple[Value, ...]:
        listed = isinstance(value, Sequence) or (isinstance(value, np.ndarray) and value.ndim)
        if not (listed and len(value)):
            raise self.error(name, value)
        pattern = tuple(exact(token) for token in value)
        if any(token is None for token in pattern):
            raise self.error(name, value)
        return pattern


Pattern: TypeAlias = Annotated[Sequence[Value], TokenPattern()]


@named
@checked
def detect_pattern(pattern: Pattern) -> SOp:
    """1 at position i if the tokens up to x_i end with the pattern, and 0 otherwise.

    The pattern is a list of tokens, or a text whose characters are tokens: "aba".

    Raises ValueError for an empty pattern.
    """
    found: SOp = Map(int, tokens == pattern[-1])
    for k, token in enumerate(reversed(pattern[:-1]), start=1):
        here = Aggregate(Select(indices, indices - k, "=="), Map(int, tokens == token), 0)
        found = SequenceMap(lambda a, b: a * b, found, here)
    return found


@named
@checked
def count_pattern(pattern: Pattern) -> SOp:
    """The number of occurrences of a pattern, at all positions; see `detect_pattern`."""
    return SelectorWidth(Select(detect_pattern(pattern), Full(1), "=="))


@named
@checked
def induction(n: Count = 2) -> SOp:
    """The token that follows the latest earlier occurrence of the last n − 1 tokens.

    At position i, let j < i be the largest position with (x_{j−n+2}, …, x_j) = (x_{i−n+2}, …, x_i).
    The value is x_{j+1}, or None if there is no such j. For n = 1 the value is x_i, and for n = 2
    this is an induction head.
    """
    if n == 1:
        return tokens
    context: SOp = Map(lambda token: (token,), tokens)
    for k in announced(range(1, n - 1), "induction"):
        earlier = at(indices - k)
        context = SequenceMap(lambda token, later: (token, *later), earlier, context)
    same = Select(context, context, "==")
    number = SelectorWidth(same & up_to_here())
    here = SequenceMap(lambda context, number: (context, number), context, number)
    wanted = SequenceMap(lambda context, number: (context, number - 1), context, number)
    place = Aggregate(Select(here, wanted, "=="), indices)
    return at(place + 1)


@named
def distance_to_previous() -> SOp:
    """The distance i − j to the latest earlier position j with x_j = x_i; None if there is none."""
    number = SelectorWidth(Select(tokens, tokens, "==") & up_to_here())
    here = SequenceMap(lambda token, number: (token, number), tokens, number)
    wanted = SequenceMap(lambda token, number: (token, number - 1), tokens, number)
    place = Aggregate(Select(here, wanted, "=="), indices)
    return indices - place


@named
def run_starts() -> SOp:
    """1 at position i if i = 0 or x_i differs from x_{i−1}, and 0 otherwise."""
    same = Select(indices, indices - 1, "==") & Select(tokens, tokens, "==")
    return Map(lambda count: 1 - count, SelectorWidth(same))


@named
def runs() -> SOp:
    """The number of maximal runs of equal tokens, at all positions."""
    return SelectorWidth(Select(run_starts(), Full(1), "=="))


@named
def place_in_run() -> SOp:
    """The number of tokens of the current run before position i: 0 at the start of a run."""
    starts = run_starts()
    number = SelectorWidth(Select(starts, Full(1), "==") & up_to_here())
    return SelectorWidth(Select(number, number, "==") & Select(indices, indices, "<"))


@named
def alternates() -> SOp:
    """1 at all positions if no two neighbouring tokens are equal, and 0 otherwise."""
    return everywhere(run_starts() == 1)
