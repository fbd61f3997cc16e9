"""Points of the plane in rows back and forth, and lookups that are chosen at once.

The order of the points is a curve: rows are run through from left to right and from right to left
in turn, so that what is near in the order is near in the plane.  A row are either those in a band,
⌊rows·y⌋ for y in (0, 1), or as many points as in any other, by their y; then the cells at which a
row begins are known, and the place in the order says more.

Lookups chosen at once can only be the likeliest places given the query.  These are counted here for
the queries of each square of a grid on drawn points, and used on others: what they find is what
this strategy finds, and no less than the best can do but for the grid and the counting.  So they
know the law of the points, of which a kd-tree asks nothing.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError
from theory.structures.clouds import as_cloud, nearest_in_cloud, uniform_cloud

SETS = 10_000  # drawn at once
Order = Callable[[np.ndarray], np.ndarray]


def band_order(points: ArrayLike, rows: int) -> np.ndarray:
    """Which of the points (…, N, 2) of the unit square stands in each cell, by bands, (…, N).

    Raises ValueError for rows < 1, points that are not in the unit square, and as `as_cloud`.
    """
    x = _in_the_square(points)
    bands = checks.dimension("rows", rows)
    return _back_and_forth(x, np.minimum((bands * x[..., 1]).astype(np.int64), bands - 1))


def row_order(points: ArrayLike, rows: int) -> np.ndarray:
    """The same, by rows of as many points each, or one more.  Raises ValueError as `band_order`."""
    x = _in_the_square(points)
    by_height = x[..., 1].argsort(axis=-1, kind="stable").argsort(axis=-1)
    return _back_and_forth(x, by_height * checks.dimension("rows", rows) // x.shape[-2])


def _back_and_forth(x: np.ndarray, row: np.ndarray) -> np.ndarray:
    along = np.where(row % 2 == 0, x[..., 0], 1 - x[..., 0])
    return np.lexsort((along, row), axis=-1)


def _in_the_square(points: ArrayLike) -> np.ndarray:
    x = as_cloud(points)
    if x.shape[-1] != 2 or x.min() < 0 or x.max() > 1:
        raise InputError(
            f"points have shape {x.shape} and are from {x.min():g} to {x.max():g}: give points "
            "(…, N, 2) of the unit square"
        )
    return x


def found_at_once(
    order: Order, N: int, lookups: int, sets: int, rng: np.random.Generator, grid: int = 16
) -> np.ndarray:
    """Whether the i likeliest places given the query hold the nearest of N uniform points of the
    square, (sets, M), a query to a set.

    `order` says which point stands in each cell; places are counted on twenty times as many sets.
    Raises ValueError for counts below 1.
    """
    M, count = checks.dimension("lookups", lookups), checks.dimension("sets", sets)
    squares = checks.dimension("grid", grid)
    seen = np.zeros((squares * squares, checks.dimension("N", N)))
    for start in range(0, 20 * count, SETS):
        at, place = _places(order, N, min(SETS, 20 * count - start), squares, rng)
        np.add.at(seen, (at, place), 1)
    likeliest = np.argsort(-seen, axis=1, kind="stable")[:, :M]
    parts = [_places(order, N, min(SETS, count - a), squares, rng) for a in range(0, count, SETS)]
    at, place = (np.concatenate(each) for each in zip(*parts, strict=True))
    return np.logical_or.accumulate(likeliest[at] == place[:, None], axis=1)


def _places(
    order: Order, N: int, sets: int, grid: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The square of each query and the place of its nearest neighbour in the order, (sets,)."""
    x, q = uniform_cloud(sets, N, 2, 1, rng)
    place = (order(x) == nearest_in_cloud(x, q)).argmax(axis=-1)
    return (grid * q[:, 0]).astype(np.int64) @ [grid, 1], place
