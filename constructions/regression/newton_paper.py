"""Newton–Schulz in the k + 8 layers of [Fu2024, Theorem 5.1], with corrected signs.

Attention weights are ReLU scores divided by n [Fu2024, Definition B.1]. Each layer has at most two
heads, and linear maps of a token are MLPs with pairs of ReLUs, as the theorem allows.

start, 3 layers          carry ← x (copy);  m ← αSx (the copy is the value);  carry ← 0
Newton, k layers         two heads add −½ Σ_i m_i ⟨m_i, x⟩ = −½ M S M x to m, and the MLP doubles m:
                         2(M − ½ M S M) x = (2M − M S M) x
output, 5 layers         copy, multiply, sum, copy, multiply: w = Σ_i y_i m_i = M_k Xᵀ y is written
to the query token, which computes ⟨w, x_q⟩

The printed proof has two errors, which are corrected here. First, its pairs of heads compute
relu(u) + relu(−u) = |u|; here the value of the second head is the negative of the first head's
value (`signed_pair`). Second, it assumes that an MLP of ReLUs multiplies exactly in one layer (mul
in [Fu2024, Proposition B.4]), which is impossible because such an MLP is piecewise linear. Here
attention multiplies:

    multiply   query 1, key y, value m:              (1/n) Σ_i y_i · n·m_i = w, in every token
    sum        averages those n equal vectors:       (1/n) Σ_i 1 · p_i = w
    multiply   query x, key w, value 1:              (1/n) Σ_i ⟨x, w_i⟩ · 1 = ⟨w, x⟩

So the first product already contains the sum, and the layer "sum" only serves to match the layer
count of the theorem. A copy is written to an empty register, which is cleared later. If the start
were computed as (x + αSx) − x instead, it would round to 0 for small αS. The factors n and α are in
different matrices, W_O and W_V, so that their product is not rounded. As the weights contain n, a
model accepts exactly n examples: on m examples, the same weights would compute the steps from
α(n/m)²S.
"""

from __future__ import annotations

from constructions.assembly import Head, block, embed, signed_pair, unembed
from constructions.blocks import Block, Stage
from constructions.examples import Examples
from constructions.primitives import Move
from constructions.regression.stages import Inverse, Powers, Prediction
from constructions.stream import LinearRead, Stream, one
from constructions.transformer import Transformer


def newton_paper(d: int, k: int, alpha: float, n: int) -> Transformer:
    """A transformer of k + 8 layers with two ReLU heads each and width 5d + 3, for n examples.

    The transformer computes k Newton–Schulz steps from M₀ = alpha·XᵀX, where the rows of X are the
    n examples. The scores are ReLU scores divided by n. The docstring of `newton` states the
    theorem and explains the arguments.
    """
    stream = Stream(m=d, x=d, y=1, carry=d, product=d, w=d, one=1, estimate=1)
    stream.fits(k, heads=2)
    m, x, y, carry, product, w, unit, estimate = map(stream.read, stream)

    clear = Move(-carry, "carry")

    def heads(
        query: LinearRead, key: LinearRead, value: LinearRead, into: str, times: float, *words: Move
    ) -> Block:
        pair = signed_pair(Head(query, key, value, into, times))
        return block(stream, pair, words, normalise="relu")

    start = [
        block(stream, primitives=[Move(x, "carry"), Move(one, "one")]),
        heads(x, x, alpha * carry, "m", n),
        block(stream, primitives=[clear]),
    ]
    steps = [heads(x, m, m, "m", -0.5 * n, Move(m, "m")) for _ in range(k)]
    output = [
        block(stream, primitives=[Move(m, "carry")]),
        heads(one, y, carry, "product", n),
        heads(one, unit, product, "w", 1.0, clear),
        block(stream, primitives=[Move(w, "carry")]),
        heads(x, carry, unit, "estimate", 1.0),
    ]
    of = Powers(alpha, "gram")
    return Transformer(
        embed(stream, x={"x": 1.0}, y={"y": 1.0}),
        [*start, *steps, *output],
        unembed(stream, estimate),
        interface=Examples(d, n=n),
        stream=stream,
        stages=(
            *(Stage(3 + j, "m", Inverse(2**j, of)) for j in range(k + 1)),
            Stage(k + 8, "estimate", Prediction(2**k, of)),
        ),
        source="[Fu2024, Theorem 5.1], with the signs of its proof corrected",
    )
