"""Equivalent mutants: proofs and checks that a change of weights changes no answer.

First the weights are compared, for all inputs.  A model depends on a head only through the products

    B = [W_Q; b_Q] [W_K; b_K]ᵀ    (D + 1 × D + 1)        W_V W_O    (D × D)

Hardmax and softmax are invariant under changes of the last column of B, which is added to the
scores of all keys, and hardmax under a positive factor of B.  A ReLU neuron without output has no
effect.  If answers are an argmax of logits, a positive factor of the unembedding has no effect
either.  If a hardmax head reads only tokens and positions, it has finitely many queries and keys,
and their scores are compared: a mutant whose maxima are at the same keys has no effect.

Otherwise model and mutant are run on inputs of their interface: on all inputs, if there are
finitely many, or at random points.  Polynomial maps are run mod a random 61-bit prime (equality
there implies equality for all inputs, as in `verify/evidence/identity.py`).  Other models are run
over Q, and models with softmax in balls narrower than 2^−80; this is a sample, and is reported as a
sample.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from flint import arb
from torch import Tensor

from constructions.blocks import Block
from constructions.retrieval.facts import English
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory.kinds import InputError
from verify.domains import (
    Ball,
    Domain,
    Modular,
    NotPolynomial,
    Rational,
    objects,
    outputs,
    random_prime,
    written,
)

MOST = 2**20  # the number of inputs up to which all inputs are run
POINTS = 3  # the number of points at which two models are compared
MOST_ROWS = 2**10  # the number of tokens at positions whose scores are compared
WIDTH = 2.0**-80  # the width below which overlapping balls count as equal


def same_answers(healthy: Transformer, faulty: Transformer, rng: np.random.Generator) -> str:
    """Describes the inputs on which the answers of two models agree.

    The text is empty if answers differ or if no answers were compared.
    """
    parts = [*zip(*map(_parts, (healthy, faulty)), strict=True)]
    differ = [(a, b) for a, b in parts if _forms(a) != _forms(b)]
    if not differ:
        return "all inputs, by the products of its weights"
    if all(isinstance(a, Block) and same_maxima(healthy, a, b) for a, b in differ):
        return "all inputs, by the order of scores of its tokens and positions"
    batches = healthy.interface.all_inputs(MOST, healthy.is_causal)
    if batches is not None:
        return _on_all(healthy, faulty, batches)
    for where, domain in (
        ("random points mod p", Modular(random_prime(rng))),
        (f"a sample: {POINTS} random points of Q", Rational()),
        (f"a sample: {POINTS} random points, in balls", Ball()),
    ):
        try:
            with Ball.precision(192):
                agree = all(_agree(healthy, faulty, domain, rng) for _ in range(POINTS))
            return where if agree else ""
        except NotPolynomial:
            continue
    return ""


def _parts(model: Transformer) -> list[Any]:
    """Embeddings, blocks and unembedding, and whether answers ignore a factor of the latter."""
    return [model.embed, model.pos_embed, *model.blocks, (model.unembed, model.interface.chooses)]


def same_maxima(model: Transformer, layer: Block, other: Block) -> bool:
    """Whether the heads of a layer and of its mutant attend to the same keys, for all tokens.

    True is a proof, and False is none. The proof requires hardmax heads with a causal or strictly
    causal mask. Their queries and keys must be linear reads of coordinates that no earlier layer
    changes.
    """
    attn, mutant, tokens = layer.attn, other.attn, model.interface
    if attn is None or mutant is None or attn.normalise != "hardmax" or layer.ln1 is not None:
        return False
    writes = isinstance(tokens, English) or type(tokens).write is Tokens.write
    if not isinstance(tokens, Tokens) or not writes or model.pos_embed is None:
        return False
    if _forms(layer, scored=False) != _forms(other, scored=False):
        return False
    last = max(number for number, each in enumerate(model.blocks) if each is layer)
    changed = np.zeros(model.embed.W_E.shape[1], dtype=bool)
    for each in model.blocks[:last]:
        changed = _changed(each, changed)
    allowed = [range(token, token + 1) for token in tokens.prefix]
    allowed += tokens.slots or [range(tokens.vocabulary_size)] * tokens.max_length
    W_E, W_pos = model.embed.W_E.numpy(), model.pos_embed.W_pos.numpy()
    embedded = [W_E[[*each]] + row for each, row in zip(allowed, W_pos, strict=False)]
    for h in range(attn.n_heads):
        heads = [[each[h] for each in (a.W_Q, a.b_Q, a.W_K, a.b_K)] for a in (attn, mutant)]
        if all(map(torch.equal, *heads)):
            continue
        used = np.any([W.numpy().any(1) for W_Q, _, W_K, _ in heads for W in (W_Q, W_K)], axis=0)
        rows = [np.unique(each * used, axis=0) for each in embedded]
        at = np.repeat(np.arange(len(rows)), [*map(len, rows)])
        if "causal" not in attn.masks[h] or (used & changed).any() or len(at) > MOST_ROWS:
            return False
        own = attn.masks[h] == "causal"
        ranks = [_ranks(np.vstack(rows), *weights) for weights in heads]
        for i, one, two in zip(at, *ranks, strict=True):
            seen = at < i + own
            if seen.any() and not _same_order(one[seen], two[seen], at[seen]):
                return False
    return True


def _changed(block: Block, changed: np.ndarray) -> np.ndarray:
    """`changed`, with the coordinates of the residual stream that a layer may change."""
    parts = [] if block.attn is None else [block.attn.W_O.flatten(0, 1)]
    parts += [] if block.mlp is None else [block.mlp.W_out, block.mlp.b_out[None]]
    rows = [changed, *(part.numpy().any(axis=0) for part in parts)]
    found: np.ndarray = np.logical_or.reduce(rows)
    return found if block.norm is None else np.ones_like(found)


def _ranks(rows: np.ndarray, W_Q: Tensor, b_Q: Tensor, W_K: Tensor, b_K: Tensor) -> list[Any]:
    """For each row as a query, the ranks of the scores of all rows as keys, by exact scores."""
    ones = Rational().weights(np.hstack([rows, np.ones((len(rows), 1))]))
    keys, found = ones * _exact(W_K, b_K), dict[tuple[Any, ...], np.ndarray]()
    queries = [tuple(each) for each in (ones * _exact(W_Q, b_Q)).tolist()]
    for query in dict.fromkeys(queries):
        scores = [s for (s,) in (keys * Rational().matrix([[x] for x in query])).tolist()]
        place = {score: rank for rank, score in enumerate(sorted({*scores}))}
        found[query] = np.array([place[score] for score in scores])
    return [found[query] for query in queries]


def _same_order(scores: np.ndarray, others: np.ndarray, at: np.ndarray) -> bool:
    """Whether two rows of scores have their maxima at the same keys, for all choices of keys.

    A choice contains one key for each position, and `at` (sorted) is the position of each key. A
    key is not a maximum if all keys at some position have larger scores. It suffices that both rows
    exclude the same keys in this way, and that the other keys have the same order.
    """
    first = np.flatnonzero(np.diff(at, prepend=-1))
    left = [row >= np.minimum.reduceat(row, first).max() for row in (scores, others)]
    a, b = scores[left[0]], others[left[0]]
    order = np.lexsort((b, a))
    signs = [np.sign(np.diff(row[order])) for row in (a, b)]
    return np.array_equal(*left) and np.array_equal(*signs)


def _forms(part: Any, scored: bool = True) -> list[Any]:
    """A part of a model as exact matrices; equal matrices imply equal maps.

    Without `scored`, the forms of a layer do not include the scores of its heads.
    """
    if part is None:
        return []
    if isinstance(part, tuple):
        unembed, chooses = part
        read = [_exact(weights) for weights in unembed.parameters()]
        return _without_factor(read) if chooses else read
    if not isinstance(part, Block):
        return [_exact(weights) for weights in part.parameters()]
    forms, attn, mlp = list[Any](), part.attn, part.mlp
    for h in range(attn.n_heads if attn is not None else 0):
        assert attn is not None
        query, key = (_exact(getattr(attn, f"W_{x}")[h], getattr(attn, f"b_{x}")[h]) for x in "QK")
        scores = query * key.transpose()
        if attn.normalise in ("softmax", "hardmax"):
            scores = Rational().matrix([row[:-1] for row in scores.tolist()])
        if scored:
            forms += _without_factor([scores]) if attn.normalise == "hardmax" else [scores]
        forms.append(_exact(attn.W_V[h]) * _exact(attn.W_O[h]))
    if mlp is not None:
        at_work = (mlp.W_out != 0).any(1)
        forms += [_exact(mlp.W_in[:, at_work], mlp.b_in[at_work]), _exact(mlp.W_out[at_work])]
        forms.append(_exact(mlp.b_out))
    return forms


def _exact(*rows: Tensor) -> Any:
    """Tensors of equal width stacked, as one matrix over Q."""
    return Rational().weights(np.vstack([each.detach().numpy() for each in rows]))


def _without_factor(matrices: list[Any]) -> list[Any]:
    """Matrices divided by their largest absolute entry."""
    largest = max((abs(x) for M in matrices for row in M.tolist() for x in row), default=0)
    return [1 / largest * M for M in matrices] if largest else matrices


def _on_all(healthy: Transformer, faulty: Transformer, batches: Iterable[Any]) -> str:
    """`same_answers` on all inputs: by logits, and by answers if logits differ."""
    count, interface = 0, healthy.interface
    for inputs in batches:
        given = interface.check(healthy.like, *inputs)
        logits = [model.run(interface.write(torch, *given)) for model in (healthy, faulty)]
        try:
            answers = (interface.read(each, *given) for each in logits)
            if not (torch.equal(*logits) or torch.equal(*answers)):
                return ""
        except InputError:
            return ""
        count += len(inputs[0])
    return f"all {count} inputs"


def _agree(
    healthy: Transformer, faulty: Transformer, domain: Domain, rng: np.random.Generator
) -> bool:
    def draw(rows: int, columns: int) -> np.ndarray:
        if isinstance(domain, Modular):
            return objects(domain.random_entries(rng, rows, columns))
        numerators, denominators = rng.integers(-9, 10, (rows, columns)), rng.integers(2, 9)
        return objects(
            [[domain.number(int(a), int(denominators)) for a in row] for row in numerators]
        )

    drawn = healthy.interface.random_inputs(draw, rng)
    if drawn is None:
        return False
    given = [_read(domain, each) if isinstance(each, Tensor) else each for each in drawn]
    pairs = (
        outputs(model, written(model, domain, *given), domain).tolist()
        for model in (healthy, faulty)
    )
    return all(
        _equal(a, b) for rows in zip(*pairs, strict=True) for a, b in zip(*rows, strict=True)
    )


def _equal(a: Any, b: Any) -> bool:
    if not isinstance(a, arb):
        return bool(a == b)
    return bool(a.overlaps(b)) and float((a - b).rad()) < WIDTH


def _read(domain: Domain, weights: Tensor) -> np.ndarray:
    return objects(domain.weights(weights.detach().numpy()).tolist())
