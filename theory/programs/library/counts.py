"""Programs that count tokens and average them."""

from __future__ import annotations

from theory.kinds import Count, CountFrom2, Steps, checked
from theory.programs.language import (
    Aggregate,
    Full,
    Map,
    Select,
    Selector,
    SelectorWidth,
    SequenceMap,
    SOp,
    indices,
    length,
    tokens,
)
from theory.programs.named import named
from theory.programs.values import Value


@named
def up_to_here() -> Selector:
    """The selector of the positions j ≤ i."""
    return Select(indices, indices, "<=")


@named
def everything() -> Selector:
    """The selector of all positions."""
    return Select(indices, indices, "true")


@named
def count_of(token: Value) -> SOp:
    """The number of occurrences of a token, at all positions."""
    return SelectorWidth(Select(tokens, Full(token), "=="))


@named
def histogram() -> SOp:
    """The number of occurrences of x_i."""
    return SelectorWidth(Select(tokens, tokens, "=="))


@named
def prefix_count(token: Value) -> SOp:
    """The number of occurrences of a token in x_0, …, x_i."""
    return SelectorWidth(up_to_here() & Select(tokens, Full(token), "=="))


@named
def fraction_of_previous(token: Value) -> SOp:
    """The fraction of the tokens x_0, …, x_i that equal a token."""
    return Aggregate(up_to_here(), Map(int, tokens == token))


@named
def majority(token: Value) -> SOp:
    """1 at all positions if more than half of the tokens equal `token`, and 0 otherwise."""
    return SequenceMap(lambda count, n: int(2 * count > n), count_of(token), length)


@named
def parity(token: Value) -> SOp:
    """The number of occurrences of a token modulo 2, at all positions."""
    return count_of(token) % 2


@named
def prefix_parity(token: Value) -> SOp:
    """The number of occurrences of a token in x_0, …, x_i modulo 2."""
    return prefix_count(token) % 2


@named
@checked
def running_sum(modulus: CountFrom2) -> SOp:
    """The sum x_0 + … + x_i modulo `modulus`, for tokens that are integers."""
    sums = SequenceMap(lambda mean, i: mean * (i + 1), Aggregate(up_to_here(), tokens), indices)
    return sums % modulus


@named
def first_occurrence() -> SOp:
    """1 at position i if x_i does not occur earlier, and 0 otherwise."""
    earlier = Select(indices, indices, "<") & Select(tokens, tokens, "==")
    return Map(lambda count: int(count == 0), SelectorWidth(earlier))


@named
def distinct() -> SOp:
    """The number of different tokens, at all positions."""
    return SelectorWidth(Select(first_occurrence(), Full(1), "=="))


@named
def has_repeats() -> SOp:
    """1 at all positions if a token occurs twice, and 0 otherwise."""
    return SequenceMap(lambda count, n: int(count < n), distinct(), length)


@named
@checked
def count_less_frequent(n: Steps) -> SOp:
    """The number of tokens whose value occurs fewer than n times, at all positions."""
    return SelectorWidth(Select(histogram(), Full(n), "<"))


@named
def most_frequent() -> SOp:
    """The most frequent token, at all positions; of several, the one that occurs first."""
    key = SequenceMap(lambda count, i: (count, -i), histogram(), indices)
    better = SelectorWidth(Select(key, key, ">"))
    return Aggregate(Select(better, Full(0), "=="), tokens)


@named
def mean_of_tokens() -> SOp:
    """The mean of the tokens, which are numbers, at all positions."""
    return Aggregate(everything(), tokens)


@named
def maximum() -> SOp:
    """The largest token, at all positions."""
    larger = SelectorWidth(Select(tokens, tokens, ">"))
    return Aggregate(Select(larger, Full(0), "=="), tokens)


@named
def minimum() -> SOp:
    """The smallest token, at all positions."""
    smaller = SelectorWidth(Select(tokens, tokens, "<"))
    return Aggregate(Select(smaller, Full(0), "=="), tokens)


@named
@checked
def count_at_least(token: Value, n: Count) -> SOp:
    """1 at all positions if a token occurs at least n times, and 0 otherwise."""
    return Map(int, count_of(token) >= n)
