"""Addition without Fourier features, products or an MLP: 2cs − c² is largest at c = s.

Layer 1, one head of uniform attention.  "=" attends to the two numbers, and their mean s/2 is
written to its `number`, which is 0.

Unembedding.  The logit of c is 4c·s/2 − c² = s² − (c − s)²: the right one is ahead of its
neighbours by 1.  If the head finds (s + ε)/2 instead, c = s ± 1 gains ±2ε: for 0 < s < 2L right iff
|ε| < 1/2, and s = 0 and 2L, which have one neighbour, tolerate more on the other side.  What
Fourier features gain is that tolerance: 1/2 here, 5 in `adder.py`.

All numbers are integers or halves of integers.
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
    """`linear_adder(largest)([a, b])`: a + b for numbers up to `largest`, (…, 2) → (…, 1).

    1 layer, 1 head, width 1, no MLP.
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
        source="proved in constructions/arithmetic/linear_adder.py",
    )


def _half_sum(pairs: np.ndarray) -> np.ndarray:
    """s/2 at "="."""
    return pairs.sum(-1)[..., None, None] / 2
