"""The parity of the number of ones in two layers of one head, without an MLP.

A flag and its table, read at the place that is counted: nothing is divided, and no ReLU is needed.
CLS stands at position 0, symbols 0 and 1 at 1 … n, N = n + 1 ≤ T + 1; k of them are ones.  Each
position holds j, j² (`norm`) and (−1)^j (`sign`); CLS has a flag of its own, `inverse` = 1.

Layer 1.  One head with constant scores averages all tokens: it carries `one` and `inverse`, and
leaves the fractions k/N and 1/N.
Layer 2.  CLS queries position k by its fractions (`tokens.counted`),

    score (T + 1)(2(k/N)j − (1/N)j²) = (T + 1)/N · (k² − (k − j)²)    largest at j = k, by ≥ 1.

That position is there, as 0 ≤ k ≤ n, and carries its sign (−1)^k.

whole    the mask is full and the output is that of CLS.  Each head carries into what it read: `one`
         of CLS is 0 and becomes k/N, `inverse` becomes 1 + 1/N, of which 1 is taken off in the
         query, and `sign` becomes 1 + (−1)^k.  The logit is 1 − sign = −(−1)^k.  What other tokens
         query, and retrieve, is not read.
causal   every token has the output of the symbols up to its own, and sees no others; position k is
         not after it.  As a symbol of its own would be in the way, shares stand in `share` and
         `inverse` (0 at symbols), and the sign goes into `cls`, which is 0 at symbols.

Softmax at sharpness β leaves weight q^{d²} at distance d from k, q ≤ e^{−β} (a shorter word has a
larger gap).  The logit is then off by no more than to (1 − 2q)/(1 + 2q) of its size, for all words
of all lengths, and it is on the right side if q < ½: proved at
`theory.computation.parity.least_signed_count`.  Layer 1 compares nothing and is exact.

That one symbol moves the logit by O(1/n) and no more ([Hahn2020], as quoted in [ChiangCholak2022])
takes scores that stay bounded as n grows, so that every weight is O(1/n): positions in a bounded
set, and weights that do not depend on n.  Here positions reach n², and scores are multiplied by
T + 1.  `parity_bounded.py` keeps both.
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
    """Whether the ones among at most max_length = T symbols are odd in number: 1, else 0.

    | form   | layers | heads | width | MLP ReLUs | answers                       |
    |--------|--------|-------|-------|-----------|-------------------------------|
    | whole  | 2      | 1     | 5     | 0         | one for the word, (…, 1)      |
    | causal | 2      | 1     | 7     | 0         | one after each symbol, (…, n) |

    The logits are 0 and ±1; at a softmax `sharpness` β the second one is at least
    (1 − 2e^{−β})/(1 + 2e^{−β}) on its side.  Raises ValueError for a sharpness of at most
    ln 2, at which the word 01 is not decided if T = 2.
    """
    _, T = sizes(2, max_length)
    here = np.arange(T + 1)
    table = {"j": here, "norm": here**2, "sign": (-1.0) ** here}
    stream = Stream(**dict.fromkeys(REGISTERS[causal], 1))
    ones, flag = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    line, sign = (stream.read("j"), stream.read("norm")), stream.read("sign")
    if causal:
        cls = stream.read("cls")
        shares = average((stream.read("one"), cls), ("share", "inverse"))
        found = counted(stream.read("share"), stream.read("inverse"), line, sign, "cls", T)
        embedded, answer, bias = {"one": ones, "cls": flag}, cls, None
        stages = Stage(1, "share", _share), Stage(1, "inverse", inverse), Stage(2, "cls", _sign)
    else:
        shares = average((stream.read("one"), stream.read("inverse")), ("one", "inverse"))
        flagged = stream.read("inverse") - one
        found = counted(stream.read("one"), flagged, line, sign, "sign", T)
        embedded, answer, bias = {"one": ones, "inverse": flag}, sign, np.array([0.0, 1.0])
        stages = (
            Stage(1, "one", partial(_at_cls, _share, 0)),
            Stage(1, "inverse", partial(_at_cls, inverse, 1)),
            Stage(2, "sign", partial(_at_cls, _sign, 1)),
        )
    beta = 1.0 if sharpness is None else sharpness
    if sharpness is not None and beta <= LEAST:
        raise InputError(f"sharpness is {beta:g}: give more than ln 2 = {LEAST:.4f}")
    mask: Mask = "causal" if causal else "full"
    normalise: Normalise = "hardmax" if sharpness is None else "softmax"
    return Transformer(
        Embed(rows(stream, **embedded)),
        [
            block(stream, [head], normalise=normalise, mask=mask, scale=beta)
            for head in (shares, found)
        ],
        unembed(stream, answer @ Map(np.array([[0.0, -1.0]]), "(0, −1)"), bias=bias),
        pos_embed=PosEmbed(rows(stream, **table)),
        interface=Tokens(2, T, prefix=(CLS,), answers=2, margin=1.0, whole=not causal),
        stream=stream,
        stages=stages if sharpness is None else stages[:2],
        source="proved in constructions/computation/parity.py; after [ChiangCholak2022]",
    )


REGISTERS = {
    False: ("one", "inverse", "j", "norm", "sign"),
    True: ("one", "cls", "share", "inverse", "j", "norm", "sign"),
}


def _share(words: np.ndarray) -> np.ndarray:
    """k/N after each letter: ones among tokens, CLS being one of these."""
    return per_token(np.cumsum(words, axis=-1))


def _sign(words: np.ndarray) -> np.ndarray:
    """(−1)^k after each letter."""
    return 1 - 2 * definition(words)[..., None]


def _at_cls(
    after_each: Callable[[np.ndarray], np.ndarray], more: int, words: np.ndarray
) -> np.ndarray:
    """What is true after the last letter, and what CLS held before."""
    return after_each(words)[..., -1:, :] + more
