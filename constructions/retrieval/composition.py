"""Function composition g∘f of two tables in the prompt by two successive lookups [Peng2024].

The prompt is f(0) … f(s − 1), g(0) … g(s − 1), x: f(v) is the token at position v, g(v) the token
at position s + v.  Position j has the lattice point P_j. The embedding of the value v contains two
points: `first` = P_v for the position of f(v), and `second` = P_{s+v} for the position of g(v).

Layer 1: the query of token v is its point `first` (`tokens/positions.py`). The token at that
position is f(v), and the value of this token, `second` = P_{s+f(v)}, is written to `found`. Layer
2: the query is `found`. The token at position s + f(v) is g(f(v)), and the value of this token,
`first`, is written to `answer`. The logits 2⟨answer, P_v⟩ − |P_v|² are largest at v = g(f(x)), by
at least 1.

The model has two layers of one head each, width 11 for every s, and O(log s) bits. Scores are
Θ(s log s) in layer 1 and Θ(s) in layer 2, and logits are Θ(s). Under softmax, the required inverse
temperature grows like ln s.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from constructions.assembly import block, rows
from constructions.blocks import Embed, Stage
from constructions.call import construction
from constructions.margins import sharpening
from constructions.stream import Stream
from constructions.tokens import Tokens, decode, lattice, look_up, positions, rows_fit
from constructions.transformer import Transformer
from theory.kinds import Count, Positive
from theory.retrieval import composition as definition


@construction
def composition(n_points: Count, *, sharpness: Positive | None = None) -> Transformer:
    """A model that outputs g(f(x)) from the values of two maps f and g, and an argument x.

    Both maps are from the set of s = `n_points` points 0 … s − 1 to itself. The tokens (…, 2s + 1)
    are f(0) … f(s − 1), g(0) … g(s − 1), x. The output `composition(s)(tokens)` (…, 2s + 1) is
    g(f(v)) at every position with token v, so the last entry is g(f(x)). For example,
    `composition(3)([1, 2, 0, 0, 0, 2, 1])[-1]` is g(f(1)) = g(2) = 2. With a `sharpness` β,
    attention is softmax at inverse temperature β.

    Raises ValueError for a sharpness at which answers could be wrong.
    """
    s = n_points
    rows_fit(3 * s)
    points = lattice(2 * s)
    stream = Stream(place=2, norm=1, first=2, second=2, found=2, answer=2)
    first, second, found, answer = map(stream.read, ("first", "second", "found", "answer"))
    lookups = [
        look_up(stream, first, second, "found", sharpening(4 * float(abs(points).max()) ** 2)),
        look_up(stream, found, first, "answer"),
    ]
    return Transformer(
        Embed(rows(stream, first=points[:s], second=points[s:])),
        [block(stream, [head], normalise="hardmax", mask="context-only") for head in lookups],
        decode(stream, 2 * answer, points[:s], bias=-(points[:s] ** 2).sum(1)),
        # The query follows the tables; no head attends to it.
        pos_embed=positions(stream, np.pad(points, ((0, 1), (0, 0)))),
        interface=Tokens(s, 2 * s + 1, length=2 * s + 1, n_examples=2 * s, margin=1.0),
        stream=stream,
        stages=(
            Stage(1, "found", partial(_found, points)),
            Stage(2, "answer", partial(_answered, points)),
        ),
        source="[Peng2024]",
    ).sharpened(sharpness)


def _found(points: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """The lattice point of the position that holds g(f(v)), for each token v."""
    s = len(points) // 2
    return points[s + np.take_along_axis(tokens[..., :s], tokens, axis=-1)]


def _answered(points: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """The lattice point of the value g(f(v)), for each token v."""
    shape = *tokens.shape, len(points) // 2
    f, g = (np.broadcast_to(each, shape) for each in np.split(tokens[..., None, :-1], 2, axis=-1))
    return points[definition(f, g, tokens)]
