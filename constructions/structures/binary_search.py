"""Binary search of N = 2^M − 1 points in any order, with one lookup in each layer.

Layer 1 writes to each point its rank, which is its cell (`rank.py`), and 0 to each query.  The
register m of a query is initially (N − 1)/2, the middle cell.

Layer 2 + k, k = 0, 1, …, M − 1, is one lookup.  Three ReLU heads compute a tent function at
m − rank: the register v becomes the point in cell m, and other cells have weight 0.  The MLP
computes the bit b = [v ≤ q] = φ(q − v + 1) for the query q, where φ(u) = relu(u) − relu(u − 1) is
exact on integers, and

    m ← m + (2b − 1)·2^{M−2−k},      v ← v − relu(v) = 0.

Points are positive, so relu(v) = v.  m is the middle of a bracket of 2^{M−k} − 1 cells, and the
next m is the middle of the half that contains q.  After the last lookup m is a half-integer, and
the output m + ½ is the number of points ≤ q.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from constructions.assembly import block, embed, unembed
from constructions.blocks import Block, Stage
from constructions.call import construction
from constructions.primitives import Move, ReLU, Step
from constructions.stream import Stream, one
from constructions.structures.cells import Cells, Largest, LookupLayers, exact_range
from constructions.structures.rank import at_rank, rank_heads
from constructions.transformer import Transformer
from theory import structures
from theory.structures.lookup import looked_at


@construction
def binary_search(lookups: LookupLayers, *, largest: Largest = 2**10) -> Transformer:
    """A transformer that performs binary search, with one comparison in each layer.

    For points (…, N) and queries (…, m), the output `binary_search(M)(points, queries)` (…, m) is
    the number of points that are ≤ each query. Here M = `lookups` is the number of comparisons, and
    N = 2^M − 1. The model has width 6 and 1 + M layers. The first layer has 2 ReLU heads, and each
    further layer has 3 ReLU heads and 3 hidden neurons. Points are distinct integers from 1 to
    largest − 1 in any order, and queries are integers from 0 to `largest`. The points in ascending
    order have the indices 0 … N − 1. After layer k = 1 … M, the register `m` of the residual stream
    contains the index of the point for comparison k.

    Raises ValueError for a `largest` at which float64 may round sums, or that is not above N. The
    model raises ValueError for a wrong number of points, for points or queries outside these
    ranges, and for a dtype in which sums may be rounded.
    """
    M, N = lookups, 2**lookups - 1
    factor = 4 * N * N
    largest = exact_range(largest, factor)
    stream = Stream(x=1, rank=1, unit=1, q=1, m=1, v=1)
    return Transformer(
        embed(stream, x={"x": 1.0}, point={"unit": 1.0}, q={"q": 1.0}, query={"m": (N - 1) / 2}),
        [
            block(stream, rank_heads(stream, N, "rank"), normalise="relu"),
            *(_lookup(stream, N, 2.0 ** (M - 2 - k)) for k in range(M)),
        ],
        unembed(stream, stream.read("m"), bias=np.array([0.5])),
        interface=Cells(N, largest, factor),
        stream=stream,
        stages=tuple(Stage(k, "m", partial(_cell, k)) for k in range(1, M + 1)),
        source="[Knuth1998, Section 6.2.1]",
    )


def _cell(lookup: int, points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The cell of this lookup of binary search, (…, m, 1)."""
    return looked_at(structures.binary_search, np.sort(points), queries, lookup)[..., -1:]


def _lookup(stream: Stream, N: int, half: float) -> Block:
    q, v = stream.read("q"), stream.read("v")
    words = (
        Step(q - v, 0.0, "m", times=2 * half),
        Move(-half * one, "m"),
        ReLU(v, "v", -1.0),
    )
    return block(stream, at_rank(stream, N, "m", "rank", "v"), words, normalise="relu")
