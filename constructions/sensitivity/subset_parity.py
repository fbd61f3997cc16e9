"""The parity of the bits at k given positions, in one layer: the character χ_S as a model.

A head for each position adds its bit (0 or 1) to `odd` (`selected_bits.py`), which is then their
number c ≤ k, and the MLP folds it:

    c − 2relu(c − 1) + 2relu(c − 2) − … ± 2relu(c − (k − 1))

goes up by 1 up to c = 1, then down by 1, up by 1, and so on: at integers it is c mod 2.  These are
k − 1 hidden neurons; a dictator, k = 1, has no MLP.

`constructions.computation.parity` computes the parity of all bits without an MLP, with a position
embedding of its own; here k of d bits matter and the others are not read.
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
from theory.sensitivity.functions import subset_parity as definition


@construction
def subset_parity(d: Count, positions: Positions) -> Transformer:
    """The parity, 0 or 1, of the bits at k `positions` (from 0) of d; one prediction for each word,
    (…, 1).

    1 layer, k heads, width 4, k − 1 hidden neurons.  Raises ValueError for positions that are not
    distinct.
    """
    positions = sized(d, positions)
    stream = Stream(letter=1, j=1, norm=1, odd=1)
    stream.fits(1, heads=len(positions))
    letter, odd = stream.read("letter"), stream.read("odd")
    heads = reading(stream, positions, [letter] * len(positions), "odd")
    folds = [ReLU(odd - i * one, "odd", 2.0 * (-1) ** i) for i in range(1, len(positions))]
    return one_layer(
        stream,
        d,
        (0.0, 1.0),
        heads,
        folds,
        2.0 * odd - one,
        (Stage(1, "odd", partial(_odd, positions)),),
        "proved in constructions/sensitivity/subset_parity.py",
    )


def _odd(positions: tuple[int, ...], words: np.ndarray) -> np.ndarray:
    """Σ xᵢ mod 2."""
    return definition(words, positions)[..., None, None]
