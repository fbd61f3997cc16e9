"""Elementwise maps of s-ops: their values, and linear combinations."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from theory.programs.interpreter import applied, linear
from theory.programs.language import Full, LinearSequenceMap, Map, Pair, SequenceMap, SOp
from theory.programs.values import ADDED, Value, exact


def value_of(sop: SOp, parts: list[Value]) -> Value:
    """The value of an elementwise map for values of its parts; raises NoValue as functions do."""
    match sop:
        case Full(fill):
            return exact(fill)
        case Map(f, _) | SequenceMap(f, _, _):
            return applied(sop, f, *parts)
        case LinearSequenceMap(_, _, p, q):
            return applied(sop, lambda a, b: linear(exact(p), exact(q), a, b), *parts)
        case Pair():
            return tuple(parts)
    raise AssertionError(sop)


def linear_form(sop: SOp) -> tuple[SOp, SOp, Fraction, Fraction] | None:
    """Two s-ops and factors of which an s-op is the linear combination, or None."""
    match sop:
        case LinearSequenceMap(a, b, p, q):
            factors: tuple[Any, Any] = exact(p), exact(q)
            return a, b, Fraction(factors[0]), Fraction(factors[1])
        case SequenceMap(f, a, b) if f in ADDED:
            return a, b, Fraction(1), Fraction(ADDED[f])
    return None
