"""Parity with bounded positions and weights that do not depend on n [ChiangCholak2022].

CLS stands at position 0, letters at 1 … n, one-hot in `zero`, `one` and `cls`; N = n + 1 tokens, k
of them ones.  Positions are `place` = j/N and `cosine` = cos jπ = (−1)^j, so that only their table
depends on n, and a model is for words of one length.

Layer 1.  A head with constant scores averages: `ones` = k/N and `inverse` = 1/N.  Three units make
a hat of j = k, with d = k/N − j/N, a multiple of 1/N:

    relu(d − 1/N) − 2·relu(d) + relu(d + 1/N) = (1/N)[j = k]       into `here`.

Layer 2.  CLS asks twice, with scores ±cos jπ/√5 (√5 is that of the width of a head), and carries
`here`.  The head that prefers even positions counts against `answer`, the other for it:

    answer = (1/N)(a⁻_k − a⁺_k) > 0 if k is odd, and < 0 if k is even      (`bounded_logit`),

as e^{±c} at position k is divided by nearly equal sums.  It has the right sign for all words and
vanishes like 2 tanh(c)/N²; more than O(1/n) there cannot be where all scores are bounded, as one
letter then moves any average by no more ([Hahn2020], as quoted in [ChiangCholak2022]).

layer_norm.  Layer norms without an ε, after each layer, make it a constant.  Every register holds
(v, −v), so that means are 0 and a norm divides by the length, times √20.  It multiplies a token by
a positive number; units without a bias, of the layer before and of the next, multiply along, and a
second norm, between head and MLP, would change nothing.  Scores get the factors of both tokens.
An MLP of layer 2 takes away all registers but `answer`: the last norm leaves ±1/√2 of it, and the
logit is ±√20/√2 = ±√10.

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

import math

import numpy as np

from constructions.assembly import Head, block, rows, unembed
from constructions.computation.parity import CLS
from constructions.stream import Map, Reading, Stream, one
from constructions.tokens import Tokens, sizes
from constructions.transformer import Embed, PosEmbed, Transformer
from constructions.words import Times, Unit, Word
from theory import checks

REGISTERS = (
    *("zero", "one", "cls", "place", "cosine"),
    *("ones", "inverse", "here", "answer", "idle"),
)


def parity_bounded(length: int, *, layer_norm: bool = False) -> Transformer:
    """Whether the ones among exactly `length` = n letters are odd in number: (…, 1).

    | layer_norm | layers | heads | width | MLP units     | logits            |
    |------------|--------|-------|-------|---------------|-------------------|
    | no         | 2      | 2     | 10    | 3             | 0 and ±Θ(1/n²)    |
    | yes        | 2      | 2     | 20    | 3, and 18     | 0 and ±√10        |

    j/N, 1/√5 and √20 are rounded to float64.  Raises ValueError for a length below 1.
    """
    _, n = sizes(2, length)
    layer_norm = checks.truth("layer_norm", layer_norm)
    sides = np.array([[1.0, -1.0]]) if layer_norm else np.array([[1.0]])
    width: int = sides.shape[1]
    stream = Stream(**dict.fromkeys(REGISTERS, width))

    def read(name: str) -> Reading:
        whole = stream.read(name)
        return whole @ Map(np.eye(2)[:, :1], "first") if layer_norm else whole

    def both(count: int = 1, times: float = 1.0) -> Times:
        return (
            Map(times * np.kron(np.eye(count), sides), f"{times:g}·(1, −1)")
            if layer_norm
            else times
        )

    def held(values: np.ndarray) -> np.ndarray:
        return np.outer(values, sides)

    d, inverse, cosine = read("ones") - read("place"), read("inverse"), read("cosine")
    constant = 0.0 * one
    shares = Head(constant, constant, (read("one"), read("cls")), ("ones", "inverse"), both(2))
    hat = [
        Unit(d - inverse, "here", both()),
        Unit(d, "here", both(times=-2.0)),
        Unit(d + inverse, "here", both()),
    ]
    against = Head(read("cls"), cosine, read("here"), "answer", both(times=-1.0))
    in_favour = Head(read("cls"), -cosine, read("here"), "answer", both())
    erased: list[Word] = []
    if layer_norm:  # relu(v) and relu(−v) for (v, −v)
        taken = Map(np.array([[-1.0, 1.0], [1.0, -1.0]]), "away")
        erased = [Unit(stream.read(name), name, taken) for name in REGISTERS if name != "answer"]
    # Each of two tokens of length 1 would be √width long; heads are half as wide.
    scale = (stream.d_model if layer_norm else 1.0) / math.sqrt(stream.d_model / 2)
    first, second = (
        block(
            stream, heads, words, normalise="softmax", mask="full", scale=by, unit_norm=layer_norm
        )
        for heads, words, by in (([shares], hat, 1.0), ([against, in_favour], erased, scale))
    )
    here = np.arange(n + 1)
    letters = dict(zip(("zero", "one", "cls"), map(held, np.eye(3)), strict=True))
    said = math.sqrt(stream.d_model) if layer_norm else 1.0
    logits = Map(
        np.eye(width)[:, :1] * np.array([[0.0, said]]), "(0, √20)" if layer_norm else "(0, 1)"
    )
    return Transformer(
        Embed(rows(stream, **letters)),
        [first, second],
        unembed(stream, stream.read("answer") @ logits),
        pos_embed=PosEmbed(rows(stream, place=held(here / (n + 1)), cosine=held((-1.0) ** here))),
        interface=Tokens(2, n, prefix=(CLS,), length=n, answers=2, whole=True),
        stream=stream,
        name=f"parity_bounded({n}{', layer_norm=True' * layer_norm})",
        source="[ChiangCholak2022], derived again",
    )
