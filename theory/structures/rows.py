"""Points of the plane in rows, in alternating directions, and lookups that are chosen at once.

Rows are traversed alternately from left to right and from right to left, so points that are near in
the order are near in the plane.  There are two kinds of rows.  A band contains the points (x, y)
with one value of ⌊n_rows·y⌋.  Alternatively, points are divided by y into rows of equal size.  Then
the first cell of each row is known, and the place in the order determines the point more precisely.

If all cells are chosen at once, from the query only, the best cells are the most probable places of
the nearest neighbour given the query.  Their probabilities are estimated for each square of a grid,
by counting on random points, and the accuracy is evaluated on other points.  The strategy is
optimal up to the grid and the counting errors.  Unlike a kd-tree, it uses the distribution of the
points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory import machine
from theory.kinds import Count, InputError, Reals, Seed, StepsArray, Within, checked, read
from theory.structures.clouds import nearest_in_cloud, uniform_cloud
from theory.structures.points import Size

SETS, MOST_SETS = 10_000, 10**7  # numbers of sets per chunk, and in all
Order = Callable[[np.ndarray], np.ndarray]
InSquare: TypeAlias = Annotated[Any, Reals("... N 2", Within(least=0, most=1))]
"""Points of the unit square, shape (…, N, 2)."""


@checked
def band_order(points: InSquare, n_rows: Size) -> np.ndarray:
    """An order of points of the unit square along horizontal bands, as indices of points (…, N).

    Entry c of the result is the index of the point that is at place c in the order.  Points (…, N,
    2) of the unit square are divided into `n_rows` horizontal bands of equal height.  The bands are
    traversed from the lowest to the highest, alternately from left to right and from right to left.
    """
    band = np.minimum((n_rows * points[..., 1]).astype(np.int64), n_rows - 1)
    return _back_and_forth(points, band)


@checked
def row_order(points: InSquare, n_rows: Size) -> np.ndarray:
    """An order of points of the unit square along rows of equal size, as indices of points (…, N).

    Entry c of the result is the index of the point that is at place c in the order.  Points (…, N,
    2) are divided by their second coordinate into `n_rows` rows, whose numbers of points differ by
    at most one.  The rows are traversed from the lowest to the highest, alternately from left to
    right and from right to left.
    """
    by_height = points[..., 1].argsort(axis=-1, kind="stable").argsort(axis=-1)
    return _back_and_forth(points, by_height * n_rows // points.shape[-2])


def _back_and_forth(x: np.ndarray, row: np.ndarray) -> np.ndarray:
    along = np.where(row % 2 == 0, x[..., 0], -x[..., 0])
    return np.lexsort((along, row), axis=-1)


@checked
def found_at_once(
    order: Order,
    n_points: Size,
    lookups: Count,
    n_sets: Annotated[Count, Within(most=MOST_SETS)],
    seed: Seed,
    grid: Size = 16,
) -> np.ndarray:
    """Whether the nearest neighbour is in one of the i most probable cells, (n_sets, M).

    The last axis is i = 1 … M = `lookups`.  There are `n_sets` random sets of `n_points` points and
    one query, all uniform on the unit square.  Each cell contains one point: `order` is a function
    that maps points (…, N, 2) to the index of the point in each cell, (…, N).  The unit square is
    divided into grid × grid equal squares.  All M cells are chosen at once: they are the cells that
    most probably contain the nearest neighbour, given only which of these squares contains the
    query.  The probabilities are estimated by counting in 20·n_sets further sets of points.  Raises
    ValueError for an order that is not a permutation, or for arrays that do not fit in memory.
    """
    machine.fits_in_memory(
        f"{n_points:.3g} places of {grid:.3g}² squares",
        32 * grid**2 * n_points,
        "give fewer places",
    )
    rng = np.random.default_rng(seed)
    seen = np.zeros((grid * grid, n_points))
    for start in range(0, 20 * n_sets, SETS):
        at, place = _places(order, n_points, min(SETS, 20 * n_sets - start), grid, rng)
        np.add.at(seen, (at, place), 1)
    likeliest = np.argsort(-seen, axis=1, kind="stable")[:, :lookups]
    parts = [
        _places(order, n_points, min(SETS, n_sets - a), grid, rng) for a in range(0, n_sets, SETS)
    ]
    at, place = (np.concatenate(each) for each in zip(*parts, strict=True))
    return np.logical_or.accumulate(likeliest[at] == place[:, None], axis=1)


def _places(
    order: Order, N: int, sets: int, grid: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The square of each query and the place of its nearest neighbour in the order, (sets,)."""
    x, q = uniform_cloud(sets, N, 2, 1, rng)
    cells = read(StepsArray, "the order", order(x))
    if cells.shape != x.shape[:-1] or (np.sort(cells) != np.arange(N)).any():
        raise InputError(
            f"the function `order` returns an array of shape {cells.shape} that is not a "
            f"permutation in each row: give a function that returns a permutation of 0 … {N - 1} "
            "for each set"
        )
    place = (cells == nearest_in_cloud(x, q)).argmax(axis=-1)
    return (grid * q[:, 0]).astype(np.int64) @ [grid, 1], place
