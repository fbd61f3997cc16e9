"""Search strategies, and how often the nearest neighbour is among the first i cells looked up.

A strategy is a generator that receives the queries and the number of cells, but not the points.  It
yields one cell for each query, and the values in these cells are sent to it:

    def middle_then_end(queries, n_points):
        values = yield np.full(queries.shape, n_points // 2)
        yield np.where(queries < values, 0, n_points - 1)

A query succeeds if the cell of its nearest neighbour is looked up.  A lookup of another cell with
an equal value is not a success.
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
"""The cells of M lookups of each query, shape (…, m, M)."""
Nearest: TypeAlias = Annotated[Any, Integers("... m", Within(least=0))]
"""The cell of the nearest neighbour of each query, shape (…, m)."""


@checked
def looked_at(
    strategy: Strategy, points: Points, queries: Queries, lookups: LookupCount
) -> np.ndarray:
    """The cells that a search strategy looks up for each query, (…, m, M) for M = `lookups`.

    Points (…, N) are in cells 0 … N − 1 in ascending order, and the m queries have shape (…, m).
    `strategy` takes the queries and the number N, and returns a generator.  The generator yields an
    array (…, m) of the cells to look up, and is then sent the values in these cells.  Raises
    ValueError (a) if the strategy yields values that are not cells, (b) if it ends before M
    lookups, (c) if it returns no generator, or (d) for arrays that do not fit in memory.
    """
    x, q, M = points, queries, lookups
    machine.fits_in_memory(
        f"{M} lookups of {q.size} queries", (16 * M + 64) * q.size, "give fewer queries"
    )
    N, search = x.shape[-1], strategy(q, x.shape[-1])
    if not isinstance(search, Generator):
        raise InputError(
            f"strategy returns {type(search).__name__}: write it as a generator, with yield"
        )
    # The flat index at which the row of each query begins.
    begins = np.arange(0, x.size, N).reshape(*x.shape[:-1], 1)
    cells, seen = list[np.ndarray](), None
    for i in range(M):
        try:
            cells.append(_cells(next(search) if seen is None else search.send(seen), q.shape, N))
        except StopIteration:
            raise InputError(
                f"the strategy ends after {i} lookups: give lookups={i}, or a longer strategy"
            ) from None
        seen = x.reshape(-1).take(begins + cells[-1])
    return np.stack(cells, axis=-1)


def _cells(named: Any, shape: tuple[int, ...], N: int) -> np.ndarray:
    named = array_of("cells of the strategy", named)
    whole = named.shape == shape and named.dtype.kind in "iu"
    if not whole or not ((named >= 0) & (named < N)).all():
        raise InputError(
            f"the strategy yields an array of shape {named.shape} and dtype {named.dtype}: change "
            f"the strategy to yield integers from 0 to {N - 1}, in an array of shape {shape}"
        )
    return named


@checked
def found(cells: LookedAt, nearest: Nearest) -> np.ndarray:
    """Whether the nearest neighbour is among the first i cells looked up, (…, m, M).

    The last axis is i = 1 … M.  Each cell contains one point, and a lookup reads one cell.  `cells`
    (…, m, M) contains the M cells that are looked up for each of m queries.  `nearest` (…, m)
    contains the cell of each query's nearest neighbour.
    """
    return np.logical_or.accumulate(cells == nearest[..., None], axis=-1)


@checked
def accuracy_by_lookup(cells: LookedAt, nearest: Nearest) -> np.ndarray:
    """The fraction of queries whose nearest neighbour is among the first i cells looked up, (M,).

    Entry i − 1 is the fraction after i lookups, for i = 1 … M.  Each cell contains one point, and a
    lookup reads one cell.  `cells` (…, m, M) contains the M cells that are looked up for each of m
    queries.  `nearest` (…, m) contains the cell of each query's nearest neighbour.  The fraction is
    over all queries of all leading axes.
    """
    right = found(cells, nearest)
    if not right.size:
        raise InputError(f"nearest has shape {nearest.shape}: give at least one query")
    return np.asarray(right.reshape(-1, right.shape[-1]).mean(axis=0))
