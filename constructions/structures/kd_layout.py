"""The layout of a kd-tree: the cell of each of N = 2^L − 1 points, one tree level per layer.

A point's place in the prompt breaks ties: it is the lowest digit of the key k = 2^L·x + place of a
point with coordinate x, so all keys of an axis are distinct integers.  The stream of a point
contains the bits b of the point's path until the point is a node, and then `done` is 1.  Two points
i and j are in the same bracket iff

    H_ij = Σ_b (b_i + b_j − 2·b_i·b_j) = 0,

where the sum is over the bits so far, and `done`.  H is bilinear in the two tokens, and H ≥ 1 for
points in different brackets.  Layer l + 1, l = 0 … L − 2, computes ranks by axis l mod d, in all
brackets at once, by two ReLU heads.  With B larger than all differences of keys the rank of point i
is

    r_i = Σ_j φ(k_i − k_j − B·H_ij),       φ(u) = relu(u) − relu(u − 1).

A bracket of level l has 2^{L−l} − 1 points, and its node is the point of rank mid = 2^{L−1−l} − 1.
Let u = r − mid, minus a large number if the point is done.  The MLP computes

    right = φ(u) = [r > mid],      node = relu(u + 1) − 2·relu(u) + relu(u − 1) = [r = mid],

and pos ← pos + right·(mid + 1) + node·mid.  Here pos is the first cell of a point's bracket, and
for a node it is the node's cell.  After L − 1 layers all remaining brackets have one point.
"""

from __future__ import annotations

import numpy as np

from constructions.assembly import Head, block, embed, rows, unembed
from constructions.blocks import Block, PosEmbed, Stage
from constructions.call import construction
from constructions.primitives import ReLU
from constructions.stream import LinearRead, Map, Stream, number, one
from constructions.structures.cells import Largest, exact_range
from constructions.structures.clouds import Cloud
from constructions.transformer import Transformer
from theory import machine
from theory.kinds import Count, InputError
from theory.structures.kd_tree import kd_order
from theory.structures.points import Size

MOST = 15  # largest number of levels at which every sum is exact for some `largest`


@construction
def kd_layout(n_points: Count, d: Size, *, largest: Largest = 2**10) -> Transformer:
    """A transformer that computes the position of each point in the array of a kd-tree.

    There are N = `n_points` = 2^L − 1 points of dimension d. The array has the cells 0 … N − 1. The
    middle cell of the array contains the root of the tree. The points before the root are not above
    it in coordinate 0, and the points after the root are not below it. Both sides are divided in
    the same way by the next coordinate, and coordinate 0 follows coordinate d − 1. For points
    (…, N, d), the output `kd_layout(N, d)(points)` (…, N) is the cell of each point. The model has
    width d + L + 2 and L − 1 layers of 2 ReLU heads and at most 4 hidden neurons. Points have
    integer coordinates of absolute value below `largest`. Of two points with equal coordinates, the
    point given first is the lower one.

    Raises ValueError if N is not one of 3, 7, 15, …, 2^15 − 1. Also raises
    ValueError for a `largest` at which float64 may round sums, and for weights that do not fit in
    memory. The model raises ValueError for a wrong number or dimension of points, for coordinates
    that are not integers of absolute value below `largest`, and for a dtype in which sums may be
    rounded.
    """
    L = levels("n_points", n_points)
    if not 2 <= L <= MOST:
        raise InputError(f"n_points is {n_points}: give 3, 7, 15, … points, at most 2^{MOST} − 1")
    factor = 8 * (n_points + 1) ** 3
    largest = exact_range(largest, factor)
    bits = dict.fromkeys((f"bit{level}" for level in range(1, L - 1)), 1)
    stream = Stream(x=d, unit=1, **bits, done=1, rank=1, pos=1)
    machine.fits_in_memory(
        f"{n_points:.4g} places", 3 * 8 * stream.d_model * n_points, "give fewer points"
    )
    place = np.tile(np.arange(n_points)[:, None], d)
    return Transformer(
        embed(stream, x={"x": 2.0**L}, unit={"unit": 1.0}),
        [_level(stream, level, L, d, largest) for level in range(L - 1)],
        unembed(stream, stream.read("pos")),
        pos_embed=PosEmbed(rows(stream, x=place)),
        interface=Cloud(n_points, d, largest, factor),
        stream=stream,
        stages=(Stage(L - 1, "pos", _cells),),
        source="[Bentley1975]",
    )


def _cells(points: np.ndarray) -> np.ndarray:
    """The cell of each point in the layout, (…, N, 1)."""
    return kd_order(points).argsort(axis=-1)[..., None]


def levels(name: str, N: int) -> int:
    """The integer L with N = 2^L − 1, the number of levels of a tree of N nodes.

    If there is no such integer, raises ValueError with a message in which N is called `name`.
    """
    L = N.bit_length()
    if N != 2**L - 1:
        raise InputError(
            f"{name} is {N}: give a number 2^L − 1, such as {2 ** (L - 1) - 1} or {2**L - 1}"
        )
    return L


def axis_of(stream: Stream, name: str, axis: int) -> LinearRead:
    """The linear read of coordinate `axis` of the register `name`."""
    column = np.eye(stream.widths[name])[:, [axis]]
    return stream.read(name) @ Map(column, f"axis {axis}")


def _level(stream: Stream, level: int, L: int, d: int, largest: int) -> Block:
    key, unit, rank, done = (
        axis_of(stream, "x", level % d),
        *map(stream.read, ("unit", "rank", "done")),
    )
    paths = [stream.read(f"bit{i}") for i in range(1, level + 1)] + [done] * (level > 0)
    B = 2.0 ** (L + 1) * largest
    far = sum((B * path for path in paths), start=0.0 * unit)
    keys = one, -key - far, *paths
    heads = [
        Head(
            (key - far - shift * one, one, *(2 * B * path for path in paths)),
            keys,
            (2.0**L - 1) * unit,
            "rank",
            times,
        )
        for shift, times in ((0.0, 1.0), (1.0, -1.0))
    ]
    mid = 2.0 ** (L - 1 - level) - 1
    u = rank - 2.0**L * done - mid * one
    into = (f"bit{level + 1}", "done", "pos") if level < L - 2 else ("pos",)
    at = slice(3 - len(into), 3)
    # The coefficients of relu(u + 1), relu(u) and relu(u − 1) in right (its bit comes first) and
    # node.
    adds: dict[float, tuple[float, ...]] = {
        1.0: (0.0, 1.0, mid),
        0.0: (1.0, -2.0, 1 - mid),
        -1.0: (-1.0, 1.0, -1.0),
    }
    words = [
        ReLU(u + shift * one, into, Map(np.array([add[at]]), ", ".join(map(number, add[at]))))
        for shift, add in adds.items()
        if any(add[at])
    ]
    words.append(ReLU(rank, "rank", -1.0))
    return block(stream, heads, words, normalise="relu", mask="full")
