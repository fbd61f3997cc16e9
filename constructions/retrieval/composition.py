"""Function composition g∘f of two tables in the prompt, as two lookups in a row [Peng2024].

The prompt is f(0) … f(s − 1), g(0) … g(s − 1), x: entry v of f stands at position v, entry v of g
at position s + v.  All positions have lattice points P_j, and the value v carries two of them in
its embedding: `first` = P_v, where f(v) stands, and `second` = P_{s+v}, where g(v) stands.

Layer 1: token v asks for its `first`, with the score 2⟨P_v, P_j⟩ − |P_j|², largest at position v by
at least 1; there stands f(v), and its `second` = P_{s+f(v)} is carried into `found`.
Layer 2: `found` asks, and from the position s + f(v), where g(f(v)) stands, `first` is carried into
`answer`.  Logits are 2⟨answer, P_v⟩ − |P_v|², largest at v = g(f(x)) by at least 1.

Two layers, one head each, and width 11 for every size: O(1), with O(log s) bits.
"""

from __future__ import annotations

import numpy as np
import torch

from constructions.assembly import Head, block, rows
from constructions.retrieval.codes import lattice
from constructions.retrieval.margins import Margin, sharpening
from constructions.retrieval.sequence_model import Answers, Prompt, SequenceModel
from constructions.stream import Stream, one
from constructions.transformer import Embed, PosEmbed, Unembed
from theory import checks


def composition(size: int, sharpness: float | None = None) -> SequenceModel:
    """g(f(x)) from tokens f(0) … f(s − 1), g(0) … g(s − 1), x, all in 0 … s − 1.

    `composition(s)(tokens)` (…, 2s + 1) answers g(f(v)) at every position that holds v, so the last
    entry is the composition at x.  Two layers, one head each, width 11.

    Raises ValueError for a size below 1, and for a sharpness at which answers could be wrong.
    """
    s = checks.dimension("size", size)
    points = lattice(2 * s)
    norms = (points**2).sum(1)
    stream = Stream(place=2, norm=1, first=2, second=2, found=2, answer=2)
    place, norm, first, second, found, answer = map(stream.read, stream)
    c = sharpening(4 * float(abs(points).max()) ** 2)
    lookups = [
        Head((2 * c * first, -c * one), (place, norm), second, "found"),
        Head((2 * found, -one), (place, norm), first, "answer"),
    ]
    W_U = stream.matrix(2 * answer)[0] @ points[:s].T
    # The query's own position is never looked up.
    query = np.zeros((1, stream.d_model))
    return SequenceModel(
        Embed(rows(stream, first=points[:s], second=points[s:])),
        [block(stream, [head], normalise="hardmax", mask="examples") for head in lookups],
        Unembed(torch.as_tensor(W_U), torch.as_tensor(-norms[:s])),
        pos_embed=PosEmbed(
            torch.cat([rows(stream, place=points, norm=norms), torch.as_tensor(query)])
        ),
        stream=stream,
        prompt=Prompt(s, 2 * s + 1, length=2 * s + 1, n_examples=2 * s),
        answers=Answers(margin=1.0, bottom=False),
        margins=((Margin(c),), (Margin(1.0),)),
        name=f"composition({s})",
        source="[Peng2024]; proved in constructions/retrieval/composition.py",
    ).sharpened(sharpness)
