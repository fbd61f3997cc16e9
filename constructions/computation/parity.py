"""The parity of the number of ones of a word, by two layers of one head without an MLP.

CLS is at position 0, and the symbols 0 and 1 are at 1 … n, so there are N = n + 1 ≤ T + 1 tokens.
k is the number of ones.  Position j has registers that contain j, j² (`norm`) and (−1)^j (`sign`).
The flag `inverse` is 1 at CLS and 0 elsewhere.

Layer 1.  One head with constant scores averages `one` and `inverse` over all tokens: the fractions
k/N and 1/N.
Layer 2.  CLS queries position k by its fractions (`tokens.counted`): the score

    (T + 1)(2(k/N)j − (1/N)j²) = (T + 1)/N · (k² − (k − j)²)    is largest at j = k, by at least 1.

This position exists, as 0 ≤ k ≤ n, and its value is the sign (−1)^k.

causal=False   The mask is full, and the answer is read at CLS.  Each head writes to the registers
               that it reads.  At CLS, `one` is 0 and becomes k/N; `inverse` becomes 1 + 1/N, from
               which the query subtracts 1; and `sign` becomes 1 + (−1)^k.  The logit is
               1 − sign = −(−1)^k.  The streams of other tokens after layer 1 are not read.
causal=True    Every token outputs the parity of the symbols up to the token, and the mask admits
               only these symbols.  Position k is not after the token.  Since `one` is not 0 at
               symbols, the fractions are written to `fraction` and `inverse`, and the sign to
               `cls`.  These registers are 0 at symbols.

With softmax at sharpness β, the weight at distance d from k is proportional to q^{d²}, where
q ≤ e^{−β} (for words of fewer than T symbols the score differences are larger).  So the signed
logit (the logit with the sign of the right answer) is at least (1 − 2q)/(1 + 2q), for all words of
all lengths.  This is positive if q < ½.  The proof is in
`theory.computation.parity.least_signed_count`.  Layer 1 has constant scores and is exact.

Why positions are unbounded: assume that position embeddings are in a bounded set and weights do not
depend on n.  Then scores stay bounded as n grows, every attention weight is O(1/n), and one symbol
changes the logit by at most O(1/n) ([Hahn2020], as quoted in [ChiangCholak2022]).  Here position
embeddings are as large as n², and scores are multiplied by T + 1.  In `parity_bounded.py` both
assumptions hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from constructions.assembly import block, rows, unembed
from constructions.attention import Mask, Normalise
from constructions.blocks import Embed, PosEmbed, Stage
from constructions.call import construction
from constructions.stream import Map, Stream, one
from constructions.tokens import Tokens, average, counted, inverse, per_token, sizes
from constructions.transformer import Transformer
from theory.computation.parity import parity as definition
from theory.kinds import Count, InputError, Positive

CLS = 2
LEAST = math.log(2)


@construction
def parity(
    max_length: Count, *, causal: bool = False, sharpness: Positive | None = None
) -> Transformer:
    """Returns a model that computes the parity of the number of ones of words of bits.

    | causal | layers | heads | width | MLP ReLUs | answers                       |
    |--------|--------|-------|-------|-----------|-------------------------------|
    | False  | 2      | 1     | 5     | 0         | one for the word, (…, 1)      |
    | True   | 2      | 1     | 7     | 0         | one after each symbol, (…, n) |

    Words have n ≤ T = max_length symbols 0 and 1. With hardmax attention, the logit of the answer 0
    is 0, and the logit of the answer 1 is ±1. If a `sharpness` β is given, attention is softmax at
    inverse temperature β. The signed logit is the logit of the answer 1, multiplied by 1 if this
    answer is right and by −1 if not. With softmax the signed logit is at least (1 − 2e^{−β})/(1 +
    2e^{−β}). The word 01 attains this bound for T = 2. Raises ValueError for a sharpness of at most
    ln 2, for which the bound is not positive.
    """
    _, T = sizes(2, max_length)
    here = np.arange(T + 1)
    table = {"j": here, "norm": here**2, "sign": (-1.0) ** here}
    stream = Stream(**dict.fromkeys(REGISTERS[causal], 1))
    ones, flag = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    line, sign = (stream.read("j"), stream.read("norm")), stream.read("sign")
    if causal:
        cls = stream.read("cls")
        fractions = average((stream.read("one"), cls), ("fraction", "inverse"))
        found = counted(stream.read("fraction"), stream.read("inverse"), line, sign, "cls", T)
        embedded, answer, bias = {"one": ones, "cls": flag}, cls, None
        stages = (
            Stage(1, "fraction", _fraction),
            Stage(1, "inverse", inverse),
            Stage(2, "cls", _sign),
        )
    else:
        fractions = average((stream.read("one"), stream.read("inverse")), ("one", "inverse"))
        flagged = stream.read("inverse") - one
        found = counted(stream.read("one"), flagged, line, sign, "sign", T)
        embedded, answer, bias = {"one": ones, "inverse": flag}, sign, np.array([0.0, 1.0])
        stages = (
            Stage(1, "one", partial(_at_cls, _fraction, 0)),
            Stage(1, "inverse", partial(_at_cls, inverse, 1)),
            Stage(2, "sign", partial(_at_cls, _sign, 1)),
        )
    beta = 1.0 if sharpness is None else sharpness
    if sharpness is not None and beta <= LEAST:
        raise InputError(f"sharpness is {beta:g}: give a sharpness above ln 2 = {LEAST:.4f}")
    mask: Mask = "causal" if causal else "full"
    normalise: Normalise = "hardmax" if sharpness is None else "softmax"
    return Transformer(
        Embed(rows(stream, **embedded)),
        [
            block(stream, [head], normalise=normalise, mask=mask, scale=beta)
            for head in (fractions, found)
        ],
        unembed(stream, answer @ Map(np.array([[0.0, -1.0]]), "(0, −1)"), bias=bias),
        pos_embed=PosEmbed(rows(stream, **table)),
        interface=Tokens(2, T, prefix=(CLS,), labels=2, margin=1.0, whole=not causal),
        stream=stream,
        stages=stages if sharpness is None else stages[:2],
        source="after [ChiangCholak2022]",
    )


REGISTERS = {
    False: ("one", "inverse", "j", "norm", "sign"),
    True: ("one", "cls", "fraction", "inverse", "j", "norm", "sign"),
}


def _fraction(words: np.ndarray) -> np.ndarray:
    """k/N after each symbol: ones divided by tokens, including CLS."""
    return per_token(np.cumsum(words, axis=-1))


def _sign(words: np.ndarray) -> np.ndarray:
    """(−1)^k after each symbol."""
    return 1 - 2 * definition(words)[..., None]


def _at_cls(
    after_each: Callable[[np.ndarray], np.ndarray], more: int, words: np.ndarray
) -> np.ndarray:
    """The value after the last symbol, plus the earlier value of the register at CLS."""
    return after_each(words)[..., -1:, :] + more
