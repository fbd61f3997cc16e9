"""Quadratic networks, read from the tensors of a transformer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from flint import arb

from constructions.transformer import Transformer
from theory.arithmetic.modular_margin_balls import normalised_margin
from theory.balls import exactly


def unlike_neurons(model: Transformer) -> Iterator[str]:
    """The ways in which the tensors of a model differ from a network of quadratic neurons.

    Layer 2 and the unembedding are compared.  The differences are described in words.
    """
    (attn,), stream = [block.attn for block in model.blocks[1:]], model.stream
    assert attn is not None
    number = np.arange(model.d_model)[stream["number"]]
    unembedding = np.zeros(model.unembed.W_U.shape)
    unembedding[number, np.arange(len(number))] = 1
    not_read, not_value, not_written = (
        np.ones(model.d_model, dtype=bool) for _ in ("a and b", "equals", "number")
    )
    not_read[stream["a"]] = not_read[stream["b"]] = False
    not_value[stream["equals"]], not_written[number] = False, False
    conditions = {
        "W_Q and W_K differ": torch.equal(attn.W_K, attn.W_Q),
        "heads have query or key biases": not (attn.b_Q.any() or attn.b_K.any()),
        "queries read other registers": not attn.W_Q[:, not_read].any(),
        "values read other registers": not attn.W_V[:, not_value].any(),
        "outputs are written to other registers": not attn.W_O[:, :, not_written].any(),
        "heads are not linear with the diagonal mask": (attn.normalise, set(attn.masks))
        == ("linear", {"diagonal"}),
        "there is an MLP": all(block.mlp is None for block in model.blocks),
        "the unembedding is not that of `number`": model.unembed.b_U is None
        and np.array_equal(model.unembed.W_U.numpy(), unembedding),
    }
    yield from (what for what, right in conditions.items() if not right)


def neurons(model: Transformer) -> list[list[list[arb]]]:
    """The weights u, v and w of the quadratic neuron of every head in layer 2, as exact balls.

    The result has shape (3, neurons, p) for addition mod p.
    """
    attn = model.blocks[1].attn
    assert attn is not None
    a, b, number = (model.stream[name] for name in ("a", "b", "number"))
    equals = model.stream["equals"]
    u, v = attn.W_Q[:, a, 0], attn.W_Q[:, b, 0]
    w = attn.W_V[:, equals, 0] * attn.W_O[:, 0, number]
    return [exactly(each.numpy()) for each in (u, v, w)]


def margin_of_tensors(model: Transformer) -> arb:
    """The normalised margin of the quadratic neurons in the tensors of a model, as a ball."""
    return normalised_margin(*neurons(model))
