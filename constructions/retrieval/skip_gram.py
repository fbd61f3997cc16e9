r"""The skip-gram head [Elhage2021]: a table scores which earlier tokens each token attends to.

`\right` attends to `\left`, however far before it: the query of token v is row v of a V × V table,
the key of token w is one-hot, and so is its value; their score is the entry table[v, w].
Average-hard attention is uniform over the positions of largest score, so that the mean of the
values there is the vector of relative frequencies.
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
    table: ScoreTable, max_length: Count = 1024, sharpness: Positive | None = None
) -> Transformer:
    """The tokens, among the current one v and those before it, with the largest entry table[v, ·].

    `table` (V, V) holds finite scores.  Logits are the frequencies of the tokens that are attended
    to (all of equal, largest score), the answer is the most frequent of them.

    One layer, one head, width 3V: a table of rank V needs V dimensions to compare in.

    Raises ValueError for a sharpness too small.
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
    with np.errstate(over="ignore"):  # a gap above the largest float64 is as good as infinite
        gaps = np.diff(np.sort(table, axis=1), axis=1)
    return float(gaps[gaps > 0].min(initial=np.inf))


def _frequencies(table: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """Of the symbols among the tokens that are attended to."""
    return definition(tokens, table)
