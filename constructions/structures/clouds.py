"""Interfaces of models: prompts of points in d dimensions, and of queries."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from constructions.interface import ROWS, Draw, Interface, Prompt, finite_tensors
from constructions.structures.cells import check_dtype, whole
from theory.kinds import InputError


class Cloud(Interface):
    """The interface of models from points (…, N, d) to int64 integers (…, N).

    Token i consists of the coordinates of the i-th point, followed by 1.  Raises ValueError for a
    wrong number or dimension of points, for entries that are not integers of absolute value below
    `largest`, and for a dtype in which sums may be rounded.
    """

    def __init__(self, n_points: int, d: int, largest: int, factor: int) -> None:
        super().__init__()
        self.n_points, self.dimension, self.largest, self.factor = n_points, d, largest, factor
        self.context = n_points

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        check_dtype(like, self.largest * self.factor)
        (points,) = finite_tensors(like, inputs, "points")
        cloud_of(points, self.n_points, self.dimension)
        high = self.largest - 1
        whole("points", points, -high, high, "or build the model with a larger `largest`")
        return (points,)

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        (points,) = inputs
        # A column of ones, in the number system of the points.
        tokens = xp.concat([points, points[..., :1] * 0 + 1], axis=-1)
        return Prompt(tokens, tokens.shape[-2])

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        return outputs[..., 0].round().to(torch.int64)

    def random_inputs(self, draw: Draw, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        """Random points, some with equal coordinates."""
        high = min(self.largest, self.n_points)
        return (rng.integers(1 - high, high, size=(self.n_points, self.dimension)),)


class LaidOut(Interface):
    """The interface from points (…, N, d) in cells and queries (…, m, d) to int64 integers (…, m).

    The points are laid out in cells.  The token of the point x in cell c is (x, 1, c, 0, 0), and
    the token of a query q is (0, 0, 0, q, 1).  Queries attend to points only.  Coordinates of
    points are integers from 1 to largest − 1, and coordinates of queries are integers from 0 to
    `largest`.

    Raises ValueError for a wrong number or dimension of points, for points or queries outside these
    ranges, if the leading dimensions of points and queries differ, and for a dtype in which sums
    may be rounded.
    """

    def __init__(self, n_points: int, d: int, largest: int, factor: int) -> None:
        super().__init__()
        self.n_points, self.dimension, self.largest, self.factor = n_points, d, largest, factor

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        check_dtype(like, self.largest * self.factor)
        points, queries = finite_tensors(like, inputs, "points", "queries")
        cloud_of(points, self.n_points, self.dimension)
        leading = points.shape[:-2]
        alike = queries.shape[:-2] == leading and queries.shape[-1:] == points.shape[-1:]
        if queries.ndim < 2 or not alike:
            raise InputError(
                f"queries have shape {tuple(queries.shape)} and points {tuple(points.shape)}: "
                "give queries (…, m, d) of the same leading dimensions"
            )
        remedy = "by scaling points and queries, or build the model with a larger `largest`"
        whole("points", points, 1, self.largest - 1, remedy)
        whole("queries", queries, 0, self.largest, remedy)
        return points, queries

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        points, queries = inputs
        x, q = points[..., :1] * 0, queries[..., :1] * 0
        cells = xp.concat([x[..., i : i + 1, :] + i for i in range(self.n_points)], axis=-2)
        rows = [
            xp.concat([points, x + 1, cells, points * 0, x], axis=-1),
            xp.concat([queries * 0, q, q, queries, q + 1], axis=-1),
        ]
        return Prompt(xp.concat(rows, axis=-2), self.n_points, slice(self.n_points, None))

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        return outputs[..., 0].round().to(torch.int64)

    def random_inputs(self, draw: Draw, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        """Random points and queries, some with equal coordinates."""
        high = min(self.largest, 2 * self.n_points + 2)
        points = rng.integers(1, high, size=(self.n_points, self.dimension))
        return points, rng.integers(high + 1, size=(ROWS, self.dimension))


def cloud_of(points: Tensor, N: int, d: int) -> None:
    """Raise ValueError unless the shape of the points is (…, N, d)."""
    if points.ndim < 2 or points.shape[-2:] != (N, d):
        raise InputError(
            f"points have shape {tuple(points.shape)} and the model was built for {N} points of "
            f"dimension {d}: give points of shape (…, {N}, {d}), or build a model for this shape"
        )
