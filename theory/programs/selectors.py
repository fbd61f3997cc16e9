"""Selectors as conjunctions of relations, and widths as sums of widths of conjunctions.

A relation is a `Select`: whether position j is selected in row i depends on a key at j and a query
at i.  Every selector is a conjunction of relations, since negations and disjunctions of relations
are relations between pairs of keys and pairs of queries.  For widths no pairs are needed: the width
of s | t is the sum of the widths of s and t, less that of s & t.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from theory.programs.interpreter import NoValue, selects
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
from theory.programs.values import COMPARISONS, Value, integers

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


def related(select: Select, keys: Sequence[Value], queries: Sequence[Value]) -> np.ndarray:
    """Entries of a relation for queries (rows) and keys (columns): 1, 0, or −1 for an error."""
    predicate = select.predicate
    if isinstance(predicate, str) and all(isinstance(v, int) for v in (*queries, *keys)):
        rows: Any = integers(queries)
        of: Any = COMPARISONS[predicate](integers(keys)[None], rows[:, None])
        return np.broadcast_to(of, (len(queries), len(keys))).astype(np.int8)
    if predicate == "==":
        same = {key: i for i, key in enumerate(keys)}
        found = np.zeros((len(queries), len(keys)), dtype=np.int8)
        for i, query in enumerate(queries):
            if query is not None and query in same:
                found[i, same[query]] = 1
        return found

    def entry(key: Value, query: Value) -> int:
        try:
            return int(selects(select, key, query))
        except NoValue:
            return -1

    entries = [[entry(key, query) for key in keys] for query in queries]
    return np.array(entries, dtype=np.int8).reshape(len(queries), len(keys))
