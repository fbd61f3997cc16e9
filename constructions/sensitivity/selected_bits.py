"""The layer that the models of known sensitivity share: one head for each selected bit, and an MLP.

The token CLS is at position 0, and the d bits are at positions 1 … d; the embedding of position j
contains j and j².  The head of bit p (from 0) attends to position p + 1 by unique-hard attention.
Its score for position j is 2(p + 1)j − j², whose maximum at j = p + 1 exceeds all other scores by
at least 1, for all bits (`tokens.placed`).  The result is the same at all tokens, and the
prediction is read at CLS.

One linear head with keys 1 at the positions and 0 elsewhere would give the sum of these bits; hard
attention is used because its errors with softmax and in float dtypes are bounded, and all numbers
are integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Embed, PosEmbed, Stage
from constructions.primitives import Primitive
from constructions.stream import LinearRead, Map, Stream, one
from constructions.tokens import Tokens, placed, sizes
from constructions.transformer import Transformer
from theory.sensitivity import distinct_positions

CLS = 2


def sized(d: int, positions: np.ndarray) -> tuple[int, ...]:
    """The given positions as a tuple, after a check of the positions and of the memory.

    Raises ValueError if the positions are not distinct, or if a model of d bits exceeds the memory.
    """
    sizes(2, d)
    return distinct_positions(d, positions)


def reading(
    stream: Stream, positions: Sequence[int], values_read: Iterable[LinearRead], into: str
) -> list[Head]:
    """A list of heads, one for each position, that write the bits at `positions` to `into`.

    Head i attends to the token of the bit at entry i of `positions`. The value of head i is the
    linear read `values_read[i]`. All heads add to the register `into`.
    """
    line = stream.read("j"), stream.read("norm")
    pairs = zip(positions, values_read, strict=True)
    return [placed(float(p + 1) * one, line, value, into) for p, value in pairs]


def one_layer(
    stream: Stream,
    d: int,
    values: tuple[float, float],
    heads: Sequence[Head],
    primitives: Sequence[Primitive],
    logit: LinearRead,
    stages: tuple[Stage, ...],
    source: str,
) -> Transformer:
    """The model of one layer with the given heads and MLP primitives.

    The register `bit` contains the two `values` for the bits 0 and 1. The logits of 0 and 1 are 0
    and the linear read `logit`, whose value is ±1.
    """
    here = np.arange(d + 1)
    table = rows(stream, bit=np.array([*values, 0.0]))
    return Transformer(
        Embed(table),
        [block(stream, heads, primitives, normalise="hardmax", mask="full")],
        unembed(
            stream,
            logit.without_constant @ Map(np.array([[0.0, 1.0]]), "(0, 1)"),
            bias=np.array([0.0, logit.constant[0]]),
        ),
        pos_embed=PosEmbed(rows(stream, j=here, norm=here**2)),
        interface=Tokens(2, d, length=d, prefix=(CLS,), labels=2, margin=1.0, whole=True),
        stream=stream,
        stages=stages,
        source=source,
    )
