"""Truth tables of a symbol and of bits, and the cubes that they are made of.

Variable 0 is the symbol, with a value for each; variables 1, 2, … are bits.  A cube says of some
variables among which values they are; a table is true where one of its cubes holds, and its cubes
exclude each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

Cube = Mapping[int, frozenset[int]]


@dataclass(frozen=True, eq=False)
class TruthTable:
    """values[v₁, v₂, …] is the truth value where the variables `reads`, in order, are v₁, v₂, ….

    Every variable matters: for some values of the others, two of its values differ in truth.
    """

    reads: tuple[int, ...]
    values: np.ndarray

    @property
    def key(self) -> tuple[tuple[int, ...], tuple[int, ...], bytes]:
        """What equal tables have in common."""
        return self.reads, self.values.shape, self.values.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TruthTable) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def cubes(self) -> list[Cube]:
        """Cubes that exclude each other: a decision tree's, which asks next for the variable after
        which fewest others are left to ask for."""
        if not self.reads:
            return [{}] if self.values else []
        v, parts = min(
            ((v, self._split(axis)) for axis, v in enumerate(self.reads)),
            key=lambda split: sum(1 + len(table.reads) for table in split[1]),
        )
        return [{v: values, **cube} for table, values in parts.items() for cube in table.cubes()]

    def _split(self, axis: int) -> dict[TruthTable, frozenset[int]]:
        """The tables that are left once a variable is known, and the values that lead to each."""
        found = dict[TruthTable, frozenset[int]]()
        others = tuple(v for v in self.reads if v != self.reads[axis])
        for value, rest in enumerate(np.moveaxis(self.values, axis, 0)):
            table = truth_table(others, np.asarray(rest))
            found[table] = found.get(table, frozenset()) | {value}
        return found


def truth_table(reads: tuple[int, ...], values: np.ndarray) -> TruthTable:
    """The table without variables that do not matter; `values` has an axis for each of `reads`."""
    kept = list(reads)
    for v in reads:
        axis = kept.index(v)
        first = values.take([0], axis=axis)
        if (values == first).all():
            values = first.squeeze(axis)
            kept.remove(v)
    return TruthTable(tuple(kept), np.array(values, order="C"))
