"""A table of T extra cells for N points in any order, and two lookups per query.

The range from 0 to D = `largest` is divided into T buckets of equal length.  Bucket t = 0 … T − 1
has the middle c_t = (2t + 1)·D/(2T), and extra cell t contains the cell of the point nearest to
c_t.

Layer 1 writes to each point its cell, rank + 1 (`rank.py`).  A ReLU head with the diagonal mask
writes to each point x the square x², and to each extra cell t the square t².

Layer 2, average-hard: for extra cell t the head selects the point nearest to c_t, and of two
equally near points the lower.  The score of point x is

    2D·((2t + 1)·D·x − T·x²) − x,

which is largest where T·(x − c_t)² is smallest.  The expression in parentheses is an integer, so
two values of the first term are equal or differ by at least 2D, and two values of x differ by less
than D.  A sufficiently large term, added to the scores of points, excludes extra cells.  Points and
queries receive a mean of values, which the MLP subtracts.

Layer 3, average-hard: lookup 1 of query q is at the extra cell of its bucket, which has the largest
score

    t·(2Tq − D + 1) − t²·D,       with steps 2(Tq − (t + 1)·D) + 1 from t to t + 1.

These steps are odd numbers, and a step is positive iff t + 1 ≤ Tq/D.  So the selected t is ⌊Tq/D⌋,
or T − 1 for q = D.  The value of the head is the content m of the extra cell.

Layer 4, three ReLU heads: lookup 2 outputs the point in cell m (`rank.py`).
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, TypeAlias

import numpy as np

from constructions.assembly import Head, block, embed, unembed
from constructions.blocks import Stage
from constructions.call import construction
from constructions.margins import Margin
from constructions.primitives import ReLU
from constructions.stream import Stream
from constructions.structures.cells import Largest, Table, exact_range
from constructions.structures.rank import at_rank, rank_heads
from constructions.transformer import Transformer
from theory.kinds import Count, InputError, Within
from theory.structures.bucket_table import table_lookup

MOST = 10**6  # cells
CellCount: TypeAlias = Annotated[Count, Within(most=MOST)]
"""An integer from 1 to 10^6."""


@construction
def bucket_table(
    n_points: CellCount, n_cells: CellCount, *, largest: Largest = 2**10
) -> Transformer:
    """A transformer that finds a point near each query in a table, with two lookups.

    For points (…, N) and queries (…, m), the output `bucket_table(N, T)(points, queries)` (…, m) is
    one of the N = `n_points` points for each query. The range from 0 to `largest` is divided into T
    = `n_cells` buckets of equal length. The output is the point nearest to the middle of the
    query's bucket. The first lookup reads the index of this point in a table with one entry for
    each bucket, and the second lookup reads the point. The model has 4 layers of width 10 with at
    most 3 heads each. Points are distinct integers from 1 to largest − 1 in any order, and queries
    are integers from 0 to `largest`. The points in ascending order have the indices 0 … N − 1.
    After layer 3, the register `m` of the residual stream contains c + 1 for a query whose second
    lookup reads the point of index c.

    Raises ValueError for more than a million points and table entries in all, and for a `largest`
    at which float64 may round sums, or that is not above N. The model raises ValueError for a wrong
    number of points, for points or queries outside these ranges, and for a dtype in which sums may
    be rounded.
    """
    if n_points + n_cells > MOST:
        raise InputError(
            f"n_points is {n_points} and n_cells is {n_cells}: give numbers with "
            f"n_points + n_cells ≤ {MOST}"
        )
    N, T, D = n_points, n_cells, largest
    # `bound` exceeds all scores that are compared; the other sums are at most `others`.
    bound, others = 8 * T * D * max(D * D, T), 4 * (N + T) ** 2
    exact_range(D, 32 * T, power=3)
    exact_range(D, max(32 * T * T, others))
    factor = max(4 * (bound // D), others)
    stream = Stream(x=1, unit=1, cell=1, t=1, extra=1, square=1, q=1, query=1, m=1, v=1)
    x, unit, cell, t, extra, square, q, query, m = map(
        stream.read, ("x", "unit", "cell", "t", "extra", "square", "q", "query", "m")
    )
    B = float(bound)
    squares = Head(x + t, x + t, unit + extra, "square", mask="diagonal")
    contents = Head(
        (4.0 * D * D * t + (2.0 * D * D - 1) * extra, -2.0 * D * T * extra, B * extra),
        (x, square, unit),
        cell,
        "m",
        margin=Margin(1.0),
    )
    found = Head(
        (2.0 * T * q + (1.0 - D) * query, -D * query, B * query),
        (t, square, extra),
        m,
        "m",
        margin=Margin(1.0),
    )
    return Transformer(
        embed(
            stream,
            x={"x": 1.0},
            point={"unit": 1.0, "cell": 1.0},
            t={"t": 1.0},
            extra={"extra": 1.0},
            q={"q": 1.0},
            query={"query": 1.0},
        ),
        [
            block(stream, [*rank_heads(stream, N + T, "cell"), squares], normalise="relu"),
            block(
                stream,
                [contents],
                [ReLU(m - (N + 1.0) * extra, "m", -1.0)],
                normalise="hardmax",
            ),
            block(stream, [found], normalise="hardmax"),
            block(stream, at_rank(stream, N + T, "m", "cell", "v"), normalise="relu"),
        ],
        unembed(stream, stream.read("v")),
        interface=Table(N, T, D, factor),
        stream=stream,
        stages=(Stage(2, "m", _nothing), Stage(3, "m", partial(_cell, T, D))),
        source="[Salemohamed2025]",
    )


def _nothing(points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """m is 0 at queries after layer 2, (…, m, 1)."""
    return np.zeros((*queries.shape, 1))


def _cell(T: int, largest: int, points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The cell, from 1, that the table returns, (…, m, 1)."""
    return table_lookup(np.sort(points), queries, T, 0, largest)[..., None] + 1
