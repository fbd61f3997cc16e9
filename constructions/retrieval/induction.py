"""The two-layer induction head [Olsson2022]: the token after an earlier copy of the current token.

The model has two layers of one unique-hard attention head each, without MLPs. BOS is at position 0
and tokens are at positions 1 … n. Tokens have codes b(x) ∈ {±1}^r with ⟨b(x), b(x)⟩ = r and ⟨b(x),
b(x')⟩ ≤ r − 2 for x ≠ x'.

Layer 1, previous token.  Token i looks up the position before it (`tokens/positions.py`) and writes
b(x_{i−1}) to `previous`.  BOS has the code 0, so position 1 writes 0.

Layer 2, match.  The query of token i is its code, the key of position j is `previous`:

    score  M⟨b(x_i), b(x_{j−1})⟩ + rank_j,     M = ⌈(n + 1)/min(r, 2)⌉,

where rank_j = j (latest match) or n + 1 − j (first match), and BOS has the score rank₀ = M·r.
    match          M·r + rank_j, rank_j ≥ 1:   at least 1 above BOS, and 1 above the next match
    no match       ≤ M(r − 2) + n ≤ M·r − 1:   at least 1 below BOS
    position 1     rank₁ ≤ n ≤ M·r − 1, since its `previous` is 0:   at least 1 below BOS
All scores are integers. Scores of matches are distinct, and so are the scores of tokens whose codes
differ from b(x_i) in the same number of bits. So at most 4m positions have a score m below the
largest. The value, which is the code of x_j, or 0 at BOS, is written to `answer`. Logits are
⟨answer, b(v)⟩ for v, and r/2 for ⊥.

Softmax at a fixed inverse temperature attends to the right position at every n, because the scores
grow with n. In layer 2 they grow up to M·r + rank₀ ≤ max(r, 2)(n + 2). In layer 1 they grow like c
times squared norms of lattice points, which are Θ(n), with c = `sharpening(M·r)` = Θ(log n).

If the current token is the output without a match, the unembedding reads 2·answer + code instead,
which has the signs of `answer` unless `answer` is 0.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from constructions.assembly import Head, block, rows
from constructions.blocks import Embed, Stage
from constructions.call import construction
from constructions.margins import Margin, sharpening
from constructions.retrieval.ngram import ngram_model
from constructions.retrieval.previous_token import code_before
from constructions.stream import Stream, one
from constructions.tokens import Tokens, binary_codes, decode, lattice, look_up, positions, sizes
from constructions.transformer import Transformer
from theory.kinds import Count, Positive
from theory.retrieval import Match, NoMatch, induction


@construction
def induction_heads(
    vocabulary_size: Count,
    max_length: Count,
    match: Match = "latest",
    no_match: NoMatch = "bottom",
    *,
    sharpness: Positive | None = None,
) -> Transformer:
    """A model that outputs the token after an earlier occurrence of the current token.

    At position i of the tokens x_0 x_1 …, the output of `induction_heads(V, n)(tokens)` is x_j with
    j = max{ j ≤ i : x_{j−1} = x_i }. Every number in this set is called a match, so j is the
    *latest* match. With match "first", j is the minimum of the set. If there is no match, the
    output is −1 (⊥), or x_i with no_match "self". With match "mean", the model is a *statistical*
    induction head [Edelman2024]: the logits are the relative frequencies of x_j over all matches j,
    and the answer is the most frequent token.

    The model has two layers with one head each. The width is 3r + 6 with r = ⌈log₂V⌉ for "latest"
    and "first", and 2r + 2V + 8 for "mean", where the output is a distribution over V tokens.

    Tokens are 0 … V − 1 with V = `vocabulary_size`, and sequences have at most n = `max_length`
    tokens. With a `sharpness` β, attention is softmax at inverse temperature β.

    Raises ValueError for a sharpness at which answers could be wrong for n tokens.
    """
    V, n = sizes(vocabulary_size, max_length)
    if match == "mean":
        # The bigram model without smoothing averages over all matches.
        mean = ngram_model(V, n, 2, 0, copies_itself=no_match == "self")
        return mean.sharpened(sharpness)

    codes, points, here = binary_codes(V), lattice(n + 1), np.arange(n + 1)
    r = codes.shape[1]
    with_none = np.vstack([codes, np.zeros(r)])
    M = -(-(n + 1) // min(r, 2))
    stream = Stream(code=r, place=2, norm=1, before=2, rank=1, previous=r, answer=r)
    code, _, _, before, rank, previous, answer = map(stream.read, stream)
    heads = [
        look_up(stream, before, code, "previous", sharpening(M * r)),
        Head((M * code, one), (previous, rank), code, "answer", margin=Margin(1.0)),
    ]
    ranks = np.where(here == 0, M * r, here if match == "latest" else n + 1 - here)
    bottom = no_match == "bottom"
    if bottom:
        logits, margin = decode(stream, answer, codes, bottom=r / 2), min(r / 2, 2.0)
    else:
        logits, margin = decode(stream, 2 * answer + code, codes), 2.0
    return Transformer(
        Embed(rows(stream, code=with_none)),
        [block(stream, [head], normalise="hardmax", mask="causal") for head in heads],
        logits,
        pos_embed=positions(stream, points, before=points[(here - 1).clip(0)], rank=ranks),
        interface=Tokens(V, n, prefix=(V,), margin=margin, bottom=bottom),
        stream=stream,
        stages=(
            Stage(1, "previous", partial(code_before, codes, 1)),
            Stage(2, "answer", partial(_answered, with_none, match)),
        ),
        source="[Olsson2022]",
    ).sharpened(sharpness)


def _answered(codes: np.ndarray, match: Match, tokens: np.ndarray) -> np.ndarray:
    """The code of the token after the match; for ⊥ the last code, which is 0."""
    return codes[induction(tokens, match)]
