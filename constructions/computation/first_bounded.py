"""The first symbol of a word of n bits, with bounded positions and weights that do not depend on n.

This is the model of [ChiangCholak2022].  CLS is at position 0 and the symbols are at 1 … n.  The
registers `zero`, `one` and `cls` are the one-hot code of the token, and `start` is 1 at position 1
and 0 elsewhere.

Layer 1.  A ReLU computes hit = [the first symbol is 1] at position 1: relu(start − zero − cls).
Layer 2.  At CLS the head has scores 10/√6 at position 1 and 0 elsewhere (the width is 6).  The
value is hit − start/2, which is ±½ at position 1 and 0 elsewhere.  The output is written to
`answer`.  The logit is ±½ r/(r + n), where r = e^{10/√6}.

Attention is softmax, and need not approximate hardmax: the logit has the right sign for all words,
and vanishes like 1/n.

layer_norm.  Layer norms without ε, after each layer, make the absolute value of the logit a
constant, as in `parity_bounded.py`.  Every register contains a pair (v, −v).  A layer norm divides
the stream of a token by its Euclidean norm and multiplies it by √12, the root of the width; the
model has this factor in the scores and in the unembedding.  The factor is positive, so the value
hit − start/2 keeps its sign at position 1 and stays 0 elsewhere.  The ReLU has no bias and is
multiplied by the same factor.  So the average has the right sign for all words.  The MLP of layer 2
erases all registers except `answer`.  Without the factor √12, the last norm makes `answer` equal to
±1/√2, so the logit is ±√12/√2 = ±√6.
"""

from __future__ import annotations

import numpy as np

from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Embed, PosEmbed
from constructions.call import construction
from constructions.computation.parity import CLS
from constructions.computation.two_sided import Sides
from constructions.primitives import ReLU
from constructions.tokens import Tokens, sizes
from constructions.transformer import Transformer
from theory.kinds import Count

REGISTERS = ("zero", "one", "cls", "start", "hit", "answer")
SCORE = 10.0


@construction
def first_symbol_bounded(max_length: Count, *, layer_norm: bool = False) -> Transformer:
    """Returns a model with bounded position embeddings that outputs the first bit of a word.

    | layer_norm | layers | heads | width | MLP ReLUs by layer | logits        |
    |------------|--------|-------|-------|--------------------|---------------|
    | no         | 2      | 1     | 6     | 1, 0               | 0 and ±Θ(1/n) |
    | yes        | 2      | 1     | 12    | 1, 10              | 0 and ±√6     |

    The model maps words (…, n), n ≤ max_length, to (…, 1). The column "logits" contains first the
    logit of the answer 0, which is 0, and then that of the answer 1. With layer_norm=True a layer
    norm follows each layer. The first layer has no head. Only the number of position embeddings
    depends on max_length. Factors √6 and √12 in the weights are rounded to float64.
    """
    _, T = sizes(2, max_length)
    sides = Sides(REGISTERS, layer_norm)
    stream, read, both = sides.stream, sides.read, sides.both
    start = read("start")
    hit = ReLU(start - read("zero") - read("cls"), "hit", both())
    found = Head(SCORE * read("cls"), start, read("hit") - 0.5 * start, "answer", both())
    first = block(stream, primitives=[hit], unit_norm=layer_norm)
    second = block(
        stream,
        [found],
        sides.erased("answer"),
        normalise="softmax",
        mask="full",
        scale=sides.scale(stream.d_model),
        unit_norm=layer_norm,
    )
    return Transformer(
        Embed(rows(stream, **sides.one_hot("zero", "one", "cls"))),
        [first, second],
        unembed(stream, stream.read("answer") @ sides.logits),
        pos_embed=PosEmbed(rows(stream, start=sides.of(np.arange(T + 1) == 1))),
        interface=Tokens(2, T, prefix=(CLS,), labels=2, whole=True),
        stream=stream,
        source="[ChiangCholak2022]",
    )
