"""Interfaces of models: prompts of points and queries, of tables and of sketches; exact ranges."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from constructions.interface import ROWS, Draw, Interface, Prompt, as_many, finite_tensors
from theory.kinds import Count, CountFrom2, InputError, Tokens, Within, read

EXACT = 2**51  # half-integers up to this number are exact in float64
LookupLayers: TypeAlias = Annotated[Count, Within(most=20)]
"""An integer from 1 to 20: a number of lookups in a tree of at most a million points."""
Largest: TypeAlias = CountFrom2
"""An integer ≥ 2: the end of the range of points and queries."""


def whole(name: str, values: Tensor, low: int, high: int, why: str) -> None:
    """Raise ValueError unless all values are integers from `low` to `high`.

    The message contains `name`, the name of the values, and `why`, the reason for the range.
    """
    bad = (values != values.round()) | (values < low) | (values > high)
    if bool(bad.any()):
        raise InputError(
            f"{name} contain {float(values[bad][0]):g}: give integers from {low} to {high}, {why}"
        )


def distinct(points: Tensor) -> None:
    """Raise ValueError if two points in a row (last axis) are equal."""
    ordered = points.sort(-1).values
    same = ordered[..., 1:] == ordered[..., :-1]
    if bool(same.any()):
        raise InputError(
            f"points contain {float(ordered[..., 1:][same][0]):g} twice: give distinct points, as "
            "each point has its own cell"
        )


def exact_range(largest: int, factor: int, power: int = 1) -> int:
    """`largest`, if float64 represents all half-integers up to factor·largest^power exactly.

    Otherwise raises ValueError.
    """
    if factor * largest**power > EXACT:
        most = int((EXACT // factor) ** (1 / power)) + 1
        while factor * most**power > EXACT:
            most -= 1
        if most < 2:
            raise InputError(
                f"sums up to {factor:.3g} times `largest` are not exact in float64: give fewer "
                "points, cells or lookups"
            )
        raise InputError(
            f"the parameter largest is {largest}: give at least 2 and at most {most}, so that "
            "every sum is exact"
        )
    return largest


def holds(n_points: int, integers: int, largest: int, least: int) -> None:
    """Raises ValueError if there are fewer different points than n; `least` suffices."""
    if integers < n_points:
        raise InputError(
            f"largest is {largest}, for which there are {integers} different points, not "
            f"{n_points}: give at least {least}"
        )


class Row(Interface):
    """The interface of models from points (…, n) to points (…, n); token i is the i-th number.

    Raises ValueError for a wrong number of points, for points that are not distinct integers of
    absolute value below `largest`, and for a dtype in which sums may be rounded.
    """

    def __init__(self, n: int, largest: int, factor: int) -> None:
        super().__init__()
        holds(n, 2 * largest - 1, largest, n // 2 + 1)
        self.length, self.largest, self.factor = n, largest, factor
        self.context = n

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        check_dtype(like, self.largest * self.factor)
        (points,) = finite_tensors(like, inputs, "points")
        row_of(points, self.length)
        high = self.largest - 1
        whole("points", points, -high, high, "or build the model with a larger `largest`")
        distinct(points)
        return (points,)

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        (points,) = inputs
        # A column of points and one of ones, in the number system of the points.
        tokens = xp.stack([points, points * 0 + 1], axis=-1)
        return Prompt(tokens, tokens.shape[-2])

    def random_inputs(self, draw: Draw, rng: np.random.Generator) -> tuple[np.ndarray]:
        return (draw(1, self.length)[0],)

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        return outputs[..., 0]


class Cells(Interface):
    """The interface of models from points (…, N) and queries (…, m) to int64 integers (…, m).

    The token of a point x is (x, 1, 0, 0), and the token of a query q is (0, 0, q, 1).  Queries
    attend to points only.  Points are distinct integers from 1 to largest − 1 in any order, and
    queries are integers from 0 to `largest`.

    Raises ValueError for a wrong number of points, for points or queries outside these ranges, if
    the leading dimensions of points and queries differ, and for a dtype in which sums may be
    rounded.
    """

    def __init__(self, n_points: int, largest: int, factor: int) -> None:
        super().__init__()
        holds(n_points, largest - 1, largest, n_points + 1)
        self.n_points, self.largest, self.factor = n_points, largest, factor

    @property
    def hard(self) -> bool:
        """True: averages of points are no points."""
        return True

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        check_dtype(like, self.largest * self.factor)
        points, queries = finite_tensors(like, inputs, "points", "queries")
        row_of(points, self.n_points)
        if queries.ndim < 1 or queries.shape[:-1] != points.shape[:-1]:
            raise InputError(
                f"queries have shape {tuple(queries.shape)} and points {tuple(points.shape)}: "
                "give queries (…, m) of the same leading dimensions"
            )
        remedy = "by scaling points and queries, or build the model with a larger `largest`"
        whole("points", points, 1, self.largest - 1, remedy)
        whole("queries", queries, 0, self.largest, remedy)
        distinct(points)
        return points, queries

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        points, queries = inputs
        x, none = [points, points * 0 + 1], queries * 0
        rows = [
            xp.stack([*x, points * 0, points * 0], axis=-1),
            xp.stack([none, none, queries, none + 1], axis=-1),
        ]
        return Prompt(xp.concat(rows, axis=-2), self.n_points, slice(self.n_points, None))

    def random_inputs(self, draw: Draw, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        points = rng.choice(self.largest - 1, self.n_points, replace=False) + 1
        return points, rng.integers(self.largest + 1, size=ROWS)

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        return outputs[..., 0].round().to(torch.int64)


class Table(Cells):
    """The interface of models of a table, from points (…, N) and queries (…, m) to integers (…, m).

    The interface is `Cells` with a further token for each of T extra cells.  The tokens are
    (x, 1, 0, 0, 0, 0) for a point x, (0, 0, t, 1, 0, 0) for extra cell t = 0 … T − 1, and
    (0, 0, 0, 0, q, 1) for a query q.  Queries attend to points and extra cells.
    """

    def __init__(self, n_points: int, n_cells: int, largest: int, factor: int) -> None:
        super().__init__(n_points, largest, factor)
        self.n_cells = n_cells

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        points, queries = inputs
        zero = points[..., :1] * 0  # in the number system of the points, and on their device
        numbers = xp.concat([zero + t for t in range(self.n_cells)], axis=-1)
        none = numbers * 0
        x, q = points * 0, queries * 0
        rows = [
            xp.stack([points, x + 1, x, x, x, x], axis=-1),
            xp.stack([none, none, numbers, none + 1, none, none], axis=-1),
            xp.stack([q, q, q, q, queries, q + 1], axis=-1),
        ]
        stored = self.n_points + self.n_cells
        return Prompt(xp.concat(rows, axis=-2), stored, slice(stored, None))


class Sketch(Interface):
    """The interface of sketches, from streams (…, n) and queries (…, m) to int64 integers (…, m).

    Tokens are indices of rows of the embedding.  Streams and queries contain items from 0 to V − 1,
    and the sketch has k cells.  The index is i for item i in the stream, V + c for cell c, and
    V + k + i for a query of item i.  Queries attend to the stream and the cells.

    Raises ValueError for entries that are not integers from 0 to V − 1, a stream longer than
    `max_length`, streams and queries of different leading dimensions, and a dtype in which counts
    may be rounded.
    """

    def __init__(self, vocabulary_size: int, n_cells: int, max_length: int) -> None:
        super().__init__()
        self.vocabulary_size, self.n_cells, self.max_length = vocabulary_size, n_cells, max_length

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        check_dtype(like, 2 * self.max_length)
        given = zip(as_many(inputs, "stream", "queries"), ("the stream", "queries"), strict=True)
        stream, queries = (
            torch.as_tensor(
                read(Tokens, name, each, below=self.vocabulary_size), device=like.device
            )
            for each, name in given
        )
        if stream.shape[-1] > self.max_length:
            raise InputError(
                f"the stream has {stream.shape[-1]} items: give at most "
                f"{self.max_length} items, or build the model with a larger `max_length`"
            )
        if queries.shape[:-1] != stream.shape[:-1]:
            raise InputError(
                f"queries have shape {tuple(queries.shape)} and the stream {tuple(stream.shape)}: "
                "give queries (…, m) of the same leading dimensions"
            )
        return stream, queries

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        stream, queries = inputs
        first = stream[..., :1] * 0 + self.vocabulary_size
        cells = [first + c for c in range(self.n_cells)]
        tokens = xp.concat([stream, *cells, queries + self.vocabulary_size + self.n_cells], axis=-1)
        stored = stream.shape[-1] + self.n_cells
        return Prompt(tokens, stored, slice(stored, None))

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        return outputs[..., 0].round().to(torch.int64)

    def random_inputs(self, draw: Draw, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        return rng.integers(self.vocabulary_size, size=12), rng.integers(
            self.vocabulary_size, size=ROWS
        )


def row_of(points: Tensor, n: int) -> None:
    """Raise ValueError unless the shape of the points is (…, n)."""
    if points.ndim < 1 or points.shape[-1] != n:
        raise InputError(
            f"points have shape {tuple(points.shape)} and the model was built for {n} points: "
            f"give points of shape (…, {n}), or build a model for this number of points"
        )


def check_dtype(like: Tensor, largest: int) -> None:
    """Raise ValueError if the dtype of `like` rounds half-integers up to `largest`."""
    if 1 / torch.finfo(like.dtype).eps < largest:
        raise InputError(
            f"{str(like.dtype).removeprefix('torch.')} does not represent half-integers up to "
            f"{largest:.3g}: use float64, or a smaller `largest`"
        )
