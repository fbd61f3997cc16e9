"""The two-layer induction head [Olsson2022]: what came after this token the last time.

Two layers of one hardmax head each, without MLP.  Tokens stand at positions 1 … n behind a BOS at
position 0, and have codes b(x) ∈ {±1}^r with ⟨b(x), b(x)⟩ = r and ⟨b(x), b(x')⟩ ≤ r − 2.

Layer 1, previous token.  Positions are lattice points P_i; token i asks for P_{i−1} with the score
2⟨P_{i−1}, P_j⟩ − |P_j|², which is largest at j = i − 1 by at least 1 (`codes.py`), and writes
b(x_{i−1}) into `previous`.  BOS has the code 0, so position 1 writes 0.

Layer 2, match.  Token i asks with its code and position j answers with `previous`:

    score  M⟨b(x_i), b(x_{j−1})⟩ + rank_j,     M = ⌈(n + 1)/min(r, 2)⌉,

where rank_j = j (latest match) or n + 1 − j (first match), and BOS has the score rank₀ = M·r.
    match          M·r + rank_j, rank_j ≥ 1:   at least 1 above BOS, and 1 above the next match
    no match       ≤ M(r − 2) + n ≤ M·r − 1:   at least 1 below BOS
    position 1     rank₁ ≤ n ≤ M·r − 1, since its `previous` is 0:   the same
All scores are whole, and within matches, and within tokens whose codes differ in equally many
bits, they are distinct, so at most 4m positions lie m below the right one.  The head writes the
code of x_j, or 0 from BOS, into `answer`.  Logits are ⟨answer, b(v)⟩, and r/2 for ⊥.

Copying itself when there is no match costs nothing: read 2·answer + code instead, whose signs are
those of `answer` unless it is 0.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch

from constructions.assembly import Head, block, rows
from constructions.retrieval.codes import binary_codes, lattice
from constructions.retrieval.margins import Margin, sharpening
from constructions.retrieval.ngram import most_frequent_next
from constructions.retrieval.sequence_model import Answers, Prompt, SequenceModel, decode
from constructions.stream import Stream, one
from constructions.transformer import Embed, PosEmbed
from theory import checks

Match = Literal["latest", "first", "mean"]
NoMatch = Literal["bottom", "self"]

SOURCE = "[Olsson2022]; proved in constructions/retrieval/induction.py"


def induction_heads(
    vocabulary_size: int,
    max_length: int,
    match: Match = "latest",
    no_match: NoMatch = "bottom",
    sharpness: float | None = None,
) -> SequenceModel:
    """The token after the earlier occurrence of the current one, at every position.

    `induction_heads(V, n)(tokens)` is x_j with j = max{ j ≤ i : x_{j−1} = x_i }, the *latest* match
    (match "first": min), or −1 for ⊥ if there is none (no_match "self": x_i).  Match "mean"
    averages over all matches, a *statistical* induction head [Edelman2024]: logits are the
    frequencies of the next token, the answer is the most frequent one.

    Two layers of one head; width 3r + 6 with r = ⌈log₂V⌉ for "latest" and "first", 2r + 2V + 8 for
    "mean", which must carry a distribution over V tokens.

    Args:
        vocabulary_size: V ≥ 1; tokens are 0 … V − 1.
        max_length: n ≥ 1; sequences have at most n tokens.
        sharpness: softmax attention at this sharpness instead of hardmax.

    Raises ValueError for parameters outside these ranges, and for a sharpness too small for n.
    """
    V = checks.dimension("vocabulary_size", vocabulary_size)
    n = checks.dimension("max_length", max_length)
    checks.one_of("match", match, ("latest", "first", "mean"))
    checks.one_of("no_match", no_match, ("bottom", "self"))
    name = f"induction_heads({V}, {n}, match='{match}', no_match='{no_match}')"
    if match == "mean":
        return most_frequent_next(V, n, no_match, name).sharpened(sharpness)

    codes = binary_codes(V)
    r = codes.shape[1]
    M = -(-(n + 1) // min(r, 2))
    c = sharpening(M * r)
    stream = Stream(code=r, place=2, norm=1, before=2, rank=1, previous=r, answer=r)
    code, place, norm, before, rank, previous, answer = map(stream.read, stream)

    points = lattice(n + 1)
    ranks = np.arange(n + 1) if match == "latest" else np.arange(n + 1, 0, -1)
    ranks[0] = M * r
    positions = rows(
        stream,
        place=points,
        norm=(points**2).sum(1),
        before=points[np.maximum(np.arange(n + 1) - 1, 0)],
        rank=ranks,
    )
    look_back = Head((2 * c * before, -c * one), (place, norm), code, "previous")
    find_match = Head((M * code, one), (previous, rank), code, "answer")
    return SequenceModel(
        Embed(rows(stream, code=np.vstack([codes, np.zeros(r)]))),
        [
            block(stream, [look_back], normalise="hardmax", mask="causal"),
            block(stream, [find_match], normalise="hardmax", mask="causal"),
        ],
        decode(stream, answer, codes, bottom=r / 2)
        if no_match == "bottom"
        else decode(stream, 2 * answer + code, codes),
        pos_embed=PosEmbed(torch.as_tensor(positions)),
        stream=stream,
        prompt=Prompt(V, n, prefix=(V,)),
        answers=Answers(
            margin=min(r / 2, 2.0) if no_match == "bottom" else 2.0, bottom=no_match == "bottom"
        ),
        margins=((Margin(c),), (Margin(1.0),)),
        name=name,
        source=SOURCE,
    ).sharpened(sharpness)
