"""Programs that move tokens by their positions."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from theory.kinds import Instance, Integer, checked
from theory.programs.language import (
    Aggregate,
    Full,
    Map,
    Select,
    SequenceMap,
    SOp,
    indices,
    length,
    tokens,
)
from theory.programs.named import named

Operation: TypeAlias = Annotated[SOp, Instance(SOp, "an s-op, such as `Full(3)` or `indices - 1`")]


@named
@checked
def at(place: Operation, values: Operation = tokens) -> SOp:
    """The value at position `place`, which is an s-op; None if there is no such position."""
    return Aggregate(Select(indices, place.named("place"), "=="), values)


@named
@checked
def everywhere(holds: Operation) -> SOp:
    """1 at all positions if the s-op is 1 at all positions, and 0 otherwise.

    The values of the s-op are 0 and 1, or False and True.
    """
    mean = Aggregate(Select(indices, indices, "true"), Map(int, holds))
    return Map(lambda fraction: int(fraction == 1), mean)


@named
def reverse() -> SOp:
    """The tokens in reverse order: x_{n−1−i}."""
    return at(length - indices - 1)


@named
@checked
def shift_by(k: Integer = 1) -> SOp:
    """The token k positions earlier, x_{i−k}; None if there is none."""
    return at(indices - k)


@named
@checked
def rotate(k: Integer = 1) -> SOp:
    """The tokens rotated by k positions: x_{(i−k) mod n}."""
    return at(SequenceMap(lambda i, n: (i - k) % n, indices, length))


@named
def first_token() -> SOp:
    """The first token, x_0, at all positions."""
    return at(Full(0))


@named
def last_token() -> SOp:
    """The last token, x_{n−1}, at all positions."""
    return at(length - 1)


@named
def swap_pairs() -> SOp:
    """The tokens with x_0 and x_1, x_2 and x_3, … exchanged; a last token without partner stays."""
    return at(SequenceMap(lambda i, n: i ^ 1 if i ^ 1 < n else i, indices, length))


@named
def equal_to_first() -> SOp:
    """Whether x_i = x_0."""
    return SequenceMap(lambda a, b: a == b, tokens, first_token())


@named
def palindrome() -> SOp:
    """1 at all positions if the sequence equals its reverse, and 0 otherwise."""
    return everywhere(SequenceMap(lambda a, b: a == b, tokens, reverse()))


@named
def is_doubled() -> SOp:
    """1 at all positions if the sequence is ww for a sequence w, and 0 otherwise."""
    half = SequenceMap(lambda i, n: (i + n // 2) % n, indices, length)
    same = SequenceMap(lambda a, b: a == b, tokens, at(half))
    return SequenceMap(lambda n, equal: int(n % 2 == 0 and equal == 1), length, everywhere(same))
