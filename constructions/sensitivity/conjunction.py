"""The conjunction of the bits at k given positions, by one layer with one hidden neuron.

A head for each position adds the bit there (0 or 1) to the register `count` (`selected_bits.py`).
The neuron relu(count − (k − 1)) is 1 if count = k, and 0 otherwise.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from constructions.blocks import Stage
from constructions.call import construction
from constructions.primitives import ReLU
from constructions.sensitivity.selected_bits import one_layer, reading, sized
from constructions.stream import Stream, one
from constructions.transformer import Transformer
from theory.kinds import Count, Positions
from theory.sensitivity.functions import conjunction as definition


@construction
def conjunction(d: Count, positions: Positions) -> Transformer:
    """A transformer that computes the conjunction of the bits at k `positions` of a word of d bits.

    There is one prediction for each word: predictions have the shape (…, 1). Positions count from
    0. The model has 1 layer, k heads, width 5 and 1 hidden neuron. Raises ValueError if a position
    occurs twice.
    """
    positions = sized(d, positions)
    stream = Stream(bit=1, j=1, norm=1, count=1, all=1)
    stream.fits(1, heads=len(positions))
    bit, count = stream.read("bit"), stream.read("count")
    return one_layer(
        stream,
        d,
        (0.0, 1.0),
        reading(stream, positions, [bit] * len(positions), "count"),
        [ReLU(count - (len(positions) - 1) * one, "all")],
        2.0 * stream.read("all") - one,
        (Stage(1, "count", partial(_count, positions)), Stage(1, "all", partial(_all, positions))),
        "weightwright",
    )


def _count(positions: tuple[int, ...], words: np.ndarray) -> np.ndarray:
    """The number Σ xᵢ of ones at the positions."""
    return words[..., None, list(positions)].sum(-1, keepdims=True)


def _all(positions: tuple[int, ...], words: np.ndarray) -> np.ndarray:
    """The conjunction Π xᵢ of the bits at the positions."""
    return definition(words, positions)[..., None, None]
