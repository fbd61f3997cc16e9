"""Programs whose functions are tables: equal on all sequences of a vocabulary up to a length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from theory.programs.domains import Domains
from theory.programs.elementwise import value_of
from theory.programs.language import (
    Expression,
    LinearSequenceMap,
    Map,
    Select,
    SequenceMap,
    SOp,
    expressions,
)
from theory.programs.values import ADDED, Value, is_number


@dataclass(frozen=True)
class Lookup:
    """A function of one or two values that is given by a table; other values raise KeyError."""

    rows: Mapping[tuple[Value, ...], Value]

    def __call__(self, *values: Value) -> Value:
        return self.rows[values]


class Tables:
    """Expressions whose functions are tables, over the values of s-ops in `domains`."""

    def __init__(self, domains: Domains) -> None:
        self.domains, self.made = domains, dict[Expression, Expression]()

    def of(self, program: Expression) -> Expression:
        """An expression with the same values, and with tables in place of functions."""
        for each in expressions(program):
            if each not in self.made:
                parts = {
                    field.name: self.made[part]
                    for field in fields(each)
                    if isinstance(part := getattr(each, field.name), Expression)
                }
                self.made[each] = self._tabulated(each, parts)
        return self.made[program]

    def _tabulated(self, each: Expression, parts: Mapping[str, Any]) -> Expression:
        match each:
            case Map(f, inner) if not isinstance(f, Lookup):
                return replace(each, f=self._lookup(each, [inner]), **parts)
            case SequenceMap(f, fst, snd) if f in ADDED and self._numbers(fst, snd):
                return LinearSequenceMap(**parts, fst_fac=1, snd_fac=ADDED[f], name=each.name)
            case SequenceMap(f, fst, snd) if not isinstance(f, Lookup):
                return replace(each, f=self._lookup(each, [fst, snd]), **parts)
            case Select(keys, queries, predicate) if callable(predicate) and not isinstance(
                predicate, Lookup
            ):
                found = self.domains.selected(each).tolist()
                pairs: dict[tuple[Value, ...], Value] = {
                    (key, query): bool(holds)
                    for query, row in zip(self.domains.values[queries], found, strict=True)
                    for key, holds in zip(self.domains.values[keys], row, strict=True)
                }
                return replace(each, predicate=Lookup(pairs), **parts)
        return replace(each, **parts) if parts else each

    def _numbers(self, *sops: SOp) -> bool:
        return all(is_number(value) for sop in sops for value in self.domains.values[sop])

    def _lookup(self, each: SOp, operands: list[SOp]) -> Lookup:
        """The function of an elementwise map, over the values of its operands that occur."""
        leaves = self.domains.leaves[each]
        place = {leaf: i for i, leaf in enumerate(leaves)}
        rows: dict[tuple[Value, ...], Value] = {}
        for at in self.domains.tables[each]:
            values = tuple(
                at[place[part]]
                if part in place
                else self.domains.tables[part][
                    tuple(at[place[leaf]] for leaf in self.domains.leaves[part])
                ]
                for part in operands
            )
            if values not in rows and None not in values:
                rows[values] = value_of(each, [*values])
        return Lookup(rows)
