"""Count-min: k = d·w cells count a stream, and a query reads one of them in each layer.

Row r = 0 … d − 1 of the sketch has the cells r·w … r·w + w − 1, and in row r item i has the cell
r·w + h_r(i).  There are three kinds of tokens.  Items of the stream have a code with a 1 for each
of their d cells.  Each of the k cells has the one-hot code of its index.  Queries have the code of
their item.

Layer 1.  A linear head: the query is the code of cell c, keys are codes of items, and the value is
1, so the output at cell c is

    count_c = Σ_j Σ_r [r·w + h_r(item_j) = c].

These counts are the product of a matrix of hashes and the counts of the items: count-min is a
linear sketch.

Layer 2 + r is one lookup.  The head's query is the part of the code for row r, which is one-hot, so
the register v becomes the count of this cell.  The MLP computes the minimum,

    estimate ← estimate − relu(estimate − v) = min(estimate, v),      v ← v − relu(v) = 0,

from an initial estimate above all counts.  Conservative update is not a sum over the stream,
because the effect of an item depends on the cells after the earlier items
(`theory/structures/sketches.py`).
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import numpy as np

from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Block, Embed, Stage
from constructions.call import construction
from constructions.primitives import ReLU
from constructions.stream import Map, Stream
from constructions.structures.cells import Sketch
from constructions.transformer import Transformer
from theory import structures
from theory.kinds import Count, Integers, Within
from theory.structures.points import Size
from theory.structures.sketches import counts_of


@construction
def count_min(
    hashes: Annotated[Any, Integers("d V", Within(least=0, below="n_cells"))],
    n_cells: Size,
    max_length: Annotated[Count, Within(most=2**50)],
) -> Transformer:
    """A transformer that computes count-min estimates of the counts of items in a stream.

    For a stream of items and queries (…, m), the output `count_min(hashes, w, n)(stream, queries)`
    (…, m) is the count-min estimate of the number of occurrences of each queried item. The sketch
    is a table with d rows of w = `n_cells` counters. Entry (r, i) of `hashes` (d, V) is the counter
    of item i in row r, a number from 0 to w − 1. A counter contains the number of items of the
    stream that have this counter. The estimate is the minimum, over the rows, of the queried item's
    counters. Items are integers from 0 to V − 1. The model has width 2dw + 4, 1 + d layers of 1
    linear head, and 2 hidden neurons in each layer after the first. A stream has at most n
    = `max_length` items; counts are exact for `max_length` up to 2^50.

    Raises ValueError if the weights do not fit in memory. The model raises ValueError for entries
    that are not integers from 0 to V − 1, for a stream that is too long, for streams and queries
    with different leading dimensions, and for a dtype in which counts may be rounded.
    """
    h, w = hashes, n_cells
    d, V = h.shape
    k = d * w
    stream = Stream(code=k, cell=k, item=1, count=1, estimate=1, v=1)
    stream.fits(1 + d)
    codes = np.zeros((V, k))
    for r, row in enumerate(h):
        codes[np.arange(V), r * w + row] = 1
    counts = Head(stream.read("cell"), stream.read("code"), stream.read("item"), "count")
    tokens = V + k + V
    of = {
        "code": np.concatenate([codes, np.zeros((k, k)), codes]),
        "cell": np.concatenate([np.zeros((V, k)), np.eye(k), np.zeros((V, k))]),
        "item": (np.arange(tokens) < V).astype(np.float64),
        "estimate": np.where(np.arange(tokens) < V + k, 0.0, float(max_length)),
    }
    return Transformer(
        Embed(rows(stream, **of)),
        [block(stream, [counts]), *(_lookup(stream, r, w, k) for r in range(d))],
        unembed(stream, stream.read("estimate")),
        interface=Sketch(V, k, max_length),
        stream=stream,
        stages=tuple(
            Stage(1 + r, "estimate", partial(_estimates, h[:r], w)) for r in range(1, d + 1)
        ),
        source="[Cormode2005]",
    )


def _estimates(h: np.ndarray, w: int, stream: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The count-min estimates from these rows, (…, m, 1)."""
    counts = counts_of(stream, h.shape[1])
    rows = np.broadcast_to(h, (*counts.shape[:-1], *h.shape))
    return np.take_along_axis(structures.count_min(counts, rows, w), queries, axis=-1)[..., None]


def _lookup(stream: Stream, r: int, w: int, k: int) -> Block:
    estimate, v = stream.read("estimate"), stream.read("v")
    row = np.diag((np.arange(k) // w == r).astype(np.float64))
    query = stream.read("code") @ Map(row, f"row {r}")
    return block(
        stream,
        [Head(query, stream.read("cell"), stream.read("count"), "v")],
        [ReLU(estimate - v, "estimate", -1.0), ReLU(v, "v", -1.0)],
    )
