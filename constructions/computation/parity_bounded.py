"""The parity of n bits, with bounded positions and weights that do not depend on n.

This is the model of [ChiangCholak2022].  CLS is at position 0 and the symbols are at 1 … n.  The
registers `zero`, `one` and `cls` are the one-hot code of the token.  There are N = n + 1 tokens,
and k is the number of ones.  Position j has the registers `place` = j/N and `cosine` = cos
jπ = (−1)^j.  Only this table of positions depends on n, and a model accepts words of one length.

Layer 1.  A head with constant scores averages: `ones` = k/N and `inverse` = 1/N.  Three ReLUs make
a hat function at j = k, with d = k/N − j/N, a multiple of 1/N:

    relu(d − 1/N) − 2·relu(d) + relu(d + 1/N) = (1/N)[j = k]       into `here`.

Layer 2.  At CLS two heads have the scores c·cos jπ and −c·cos jπ with c = 1/√5 (the width of a head
is 5), and both have the value `here`.  The output of the head with larger weights at even positions
is subtracted from `answer`, and the output of the other head is added:

    answer = (1/N)(a⁻_k − a⁺_k) > 0 if k is odd, and < 0 if k is even      (`bounded_logit`),

where a⁺_k and a⁻_k are the attention weights of the two heads at position k.  The answer has the
right sign for all words and vanishes like 2 tanh(c)/N².  With bounded scores every construction has
a margin of O(1/n), since one symbol changes every average by at most O(1/n) ([Hahn2020], as quoted
in [ChiangCholak2022]).

layer_norm.  Layer norms without ε, after each layer, make the absolute value of the logit a
constant.  Every register contains a pair (v, −v), and a norm multiplies the stream of a token by a
positive number (see `two_sided.py`).  The MLP of layer 2 erases all registers except `answer`.  The
last norm makes `answer` equal to ±1/√2, and the unembedding multiplies it by √20, the root of the
width.  So the logit is ±√20/√2 = ±√10.

The sign is still right, for all words.  Position j has the scores ±(−1)^j s_j in the two heads.  Up
to a common factor, s_j⁻² is 2 + (k² + 1 + j² + [j = k])/N², so the ratio of any two s_j is at most
√(3/2).  Let Z± = Σ_j e^{±(−1)^j s_j}.  The signed logit (the logit with the sign of the right
answer) is positive if Z₊/Z₋ (for even k) or Z₋/Z₊ (for odd k) is below e^{2s_k}.  Group the
positions in pairs 2m and 2m + 1, whose s_j are a and b.  A pair adds
e^a + e^{−b} = e^{a−b}(e^{−a} + e^b) to Z₊ and e^{−a} + e^b to Z₋.  The quotient of these terms, or
its inverse, is e^{±(a−b)} < e^{2s_k}.  If n is even, position n remains, with a = s_n.  For even k
the quotient of its terms is e^{2a}, and a ≤ s_k since k = n or k² + 1 ≤ n².  For odd k the quotient
is e^{−2a} < 1.  The quotient of the sums lies between the smallest and the largest of these
quotients.

The unused register `idle` makes the width even, since two heads divide the width.
"""

from __future__ import annotations

import numpy as np

from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Embed, PosEmbed
from constructions.call import construction
from constructions.computation.parity import CLS
from constructions.computation.two_sided import Sides
from constructions.primitives import ReLU
from constructions.stream import one
from constructions.tokens import Tokens, sizes
from constructions.transformer import Transformer
from theory.kinds import Count

REGISTERS = (
    *("zero", "one", "cls", "place", "cosine"),
    *("ones", "inverse", "here", "answer", "idle"),
)


@construction
def parity_bounded(n: Count, *, layer_norm: bool = False) -> Transformer:
    """Returns a model with bounded position embeddings that computes the parity of n bits.

    | layer_norm | layers | heads | width | MLP ReLUs     | logits            |
    |------------|--------|-------|-------|---------------|-------------------|
    | no         | 2      | 2     | 10    | 3             | 0 and ±Θ(1/n²)    |
    | yes        | 2      | 2     | 20    | 3, and 18     | 0 and ±√10        |

    The model maps words (…, n) of exactly n bits to (…, 1). The column "logits" contains first the
    logit of the answer 0, which is 0, and then that of the answer 1. With layer_norm=True a layer
    norm follows each layer. The position embeddings j/(n + 1), and the factors 1/√5 and √20 in the
    weights, are rounded to float64.
    """
    _, n = sizes(2, n)
    sides = Sides(REGISTERS, layer_norm)
    stream, read, both = sides.stream, sides.read, sides.both
    d, inverse, cosine = read("ones") - read("place"), read("inverse"), read("cosine")
    constant = 0.0 * one
    fractions = Head(constant, constant, (read("one"), read("cls")), ("ones", "inverse"), both(2))
    hat = [
        ReLU(d - inverse, "here", both()),
        ReLU(d, "here", both(times=-2.0)),
        ReLU(d + inverse, "here", both()),
    ]
    against = Head(read("cls"), cosine, read("here"), "answer", both(times=-1.0))
    in_favour = Head(read("cls"), -cosine, read("here"), "answer", both())
    erased = sides.erased("answer")
    scale = sides.scale(stream.d_model // 2)  # heads are half as wide
    first, second = (
        block(
            stream,
            heads,
            primitives,
            normalise="softmax",
            mask="full",
            scale=by,
            unit_norm=layer_norm,
        )
        for heads, primitives, by in (
            ([fractions], hat, 1.0),
            ([against, in_favour], erased, scale),
        )
    )
    here = np.arange(n + 1)
    place, waves = sides.of(here / (n + 1)), sides.of((-1.0) ** here)
    return Transformer(
        Embed(rows(stream, **sides.one_hot("zero", "one", "cls"))),
        [first, second],
        unembed(stream, stream.read("answer") @ sides.logits),
        pos_embed=PosEmbed(rows(stream, place=place, cosine=waves)),
        interface=Tokens(2, n, prefix=(CLS,), length=n, labels=2, whole=True),
        stream=stream,
        source="[ChiangCholak2022]",
    )
