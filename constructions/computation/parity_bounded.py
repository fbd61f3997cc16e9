"""Parity with bounded positions and weights that do not depend on n [ChiangCholak2022].

CLS stands at position 0, symbols at 1 … n, one-hot in `zero`, `one` and `cls`; N = n + 1 tokens, k
of them ones.  Positions are `place` = j/N and `cosine` = cos jπ = (−1)^j, so that only their table
depends on n, and a model is for words of one length.

Layer 1.  A head with constant scores averages: `ones` = k/N and `inverse` = 1/N.  Three ReLUs make
a hat of j = k, with d = k/N − j/N, a multiple of 1/N:

    relu(d − 1/N) − 2·relu(d) + relu(d + 1/N) = (1/N)[j = k]       into `here`.

Layer 2.  CLS has two heads, with scores ±cos jπ/√5 (√5 is that of the width of a head), and carries
`here`.  The head that prefers even positions counts against `answer`, the other for it:

    answer = (1/N)(a⁻_k − a⁺_k) > 0 if k is odd, and < 0 if k is even      (`bounded_logit`),

as e^{±c} at position k is divided by nearly equal sums.  It has the right sign for all words and
vanishes like 2 tanh(c)/N²; more than O(1/n) there cannot be where all scores are bounded, as one
symbol then moves any average by no more ([Hahn2020], as quoted in [ChiangCholak2022]).

layer_norm.  Layer norms without an ε, after each layer, make it a constant.  Every register holds
(v, −v), and tokens are multiplied by positive numbers (`two_sided.py`).  An MLP of layer 2 takes
away all registers but `answer`: the last norm leaves ±1/√2 of it, and the logit is ±√20/√2 = ±√10.

The sign is still right, for all words.  Position j has scores ±(−1)^j s_j, where s_j⁻² is, up to a
common factor, 2 + (k² + 1 + j² + [j = k])/N²: any two differ by a factor of at most √(3/2).  With
Z± = Σ_j e^{±(−1)^j s_j} the logit is on its side if Z₊/Z₋ (k even) or Z₋/Z₊ (k odd) is below
e^{2s_k}.  Positions 2m and 2m + 1, whose s_j are a and b, add e^a + e^{−b} = e^{a−b}(e^{−a} + e^b)
to Z₊ and the second factor to Z₋: quotients e^{±(a−b)} < e^{2s_k}.  If n is even it is left over,
with quotient e^{2a}, or e^{−2a} < 1 for odd k; and a ≤ s_k for even k, which is n itself or has
k² + 1 ≤ n².  The quotient of the sums lies between those of their parts.

One register is idle: their width is even, as two heads share it.
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
def parity_bounded(length: Count, *, layer_norm: bool = False) -> Transformer:
    """Whether the ones among exactly `length` = n symbols are odd in number: (…, 1).

    | layer_norm | layers | heads | width | MLP ReLUs     | logits            |
    |------------|--------|-------|-------|---------------|-------------------|
    | no         | 2      | 2     | 10    | 3             | 0 and ±Θ(1/n²)    |
    | yes        | 2      | 2     | 20    | 3, and 18     | 0 and ±√10        |

    j/N, 1/√5 and √20 are rounded to float64.
    """
    _, n = sizes(2, length)
    sides = Sides(REGISTERS, layer_norm)
    stream, read, both = sides.stream, sides.read, sides.both
    d, inverse, cosine = read("ones") - read("place"), read("inverse"), read("cosine")
    constant = 0.0 * one
    shares = Head(constant, constant, (read("one"), read("cls")), ("ones", "inverse"), both(2))
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
            stream, heads, words, normalise="softmax", mask="full", scale=by, unit_norm=layer_norm
        )
        for heads, words, by in (([shares], hat, 1.0), ([against, in_favour], erased, scale))
    )
    here = np.arange(n + 1)
    place, waves = sides.held(here / (n + 1)), sides.held((-1.0) ** here)
    return Transformer(
        Embed(rows(stream, **sides.letters("zero", "one", "cls"))),
        [first, second],
        unembed(stream, stream.read("answer") @ sides.logits),
        pos_embed=PosEmbed(rows(stream, place=place, cosine=waves)),
        interface=Tokens(2, n, prefix=(CLS,), length=n, answers=2, whole=True),
        stream=stream,
        source="[ChiangCholak2022], derived again",
    )
