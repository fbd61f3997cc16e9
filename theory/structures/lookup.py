"""Accuracy by lookup: how often the nearest neighbour is among the first i cells looked at.

A strategy never sees the points.  It is a generator that knows the queries and the number of cells,
names one cell for each query, and is sent the values of these cells before it names the next:

    def middle_then_left(q, N):
        values = yield np.full(q.shape, N // 2)
        yield np.where(q < values, 0, N - 1)

"Found" means the cell, not an equal number: a copy elsewhere does not count.
"""

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from theory import checks, machine
from theory.checks import InputError
from theory.structures.points import as_points, as_queries

MOST_LOOKUPS = 10**5
Lookups = Generator[np.ndarray, np.ndarray, None]
Strategy = Callable[[np.ndarray, int], Lookups]


def looked_at(
    strategy: Strategy, points: ArrayLike, queries: ArrayLike, lookups: int
) -> np.ndarray:
    """The cells (…, m, M) of M = `lookups` lookups for queries (…, m) in points (…, N).

    Raises ValueError for lookups < 1 or above 10^5, for a strategy that names what is no cell or
    ends before, and as `as_points` and `as_queries`.
    """
    x = as_points(points)
    q, M = as_queries(queries, x), checks.dimension("lookups", lookups, MOST_LOOKUPS)
    machine.fits_in_memory(f"{M} lookups of {q.size} queries", 16 * M * q.size, "take fewer")
    if not callable(strategy):
        raise InputError(f"strategy is {strategy!r}: give one, such as binary_search")
    N, search = x.shape[-1], strategy(q, x.shape[-1])
    # Where the row of each query begins in all points, one row behind the other.
    begins = np.arange(0, x.size, N).reshape(*x.shape[:-1], 1)
    cells, seen = list[np.ndarray](), None
    for i in range(M):
        try:
            cells.append(_cells(next(search) if seen is None else search.send(seen), q.shape, N))
        except StopIteration:
            raise InputError(f"the strategy ends after {i} lookups: ask for as many") from None
        seen = x.reshape(-1).take(begins + cells[-1])
    return np.stack(cells, axis=-1)


def _cells(named: Any, shape: tuple[int, ...], N: int) -> np.ndarray:
    named = checks.array_of("what the strategy names", named)
    whole = named.shape == shape and named.dtype.kind in "iu"
    if not whole or not ((named >= 0) & (named < N)).all():
        raise InputError(
            f"the strategy names {named.shape} cells of {named.dtype} that are not all from 0 to "
            f"{N - 1}: one whole number for each of {shape} queries"
        )
    return named


def found(cells: ArrayLike, nearest: ArrayLike) -> np.ndarray:
    """Whether the nearest neighbour (…, m) is among the first i cells of (…, m, M), for i = 1 … M.

    Raises ValueError for what are no cells, or shapes that do not belong together.
    """
    looked, wanted = checks.step_counts("cells", cells), checks.step_counts("nearest", nearest)
    if looked.shape[:-1] != wanted.shape or looked.ndim < 1:
        raise InputError(
            f"cells have shape {looked.shape} and nearest neighbours {wanted.shape}: "
            "give (…, m, M) and (…, m)"
        )
    return np.logical_or.accumulate(looked == wanted[..., None], axis=-1)


def accuracy_by_lookup(cells: ArrayLike, nearest: ArrayLike) -> np.ndarray:
    """The share of queries whose nearest neighbour is among the first i cells, (M,).  Raises
    ValueError as `found`."""
    right = found(cells, nearest)
    return np.asarray(right.reshape(-1, right.shape[-1]).mean(axis=0))
