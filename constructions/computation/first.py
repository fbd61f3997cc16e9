"""The first symbol of a word, output at CLS, by one layer of one head without an MLP.

CLS is at position 0, and the n ≤ T symbols are at 1 … n.  The register `symbol` is −1 for symbol 0
and +1 for symbol 1.  The register `late` is j at position j ≥ 1 and T + 1 at CLS.

Layer 1.  CLS attends to position 1, at which the score −late is largest, by at least 1.  The value,
−1 or +1, is added to `symbol`, which is 0 at CLS.  The result is the logit.

Softmax at sharpness β gives the symbol at position m + 1 a weight proportional to e^{−βm}.  So the
signed logit (the logit with the sign of the right answer) is at least 1 − 2e^{−β}, for all words of
all lengths (`theory.computation.first.least_signed_first`).  No weight depends on n (T + 1 only
lowers the score of CLS), but positions are as large as n.  With bounded positions, as in
`first_bounded.py`, the attention weight of the first symbol is Θ(1/n).
"""

from __future__ import annotations

import numpy as np

from constructions.assembly import Head, block, rows, unembed
from constructions.attention import Normalise
from constructions.blocks import Embed, PosEmbed, Stage
from constructions.call import construction
from constructions.computation.parity import CLS, LEAST
from constructions.margins import Margin
from constructions.stream import Map, Stream, one
from constructions.tokens import Tokens, sizes
from constructions.transformer import Transformer
from theory.computation.first import first_symbol as definition
from theory.kinds import Count, InputError, Positive


@construction
def first_symbol(max_length: Count, *, sharpness: Positive | None = None) -> Transformer:
    """Returns a model that outputs the first symbol of words of bits: (…, n) → (…, 1).

    The model has 1 layer, 1 head, width 2 and no MLP. Words have n ≤ max_length symbols. With
    hardmax attention, the logit of the answer 0 is 0, and the logit of the answer 1 is ±1. If a
    `sharpness` β is given, attention is softmax at inverse temperature β. The signed logit is the
    logit of the answer 1, multiplied by 1 if this answer is right and by −1 if not. With softmax
    the signed logit is at least 1 − 2e^{−β}. Raises ValueError for a sharpness of at most ln 2, for
    which this bound is not positive.
    """
    _, T = sizes(2, max_length)
    beta = 1.0 if sharpness is None else sharpness
    if sharpness is not None and beta <= LEAST:
        raise InputError(f"sharpness is {beta:g}: give a sharpness above ln 2 = {LEAST:.4f}")
    late = np.arange(T + 1)
    late[0] = T + 1
    stream = Stream(symbol=1, late=1)
    symbol = stream.read("symbol")
    earliest = Head(one, -stream.read("late"), symbol, "symbol", margin=Margin(1.0))
    normalise: Normalise = "hardmax" if sharpness is None else "softmax"
    return Transformer(
        Embed(rows(stream, symbol=np.array([-1.0, 1.0, 0.0]))),
        [block(stream, [earliest], normalise=normalise, mask="full", scale=beta)],
        unembed(stream, symbol @ Map(np.array([[0.0, 1.0]]), "(0, 1)")),
        pos_embed=PosEmbed(rows(stream, late=late)),
        interface=Tokens(2, T, prefix=(CLS,), labels=2, margin=1.0, whole=True),
        stream=stream,
        stages=(Stage(1, "symbol", _signed),) if sharpness is None else (),
        source="after [ChiangCholak2022]",
    )


def _signed(words: np.ndarray) -> np.ndarray:
    """The first symbol, as −1 or +1."""
    return 2.0 * definition(words)[..., None] - 1
