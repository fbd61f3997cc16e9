"""Equivalent mutants: proofs and checks that a change of weights changes no answer.

First the weights are compared, for all inputs.  A model depends on a head only through the products

    B = [W_Q; b_Q] [W_K; b_K]ᵀ    (D + 1 × D + 1)        W_V W_O    (D × D)

Hardmax and softmax are invariant under changes of the last column of B, which is added to the
scores of all keys, and hardmax under a positive factor of B.  A ReLU neuron without output has no
effect.  If answers are an argmax of logits, a positive factor of the unembedding has no effect
either.

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
WIDTH = 2.0**-80  # the width below which overlapping balls count as equal


def same_answers(healthy: Transformer, faulty: Transformer, rng: np.random.Generator) -> str:
    """Describes the inputs on which the answers of two models agree.

    The text is empty if answers differ or if no answers were compared.
    """
    if all(_forms(a) == _forms(b) for a, b in zip(*map(_parts, (healthy, faulty)), strict=True)):
        return "all inputs, by the products of its weights"
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


def _forms(part: Any) -> list[Any]:
    """A part of a model as exact matrices; equal matrices imply equal maps."""
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
