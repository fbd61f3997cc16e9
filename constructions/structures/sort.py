"""Sorting by ReLU heads: the rank of every point, then the point of every rank.

Layer 1.  Two heads write to each point its rank (`rank.py`).

Layer 2.  Token a contains its position a, counted from 0, and three heads write the point of rank a
to token a.  They compute a tent function at a − rank, which is 1 at one point and 0 at all others.

All comparisons are in parallel, so two layers suffice for every number of points.  The numbers must
be integers, because the difference of two ReLUs is a step function on integers only.
"""

from __future__ import annotations

import numpy as np

from constructions.assembly import block, embed, rows, unembed
from constructions.blocks import PosEmbed, Stage
from constructions.call import construction
from constructions.stream import Stream
from constructions.structures.cells import Largest, Row, exact_range
from constructions.structures.rank import at_rank, rank_heads
from constructions.transformer import Transformer
from theory import machine
from theory.structures.points import Size


@construction
def sort(n_points: Size, *, largest: Largest = 2**20) -> Transformer:
    """The transformer that sorts n points in ascending order: `sort(n)(points)`.

    Points and output have shape (…, n), where n is `n_points`.  Points are distinct integers of
    absolute value below `largest`.  The model has width 5, two layers with 2 and 3 attention heads,
    and no MLP.  The attention weights are the ReLU of the scores instead of their softmax.

    Raises ValueError for a `largest` at which float64 may round sums, or with fewer than n such
    points.  The model raises ValueError
    (a) for a wrong number of points, (b) for points that are not distinct integers of absolute
    value below `largest`, or (c) for a dtype in which sums may be rounded.
    """
    factor = 4 * n_points * n_points
    largest = exact_range(largest, factor)
    stream = Stream(x=1, unit=1, rank=1, place=1, sorted=1)
    machine.fits_in_memory(f"{n_points:.4g} places", 3 * 8 * 5 * n_points, "give fewer points")
    return Transformer(
        embed(stream, x={"x": 1.0}, unit={"unit": 1.0}),
        [
            block(stream, rank_heads(stream, n_points, "rank"), normalise="relu", mask="full"),
            block(
                stream,
                at_rank(stream, n_points, "place", "rank", "sorted"),
                normalise="relu",
                mask="full",
            ),
        ],
        unembed(stream, stream.read("sorted")),
        pos_embed=PosEmbed(rows(stream, place=np.arange(n_points))),
        interface=Row(n_points, largest, factor),
        stream=stream,
        stages=(Stage(1, "rank", _ranks), Stage(2, "sorted", _sorted)),
        source="[Weiss2021]; [Knuth1998, Section 5.2]",
    )


def _ranks(points: np.ndarray) -> np.ndarray:
    """The number of points below each point, (…, n, 1)."""
    return points.argsort(axis=-1).argsort(axis=-1)[..., None]


def _sorted(points: np.ndarray) -> np.ndarray:
    """The points in ascending order, (…, n, 1)."""
    return np.sort(points)[..., None]
