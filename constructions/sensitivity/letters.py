"""The letters at given positions, read by one head each: what the constructions here begin with.

CLS stands at position 0 and the d letters 0 and 1 at 1 … d; positions hold j and j².  The head of
position p (from 0) asks for place p + 1 with the score 2(p + 1)j − j², largest at j = p + 1 by at
least 1 (`tokens.placed`), whatever the letters are.  All tokens find the same, and CLS answers.

One linear head whose keys are 1 at the positions and 0 elsewhere would add the same letters up;
with hardmax heads softmax bounds and float formats follow, and every number is whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Embed, PosEmbed, Stage
from constructions.stream import Map, Reading, Stream, one
from constructions.tokens import Tokens, placed, sizes
from constructions.transformer import Transformer
from constructions.words import Word
from theory.sensitivity import distinct_positions

CLS = 2


def sized(d: int, positions: np.ndarray) -> tuple[int, ...]:
    """The positions, as `distinct_positions`; ValueError too if no memory holds d letters."""
    sizes(2, d)
    return distinct_positions(d, positions)


def reading(
    stream: Stream, positions: Sequence[int], carries: Iterable[Reading], into: str
) -> list[Head]:
    """A head for each position, which carries a reading of its letter into one register."""
    line = stream.read("j"), stream.read("norm")
    pairs = zip(positions, carries, strict=True)
    return [placed(float(p + 1) * one, line, carried, into) for p, carried in pairs]


def one_layer(
    stream: Stream,
    d: int,
    letters: tuple[float, float],
    heads: Sequence[Head],
    words: Sequence[Word],
    answer: Reading,
    stages: tuple[Stage, ...],
    source: str,
) -> Transformer:
    """The model of these heads and words: `letter` holds the numbers `letters` of 0 and 1, and the
    second logit, ±1 beside 0, is `answer` for an answer that is ±1."""
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
