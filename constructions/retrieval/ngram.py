"""In-context n-grams: frequencies, possibly smoothed, of the tokens that followed the context.

The order includes the predicted token: order 1 is the unigram model. Order 2 is the bigram model,
which is a *statistical* induction head [Edelman2024].  The context of token i is x_{i−order+2} …
x_i.

Layer 1 (for order ≥ 2): order − 1 heads; head s looks up the token s positions earlier
(`tokens/positions.py`) and writes its code to `previous_s` (0 before the start).

Layer 2: one average-hard head; the query of token i consists of the codes of its context, and the
key of position j of the codes of the context before j. The scores are 2·Σ_s ⟨b(x_{i−s}),
b(x_{j−1−s})⟩, and the value is the one-hot vector of x_j:

    match     2r(order − 1)
    other     at most 2r(order − 1) − 4 if a token differs, and at most 2r(order − 2) if one is
              missing because the context would begin before the sequence

Under softmax, the required inverse temperature grows like ln n, and the scores of layer 1 are Θ(n).

Average-hard attention divides the weight equally among the matches, so its output is the vector of
frequencies of the tokens there.  The tokens that precede the sequence in the prompt determine the
smoothing.
  pseudo_counts = α ≥ 1   α virtual observations of each symbol, which match every context: their
                          score is 2r(order − 1), at least min(4, 2r) above all others.  The average
                          is (count + α)/(total + αV): add-α smoothing, the Bayes predictor for
                          Dirichlet(α, …, α) rows.
  pseudo_counts = 0       a token BOS with the score 2r(order − 1) − 1: at least 1 below a match and
                          1 above all others.  Its value is ⊥.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Block, Embed, Stage
from constructions.call import construction
from constructions.margins import Margin, sharpening
from constructions.primitives import And
from constructions.retrieval.previous_token import code_before
from constructions.stream import Map, Stream, one
from constructions.tokens import Tokens, binary_codes, lattice, look_up, positions, rows_fit, sizes
from constructions.transformer import Transformer
from theory.kinds import Count, Positive, Steps
from theory.retrieval import ngram


@construction
def in_context_ngram(
    vocabulary_size: Count,
    max_length: Count,
    order: Count,
    pseudo_counts: Steps = 1,
    *,
    sharpness: Positive | None = None,
) -> Transformer:
    """A model that predicts the next token by in-context n-gram counts of a given order.

    For tokens (…, T), `in_context_ngram(V, n, order).logits(tokens)` (…, T, V) is (count +
    α)/(total + αV) with α = `pseudo_counts`. Here count is the number of times that a symbol has
    followed the context (the last order − 1 tokens) in the sequence so far, and total is the sum of
    the counts over all V = `vocabulary_size` symbols. The answer is the most frequent symbol; in a
    tie, it is the smallest of the most frequent symbols. With α = 0 the logits have one more
    column, which is 1 if the context has not occurred; the answer is then −1. The model puts αV
    tokens in front of every sequence, or one if α = 0, so it needs memory for prompts of αV + T
    tokens.

    The first of the two layers has order − 1 heads, and the second layer has one head. The width
    is order·r + 2V + 2·order + 4 with r = ⌈log₂V⌉ (1 if V = 1). For order 1 the model consists of
    the second layer, with width 2V + 3. Sequences have at most n = `max_length` tokens.

    Raises ValueError for a sharpness at which answers could be wrong for n tokens.
    """
    V, n = sizes(vocabulary_size, max_length)
    alpha = pseudo_counts
    rows_fit(n + alpha * V + order * order)  # `order` registers, and about as many heads
    return ngram_model(V, n, order, alpha).sharpened(sharpness)


def ngram_model(V: int, n: int, order: int, alpha: int, copies_itself: bool = False) -> Transformer:
    """The model of `in_context_ngram` for V symbols and at most n tokens, from checked arguments.

    If `copies_itself` is true, the attention weight w of BOS is added to the frequency of the
    current token x_i, by one ReLU for each symbol v. The ReLU relu(w + [v = x_i] − 1) is w if v =
    x_i and 0 otherwise, where [v = x_i] is 1 if v = x_i and 0 otherwise.
    """
    codes, in_front = binary_codes(V), alpha * V or 1
    r, last = codes.shape[1], min(order, 2)
    match, bottom = 2 * r * (order - 1), alpha == 0 and not copies_itself
    before = {f"before_{s}": 2 for s in range(1, order)}
    previous = {f"previous_{s}": r for s in range(1, order)}
    looked_up = {"code": r, "place": 2, "norm": 1, **before, **previous} if order > 1 else {}
    stream = Stream(**looked_up, sink=1, symbol=V, blank=1, counts=V, none=1)
    gap = Margin(min(4.0, 2.0 * r) if alpha else 1.0, graded=False, ties=True)
    points, here = lattice(in_front + n), np.arange(in_front + n)
    places = {name: points[(here - s).clip(0)] for s, name in enumerate(before, start=1)}
    prefix = tuple(range(V, V + in_front))
    # Layer 1: the value of head s is the code of the token s positions earlier.
    heads = [
        look_up(stream, stream.read(place), stream.read("code"), into, sharpening(match))
        for place, into in zip(before, previous, strict=True)
    ]
    look_back = [block(stream, heads, normalise="hardmax", mask="causal")] if heads else []
    context = ["code", *previous][: order - 1]
    return Transformer(
        _embedding(stream, codes, alpha, match),
        [*look_back, _counts(stream, context, [*previous], gap, copies_itself)],
        unembed(stream, stream.read("counts"), *[stream.read("none")] * bottom),
        pos_embed=positions(stream, points, **places) if order > 1 else None,
        interface=Tokens(V, n, prefix=prefix, bottom=bottom, frequencies=True),
        stream=stream,
        stages=(
            *(Stage(1, into, partial(code_before, codes, s)) for s, into in enumerate(previous, 1)),
            Stage(last, "counts", partial(_frequencies, V, order, alpha, copies_itself)),
            Stage(last, "none", partial(_is_new, V, order, alpha)),
        ),
        at_most={"counts": 1.0},
        source="[Edelman2024]",
    )


def _embedding(stream: Stream, codes: np.ndarray, alpha: int, match: int) -> Embed:
    """The embeddings of the tokens and of those that precede them: α of each symbol, or BOS."""
    symbols = np.eye(len(codes))
    own = {"symbol": symbols} | ({"code": codes} if "code" in stream else {})
    observed = {"symbol": np.tile(symbols, (alpha, 1)), "sink": np.full(alpha * len(codes), match)}
    bos = {"blank": np.ones(1), "sink": np.full(1, match - 1)}
    return Embed(torch.cat([rows(stream, **own), rows(stream, **(observed if alpha else bos))]))


def _counts(
    stream: Stream, context: list[str], before: list[str], gap: Margin, copies_itself: bool
) -> Block:
    """Layer 2: the query is the token's context, the key of a token is the context before it."""
    none, symbol = stream.read("none"), stream.read("symbol")
    head = Head(
        (*(2 * stream.read(name) for name in context), one),
        (*map(stream.read, before), stream.read("sink")),
        (symbol, stream.read("blank")),
        ("counts", "none"),
        margin=gap,
    )
    everywhere = Map(np.ones((1, stream.widths["symbol"])), "1ᵀ")
    itself = [And((none @ everywhere, symbol), "counts")] if copies_itself else []
    return block(stream, [head], itself, normalise="hardmax", mask="causal")


def _frequencies(V: int, order: int, alpha: int, itself: bool, tokens: np.ndarray) -> np.ndarray:
    """The frequencies after the context; for a new context one-hot x_i if `itself`."""
    found = ngram(tokens, V, order, float(alpha))
    return found + _is_new(V, order, alpha, tokens) * np.eye(V)[tokens] if itself else found


def _is_new(V: int, order: int, alpha: int, tokens: np.ndarray) -> np.ndarray:
    """1 where the context is new and there are no virtual observations, 0 elsewhere."""
    return ngram(tokens, V, order, float(alpha)).sum(-1, keepdims=True) == 0
