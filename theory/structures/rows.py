"""Points of the plane in rows back and forth, and lookups that are chosen at once.

The order of the points is a curve: rows are run through from left to right and from right to left
in turn, so that what is near in the order is near in the plane.  A row are either those in a band,
⌊rows·y⌋ for y in (0, 1), or as many points as in any other, by their y; then the cells at which a
row begins are known, and the place in the order determines more of the point.

Of lookups chosen at once the best are the likeliest places given the query.  These are counted for
the queries of each square of a grid on drawn points, and used on others: what they find is what
this strategy finds, and no less than the best can do but for the grid and the counting.  So they
use the distribution of the points, which a kd-tree does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory import machine
from theory.kinds import Count, InputError, Reals, Seed, StepsArray, Within, checked, read
from theory.structures.clouds import nearest_in_cloud, uniform_cloud
from theory.structures.points import Size

SETS, MOST_SETS = 10_000, 10**7  # drawn at once, and in all
Order = Callable[[np.ndarray], np.ndarray]
InSquare: TypeAlias = Annotated[Any, Reals("... N 2", Within(least=0, most=1))]
"""Points of the unit square, shape (…, N, 2)."""


@checked
def band_order(points: InSquare, rows: Size) -> np.ndarray:
    """Which of the points (…, N, 2) of the unit square stands in each cell, by bands, (…, N)."""
    band = np.minimum((rows * points[..., 1]).astype(np.int64), rows - 1)
    return _back_and_forth(points, band)


@checked
def row_order(points: InSquare, rows: Size) -> np.ndarray:
    """The same, by rows of as many points each, or one more."""
    by_height = points[..., 1].argsort(axis=-1, kind="stable").argsort(axis=-1)
    return _back_and_forth(points, by_height * rows // points.shape[-2])


def _back_and_forth(x: np.ndarray, row: np.ndarray) -> np.ndarray:
    along = np.where(row % 2 == 0, x[..., 0], 1 - x[..., 0])
    return np.lexsort((along, row), axis=-1)


@checked
def found_at_once(
    order: Order,
    N: Size,
    lookups: Count,
    sets: Annotated[Count, Within(most=MOST_SETS)],
    rng: Seed,
    grid: Size = 16,
) -> np.ndarray:
    """Whether the i likeliest places given the query hold the nearest of N uniform points of the
    square, (sets, M), a query to a set.

    `order` returns which point stands in each cell; places are counted on twenty times as many
    sets.  Raises ValueError for an order that is none, and for what no memory holds.
    """
    machine.fits_in_memory(f"{N:.3g} places of {grid:.3g}² squares", 32 * grid**2 * N, "take fewer")
    seen = np.zeros((grid * grid, N))
    for start in range(0, 20 * sets, SETS):
        at, place = _places(order, N, min(SETS, 20 * sets - start), grid, rng)
        np.add.at(seen, (at, place), 1)
    likeliest = np.argsort(-seen, axis=1, kind="stable")[:, :lookups]
    parts = [_places(order, N, min(SETS, sets - a), grid, rng) for a in range(0, sets, SETS)]
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
            f"the order has shape {cells.shape}: give for each set 0 to {N - 1}, each once"
        )
    place = (cells == nearest_in_cloud(x, q)).argmax(axis=-1)
    return (grid * q[:, 0]).astype(np.int64) @ [grid, 1], place
