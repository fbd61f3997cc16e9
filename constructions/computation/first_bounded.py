"""The first symbol of a word with bounded positions and weights free of n [ChiangCholak2022].

CLS is at position 0 and the symbols are at 1 … n, one-hot in `zero`, `one` and `cls`; `start` is 1
at position 1 and 0 elsewhere.

Layer 1.  A ReLU computes hit = [the first symbol is 1] at position 1: relu(start − zero − cls).
Layer 2.  At CLS the head has scores 10/√6 at position 1 and 0 elsewhere (√6 is the root of the
width), and the value hit − start/2, which is ±½ at position 1 and 0 elsewhere; it is written to
`answer`.  The logit is ±½ e/(e + n), e = e^{10/√6}.

Attention is softmax, not an approximation of hardmax: the logit has the right sign for all words,
and vanishes like 1/n.

layer_norm.  Layer norms without ε, after each layer, make the absolute value of the logit a
constant, as in `parity_bounded.py`.  Every register contains (v, −v), and a norm divides a token by
its norm and multiplies it by √12.  The factor is positive, so that the value hit − start/2 keeps
its sign at position 1 and is 0 elsewhere; the ReLU has no bias and is multiplied by the same
factor.  So the average has the right sign, for all words.  The MLP of layer 2 erases all registers
except `answer`, which the last norm makes ±1/√2, and the logit is ±√12/√2 = ±√6.
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
    """Returns a model that outputs the first of at most max_length = T symbols 0 and 1, (…, 1).

    | layer_norm | layers | heads | width | MLP ReLUs by layer | logits        |
    |------------|--------|-------|-------|--------------------|---------------|
    | no         | 2      | 1     | 6     | 1, 0               | 0 and ±Θ(1/n) |
    | yes        | 2      | 1     | 12    | 1, 10              | 0 and ±√6     |

    The first layer has no head, and n is the length of the word.  Only the number of positions
    depends on T; √6 and √12 are rounded to float64.
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
        interface=Tokens(2, T, prefix=(CLS,), answers=2, whole=True),
        stream=stream,
        source="[ChiangCholak2022]",
    )
