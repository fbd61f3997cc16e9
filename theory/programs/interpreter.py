"""The values of programs by definition, in exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from theory.kinds import InputError, checked, shown
from theory.programs.foreign import program_of
from theory.programs.language import (
    Aggregate,
    Expression,
    Full,
    Indices,
    Length,
    LinearSequenceMap,
    Map,
    Pair,
    Select,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SelectorWidth,
    SequenceMap,
    SOp,
    Tokens,
    constant,
    expressions,
)
from theory.programs.values import COMPARISONS, Value, exact, is_number

Row = list[Any]  # a value, or a row of a selector, for each position


class NoValue(InputError):
    """The error for a sequence at which a program has no value: a function raises an error, or a
    mean is taken of values that are neither equal nor numbers."""


@checked
def evaluate(program: Any, sequence: Any, *, causal: bool = False) -> Row:
    """The values of a program at a sequence of tokens, by definition.

    For an s-op, the result is the list of the n values; for a selector, it is the n × n matrix as a
    list of rows. If `causal`, every selector selects only positions j ≤ i in row i, and `length` is
    i + 1 at position i. Numbers are exact: ints and Fractions. A float that a function returns is
    the rational number that it represents.

    The program may also consist of objects of another library; see `program_of`.

    Raises ValueError for an empty sequence, for a token that is None, not hashable, NaN or infinite
    and, naming the s-op and the values, if a function raises an error or if a mean is taken of
    different values that are not all numbers.
    """
    program = program_of(program)
    return trace(program, sequence, causal=causal)[program]


@checked
def trace(program: Expression, sequence: Any, *, causal: bool = False) -> dict[Expression, Row]:
    """The values of every expression of a program at a sequence; see `evaluate`."""
    try:
        given = [exact(token) for token in sequence]
    except TypeError:
        raise InputError(f"sequence is {shown(sequence)}: give a sequence of tokens") from None
    if not given:
        raise InputError("the sequence is empty: give at least one token")
    if None in given:
        raise InputError(f"token {given.index(None)} is None: None stands for 'no value'")
    values: dict[Expression, Row] = {}
    for each in expressions(program):
        values[each] = _values(each, given, values, causal)
    return values


def _values(each: Expression, given: Row, of: dict[Expression, Row], causal: bool) -> Row:
    n = len(given)
    match each:
        case Tokens():
            return given
        case Indices():
            return list(range(n))
        case Length():
            return list(range(1, n + 1)) if causal else [n] * n
        case Full(fill):
            return [exact(fill)] * n
        case Map(f, inner):
            return [applied(each, f, a) for a in of[inner]]
        case SequenceMap(f, fst, snd):
            return [applied(each, f, a, b) for a, b in zip(of[fst], of[snd], strict=True)]
        case LinearSequenceMap(fst, snd, p, q):
            f = partial(linear, exact(p), exact(q))
            return [applied(each, f, a, b) for a, b in zip(of[fst], of[snd], strict=True)]
        case Pair(fst, snd):
            return list(zip(of[fst], of[snd], strict=True))
        case Aggregate(selector, sop, default):
            selected = (
                [a for a, chosen in zip(of[sop], row, strict=True) if chosen]
                for row in of[selector]
            )
            return [mean(each, a) if a else exact(default) for a in selected]
        case SelectorWidth(selector):
            return [sum(row) for row in of[selector]]
        case Select(keys, queries, _):
            return [
                [
                    (j <= i or not causal) and selects(each, key, query)
                    for j, key in enumerate(of[keys])
                ]
                for i, query in enumerate(of[queries])
            ]
        case SelectorAnd(fst, snd):
            return _entrywise(lambda a, b: a and b, of[fst], of[snd])
        case SelectorOr(fst, snd):
            return _entrywise(lambda a, b: a or b, of[fst], of[snd])
        case SelectorNot(inner):
            return [
                [(j <= i or not causal) and not a for j, a in enumerate(row)]
                for i, row in enumerate(of[inner])
            ]
    raise InputError(f"{shown(each)} is no expression of the language: give an s-op or a selector")


def selects(select: Select, key: Value, query: Value) -> bool:
    """The entry of a `Select` for a key and a query; raises NoValue if the predicate does."""
    predicate = select.predicate
    if predicate == "true":
        return True
    if key is None or query is None:
        return False
    if isinstance(predicate, str):
        predicate = COMPARISONS[predicate]
    try:
        return bool(predicate(key, query))
    except (Exception, SystemExit) as error:
        raise NoValue(
            f"the predicate of {select} raises {type(error).__name__} for the key {shown(key)} and "
            f"the query {shown(query)}: {error}"
        ) from error


def applied(each: SOp, f: Any, *values: Value) -> Value:
    """f(values) as an exact value, None if a value is None; raises NoValue if `f` does."""
    if any(value is None for value in values):
        return None
    try:
        return constant("the result", f(*values))
    except (Exception, SystemExit) as error:  # `exit` in a function is an error too
        given = ", ".join(map(shown, values))
        raise NoValue(
            f"the function of {each} raises {type(error).__name__} at {given}: {error}"
        ) from error


def linear(p: Any, q: Any, a: Any, b: Any) -> Any:
    """The number p·a + q·b."""
    return p * a + q * b


def mean(each: Aggregate, values: Row) -> Value:
    """The mean of values; raises NoValue if they are neither equal nor all numbers."""
    first = values[0]
    if all(value == first for value in values):
        return first
    if all(map(is_number, values)):
        return exact(Fraction(sum(values), len(values)))
    other = next(value for value in values if value != first)
    raise NoValue(
        f"{each} selects the values {shown(first)} and {shown(other)}, whose mean is no value"
    )


def _entrywise(f: Any, one: Row, other: Row) -> Row:
    return [[f(a, b) for a, b in zip(*rows, strict=True)] for rows in zip(one, other, strict=True)]
