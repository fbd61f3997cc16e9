"""Evidence that outputs depend only on the number of ones of a word, and logits by this number."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np
from flint import arb

from constructions.transformer import Transformer
from theory.computation.ones import words_by_ones
from theory.kinds import InputError
from verify.domains import Ball, outputs
from verify.finding import Finding, Verdict, within


def only_counts(model: Transformer) -> Finding:
    """Checks by products of weights that logits at CLS depend only on the number of ones.

    The check is that certain products of weights are 0.  Let d be the difference of the embeddings
    of the two symbols.  The first head has constant scores, so its output is the same at all tokens
    and depends only on the number of each symbol.  If no MLP reads the direction d, the stream of a
    token is the embedding of its symbol plus a part that is the same for both symbols.  If also no
    later head reads d in a key or a value, the stream of CLS does not depend on d.  A layer norm
    divides the streams of both symbols by the same number if the embeddings of the symbols have
    equal norms and nothing else is written to their coordinates.
    """
    W_E = model.embed.W_E.numpy()
    d = W_E[1] - W_E[0]
    first, *later = model.attentions
    reads: dict[str, list[Any]] = {"the scores of layer 1": [first.W_Q, first.b_Q]}
    for number, attn in enumerate(later, start=2):
        for what, W in (("a key", attn.W_K), ("a value", attn.W_V)):
            reads[f"{what} of layer {number}"] = [d @ each.numpy() for each in W]
    for number, block in enumerate(model.blocks[:-1], start=1):
        if (mlp := block.mlp) is not None:
            reads[f"the MLP of layer {number}"] = [d @ mlp.W_in.numpy()]
        if block.norm is not None:
            at = (W_E[:2] != 0).any(0)
            longer = (W_E[0] ** 2).sum() - (W_E[1] ** 2).sum()
            writes = [table.W_pos for table in [model.pos_embed] if table is not None]
            writes += [block.attn.W_O] if block.attn is not None else []
            writes += [mlp.W_out, mlp.b_out] if mlp is not None else []
            reads[f"the norm of layer {number}"] = [longer, *(W[..., at] for W in writes)]
    wrong = [
        what for what, parts in reads.items() if any(np.any(np.asarray(part)) for part in parts)
    ]
    return Finding(
        "counts",
        "logits depend only on the number of ones, for all words",
        "proved",
        len(wrong),
        0,
        Verdict.of(not wrong),
        f"all {len(reads)} products of weights that read single symbols are 0"
        if not wrong
        else f"{wrong[0]} depends on the symbol",
        "all 0, so that only the averaging head of layer 1 reads symbols",
    )


def logits_by_ones(model: Transformer, n: int, ones: list[int] | None = None) -> list[arb]:
    """The differences of the two logits at the last answer, as Arb balls, by number of ones.

    There is one word of n bits for each number of ones: for 0 … n, or for the numbers in `ones`.
    """
    found = []
    for word in words_by_ones(n)[slice(None) if ones is None else ones]:
        low, high = outputs(model, model.prompt(word), Ball()).tolist()[-1]
        found.append(high - low)
    return found


def digits(value: arb, count: int) -> str:
    """The text of an Arb ball, with at most `count` significant digits, all of them certain."""
    return str(value.str(count, radius=False))


def least_sharpness(build: Callable[[float], Transformer]) -> Finding:
    """Compares the smallest inverse temperature that a construction accepts with ln 2.

    The smallest number is found by bisection of [0, 2], up to 2^−40.
    """
    low, high = 0.0, 2.0
    while high - low > 2.0**-40:
        middle = (low + high) / 2
        try:
            build(middle)
            high = middle
        except InputError:
            low = middle
    return within(
        "least",
        "smallest inverse temperature β of softmax that the construction accepts, from 0 to 2",
        "float",
        high,
        (log(2), log(2) + 2.0**-40),
        words=f"{high:.6g}",
        wanted=f"ln 2 = {log(2):.6g}, at which the bounds on (right logit) − (wrong logit) are 0",
    )
