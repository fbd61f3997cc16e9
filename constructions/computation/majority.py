"""Majority, that is, whether the bits so far have more ones than zeros, by one layer of one head.

The register `symbol` is −1 for symbol 0, +1 for symbol 1, and −½ for BOS.  The head has constant
scores.  At a token that attends to N tokens, including itself, the output of the head is the mean
(z − ½)/N, where z is the number of ones minus the number of zeros.  The mean is positive if z ≥ 1
and negative if z ≤ 0, with absolute value at least 1/(2N).  Softmax is exact at any sharpness.

The logit is 2·mean.  The signed logit (the logit with the sign of the right answer) is at least
1/N ≥ 1/(T + 1), where T is the largest length.  No weight depends on the length, and there are no
positions, but the margin depends on the length.  A gate of two ReLUs, whose weights depend on T,
makes the signed logit 1:

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
    """Returns a model that outputs, after each bit, 1 if most bits so far are 1, and else 0.

    Words have at most T = max_length symbols 0 and 1. The logit of the answer 0 is 0. The signed
    logit is the logit of the answer 1, multiplied by 1 if this answer is right and by −1 if not.
    The margin in the table is the smallest signed logit over all words. If `gate` is true, two
    ReLUs (a step function) make the margin 1.

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
        interface=Tokens(2, T, prefix=(2,), labels=2, margin=1.0 if gate else 1 / (T + 1)),
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
