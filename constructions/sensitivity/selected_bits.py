"""The bits at given positions, read by one head each: the first layer of these constructions.

CLS stands at position 0 and the d bits 0 and 1 at 1 … d; positions hold j and j².  The head of
position p (from 0) attends to place p + 1 with the score 2(p + 1)j − j², largest at j = p + 1 by at
least 1 (`tokens.placed`), whatever the bits are: unique-hard attention.  The result is the same at
all tokens, and is read at CLS.

One linear head whose keys are 1 at the positions and 0 elsewhere would give the sum of these bits;
hard attention has bounds for softmax and for float dtypes, and every number is an integer.
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
    """The positions, as `distinct_positions`; ValueError too if no memory holds d bits."""
    sizes(2, d)
    return distinct_positions(d, positions)


def reading(
    stream: Stream, positions: Sequence[int], carries: Iterable[LinearRead], into: str
) -> list[Head]:
    """A head for each position, whose value is a linear read of its bit, into one register."""
    line = stream.read("j"), stream.read("norm")
    pairs = zip(positions, carries, strict=True)
    return [placed(float(p + 1) * one, line, carried, into) for p, carried in pairs]


def one_layer(
    stream: Stream,
    d: int,
    letters: tuple[float, float],
    heads: Sequence[Head],
    words: Sequence[Primitive],
    answer: LinearRead,
    stages: tuple[Stage, ...],
    source: str,
) -> Transformer:
    """The model of these heads and words: `letter` holds the numbers `letters` of 0 and 1, and the
    logits are 0 and `answer`, which is ±1."""
    here = np.arange(d + 1)
    table = rows(stream, letter=np.array([*letters, 0.0]))
    return Transformer(
        Embed(table),
        [block(stream, heads, words, normalise="hardmax", mask="full")],
        unembed(
            stream,
            answer.without_constant @ Map(np.array([[0.0, 1.0]]), "(0, 1)"),
            bias=np.array([0.0, answer.constant[0]]),
        ),
        pos_embed=PosEmbed(rows(stream, j=here, norm=here**2)),
        interface=Tokens(2, d, length=d, prefix=(CLS,), answers=2, margin=1.0, whole=True),
        stream=stream,
        stages=stages,
        source=source,
    )
