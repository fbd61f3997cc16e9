"""Connected pairs by squaring with softmax attention: distances up to 2^L in L layers.

Token i is row i of the adjacency matrix A, with ones on its diagonal, in the register `reached`;
its position is e_i in `node`.  After l layers `reached` is R_l, R_ij = 1 where dist(i, j) ≤ 2^l and
0 elsewhere; R_0 = A.

A layer.  One head has query R_i and key e_j: the score is R_ij, so that average-hard attention
averages over the c nodes that i has reached, i among them, with a gap of 1 to all others.  The
value is N times the row R_j, N = 2^⌈log₂n⌉: the output at node k is

    N·(how many of the c nodes reach k)/c        0 where R² is 0, and at least N/n ≥ 1 elsewhere

lean    The output is added to `reached`, which becomes z = 0 or z ≥ 1, and the MLP turns this into
        min(1, z) = z − relu(z − 1).  Averages are rounded, z − 1 and z − (z − 1) are not for
        1 ≤ z ≤ N + 1: `reached` is 0 or 1 again, exactly, also in floats.
robust  The output is f in `found`, and the MLP adds relu(2f − ½ − r) − relu(2f − 3/2) to r =
        `reached` and clears `found`: 0 for f ≤ ¼, where r = 0, and 1 − r for f ≥ ¾.  So with
        softmax, if f is off by at most ¼, `reached` is 0 or 1 exactly after every layer, in exact
        arithmetic.  In floats `reached` is off by about N ulp at most, which later layers do not
        add to, and f stays below ¼ or above ¾: predictions, by the threshold ½, do not change.

Softmax at inverse temperature β gives each of the n − c nodes that are not reached e^{−β} times the
weight of a reached one.  Where R² is 1 the average is at least 1/(c + (n − c)e^{−β}) ≥ 1/n whatever
β, and elsewhere at most (n − 1)e^{−β}: β ≥ ln(4N(n − 1)) is enough for the robust form at every
depth.  The bound that `sharpened` derives, which counts an error both where weight is added and
where it is missing, is ln(8N(n − 1)).  The lean form multiplies errors by up to N + 1 in each
layer, so that its β grows with the number of layers, and has to.  For a node i beside a clique of
all others let ε be its entry R_ij for each of them, and s = (n − 1)e^{−β}.  The others together get
s e^{βε} ≥ s times the weight of i itself, so that a layer turns ε into at least
min(1, ε + N(ε + s)/(1 + s)).  For s ≤ 1/(2N − 1) the second is at least (N + ½)ε + (N − ½)s, so
that ε is at least s((N + ½)^L − 1) after L layers: above ½, which is wrong,

    for every β < ln(2(n − 1)((N + ½)^L − 1)),

as for s > 1/(2N − 1) one layer is enough.
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
from constructions.stream import Stream, one
from constructions.transformer import Transformer
from constructions.words import Unit
from theory.graphs.distances import within
from theory.kinds import Count, Positive, Steps

Form = Literal["lean", "robust"]


@construction
def squaring(
    n: Count, layers: Steps, *, form: Form = "lean", sharpness: Positive | None = None
) -> Transformer:
    """`squaring(n, L)(A)`: 1 for pairs at distance at most 2^L, else 0, (…, n, n) → (…, n, n).

    | form   | layers | heads | width | hidden neurons |
    |--------|--------|-------|-------|----------------|
    | lean   | L      | 1     | 2n    | n              |
    | robust | L      | 1     | 3n    | 3n             |

    ⌈log₂D⌉ layers give all connected pairs of every graph whose components have diameter at most D,
    D ≥ 1.  With `sharpness` β average-hard attention becomes softmax at inverse temperature β; the
    least β of the robust form does not depend on L.

    Raises ValueError for a sharpness that is too small; the model, for an input that is not an
    adjacency matrix of n nodes with ones on its diagonal.
    """
    L, robust = layers, form == "robust"
    stream = Stream(reached=n, node=n, **({"found": n} if robust else {}))
    stream.fits(L, shared=True)
    N = 2.0 ** (n - 1).bit_length()
    reached, node = stream.read("reached"), stream.read("node")
    into = "found" if robust else "reached"
    margin = Margin(1.0, graded=False, ties=True)
    head = Head(reached, node, N * reached, into, margin=margin)
    words: Sequence[Unit] = [Unit(reached - one, "reached", -1.0)]
    restores = [Restores(("reached", "found"), {"reached": 0.0, "found": 0.25})] * robust
    if robust:
        found = stream.read("found")
        words = [
            Unit(2.0 * found - 0.5 * one - reached, "reached"),
            Unit(2.0 * found - 1.5 * one, "reached", -1.0),
            Unit(found, "found", -1.0),
        ]
    layer = block(stream, [head], words, normalise="hardmax", mask="full", restores=restores)
    return Transformer(
        embed(stream, row={"reached": 1.0}),
        [layer] * L,
        unembed(stream, reached),
        pos_embed=PosEmbed(rows(stream, node=np.eye(n))),
        interface=Graph(n, threshold=0.5, margin=1.0),
        stream=stream,
        # No distance is n: from 2^l ≥ n on all that is connected is reached.
        stages=tuple(
            Stage(after, "reached", partial(within, distance=2 ** min(after, n.bit_length())))
            for after in range(L + 1)
        ),
        at_most={"reached": 1.0} | ({"found": N} if robust else {}),
        source="proved in constructions/graphs/squaring.py",
    ).sharpened(sharpness)
