"""Addition without Fourier features, products or an MLP: 2cs − c² is largest at c = s.

Layer 1, one head of uniform attention.  "=" attends to the two numbers, and the head writes their
mean s/2 to the register `number` of "=", which was 0.  Here s is the sum of the numbers, which are
at most L.

Unembedding.  The logit of c is 4c·s/2 − c² = s² − (c − s)², so the logit of s exceeds those of its
neighbours s ± 1 by 1.  If `number` is (s + ε)/2, the logit of c = s ± 1 gains ±2ε relative to that
of s.  So for 0 < s < 2L the prediction is right iff |ε| < 1/2.  The sums 0 and 2L have only one
neighbour, and tolerate larger errors in the other direction.  So Fourier features increase the
tolerated error from 1/2 to 5 (`adder.py`).

All entries are integers or halves of integers.
"""

from __future__ import annotations

import numpy as np

from constructions.arithmetic.sums import Sums
from constructions.assembly import block, rows, unembed
from constructions.blocks import Embed, Stage
from constructions.call import construction
from constructions.stream import Map, Stream
from constructions.tokens import average, rows_fit
from constructions.transformer import Transformer
from theory.kinds import Count


@construction
def linear_adder(largest: Count) -> Transformer:
    """The transformer that adds numbers without Fourier features, from pairs (…, 2) to sums (…, 1).

    The numbers are from 0 to `largest`.  The model has 1 layer with 1 head of uniform attention,
    width 1 and no MLP.
    """
    L = largest
    rows_fit(3 * L)
    answers = np.arange(2 * L + 1.0)
    stream = Stream(number=1)
    number = stream.read("number")
    return Transformer(
        Embed(rows(stream, number=np.append(np.arange(L + 1.0), 0.0))),
        [block(stream, [average(number, "number")], normalise="hardmax", mask="strictly causal")],
        unembed(stream, number @ Map(4 * answers[None], "4c"), bias=-(answers**2)),
        interface=Sums(L + 1, len(answers), 1.0),
        stream=stream,
        stages=(Stage(1, "number", _half_sum),),
        source="weightwright",
    )


def _half_sum(pairs: np.ndarray) -> np.ndarray:
    """The layer invariant of `number` at "=": s/2."""
    return pairs.sum(-1)[..., None, None] / 2
