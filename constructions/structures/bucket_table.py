"""A table of T extra cells beside N points that stand in any order: two lookups find the neighbour.

The range from 0 to D = `largest` is divided into T buckets, t's middle is c_t = (2t + 1)·D/(2T),
and extra cell t names the cell of the point that is nearest to it.

Layer 1 gives each point its cell, rank + 1 (`rank.py`), and each point and each extra cell the
square of its number, x² or t², by a ReLU head of the token with itself.

Layer 2, average-hard: the head of extra cell t selects the nearest point, of two as near the lower,

    2D·((2t + 1)·D·x − T·x²) − x        largest where T·(x − c_t)² is least:

the bracket differs by integers, so by 2D at least or not at all, and x by less than D.  The term B
of points, as large as needed, keeps extra cells from being selected.  Points and queries receive a
mean there, which the MLP subtracts again.

Layer 3, average-hard: lookup 1 of query q is at the extra cell of its bucket, the largest

    t·(2Tq − D + 1) − t²·D,       with steps 2(Tq − (t + 1)·D) + 1 from t to t + 1,

odd numbers, above 0 iff t + 1 ≤ Tq/D: so t = ⌊Tq/D⌋, and T − 1 for q = D.  It brings what the cell
names, m.  Layer 4, three ReLU heads: lookup 2 brings the point in cell m (`rank.py`).
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
def bucket_table(N: CellCount, T: CellCount, *, largest: Largest = 2**10) -> Transformer:
    """`bucket_table(N, T)(points, queries)`: the point that the table names for each query, (…, N)
    and (…, m) → (…, m).

    4 layers, at most 3 heads each, width 10.  Points are distinct integers from 1 to largest −
    1 in any order, queries integers from 0 to `largest`.  `m` − 1 after layer 3 is the cell,
    from 0 in ascending order, of lookup 2.

    Raises ValueError for more than a million cells in all, and a `largest` at which sums leave
    float64; the model as `Cells`.
    """
    if N + T > MOST:
        raise InputError(f"N is {N} and T is {T}: give at most {MOST} cells in all")
    D = largest
    # Above all scores that are compared, and what has to fit besides.
    bound, besides = 8 * T * D * max(D * D, T), 4 * (N + T) ** 2
    exact_range(D, 32 * T, power=3)
    exact_range(D, max(32 * T * T, besides))
    factor = max(4 * (bound // D), besides)
    stream = Stream(x=1, unit=1, cell=1, t=1, extra=1, square=1, q=1, query=1, m=1, v=1)
    x, unit, cell, t, extra, square, q, query, m = map(
        stream.read, ("x", "unit", "cell", "t", "extra", "square", "q", "query", "m")
    )
    B = float(bound)
    squares = Head(x + t, x + t, unit + extra, "square", mask="diagonal")
    names = Head(
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
                [names],
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
        source="proved in constructions/structures/bucket_table.py",
    )


def _nothing(points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Queries name no cell yet, (…, m, 1)."""
    return np.zeros((*queries.shape, 1))


def _cell(T: int, largest: int, points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The cell, from 1, that the table names, (…, m, 1)."""
    return table_lookup(np.sort(points), queries, T, 0, largest)[..., None] + 1
