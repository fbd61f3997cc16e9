"""Truth tables whose variables are a symbol and bits, as unions of disjoint cubes.

Variable 0 is the symbol, and variables 1, 2, … are bits.  A cube restricts some variables to sets
of values.  A table is true where one of its cubes holds.  At most one of the cubes of a table
holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

Cube = Mapping[int, frozenset[int]]


@dataclass(frozen=True, eq=False)
class TruthTable:
    """A truth table in a symbol and bits, which depends on all the variables that it reads.

    Variable 0 is the symbol, and variables 1, 2, … are bits. values[v₁, v₂, …] is the truth value
    where the variables in `reads`, in order, are v₁, v₂, ….
    """

    reads: tuple[int, ...]
    values: np.ndarray

    @property
    def key(self) -> tuple[tuple[int, ...], tuple[int, ...], bytes]:
        """A key for comparison: the variables, the shape and the entries of the table."""
        return self.reads, self.values.shape, self.values.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TruthTable) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def cubes(self) -> list[Cube]:
        """Disjoint cubes whose union is the set where the table is true.

        The cubes are the paths of a decision tree to "true".  At each node the tree reads the
        variable after which the fewest variables remain.
        """
        if not self.reads:
            return [{}] if self.values else []
        v, parts = min(
            ((v, self._split(axis)) for axis, v in enumerate(self.reads)),
            key=lambda split: sum(1 + len(table.reads) for table in split[1]),
        )
        return [{v: values, **cube} for table, values in parts.items() for cube in table.cubes()]

    def _split(self, axis: int) -> dict[TruthTable, frozenset[int]]:
        """The tables that remain after a variable is read, each with the values that lead to it."""
        found = dict[TruthTable, frozenset[int]]()
        others = tuple(v for v in self.reads if v != self.reads[axis])
        for value, rest in enumerate(np.moveaxis(self.values, axis, 0)):
            table = truth_table(others, np.asarray(rest))
            found[table] = found.get(table, frozenset()) | {value}
        return found


def truth_table(reads: tuple[int, ...], values: np.ndarray) -> TruthTable:
    """The truth table with the given values, without irrelevant variables.

    `values` is an array with one axis for each variable in `reads`.
    """
    relevant = list(reads)
    for v in reads:
        axis = relevant.index(v)
        first = values.take([0], axis=axis)
        if (values == first).all():
            values = first.squeeze(axis)
            relevant.remove(v)
    return TruthTable(tuple(relevant), np.array(values, order="C"))
