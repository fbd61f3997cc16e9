"""Programs that are built from the classes of another library."""

from __future__ import annotations

from enum import Enum
from types import FunctionType
from typing import Any

from theory.kinds import InputError, shown
from theory.programs.language import (
    Aggregate,
    Expression,
    Full,
    LinearSequenceMap,
    Map,
    Select,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SelectorWidth,
    SequenceMap,
    indices,
    length,
    tokens,
)
from theory.programs.values import COMPARISONS

PRIMITIVES = {"TokensType": tokens, "IndicesType": indices, "LengthType": length}
# class: its attributes, of which the first `parts` are expressions
CLASSES: dict[str, tuple[type[Expression], int, tuple[str, ...]]] = {
    "LinearSequenceMap": (LinearSequenceMap, 2, ("fst", "snd", "fst_fac", "snd_fac")),
    "SequenceMap": (SequenceMap, 2, ("fst", "snd", "f")),
    "Map": (Map, 1, ("inner", "f")),
    "Full": (Full, 0, ("fill",)),
    "Aggregate": (Aggregate, 2, ("selector", "sop", "default")),
    "SelectorWidth": (SelectorWidth, 1, ("selector",)),
    "Select": (Select, 2, ("keys", "queries", "predicate")),
    "SelectorAnd": (SelectorAnd, 2, ("fst", "snd")),
    "SelectorOr": (SelectorOr, 2, ("fst", "snd")),
    "SelectorNot": (SelectorNot, 1, ("inner",)),
}


def program_of(expression: Any) -> Expression:
    """The program that an object describes by the names of its class and its attributes.

    The classes are `TokensType`, `IndicesType`, `LengthType`, `Map` (f, inner), `SequenceMap` (f,
    fst, snd), `LinearSequenceMap` (fst, snd, fst_fac, snd_fac), `Full` (fill), `Aggregate`
    (selector, sop, default), `SelectorWidth` (selector), `Select` (keys, queries, predicate),
    `SelectorAnd` and `SelectorOr` (fst, snd) and `SelectorNot` (inner), as in Tracr [Lindner2023],
    and classes that are derived from them. A predicate may be a member of an enumeration whose
    value is one of the named comparisons. An attribute `name` is the name of the expression. An
    `Expression` of this package is returned unchanged.

    Raises ValueError for an object of another class, for a missing attribute and for an expression
    that contains itself.
    """
    found: dict[int, Expression] = {}
    waiting, open_ = [expression], set[int]()
    while waiting:
        last = waiting[-1]
        if isinstance(last, Expression):
            found[id(last)] = last
        if id(last) in found:
            waiting.pop()
            continue
        kind = _kind(last)
        if kind in PRIMITIVES:
            found[id(last)] = PRIMITIVES[kind]
            continue
        made, n_parts, names = CLASSES[kind]
        values = [_attribute(last, kind, name) for name in names]
        if missing := [part for part in values[:n_parts] if id(part) not in found]:
            if id(last) in open_:
                raise InputError(f"{shown(last)} contains itself: give an expression without cycle")
            open_.add(id(last))
            waiting += missing
            continue
        parts = [found[id(part)] for part in values[:n_parts]]
        rest = [_predicate(value) for value in values[n_parts:]]
        attributes = dict(zip(names, [*parts, *rest], strict=True))
        name = getattr(last, "name", "")
        found[id(last)] = made(**attributes, name=name if isinstance(name, str) else "")
    return found[id(expression)]


def _kind(expression: Any) -> str:
    """The first class of the object, or of those it is derived from, whose name is known."""
    for each in type(expression).__mro__:
        if each.__name__ in PRIMITIVES or each.__name__ in CLASSES:
            return each.__name__
    if isinstance(expression, FunctionType):
        name = expression.__name__
        raise InputError(f"{name} is a function: give the s-op that it returns, such as {name}()")
    raise InputError(
        f"{shown(expression)} in a program is of the class {type(expression).__name__}: give an "
        "s-op or, where one is wanted, a selector"
    )


def _attribute(expression: Any, kind: str, name: str) -> Any:
    try:
        return getattr(expression, name)
    except AttributeError:
        raise InputError(f"{shown(expression)} is a {kind} without the attribute {name}") from None


def _predicate(value: Any) -> Any:
    """A comparison by its name, if the value is a member of an enumeration of comparisons."""
    if isinstance(value, Enum) and str(value.value).lower() in {*COMPARISONS}:
        return str(value.value).lower()
    return value
