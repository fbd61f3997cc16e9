"""In-context n-grams: the frequencies of what followed this context before, smoothed or not.

The order counts the predicted token: order 1 is the unigram, order 2 the bigram, whose head is a
*statistical* induction head [Edelman2024].  The context of token i is x_{i−order+2} … x_i.

Layer 1 (for order ≥ 2): order − 1 heads; head s writes the code of the token s places before into
`previous_s`, by lattice points as in `induction.py` (from before the start: 0).

Layer 2: one head; token i asks with the codes of its context, position j answers with those of the
context before it, scores 2·Σ_s ⟨b(x_{i−s}), b(x_{j−1−s})⟩ and carries the token x_j one-hot:

    match     2r(order − 1)
    other     at most 2r(order − 1) − 4 if a token differs, and at most 2r(order − 2) if one is
              missing, because the context would begin before the sequence

Hardmax divides the weight equally among the matches, so what it adds is their frequencies.
What stands in front of the sequence decides the rest.
  pseudo_counts = α ≥ 1   α virtual observations of each symbol, which match every context: their
                          score is 2r(order − 1), at least min(4, 2r) above all others.  The average
                          is (count + α)/(total + αV): add-α smoothing, the Bayes predictor for
                          Dirichlet(α, …, α) rows.
  pseudo_counts = 0       a token BOS with the score 2r(order − 1) − 1: at least 1 below a match and
                          1 above all others.  It carries ⊥.
"""

from __future__ import annotations

import numpy as np
import torch

from constructions.assembly import Head, block, rows
from constructions.retrieval.codes import binary_codes, lattice
from constructions.retrieval.margins import Margin, sharpening
from constructions.retrieval.sequence_model import Answers, Prompt, SequenceModel
from constructions.stream import Stream, one
from constructions.transformer import MLP, Embed, PosEmbed, Unembed
from theory import checks

SOURCE = "[Edelman2024]; proved in constructions/retrieval/ngram.py"


def in_context_ngram(
    vocabulary_size: int,
    order: int,
    max_length: int = 1024,
    pseudo_counts: int = 1,
    sharpness: float | None = None,
) -> SequenceModel:
    """Conditional frequencies of the next token given the last order − 1 tokens, at every position.

    `in_context_ngram(V, order, n).logits(tokens)` (…, T, V) is (count + α)/(total + αV) with α =
    pseudo_counts, counted over the sequence so far; the answer is the most frequent token, the
    smallest one if several are.  With α = 0 there is one column more, which is 1 where the context
    has not occurred, and the answer there is −1.

    Two layers with order − 1 heads and one; width order·r + 2V + 2·order + 4 with r = ⌈log₂V⌉ (1 if
    V = 1).  Order 1 takes the second layer alone, of width 2V + 3.

    Raises ValueError for vocabulary_size, order or max_length below 1, pseudo_counts below 0, and
    for a sharpness too small for n.
    """
    V = checks.dimension("vocabulary_size", vocabulary_size)
    order, n = checks.dimension("order", order), checks.dimension("max_length", max_length)
    alpha = checks.step_count("pseudo_counts", pseudo_counts)
    name = f"in_context_ngram({V}, {order}, {n}, pseudo_counts={alpha})"
    return _ngram(V, order, n, alpha, name).sharpened(sharpness)


def most_frequent_next(
    vocabulary_size: int, max_length: int, no_match: str, name: str
) -> SequenceModel:
    """The bigram without smoothing, as an induction head that averages over all matches.

    With no_match "self" the weight that BOS gets is given to the current token x_i, by V units
    relu(⊥ + [v = x_i] − 1), each of which is that weight if v = x_i and 0 otherwise.
    """
    return _ngram(vocabulary_size, 2, max_length, 0, name, copies_itself=no_match == "self")


def _ngram(
    V: int, order: int, n: int, alpha: int, name: str, copies_itself: bool = False
) -> SequenceModel:
    codes, back = binary_codes(V), range(1, order)
    r, prefix, full = codes.shape[1], alpha * V or 1, 2 * codes.shape[1] * (order - 1)
    before = {f"before_{s}": 2 for s in back}
    previous = {f"previous_{s}": r for s in back}
    looks_back = {"code": r, "place": 2, "norm": 1, **before, **previous} if back else {}
    stream = Stream(**looks_back, sink=1, symbol=V, blank=1, counts=V, none=1)
    read = stream.read

    virtual = np.tile(np.eye(V), (alpha, 1)) if alpha else np.zeros((1, V))
    symbols = rows(
        stream,
        sink=np.repeat([0, full - (alpha == 0)], [V, prefix]),
        symbol=np.vstack([np.eye(V), virtual]),
        blank=np.repeat([0, alpha == 0], [V, prefix]),
        **{"code": np.vstack([codes, np.zeros((prefix, r))])} if back else {},
    )
    blocks, margins, pos_embed = [], [], None
    if back:
        points, here = lattice(prefix + n), np.arange(prefix + n)
        befores = {
            f"before_{s}": points[np.where(here < prefix, 0, here - s).clip(0)] for s in back
        }
        pos_embed = PosEmbed(rows(stream, place=points, norm=(points**2).sum(1), **befores))
        c = sharpening(full)
        heads = [
            Head(
                (2 * c * read(f"before_{s}"), -c * one),
                (read("place"), read("norm")),
                read("code"),
                f"previous_{s}",
            )
            for s in back
        ]
        blocks.append(block(stream, heads, normalise="hardmax", mask="causal"))
        margins.append(tuple(Margin(c) for _ in back))
    context = ["code", *previous][: order - 1]  # of the token that asks
    count = Head(
        (*(2 * read(name) for name in context), one),
        (*map(read, previous), read("sink")),
        (read("symbol"), read("blank")),
        ("counts", "none"),
    )
    blocks.append(block(stream, [count], normalise="hardmax", mask="causal"))
    margins.append((Margin(min(4.0, 2.0 * r) if alpha else 1.0, graded=False, ties=True),))
    if copies_itself:
        blocks[-1].mlp = _hand_back(stream, V)
        blocks[-1].lines += ("mlp: relu(none + symbol − 1) added to counts",)
    bottom = alpha == 0 and not copies_itself
    columns = [stream.matrix(read(name))[0] for name in ("counts", *["none"] * bottom)]
    return SequenceModel(
        Embed(symbols),
        blocks,
        Unembed(torch.as_tensor(np.concatenate(columns, axis=1))),
        pos_embed=pos_embed,
        stream=stream,
        prompt=Prompt(V, n, prefix=tuple(range(V, V + prefix))),
        answers=Answers(margin=0.5 / (n + prefix), bottom=bottom, frequencies=True),
        margins=tuple(margins),
        at_most={"counts": 1.0},
        name=name,
        source=SOURCE,
    )


def _hand_back(stream: Stream, V: int) -> MLP:
    """V units relu(none + symbol_v − 1), added to counts_v."""
    none, symbol = (stream.matrix(stream.read(name))[0] for name in ("none", "symbol"))
    return MLP(
        torch.as_tensor(symbol + none),
        -torch.ones(V, dtype=torch.float64),
        torch.as_tensor(stream.placement("counts")),
        torch.zeros(stream.d_model, dtype=torch.float64),
    )
