"""Majority (whether the bits so far have more ones than zeros) in one layer of one head.

Symbols 0 and 1 are −1 and +1 in `symbol`, and BOS is −½.  The head has constant scores.  At a token
that attends to N tokens, including itself, its output is the mean (z − ½)/N, where z is the number
of ones minus the number of zeros.  It is positive if z ≥ 1 and negative if z ≤ 0, with absolute
value at least 1/(2N).  Softmax is exact at any sharpness.

The logit is 2·mean, and the signed logit is at least 1/N ≥ 1/(T + 1).  No weight depends on the
length, and there are no positions, but the margin depends on the length.  A gate of two ReLUs,
whose weights depend on T, makes the signed logit 1:

    gate = [4(T + 1)·mean ≥ 1],  a step function, exact since |4(T + 1)·mean| ≥ 2(T + 1)/N ≥ 2,

and the logit is 2·gate − 1.
"""

from __future__ import annotations

import numpy as np

from constructions.assembly import block, rows, unembed
from constructions.blocks import Embed, Stage
from constructions.call import construction
from constructions.primitives import Step
from constructions.stream import Map, Stream
from constructions.tokens import Tokens, average, per_token, sizes
from constructions.transformer import Transformer
from theory.computation.majority import majority as definition
from theory.kinds import Count


@construction
def majority(max_length: Count, *, gate: bool = False) -> Transformer:
    """Returns a model that outputs, at each of at most T symbols, whether the ones have a majority.

    The number of symbols is at most max_length = T; 1 means more ones than zeros so far.

    | gate | layers | heads | width | MLP ReLUs | margin    |
    |------|--------|-------|-------|-----------|-----------|
    | no   | 1      | 1     | 2     | 0         | 1/(T + 1) |
    | yes  | 1      | 1     | 3     | 2         | 1         |
    """
    _, T = sizes(2, max_length)
    stream = Stream(symbol=1, mean=1, **({"gate": 1} if gate else {}))
    mean = stream.read("mean")
    step = Step(4.0 * (T + 1) * mean, at=1.0, into="gate")
    answer, stages = mean, [Stage(1, "mean", _mean)]
    if gate:
        answer, stages = stream.read("gate"), [*stages, Stage(1, "gate", _more_ones)]
    bias = np.array([0.0, -1.0]) if gate else None
    mix = average(stream.read("symbol"), "mean")
    return Transformer(
        Embed(rows(stream, symbol=np.array([-1.0, 1.0, -0.5]))),
        [block(stream, [mix], [step] * gate, normalise="hardmax", mask="causal")],
        unembed(stream, answer @ Map(np.array([[0.0, 2.0]]), "(0, 2)"), bias=bias),
        interface=Tokens(2, T, prefix=(2,), answers=2, margin=1.0 if gate else 1 / (T + 1)),
        stream=stream,
        stages=tuple(stages),
        source="[MSS2022]",
    )


def _mean(words: np.ndarray) -> np.ndarray:
    """(z − ½)/N after each symbol."""
    return per_token(np.cumsum(2 * words - 1, axis=-1) - 0.5)


def _more_ones(words: np.ndarray) -> np.ndarray:
    """[z ≥ 1] after each symbol."""
    return definition(words)[..., None]
