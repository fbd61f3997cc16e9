"""The previous-token head [Elhage2021]: one layer, one head, any number of tokens.

Token i asks for the lattice point P_{i−1} of the position before it, with the score
2⟨P_{i−1}, P_j⟩ − |P_j|² = |P_{i−1}|² − |P_{i−1} − P_j|², largest at j = i − 1 by at least 1.  The
first token finds BOS, whose code is 0, and answers ⊥.
"""

from __future__ import annotations

import numpy as np

from constructions.assembly import Head, block, rows
from constructions.retrieval.codes import binary_codes, lattice
from constructions.retrieval.margins import Margin
from constructions.retrieval.sequence_model import Answers, Prompt, SequenceModel, decode
from constructions.stream import Stream, one
from constructions.transformer import Embed, PosEmbed
from theory import checks


def previous_token(
    vocabulary_size: int, max_length: int, sharpness: float | None = None
) -> SequenceModel:
    """The token before the current one, at every position; −1 (⊥) at the first.

    One layer, one head, width 2r + 5 with r = ⌈log₂V⌉.  Raises ValueError for sizes below 1, and
    for a sharpness at which answers could be wrong.
    """
    V = checks.dimension("vocabulary_size", vocabulary_size)
    n = checks.dimension("max_length", max_length)
    codes, points = binary_codes(V), lattice(n + 1)
    r = codes.shape[1]
    stream = Stream(code=r, place=2, norm=1, before=2, answer=r)
    code, place, norm, before, answer = map(stream.read, stream)
    here = np.arange(n + 1)
    return SequenceModel(
        Embed(rows(stream, code=np.vstack([codes, np.zeros(r)]))),
        [
            block(
                stream,
                [Head((2 * before, -one), (place, norm), code, "answer")],
                normalise="hardmax",
                mask="causal",
            )
        ],
        decode(stream, answer, codes, bottom=r / 2),
        pos_embed=PosEmbed(
            rows(stream, place=points, norm=(points**2).sum(1), before=points[(here - 1).clip(0)])
        ),
        stream=stream,
        prompt=Prompt(V, n, prefix=(V,)),
        answers=Answers(margin=min(r / 2, 2.0)),
        margins=((Margin(1.0),),),
        name=f"previous_token({V}, {n})",
        source="[Elhage2021]; proved in constructions/retrieval/previous_token.py",
    ).sharpened(sharpness)
