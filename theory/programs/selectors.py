"""Selectors as conjunctions of relations, and widths as sums of widths of conjunctions.

A relation is a `Select`: whether position j is selected in row i depends on a key at j and a query
at i.  Every selector is a conjunction of relations, since negations and disjunctions of relations
are relations between pairs of keys and pairs of queries.  For widths no pairs are needed: the width
of s | t is the sum of the widths of s and t, less that of s & t.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from theory.programs.interpreter import selects
from theory.programs.language import (
    Full,
    Pair,
    Select,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SOp,
)

Conjunction = tuple[Select, ...]


class Relations:
    """The relations of selectors; equal pairs of s-ops are one object."""

    def __init__(self) -> None:
        self.pairs: dict[tuple[int, int], SOp] = {}
        self.nothing = Full(0)

    def conjunction(self, selector: Selector) -> Conjunction:
        """Relations whose conjunction is the selector."""
        match selector:
            case Select():
                return (selector,)
            case SelectorAnd(fst, snd):
                return self.conjunction(fst) + self.conjunction(snd)
            case SelectorNot(SelectorNot(inner)):
                return self.conjunction(inner)
            case SelectorNot(SelectorOr(fst, snd)):
                return self.conjunction(~fst) + self.conjunction(~snd)
            case SelectorNot(SelectorAnd(fst, snd)):
                return self.conjunction(~fst | ~snd)
            case SelectorNot(Select() as inner):
                keys, queries = (self.pair(sop, self.nothing) for sop in _sides(inner))
                return (Select(keys, queries, lambda k, q: not selects(inner, k[0], q[0])),)
            case SelectorOr(fst, snd):
                return (self._joined(self._one(fst), self._one(snd), any),)
        raise AssertionError(selector)

    def widths(self, selector: Selector) -> list[tuple[int, Conjunction]]:
        """Pairs of a factor and a conjunction: the width is the sum of factor times width."""
        match selector:
            case SelectorOr(fst, snd):
                both = [(-c, these) for c, these in self.widths(fst & snd)]
                return [*self.widths(fst), *self.widths(snd), *both]
            case SelectorNot(SelectorNot(inner)):
                return self.widths(inner)
            case SelectorNot(SelectorAnd(fst, snd)):
                return self.widths(~fst | ~snd)
        return [(1, self.conjunction(selector))]

    def _one(self, selector: Selector) -> Select:
        """The selector as one relation."""
        first, *others = self.conjunction(selector)
        for other in others:
            first = self._joined(first, other, all)
        return first

    def _joined(self, one: Select, other: Select, holds: Callable[[Any], bool]) -> Select:
        """The relation between pairs that holds if `holds` of the entries of two relations."""
        keys, queries = map(self.pair, _sides(one), _sides(other))

        def predicate(key: tuple[Any, Any], query: tuple[Any, Any]) -> bool:
            return holds(map(selects, (one, other), key, query))

        return Select(keys, queries, predicate)

    def pair(self, fst: SOp, snd: SOp) -> SOp:
        """The pairs of the values of two s-ops; the same object for the same s-ops."""
        return self.pairs.setdefault((id(fst), id(snd)), Pair(fst, snd))


def _sides(select: Select) -> tuple[SOp, SOp]:
    return select.keys, select.queries
