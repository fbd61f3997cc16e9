"""How points and queries are written as a prompt, and which numbers stay exact."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from constructions.interface import ROWS, Draw, Interface, Prompt, as_many, finite_tensors
from theory.kinds import Count, CountFrom2, InputError, Tokens, Within, read

EXACT = 2**51  # halves of integers up to it are exact in float64
LookupLayers: TypeAlias = Annotated[Count, Within(most=20)]
"""An integer from 1 to 20: lookups in a balanced tree of at most a million points."""
Largest: TypeAlias = CountFrom2
"""An integer ≥ 2: the end of the range of points and queries."""


def whole(name: str, values: Tensor, low: int, high: int, why: str) -> None:
    """Raise ValueError unless values are integers from low to high."""
    bad = (values != values.round()) | (values < low) | (values > high)
    if bool(bad.any()):
        raise InputError(
            f"{name} contain {float(values[bad][0]):g}: give integers from {low} to {high}, {why}"
        )


def distinct(points: Tensor) -> None:
    """Raise ValueError where a row of points has one twice."""
    ordered = points.sort(-1).values
    same = ordered[..., 1:] == ordered[..., :-1]
    if bool(same.any()):
        raise InputError(
            f"points contain {float(ordered[..., 1:][same][0]):g} twice: give distinct points, "
            "as each has a cell of its own"
        )


def exact_range(largest: int, factor: int, power: int = 1) -> int:
    """`largest`; ValueError where halves of numbers as large as factor·largest^power leave float64
    (`holds`)."""
    if factor * largest**power > EXACT:
        most = int((EXACT // factor) ** (1 / power)) + 1
        while factor * most**power > EXACT:
            most -= 1
        if most < 2:
            raise InputError(
                f"sums as large as {factor:.3g}·largest are not exact: take fewer cells"
            )
        raise InputError(
            f"largest is {largest}: give at least 2 and at most {most}, so that every sum is exact"
        )
    return largest


class Row(Interface):
    """Points (…, n) → points (…, n): token i is the i-th number.

    Raises ValueError for another number of points, numbers that are not integers or not below the
    largest one in size, a point twice, and a float format that does not hold all sums.
    """

    def __init__(self, n: int, largest: int, factor: int) -> None:
        super().__init__()
        self.length, self.largest, self.factor = n, largest, factor
        self.context = n

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        holds(like, self.largest * self.factor)
        (points,) = finite_tensors(like, inputs, "points")
        row_of(points, self.length)
        high = self.largest - 1
        whole("points", points, -high, high, "or build it with a larger `largest`")
        distinct(points)
        return (points,)

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        (points,) = inputs
        # A matrix of one column and one of ones, in whatever numbers the points are.
        tokens = xp.stack([points, points * 0 + 1], axis=-1)
        return Prompt(tokens, tokens.shape[-2])

    def drawn(self, draw: Draw, rng: np.random.Generator) -> tuple[np.ndarray]:
        return (draw(1, self.length)[0],)

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        return outputs[..., 0]


class Cells(Interface):
    """Points (…, N), in any order, and queries (…, m) → integers (…, m) as int64.

    Tokens are (x, 1, 0, 0) for points and (0, 0, q, 1) for queries, which see points alone.  Points
    are distinct integers from 1 to largest − 1, and queries from 0 to `largest`: scale those
    that are not.

    Raises ValueError for another number of points, numbers that are not such, a point twice, other
    leading dimensions, and a float format that does not hold all sums.
    """

    def __init__(self, cells: int, largest: int, factor: int) -> None:
        super().__init__()
        self.cells, self.largest, self.factor = cells, largest, factor

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        holds(like, self.largest * self.factor)
        points, queries = finite_tensors(like, inputs, "points", "queries")
        row_of(points, self.cells)
        if queries.ndim < 1 or queries.shape[:-1] != points.shape[:-1]:
            raise InputError(
                f"queries have shape {tuple(queries.shape)} and points {tuple(points.shape)}: "
                "give as many rows (…, m)"
            )
        scale = "scaling both, or build it with a larger `largest`"
        whole("points", points, 1, self.largest - 1, scale)
        whole("queries", queries, 0, self.largest, scale)
        distinct(points)
        return points, queries

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        points, queries = inputs
        x, none = [points, points * 0 + 1], queries * 0
        rows = [
            xp.stack([*x, points * 0, points * 0], axis=-1),
            xp.stack([none, none, queries, none + 1], axis=-1),
        ]
        return Prompt(xp.concat(rows, axis=-2), self.cells, slice(self.cells, None))

    def drawn(self, draw: Draw, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        points = rng.choice(self.largest - 1, self.cells, replace=False) + 1
        return points, rng.integers(self.largest + 1, size=ROWS)

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        return outputs[..., 0].round().to(torch.int64)


class Table(Cells):
    """As `Cells`, with T extra cells: points (…, N) and queries (…, m) → integers (…, m).

    Tokens are (x, 1, 0, 0, 0, 0) for points, (0, 0, t, 1, 0, 0) for extra cells, t = 0 … T − 1, and
    (0, 0, 0, 0, q, 1) for queries, which see both.
    """

    def __init__(self, cells: int, extra: int, largest: int, factor: int) -> None:
        super().__init__(cells, largest, factor)
        self.extra = extra

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        points, queries = inputs
        # Zeros in whatever numbers the points are, as many as there are extra cells.
        none = xp.concat([points[..., :1] * 0] * self.extra, axis=-1)
        numbers = none + xp.arange(self.extra)
        x, q = points * 0, queries * 0
        rows = [
            xp.stack([points, x + 1, x, x, x, x], axis=-1),
            xp.stack([none, none, numbers, none + 1, none, none], axis=-1),
            xp.stack([q, q, q, q, queries, q + 1], axis=-1),
        ]
        stored = self.cells + self.extra
        return Prompt(xp.concat(rows, axis=-2), stored, slice(stored, None))


class Sketch(Interface):
    """A stream of items (…, n) and queries (…, m) → integers (…, m) as int64.

    Tokens are numbers of the embedding's rows: i for an item of the stream, V + c for cell c, and
    V + k + i for a query of item i.  Queries see the stream and the cells.

    Raises ValueError for entries that are not integers from 0 to V − 1, a stream longer than
    `longest`, other leading dimensions, and a float format that does not hold all counts.
    """

    def __init__(self, items: int, cells: int, longest: int) -> None:
        super().__init__()
        self.items, self.counters, self.longest = items, cells, longest

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        holds(like, 2 * self.longest)
        given = zip(as_many(inputs, "stream", "queries"), ("the stream", "queries"), strict=True)
        stream, queries = (
            torch.as_tensor(read(Tokens, name, each, below=self.items), device=like.device)
            for each, name in given
        )
        if stream.shape[-1] > self.longest:
            raise InputError(
                f"the stream has {stream.shape[-1]} items: give at most {self.longest}, or build "
                "it with a larger `longest`"
            )
        if queries.shape[:-1] != stream.shape[:-1]:
            raise InputError(
                f"queries have shape {tuple(queries.shape)} and the stream {tuple(stream.shape)}: "
                "give as many rows (…, m)"
            )
        return stream, queries

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        stream, queries = inputs
        own = self.items + xp.arange(self.counters)
        cells = xp.concat([stream[..., :1] * 0] * self.counters, axis=-1) + own
        tokens = xp.concat([stream, cells, queries + self.items + self.counters], axis=-1)
        stored = stream.shape[-1] + self.counters
        return Prompt(tokens, stored, slice(stored, None))

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        return outputs[..., 0].round().to(torch.int64)

    def drawn(self, draw: Draw, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        return rng.integers(self.items, size=12), rng.integers(self.items, size=ROWS)


def row_of(points: Tensor, n: int) -> None:
    """Raise ValueError unless points are (…, n)."""
    if points.ndim < 1 or points.shape[-1] != n:
        raise InputError(
            f"points have shape {tuple(points.shape)} and the model was built for {n}: "
            f"give (…, {n}), or build it again"
        )


def holds(like: Tensor, largest: int) -> None:
    """Raise ValueError for a float format that rounds half of integers up to `largest`."""
    if 1 / torch.finfo(like.dtype).eps < 2 * largest:
        raise InputError(
            f"{str(like.dtype).removeprefix('torch.')} does not hold integers up to "
            f"{largest:.3g}: use float64, or a smaller `largest`"
        )
