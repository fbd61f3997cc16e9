"""Selectors and sums that the programs for the tasks share.

A task that outputs a sequence reads the input followed by empty tokens, at which its symbols are
read.  The empty token is the first one after the tokens of the task.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import reduce
from operator import add

from theory.programs.language import (
    Aggregate,
    Full,
    Map,
    Select,
    Selector,
    SelectorWidth,
    SOp,
    indices,
    tokens,
)
from theory.programs.values import Value


def earlier() -> Selector:
    """The selector of the positions j < i."""
    return Select(indices, indices, "<")


def where(condition: SOp) -> Selector:
    """The selector of the positions at which a condition is True or 1."""
    return Select(condition, Full(1), "==")


def token_in(these: Collection[Value], of: SOp = tokens) -> SOp:
    """Whether x_i, or the value of another s-op, is one of these tokens."""
    return Map(lambda token: token in these, of)


def exists(selector: Selector) -> SOp:
    """1 at position i if row i selects a position, and 0 otherwise."""
    return Map(lambda count: int(count > 0), SelectorWidth(selector))


def inputs(empty: Value) -> SOp:
    """The number of tokens that are not empty, at all positions."""
    return SelectorWidth(where(tokens != empty))


def outputs_before(empty: Value) -> SOp:
    """The number of empty tokens before position i: r at the r-th output, from 0 on."""
    return SelectorWidth(earlier() & where(tokens == empty))


def token_at(place: SOp, default: Value) -> SOp:
    """The token at position `place`; the default if there is no such position."""
    return Aggregate(Select(indices, place, "=="), tokens, default)


def sum_modulo(modulus: int, selector: Selector, values: SOp) -> SOp:
    """The sum of the selected values modulo m, for values 0, …, m − 1.

    It is Σ_b 2^b·(number of selected values with bit b), where each summand is reduced modulo m.
    """
    counts = (
        SelectorWidth(selector & where(_bit(values, b))) for b in range((modulus - 1).bit_length())
    )
    parts = [_multiple(count, 2**b, modulus) for b, count in enumerate(counts)]
    return reduce(add, parts) % modulus


def _bit(values: SOp, b: int) -> SOp:
    return Map(lambda value: value >> b & 1, values)


def _multiple(count: SOp, factor: int, modulus: int) -> SOp:
    return Map(lambda value: value * factor % modulus, count)
