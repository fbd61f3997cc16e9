"""Any function of the bits at k given positions, by one layer with 2^k hidden neurons.

A head for each position writes the bit there, as −1 or +1, to a separate coordinate of the register
`read` (`selected_bits.py`).  The MLP is a table: the neuron relu(⟨read, u⟩ − k + 1) of the word
u ∈ {±1}^k is 1 if read = u, and 0 otherwise, since ⟨read, u⟩ ≤ k − 2 for read ≠ u.  The entry of
the word, +1 or −1, is the logit.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from constructions.blocks import Stage
from constructions.call import construction
from constructions.primitives import Table
from constructions.sensitivity.selected_bits import one_layer, reading, sized
from constructions.stream import Map, Stream
from constructions.transformer import Transformer
from theory import machine
from theory.kinds import Count, Positions
from theory.sensitivity.functions import Entries, junta_table
from theory.sensitivity.functions import junta as definition
from theory.sequences import all_sequences


@construction
def junta(d: Count, positions: Positions, table: Entries) -> Transformer:
    """A transformer that computes any function of the bits at k `positions` of a word of d bits.

    `table` (2^k,) contains the values 0 and 1 of the function. The binary digits of the index of an
    entry are the bits at `positions`, and the bit at the first position is the most significant
    digit. Positions count from 0. There is one prediction for each word: predictions have the shape
    (…, 1). The model has 1 layer, k heads, width k + 4 and 2^k hidden neurons. Raises ValueError if
    a position occurs twice, and for a table of another length.
    """
    positions = sized(d, positions)
    k = len(positions)
    entries = junta_table(k, table)
    units = 8 * 2**k * (2 * k + 8)
    machine.fits_in_memory(
        f"the weights of 2^{k} hidden neurons", 4 * units, "give fewer positions"
    )
    stream = Stream(bit=1, j=1, norm=1, read=k, value=1)
    stream.fits(1, heads=k)
    bit = stream.read("bit")
    places = [bit @ Map(row[None], f"e{h}") for h, row in enumerate(np.eye(k), start=1)]
    words = 2.0 * all_sequences(k, 2) - 1
    return one_layer(
        stream,
        d,
        (-1.0, 1.0),
        reading(stream, positions, places, "read"),
        [Table(stream.read("read"), words, 2.0 * entries[:, None] - 1, "value")],
        stream.read("value"),
        (
            Stage(1, "read", partial(_bits, positions)),
            Stage(1, "value", partial(_entry, positions, entries)),
        ),
        "weightwright",
    )


def _bits(positions: tuple[int, ...], words: np.ndarray) -> np.ndarray:
    """The bits at the positions, −1 and +1."""
    return 2 * words[..., None, list(positions)] - 1


def _entry(positions: tuple[int, ...], entries: np.ndarray, words: np.ndarray) -> np.ndarray:
    """The entry of the word at the positions, −1 or +1."""
    return 2 * definition(words, positions, entries)[..., None, None] - 1
