"""The parity of the bits at k given positions, the character χ_S, by one layer.

A head for each position adds the bit there (0 or 1) to the register `odd` (`selected_bits.py`),
which then contains the number c ≤ k of ones.  The MLP maps c to

    c − 2relu(c − 1) + 2relu(c − 2) − … ± 2relu(c − (k − 1))

which is c mod 2 at integers, because its slopes between integers are +1, −1, +1, ….  This requires
k − 1 hidden neurons; a dictator, k = 1, has no MLP.

`constructions.computation.parity` computes the parity of all bits without an MLP, by its position
embedding; the model here reads only k of d bits.
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
    """A transformer that computes the parity of the bits at k `positions` of a word of d bits.

    There is one prediction for each word: predictions have the shape (…, 1). Positions count from
    0. The model has 1 layer, k heads, width 4 and k − 1 hidden neurons. Raises ValueError if a
    position occurs twice.
    """
    positions = sized(d, positions)
    stream = Stream(bit=1, j=1, norm=1, odd=1)
    stream.fits(1, heads=len(positions))
    bit, odd = stream.read("bit"), stream.read("odd")
    heads = reading(stream, positions, [bit] * len(positions), "odd")
    folds = [ReLU(odd - i * one, "odd", 2.0 * (-1) ** i) for i in range(1, len(positions))]
    return one_layer(
        stream,
        d,
        (0.0, 1.0),
        heads,
        folds,
        2.0 * odd - one,
        (Stage(1, "odd", partial(_odd, positions)),),
        "weightwright",
    )


def _odd(positions: tuple[int, ...], words: np.ndarray) -> np.ndarray:
    """The parity Σ xᵢ mod 2 of the bits at the positions."""
    return definition(words, positions)[..., None, None]
