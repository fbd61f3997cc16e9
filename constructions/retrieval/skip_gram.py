r"""The skip-gram head [Elhage2021]: a table of attention scores for pairs of tokens.

The query of token v is row v of a V × V table, and the key and the value of token w are one-hot. So
the score is the entry table[v, w].  Example: `\right` attends to `\left` at any distance before it.
Average-hard attention is uniform over the positions of largest score, so its output is the vector
of relative frequencies of the tokens there.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Embed, Stage
from constructions.call import construction
from constructions.margins import Margin
from constructions.stream import Stream
from constructions.tokens import Tokens, sizes
from constructions.transformer import Transformer
from theory.kinds import Count, Positive
from theory.retrieval import skip_gram as definition
from theory.retrieval.attention_patterns import ScoreTable


@construction
def skip_gram(
    table: ScoreTable, max_length: Count, *, sharpness: Positive | None = None
) -> Transformer:
    """A model that outputs the frequencies of the symbols among the tokens with the largest score.

    The entry table[v, w] of `table` (V, V), a finite number, is the score of a token w for the
    current token v. At every position the frequencies are computed over the tokens so far that
    have the largest score, and the answer is the most frequent symbol. With a `sharpness` β,
    attention is softmax at inverse temperature β.

    The model has one layer, one head and width 3V; queries and keys have V dimensions.

    Raises ValueError for a sharpness at which answers could be wrong for `max_length` tokens.
    """
    V, n = sizes(len(table), max_length)
    stream = Stream(symbol=V, wanted=V, attended=V)
    symbol, wanted, attended = map(stream.read, stream)
    gap = Margin(_smallest_gap(table), graded=False, ties=True)
    head = Head(wanted, symbol, symbol, "attended", margin=gap)
    return Transformer(
        Embed(rows(stream, symbol=np.eye(V), wanted=table)),
        [block(stream, [head], normalise="hardmax", mask="causal")],
        unembed(stream, attended),
        interface=Tokens(V, n, frequencies=True),
        stream=stream,
        stages=(Stage(1, "attended", partial(_frequencies, table)),),
        source="[Elhage2021]",
    ).sharpened(sharpness)


def _smallest_gap(table: np.ndarray) -> float:
    """The smallest difference between distinct scores of one row."""
    with np.errstate(over="ignore"):  # a gap above the largest float64 counts as infinite
        gaps = np.diff(np.sort(table, axis=1), axis=1)
    return float(gaps[gaps > 0].min(initial=np.inf))


def _frequencies(table: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """The frequencies of the symbols among the tokens attended to."""
    return definition(tokens, table)
