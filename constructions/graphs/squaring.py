"""Connectivity by squaring with softmax attention: distances up to 2^L in L layers.

Token i is row i of the adjacency matrix A, with ones on its diagonal, in the register `reached`;
its position is e_i in `node`.  After l layers `reached` is R_l, R_ij = 1 where dist(i, j) ≤ 2^l and
0 elsewhere; R_0 = A.

A layer.  One head has query R_i and key e_j: the score is R_ij, so that average-hard attention
averages over the c nodes that i has reached, i among them, with a gap of 1 to all others.  The
value is N times the row R_j, N = 2^⌈log₂n⌉: the output at node k is

    N·(the number of the c nodes that have reached k)/c,

which is 0 where R² is 0, and at least N/n ≥ 1 elsewhere.

lean    The output is added to `reached`, which becomes z = 0 or z ≥ 1, and the MLP computes
        min(1, z) = z − relu(z − 1).  In floating point averages are rounded, but z − 1 and
        z − (z − 1) are exact for 1 ≤ z ≤ N + 1: `reached` is exactly 0 or 1 again.
robust  The output f is written to `found`, and the MLP adds relu(2f − ½ − r) − relu(2f − 3/2) to
        r = `reached` and clears `found`: this adds 0 for f ≤ ¼ and r = 0, and 1 − r for f ≥ ¾.  So
        with softmax, if f has an error of at most ¼, `reached` is exactly 0 or 1 after every layer,
        in exact arithmetic.  In floating point `reached` has an error of about N ulp, which does
        not grow with depth, and f stays below ¼ or above ¾: predictions, by the threshold ½, do not
        change.

Softmax at inverse temperature β gives each of the n − c nodes that are not reached e^{−β} times the
weight of a reached one.  Where R² is 1 the average is at least 1/(c + (n − c)e^{−β}) ≥ 1/n for any
β, and elsewhere at most (n − 1)e^{−β}: β ≥ ln(4N(n − 1)) is sufficient for the robust form at every
depth.  `sharpened` derives ln((8N − 1)(n − 1)), since it counts an error both where weight is added
and where it is missing.

The lean form multiplies errors by up to N + 1 in each layer, and its β must grow with the number of
layers.  Proof: let i be an isolated node and all other nodes a clique, let ε be its entry R_ij for
each j ≠ i, and s = (n − 1)e^{−β}.  The others together get s e^{βε} ≥ s times the weight of i
itself, so that a layer maps ε to at least min(1, ε + N(ε + s)/(1 + s)).  For s ≤ 1/(2N − 1) the
second argument is at least (N + ½)ε + (N − ½)s, so that ε is at least s((N + ½)^L − 1) after L
layers.  This is above ½, a wrong prediction,

    for every β < ln(2(n − 1)((N + ½)^L − 1)),

and for s > 1/(2N − 1) one layer is enough to exceed ½.                                          ∎
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np

from constructions.assembly import Head, block, embed, rows, unembed
from constructions.blocks import PosEmbed, Stage
from constructions.call import construction
from constructions.graphs.graph import Graph
from constructions.margins import Margin, Restores
from constructions.primitives import ReLU
from constructions.stream import Stream, one
from constructions.transformer import Transformer
from theory.graphs.distances import within
from theory.kinds import Count, Positive, Steps

Form = Literal["lean", "robust"]


@construction
def squaring(
    n_nodes: Count, n_layers: Steps, *, form: Form = "lean", sharpness: Positive | None = None
) -> Transformer:
    """A transformer that outputs which pairs of nodes of a graph are at distance at most 2^L.

    The graph has n = `n_nodes` nodes, and L = `n_layers` is the number of layers. For adjacency
    matrices A (…, n, n) with ones on the diagonal, `squaring(n, L)(A)` (…, n, n) is 1 for nodes at
    distance at most 2^L, and 0 elsewhere.

    | form   | layers | heads | width | hidden neurons |
    |--------|--------|-------|-------|----------------|
    | lean   | L      | 1     | 2n    | n              |
    | robust | L      | 1     | 3n    | 3n             |

    The form "lean" is for average-hard attention, and the form "robust" is for softmax attention.
    ⌈log₂D⌉ layers output all connected pairs of every graph whose components have diameter at most
    D, D ≥ 1. With a `sharpness` β, attention is softmax at inverse temperature β instead of
    average-hard. In the robust form, the smallest allowed β does not depend on L.

    Raises ValueError for a sharpness at which answers could be wrong. The model raises ValueError
    for an input that is not an adjacency matrix of n nodes with ones on its diagonal.
    """
    L, robust = n_layers, form == "robust"
    stream = Stream(reached=n_nodes, node=n_nodes, **({"found": n_nodes} if robust else {}))
    stream.fits(L, shared=True)
    N = 2.0 ** (n_nodes - 1).bit_length()
    reached, node = stream.read("reached"), stream.read("node")
    into = "found" if robust else "reached"
    margin = Margin(1.0, graded=False, ties=True)
    head = Head(reached, node, N * reached, into, margin=margin)
    words: Sequence[ReLU] = [ReLU(reached - one, "reached", -1.0)]
    restores = [Restores(("reached", "found"), {"reached": 0.0, "found": 0.25})] * robust
    if robust:
        found = stream.read("found")
        words = [
            ReLU(2.0 * found - 0.5 * one - reached, "reached"),
            ReLU(2.0 * found - 1.5 * one, "reached", -1.0),
            ReLU(found, "found", -1.0),
        ]
    layer = block(stream, [head], words, normalise="hardmax", mask="full", restores=restores)
    return Transformer(
        embed(stream, row={"reached": 1.0}),
        [layer] * L,
        unembed(stream, reached),
        pos_embed=PosEmbed(rows(stream, node=np.eye(n_nodes))),
        interface=Graph(n_nodes, threshold=0.5, margin=1.0),
        stream=stream,
        # All distances are below n: for 2^l ≥ n every connected node is reached.
        stages=tuple(
            Stage(after, "reached", partial(within, distance=2 ** min(after, n_nodes.bit_length())))
            for after in range(L + 1)
        ),
        at_most={"reached": 1.0} | ({"found": N} if robust else {}),
        source="[Sanford2024b] for logarithmic depth",
    ).sharpened(sharpness)
