"""The descent of a kd-tree: M lookups from the root to a leaf, one in each layer.

The N = 2^M − 1 points of dimension d are in their cells (`kd_layout.py`); a query q begins at
m = (N − 1)/2.  Layer k + 1, k = 0, 1, …, M − 1, is one lookup.  Three ReLU heads compute a tent
function at m − cell: the register v becomes the point in cell m, and other cells have weight 0.
The MLP computes the bit b = [v_a ≤ q_a] = φ(q_a − v_a + 1), where a = k mod d and
φ(u) = relu(u) − relu(u − 1), and

    m ← m + (2b − 1)·2^{M−2−k},      v ← v − relu(v) = 0.

This is binary search in which comparison k is by coordinate k mod d; for d = 1 it is ordinary
binary search.  After the last lookup m + ½ is the number of cells before the query's leaf region.
Pending branches are not visited, because the model does not store them
(see `theory/structures/kd_tree.py`).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from constructions.assembly import block, embed, unembed
from constructions.blocks import Block, Stage
from constructions.call import construction
from constructions.primitives import Move, ReLU, Step
from constructions.stream import Stream, one
from constructions.structures.cells import Largest, LookupLayers, exact_range
from constructions.structures.clouds import LaidOut
from constructions.structures.kd_layout import axis_of
from constructions.structures.rank import at_rank
from constructions.transformer import Transformer
from theory.structures.kd_tree import kd_search
from theory.structures.points import Size


@construction
def kd_descent(lookups: LookupLayers, d: Size, *, largest: Largest = 2**10) -> Transformer:
    """A transformer that descends a kd-tree from its root to a leaf, one node in each layer.

    There are M = `lookups` levels of nodes, and N = 2^M − 1 points of dimension d, each of which is
    a node. The points are in the cells 0 … N − 1 of an array, in the order that the model
    `kd_layout` computes. The tree has N + 1 leaf regions, of which one is before cell 0 and one
    after each cell. For points (…, N, d) in this order and queries (…, m, d),
    `kd_descent(M, d)(points, queries)` (…, m) is the number of cells before the leaf region that
    each query reaches. The model has width 3d + 3 and M layers of 3 ReLU heads and 2 + d hidden
    neurons. Coordinates of points are integers from 1 to largest − 1, and coordinates of queries
    are integers from 0 to `largest`. At a node of level k = 0 … M − 1, coordinate k mod d of the
    query is compared with that of the node. If they are equal, the descent continues on the right
    side. After k layers, before this comparison, the register `m` of the residual stream contains
    the cell of the node.

    Raises ValueError for a `largest` at which float64 may round sums, and for weights that do not
    fit in memory. The model raises ValueError for a wrong number or dimension of points, for points
    or queries outside these ranges, and for a dtype in which sums may be rounded.
    """
    M, N = lookups, 2**lookups - 1
    factor = 4 * N * N
    largest = exact_range(largest, factor)
    stream = Stream(x=d, unit=1, cell=1, q=d, m=1, v=d)
    stream.fits(M, heads=3)
    return Transformer(
        embed(
            stream,
            x={"x": 1.0},
            point={"unit": 1.0},
            cell={"cell": 1.0},
            q={"q": 1.0},
            query={"m": (N - 1) / 2},
        ),
        [_lookup(stream, N, 2.0 ** (M - 2 - k), k % d) for k in range(M)],
        unembed(stream, stream.read("m"), bias=np.array([0.5])),
        interface=LaidOut(N, d, largest, factor),
        stream=stream,
        stages=tuple(Stage(k, "m", partial(_cell, k)) for k in range(M)),
        source="[Bentley1975]",
    )


def _cell(layer: int, points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The cell that the descent has reached after this layer, (…, m, 1)."""
    return kd_search(points, queries, layer + 1)[..., -1:]


def _lookup(stream: Stream, N: int, half: float, axis: int) -> Block:
    q, v = axis_of(stream, "q", axis), axis_of(stream, "v", axis)
    words = (
        Step(q - v, 0.0, "m", times=2 * half),
        Move(-half * one, "m"),
        ReLU(stream.read("v"), "v", -1.0),
    )
    return block(stream, at_rank(stream, N, "m", "cell", "v"), words, normalise="relu")
