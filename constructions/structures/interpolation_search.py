"""Interpolation search of N points in any order, without division.

Cells are counted from 1, in ascending order of their points.  With D = `largest`, cell 0 is the end
0 of the range and cell N + 1 the end D.  The residual stream of a query q contains a bracket: the
cells lo and hi and their values low ≤ q < high.  Initially these are 0, N + 1, 0 and D.  With
W = high − low the query's interpolated place is C/W, C = (q − low)(hi − lo) + lo·W.  The place is
clipped to lo + 1 … hi − 1, and the next lookup is at the cell nearest to T/W,

    T = (lo + 1)W + relu(C − (lo + 1)W) − relu(C − (hi − 1)W).

Layer 1 writes to each point its cell, rank + 1 (`rank.py`).  For a query, whose point register is
0, all scores are negative, as points are positive.  Layer 2 squares the cell by a linear head in
which each token attends only to itself.

Lookups.  One average-hard head has the query (2T + ½, −W) and, for cell a, the key (a, a²).  The
score

    a(2T + ½) − a²W

is largest at the integer nearest to T/W, and of two equally near integers at the larger.

Proof: the step from a to a + 1 is 2T − (2a + 1)W + ½, a half-integer.  So the step is never 0, and
the maximum is unique, with a gap of at least ½.  The values of the head are the point v and the
cell m; the MLP computes the bit [v ≤ q] and clears T.  For the first lookup the embedding contains
T = (N + 1)q and W = D; T is not clipped, because only points have keys.

Before each further lookup, an MLP replaces one end of the bracket by m and v,

    lo ← lo + relu(m − lo − B(1 − bit)),  hi ← hi − relu(hi − m − B·bit),

and low and high in the same way, with B larger than all of these numbers.  The MLP also clears m, v
and the bit.  Three heads in which the query attends only to itself, and an MLP, then compute T from

    (lo + 1)W,
    C − (lo + 1)W = (q − low)(hi − lo) − W,
    C − (hi − 1)W = (q − low)(hi − lo) − (hi − lo − 1)W.

The last two numbers are stored in v and m until T is computed.  So a lookup takes three layers.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from constructions.assembly import Head, block, embed, unembed
from constructions.blocks import Block, Stage
from constructions.call import construction
from constructions.margins import Margin
from constructions.primitives import ReLU, Step
from constructions.stream import Map, Stream, one
from constructions.structures.cells import Cells, Largest, exact_range
from constructions.structures.rank import rank_heads
from constructions.transformer import Transformer
from theory import structures
from theory.structures.lookup import LookupCount, looked_at
from theory.structures.points import Size

POINT, QUERY = ("x", "cell", "square", "unit"), ("q", "lo", "hi", "low", "high")
REGISTERS = *POINT, *QUERY, "target", "v", "m", "bit"


@construction
def interpolation_search(
    n_points: Size, lookups: LookupCount, *, largest: Largest = 2**10
) -> Transformer:
    """A transformer that performs interpolation search, with one comparison in every three layers.

    There are N = `n_points` points and M = `lookups` comparisons. The points in ascending order
    have the indices 0 … N − 1. For points (…, N) and queries (…, m), the output
    `interpolation_search(N, M)(points, queries)` (…, m) is the index of the point with which each
    query is compared last. The model has 3M layers of width 13 with at most 3 heads each. Points
    are distinct integers from 1 to largest − 1 in any order, and queries are integers from 0 to
    `largest`. For k = 1 … M, after layer 3k the register `m` of the residual stream contains c + 1
    for a query whose comparison k is with the point of index c.

    Raises ValueError for a `largest` at which float64 may round sums, or that is not above N, and
    for weights that do not fit in memory. The model raises ValueError for a wrong number of points,
    for points or queries outside these ranges, and for a dtype in which sums may be rounded.
    """
    M = lookups
    factor = 16 * (n_points + 2) ** 2
    largest = exact_range(largest, factor)
    stream = Stream(**dict.fromkeys(REGISTERS, 1))
    stream.fits(3 * M, heads=3)
    cell, unit = stream.read("cell"), stream.read("unit")
    squares = Head(cell, cell, unit, "square", mask="diagonal")
    layers = [
        block(stream, rank_heads(stream, n_points, "cell"), normalise="relu"),
        block(stream, [squares]),
        _lookup(stream),
    ]
    for _ in range(M - 1):
        layers += [_bracket(stream, n_points, largest), _target(stream), _lookup(stream)]
    return Transformer(
        embed(
            stream,
            x={"x": 1.0},
            point={"unit": 1.0, "cell": 1.0},
            q={"q": 1.0, "target": n_points + 1.0},
            query={"unit": 1.0, "hi": n_points + 1.0, "high": float(largest)},
        ),
        layers,
        unembed(stream, stream.read("m"), bias=np.array([-1.0])),
        interface=Cells(n_points, largest, factor),
        stream=stream,
        stages=tuple(Stage(3 * k, "m", partial(_cell, largest, k)) for k in range(1, M + 1)),
        source="[Perl1978]; [Knuth1998, Section 6.2.1]",
    )


def _cell(largest: int, lookup: int, points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The cell, from 1, of this lookup of interpolation search, (…, m, 1)."""
    strategy = structures.interpolation_search(0, largest)
    return looked_at(strategy, np.sort(points), queries, lookup)[..., -1:] + 1


def _lookup(stream: Stream) -> Block:
    x, cell, square = map(stream.read, ("x", "cell", "square"))
    q, low, high, target, v = map(stream.read, ("q", "low", "high", "target", "v"))
    head = Head(
        (2.0 * target + 0.5 * one, low - high),
        (cell, square),
        (x, cell),
        ("v", "m"),
        margin=Margin(0.5),
    )
    words = Step(q - v, 0.0, "bit"), ReLU(target, "target", -1.0)
    return block(stream, [head], words, normalise="hardmax")


def _bracket(stream: Stream, N: int, largest: int) -> Block:
    bit, words = stream.read("bit"), []
    for at, lower, upper, bound in (("m", "lo", "hi", N + 1), ("v", "low", "high", largest)):
        B = 2.0 ** (bound + 1).bit_length()
        here, below, above = map(stream.read, (at, lower, upper))
        words += [
            ReLU(here - below - B * one + B * bit, lower),
            ReLU(above - here - B * bit, upper, -1.0),
        ]
    words += [ReLU(stream.read(name), name, -1.0) for name in ("m", "v", "bit")]
    return block(stream, (), words)


def _target(stream: Stream) -> Block:
    q, lo, hi, low, high, unit, v, m = map(
        stream.read, ("q", "lo", "hi", "low", "high", "unit", "v", "m")
    )
    W = high - low
    heads = (
        Head(lo + one, W, unit, "target", mask="diagonal"),
        Head((q - low, -one), (hi - lo, W), unit, "v", mask="diagonal"),
        Head((q - low, lo - hi + one), (hi - lo, W), unit, "m", mask="diagonal"),
    )
    words = (
        ReLU(v, ("target", "v"), Map(np.array([[1.0, -1.0]]), "(1, −1)")),
        ReLU(-v, "v"),
        ReLU(m, ("target", "m"), Map(np.array([[-1.0, -1.0]]), "(−1, −1)")),
        ReLU(-m, "m"),
    )
    return block(stream, heads, words)
