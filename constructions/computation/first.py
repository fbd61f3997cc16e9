"""The first symbol of a word, output at CLS, in one layer of one head without an MLP.

CLS is at position 0; symbols 0 and 1 are at 1 … n ≤ T, as −1 and +1 in `symbol`.  The register
`late` is j at position j ≥ 1 and T + 1 at CLS.

Layer 1.  CLS attends to position 1, at which the score −late is largest, by at least 1.  The value,
−1 or +1, is added to `symbol`, which is 0 at CLS.  This sum is the logit.

Softmax at sharpness β gives weight proportional to e^{−βm} to the symbol m positions after the
first.  So the signed logit is at least 1 − 2e^{−β}, for all words of all lengths
(`theory.computation.first.least_signed_first`).  No weight depends on n (T + 1 only lowers the
score of CLS), but positions reach n.  With bounded positions, as in `first_bounded.py`, the
attention weight of the first symbol is Θ(1/n).
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
    """Returns a model that outputs the first of at most max_length = T symbols 0 and 1, (…, 1).

    1 layer, 1 head, width 2, no MLP.  The logits are 0 and ±1.  With softmax at `sharpness` β the
    signed logit is at least 1 − 2e^{−β}.  Raises ValueError for a sharpness of at most ln 2, for
    which this bound is not positive.
    """
    _, T = sizes(2, max_length)
    beta = 1.0 if sharpness is None else sharpness
    if sharpness is not None and beta <= LEAST:
        raise InputError(f"sharpness is {beta:g}: give a number above ln 2 = {LEAST:.4f}")
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
        interface=Tokens(2, T, prefix=(CLS,), answers=2, margin=1.0, whole=True),
        stream=stream,
        stages=(Stage(1, "symbol", _signed),) if sharpness is None else (),
        source="after [ChiangCholak2022]",
    )


def _signed(words: np.ndarray) -> np.ndarray:
    """The first symbol, as −1 or +1."""
    return 2.0 * definition(words)[..., None] - 1
