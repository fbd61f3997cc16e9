"""The first letter of a word with bounded positions and weights free of n [ChiangCholak2022].

CLS stands at position 0, letters at 1 … n, one-hot in `zero`, `one` and `cls`; `start` is 1 at
position 1 and 0 elsewhere.

Layer 1.  A unit makes hit = [the first letter is 1], at position 1: relu(one + start − 1).
Layer 2.  CLS asks with scores 10/√6 at position 1 and 0 elsewhere (√6 is that of the width), and
carries hit − start/2, which is ±½ at position 1 and 0 elsewhere, into `answer`: the logit is
±½ e/(e + n), e = e^{10/√6}.

All scores are softmax, so there is no hardmax to be near to: the logit has the right sign for all
words, and vanishes like 1/n.
"""

from __future__ import annotations

import math

import numpy as np

from constructions.assembly import Head, block, rows, unembed
from constructions.computation.parity import CLS
from constructions.stream import Map, Stream, one
from constructions.tokens import Tokens, sizes
from constructions.transformer import Embed, PosEmbed, Transformer
from constructions.words import Unit

SCORE, SCALE = 10.0, 1 / math.sqrt(6)


def first_letter_bounded(max_length: int) -> Transformer:
    """The first of at most max_length = T letters 0 and 1: one answer for the word, (…, 1).

    2 layers (the first without a head), 1 head, width 6, 1 unit.  Weights do not depend on T, of
    which there are only so many positions.  Raises ValueError for a length below 1.
    """
    _, T = sizes(2, max_length)
    stream = Stream(**dict.fromkeys(("zero", "one", "cls", "start", "hit", "answer"), 1))
    letters = dict(zip(("zero", "one", "cls"), np.eye(3), strict=True))
    start = stream.read("start")
    hit = Unit(stream.read("one") + start - one, "hit")
    asks, carries = SCORE * stream.read("cls"), stream.read("hit") - 0.5 * start
    found = Head(asks, start, carries, "answer")
    return Transformer(
        Embed(rows(stream, **letters)),
        [
            block(stream, words=[hit]),
            block(stream, [found], normalise="softmax", mask="full", scale=SCALE),
        ],
        unembed(stream, stream.read("answer") @ Map(np.array([[0.0, 1.0]]), "(0, 1)")),
        pos_embed=PosEmbed(rows(stream, start=np.arange(T + 1) == 1)),
        interface=Tokens(2, T, prefix=(CLS,), answers=2, whole=True),
        stream=stream,
        name=f"first_letter_bounded({T})",
        source="[ChiangCholak2022]",
    )
