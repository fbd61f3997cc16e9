"""Any function of the bits at k given positions, in one layer with a hidden neuron for each word.

A head for each position writes its bit, −1 or +1, to a coordinate of `read` of its own
(`selected_bits.py`).  The MLP is a table: the neuron relu(⟨read, u⟩ − k + 1) of the word u ∈ {±1}^k
is 1 if u was read, and 0 else, as ⟨read, u⟩ ≤ k − 2 then.  Entries are +1 and −1, and the entry of
the word is the logit.
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
    """table[the bits at k `positions` (from 0) of d, as a binary number, the first the highest];
    one prediction for each word, (…, 1).  `table` (2^k,) of 0 and 1.

    1 layer, k heads, width k + 4, 2^k hidden neurons.  Raises ValueError for positions that are not
    distinct, and for a table of another length.
    """
    positions = sized(d, positions)
    k = len(positions)
    entries = junta_table(k, table)
    units = 8 * 2**k * (2 * k + 8)
    machine.fits_in_memory(f"the weights of 2^{k} units", 4 * units, "read fewer letters")
    stream = Stream(letter=1, j=1, norm=1, read=k, value=1)
    stream.fits(1, heads=k)
    letter = stream.read("letter")
    places = [letter @ Map(row[None], f"e{h}") for h, row in enumerate(np.eye(k), start=1)]
    words = 2.0 * all_sequences(k, 2) - 1
    return one_layer(
        stream,
        d,
        (-1.0, 1.0),
        reading(stream, positions, places, "read"),
        [Table(stream.read("read"), words, 2.0 * entries[:, None] - 1, "value")],
        stream.read("value"),
        (
            Stage(1, "read", partial(_letters, positions)),
            Stage(1, "value", partial(_entry, positions, entries)),
        ),
        "proved in constructions/sensitivity/junta.py",
    )


def _letters(positions: tuple[int, ...], words: np.ndarray) -> np.ndarray:
    """The bits at the positions, −1 and +1."""
    return 2 * words[..., None, list(positions)] - 1


def _entry(positions: tuple[int, ...], entries: np.ndarray, words: np.ndarray) -> np.ndarray:
    """The entry of the word that they are, −1 or +1."""
    return 2 * definition(words, positions, entries)[..., None, None] - 1
