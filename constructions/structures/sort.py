"""Sorting by ReLU heads: the rank of every point, and then the point of every rank.

Layer 1.  Two heads give each point its rank (`rank.py`).

Layer 2.  Token a has its position a, from 0, and three heads bring it the point of rank a: a tent
at a − rank, which is 1 at one point and 0 at all others.

All comparisons are made at once, so two layers suffice for every n; the numbers must be integers,
as φ is a step on integers alone.
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
def sort(n: Size, *, largest: Largest = 2**20) -> Transformer:
    """`sort(n)(points)`: n distinct integers of size below `largest`, in ascending order,
    (…, n) → (…, n).

    2 layers of 2 and 3 ReLU heads, width 5, no MLP.

    Raises ValueError for a `largest` at which sums leave float64; the model, for what are no n
    distinct integers below it.
    """
    factor = 4 * n * n
    largest = exact_range(largest, factor)
    stream = Stream(x=1, unit=1, rank=1, place=1, sorted=1)
    machine.fits_in_memory(f"{n:.4g} places", 8 * 5 * n, "sort fewer points")
    return Transformer(
        embed(stream, x={"x": 1.0}, unit={"unit": 1.0}),
        [
            block(stream, rank_heads(stream, n, "rank"), normalise="relu", mask="full"),
            block(
                stream, at_rank(stream, n, "place", "rank", "sorted"), normalise="relu", mask="full"
            ),
        ],
        unembed(stream, stream.read("sorted")),
        pos_embed=PosEmbed(rows(stream, place=np.arange(n))),
        interface=Row(n, largest, factor),
        stream=stream,
        stages=(Stage(1, "rank", _ranks), Stage(2, "sorted", _sorted)),
        source="proved in constructions/structures/sort.py",
    )


def _ranks(points: np.ndarray) -> np.ndarray:
    """How many points are below each, (…, n, 1)."""
    return points.argsort(axis=-1).argsort(axis=-1)[..., None]


def _sorted(points: np.ndarray) -> np.ndarray:
    """The points in ascending order, (…, n, 1)."""
    return np.sort(points)[..., None]
