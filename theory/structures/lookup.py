"""Accuracy by lookup: how often the nearest neighbour is among the first i cells looked at.

A strategy never sees the points.  It is a generator that knows the queries and the number of cells,
names one cell for each query, and is sent the values of these cells before it names the next:

    def middle_then_left(q, N):
        values = yield np.full(q.shape, N // 2)
        yield np.where(q < values, 0, N - 1)

"Found" means the cell, not an equal number: a copy elsewhere does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory import machine
from theory.kinds import Count, InputError, Integers, Within, array_of, checked
from theory.structures.points import Points, Queries

MOST_LOOKUPS = 10**5
Lookups = Generator[np.ndarray, np.ndarray, None]
Strategy = Callable[[np.ndarray, int], Lookups]
LookupCount: TypeAlias = Annotated[Count, Within(most=MOST_LOOKUPS)]
"""An integer from 1 to 10^5."""
LookedAt: TypeAlias = Annotated[Any, Integers("... m M", Within(least=0))]
"""The cells at which M lookups of each query are, shape (…, m, M)."""
Nearest: TypeAlias = Annotated[Any, Integers("... m", Within(least=0))]
"""The cell of the nearest neighbour of each query, shape (…, m)."""


@checked
def looked_at(
    strategy: Strategy, points: Points, queries: Queries, lookups: LookupCount
) -> np.ndarray:
    """The cells (…, m, M) of M = `lookups` lookups for queries (…, m) in points (…, N).

    Raises ValueError for a strategy that names what is no cell or ends before, and for what no
    memory holds.
    """
    x, q, M = points, queries, lookups
    machine.fits_in_memory(f"{M} lookups of {q.size} queries", 16 * M * q.size, "take fewer")
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
    named = array_of("what the strategy names", named)
    whole = named.shape == shape and named.dtype.kind in "iu"
    if not whole or not ((named >= 0) & (named < N)).all():
        raise InputError(
            f"the strategy names {named.shape} cells of {named.dtype} that are not all from 0 to "
            f"{N - 1}: one integer for each of {shape} queries"
        )
    return named


@checked
def found(cells: LookedAt, nearest: Nearest) -> np.ndarray:
    """Whether the nearest neighbour (…, m) is among the first i cells of (…, m, M), for i = 1 …
    M."""
    return np.logical_or.accumulate(cells == nearest[..., None], axis=-1)


@checked
def accuracy_by_lookup(cells: LookedAt, nearest: Nearest) -> np.ndarray:
    """The fraction of queries whose nearest neighbour is among the first i cells, (M,)."""
    right = found(cells, nearest)
    return np.asarray(right.reshape(-1, right.shape[-1]).mean(axis=0))
