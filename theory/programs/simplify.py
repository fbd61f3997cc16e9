"""Equal programs with fewer expressions."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from theory.programs.domains import Domains
from theory.programs.language import (
    Aggregate,
    Expression,
    LinearSequenceMap,
    SequenceMap,
    SOp,
    expressions,
)
from theory.programs.values import ADDED, exact, is_number


def simplified(program: Expression, domains: Domains) -> Expression:
    """A program with the same values, in which equal expressions are one object.

    Two expressions are equal if they are of one class and have the same functions, constants and
    parts. The sum or difference of two means over the same selected positions is the mean of the
    sums or differences, so it becomes one `Aggregate`; likewise for a `LinearSequenceMap` of two
    means. It is so only if numbers are averaged: other values may have no sum at positions that are
    not selected. At sequences of `domains` at which the given program has a value, the result has
    the same value. It is added to `domains`.
    """
    made: dict[Expression, Expression] = {}
    known: dict[tuple[Any, ...], Expression] = {}
    for each in expressions(program):
        values = {field.name: getattr(each, field.name) for field in fields(each)}
        parts: Any = {name: made[it] for name, it in values.items() if isinstance(it, Expression)}
        own = replace(each, **parts) if parts else each
        if isinstance(own, SequenceMap | LinearSequenceMap):
            own = _of_one_mean(own, known, domains)
        made[each] = known.setdefault(_key(own), own)
    domains.add(made[program])
    return made[program]


def _key(each: Expression) -> tuple[Any, ...]:
    """Equal for equal expressions: constants by value, functions and parts by identity."""
    values = (getattr(each, field.name) for field in fields(each) if field.name != "name")
    return type(each), *(
        id(it) if isinstance(it, Expression) or callable(it) else (type(it), it) for it in values
    )


def _of_one_mean(
    sop: SequenceMap | LinearSequenceMap,
    known: dict[tuple[Any, ...], Expression],
    domains: Domains,
) -> SOp:
    """The mean of a linear combination, for a linear combination of means; otherwise the s-op."""
    a, b = sop.fst, sop.snd
    if not (isinstance(a, Aggregate) and isinstance(b, Aggregate) and a.selector is b.selector):
        return sop
    factors: tuple[Any, Any]
    if isinstance(sop, LinearSequenceMap):
        factors = exact(sop.fst_fac), exact(sop.snd_fac)
    elif sop.f in ADDED:
        factors = 1, ADDED[sop.f]
    else:
        return sop
    defaults: tuple[Any, Any] = exact(a.default), exact(b.default)
    if any(each is None for each in defaults):
        default: Any = None
    elif all(map(is_number, defaults)):
        default = exact(sum(p * q for p, q in zip(factors, defaults, strict=True)))
    else:
        return sop
    if not (domains.numeric(a.sop) and domains.numeric(b.sop)):
        return sop
    inner: Any = replace(sop, fst=a.sop, snd=b.sop, name="")
    inner = known.setdefault(_key(inner), inner)
    return Aggregate(a.selector, inner, default, name=sop.name)
