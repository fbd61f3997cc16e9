"""Broad averaging: with W_Q = W_K = 0, tokens attend uniformly to all tokens up to themselves.

All scores are 0, so softmax and average-hard attention are uniform. The mean of one-hot values is
the vector of relative frequencies.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Embed, Stage
from constructions.call import construction
from constructions.margins import Margin
from constructions.stream import Stream, one
from constructions.tokens import Tokens, sizes
from constructions.transformer import Transformer
from theory.kinds import Count, Positive
from theory.retrieval import token_frequencies


@construction
def broad_average(
    vocabulary_size: Count, max_length: Count, *, sharpness: Positive | None = None
) -> Transformer:
    """A model that outputs the relative frequencies of the tokens up to each position.

    The logits are the relative frequencies, and the answer is the most frequent token. The model
    has one layer, one head and width 2V, where V = `vocabulary_size`. All scores are 0, so softmax
    attention at every inverse temperature equals average-hard attention.
    """
    V, n = sizes(vocabulary_size, max_length)
    stream = Stream(symbol=V, average=V)
    no_gap = Margin(np.inf, ties=True)
    head = Head(0 * one, 0 * one, stream.read("symbol"), "average", margin=no_gap)
    return Transformer(
        Embed(rows(stream, symbol=np.eye(V))),
        [block(stream, [head], normalise="hardmax", mask="causal")],
        unembed(stream, stream.read("average")),
        interface=Tokens(V, n, frequencies=True),
        stream=stream,
        stages=(Stage(1, "average", partial(_frequencies, V)),),
        source="[Elhage2021]",
    ).sharpened(sharpness)


def _frequencies(V: int, tokens: np.ndarray) -> np.ndarray:
    return token_frequencies(tokens, V)
