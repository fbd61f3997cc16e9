"""Nearest neighbour: one average-hard head, the limit β → ∞ of Gaussian kernel smoothing.

The query is x_q, the key of example j is (x_j, ‖x_j‖²), the value of example j is the label y_j,
and the score

    2⟨x_q, x_j⟩ − ‖x_j‖² = ‖x_q‖² − ‖x_q − x_j‖²

is largest for the nearest example; the labels of equally near examples are averaged.  Softmax at
inverse temperature β has the weights e^{−β‖x_q − x_j‖²}, up to a common factor: this is the
Nadaraya–Watson estimate [Nadaraya1964], [Tsai2019].  Let γ be the gap between the smallest squared
distance and the next larger one. Each of the at most n − 1 other examples has at most e^{−βγ} times
the weight of a nearest example. So the two answers differ by at most (n − 1)·e^{−βγ}·(max y − min
y). Squared lengths are columns of the prompt.
"""

from __future__ import annotations

from constructions.assembly import Head, block, embed, unembed
from constructions.call import construction
from constructions.examples import Examples, measured
from constructions.stream import Stream, one
from constructions.transformer import Transformer
from theory.kinds import Count, Positive


@construction
def nearest_neighbour(d: Count, *, sharpness: Positive | None = None) -> Transformer:
    """A model that outputs the label of the example nearest to the query.

    For examples x (…, n, d) with labels y (…, n) and queries x_query (…, d),
    `nearest_neighbour(d)(x, y, x_query)` is the mean of the labels y_j with the smallest distance
    ‖x_query − x_j‖. The number n of examples is arbitrary. With a `sharpness` β, attention is
    softmax at inverse temperature β, and the output is Σ_j exp(−β‖x_query − x_j‖²) y_j / Σ_j
    exp(−β‖x_query − x_j‖²).

    The model has one layer, one head and width d + 3. Distances are compared as float scores: if
    two distances agree up to rounding, the result may be the label of either example, or the mean
    of the two labels.
    """
    stream = Stream(x=d, square=1, y=1, estimate=1)
    x, square, y, estimate = map(stream.read, stream)
    head = Head((2 * x, -one), (x, square), y, "estimate")
    return Transformer(
        embed(stream, x={"x": 1.0}, square={"square": 1.0}, y={"y": 1.0}),
        [block(stream, [head], normalise="hardmax", mask="context-only")],
        unembed(stream, estimate),
        interface=Examples(d, measured),
        stream=stream,
        source="[CoverHart1967], [Nadaraya1964], [Tsai2019]",
    ).sharpened(sharpness)
