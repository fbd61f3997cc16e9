"""Types of the parameters in `theory.computation`: alphabets, triples, edges and fan-ins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import CountFrom2, Integers, Kind, Whole, Within, array_of

FanIn: TypeAlias = CountFrom2
"""The fan-in of a tree, an integer ≥ 2."""


@dataclass(frozen=True)
class DistinctSymbols(Kind):
    """An alphabet: a text of different alphanumeric characters; symbol a is text[a]."""

    what = "different alphanumeric characters, such as 'ab'"
    example = "ab"
    wrong = (None, object(), 1, b"a", ["a"], "", "a ", "a|", "aba")

    def read(self, name: str, value: Any) -> str:
        if not isinstance(value, str) or not value.isalnum() or len({*value}) < len(value):
            raise self.error(name, value)
        return str(value)


Alphabet: TypeAlias = Annotated[str, DistinctSymbols()]
"""An alphabet: a text of different alphanumeric characters, one for each symbol."""


@dataclass(frozen=True)
class Triple(Kind):
    """A kind of argument: a named tuple, or another tuple or list, of three integers."""

    of: Any

    wrong = (None, object(), 1, "abc", (1, 0), (1, 0, 1, 0), (1, 0, 1.0), (True, 0, 1), [None] * 3)

    @property
    def what(self) -> str:
        return f"({', '.join(self.of._fields)}), three integers"

    @property
    def example(self) -> Any:
        return self.of(0, 0, 1)

    def read(self, name: str, value: Any) -> Any:
        if not isinstance(value, tuple | list) or len(value) != 3:
            raise self.error(name, value)
        return self.of(*(Whole().read(f"{name}[{i}]", entry) for i, entry in enumerate(value)))


@dataclass(frozen=True)
class EdgeArray(Integers):
    """The edges of graphs, (…, m, 2), with nodes numbered from 1; [] is the empty set of edges."""

    @property
    def wrong(self) -> tuple[Any, ...]:
        return tuple(e for e in super().wrong if not isinstance(e, list | tuple) or len(e))

    def read(self, name: str, value: Any) -> np.ndarray:
        array = array_of(name, value)
        if array.shape == (0,):
            array = array.reshape(0, 2)
        return super().read(name, array if array.size else array.astype(np.int64))


Edges: TypeAlias = Annotated[Any, EdgeArray("... m 2", Within(least=1), empty=True)]
"""The edges of graphs, nodes numbered from 1, shape (…, m, 2)."""
