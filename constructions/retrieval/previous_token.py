"""The previous-token head [Elhage2021]: one layer, one head, any number of tokens.

The query of token i is the lattice point P_{i−1} of the previous position, and the key of position
j is (P_j, |P_j|²). The score 2⟨P_{i−1}, P_j⟩ − |P_j|² is largest at j = i − 1, by at least 1
(`tokens/positions.py`). The value is the code of the token there.  The first token attends to BOS,
whose code is 0, and its output is ⊥.  The inverse temperature that softmax requires does not depend
on n, but the scores are Θ(n).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from constructions.assembly import block, rows
from constructions.blocks import Embed, Stage
from constructions.call import construction
from constructions.stream import Stream
from constructions.tokens import Tokens, binary_codes, decode, lattice, look_up, positions, sizes
from constructions.transformer import Transformer
from theory.kinds import Count, Positive


@construction
def previous_token(
    vocabulary_size: Count, max_length: Count, *, sharpness: Positive | None = None
) -> Transformer:
    """A model that outputs the previous token at every position, and −1 (⊥) at position 0.

    The model has one layer, one head and width 2r + 5 with r = ⌈log₂V⌉, where V =
    `vocabulary_size`. With a `sharpness` β, attention is softmax at inverse temperature β.

    Raises ValueError for a sharpness at which answers could be wrong for `max_length` tokens.
    """
    V, n = sizes(vocabulary_size, max_length)
    codes, points, here = binary_codes(V), lattice(n + 1), np.arange(n + 1)
    r = codes.shape[1]
    stream = Stream(code=r, place=2, norm=1, before=2, answer=r)
    head = look_up(stream, stream.read("before"), stream.read("code"), "answer")
    return Transformer(
        Embed(rows(stream, code=np.vstack([codes, np.zeros(r)]))),
        [block(stream, [head], normalise="hardmax", mask="causal")],
        decode(stream, stream.read("answer"), codes, bottom=r / 2),
        pos_embed=positions(stream, points, before=points[(here - 1).clip(0)]),
        interface=Tokens(V, n, prefix=(V,), margin=min(r / 2, 2.0), bottom=True),
        stream=stream,
        stages=(Stage(1, "answer", partial(code_before, codes, 1)),),
        source="[Elhage2021]",
    ).sharpened(sharpness)


def code_before(codes: np.ndarray, steps: int, tokens: np.ndarray) -> np.ndarray:
    """The codes (…, T, r) of the tokens `steps` positions earlier, 0 where there is no token.

    `codes` (V, r) contains a code of r numbers for each of V symbols, and the tokens are (…, T).
    """
    found = np.zeros((*tokens.shape, codes.shape[1]))
    found[..., steps:, :] = codes[tokens[..., : max(tokens.shape[-1] - steps, 0)]]
    return found
