"""Networks of quadratic neurons in the tensors of a transformer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from flint import arb

from constructions.transformer import Transformer
from theory.arithmetic.modular_margin_balls import normalised_margin
from theory.balls import exactly


def unlike_neurons(model: Transformer) -> Iterator[str]:
    """What of layer 2 and the read-out is not as quadratic neurons are."""
    (attn,), stream = [block.attn for block in model.blocks[1:]], model.stream
    assert attn is not None
    number = np.arange(model.d_model)[stream["number"]]
    read_out = np.zeros(model.unembed.W_U.shape)
    read_out[number, np.arange(len(number))] = 1
    reads, carries, writes = (
        np.ones(model.d_model, dtype=bool) for _ in ("a and b", "equals", "number")
    )
    reads[stream["a"]] = reads[stream["b"]] = False
    carries[stream["equals"]], writes[number] = False, False
    as_it_is = {
        "heads ask another number than they answer": torch.equal(attn.W_K, attn.W_Q),
        "heads have constants": not (attn.b_Q.any() or attn.b_K.any()),
        "heads read other registers": not attn.W_Q[:, reads].any(),
        "heads carry other registers": not attn.W_V[:, carries].any(),
        "heads write into other registers": not attn.W_O[:, :, writes].any(),
        "heads of another mask": (attn.normalise, set(attn.masks)) == ("linear", {"diagonal"}),
        "there is an MLP": all(block.mlp is None for block in model.blocks),
        "the read-out is another": model.unembed.b_U is None
        and np.array_equal(model.unembed.W_U.numpy(), read_out),
    }
    yield from (what for what, right in as_it_is.items() if not right)


def neurons(model: Transformer) -> list[list[list[arb]]]:
    """u, v and w of every head of layer 2, as exact balls: (3, neurons, p)."""
    attn = model.blocks[1].attn
    assert attn is not None
    a, b, number = (model.stream[name] for name in ("a", "b", "number"))
    equals = model.stream["equals"]
    u, v = attn.W_Q[:, a, 0], attn.W_Q[:, b, 0]
    w = attn.W_V[:, equals, 0] * attn.W_O[:, 0, number]
    return [exactly(each.numpy()) for each in (u, v, w)]


def margin_of_tensors(model: Transformer) -> arb:
    """The normalised margin of the network of these neurons."""
    return normalised_margin(*neurons(model))
