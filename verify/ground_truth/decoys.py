"""Decoys: heads that are as active as those of a model, and change no answer.

On a hand-built model every component matters, so that a method has nothing false to name.  A decoy
has the queries, keys and values of a head of its layer, and writes its output into a register of
its own, which no other head or MLP reads.  It is *silent* if the unembedding does not read the
register either, and *faint* if the unembedding reads it with weights so small that no answer
changes.  What matters in the model with decoys is decided by all interventions, as for others.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from constructions.attention import Attention
from constructions.blocks import MLP, Block, Embed, PosEmbed, Unembed
from constructions.circuits import Node
from constructions.stream import Stream
from constructions.transformer import Transformer

DECOY = "decoy "  # in front of the number of the layer, the name of a decoy's register


def beside(model: Transformer, pool: np.ndarray, faint: float = 0.0, seed: int = 0) -> Transformer:
    """The model over tokens with a decoy in each layer that has heads.

    The decoy of a layer is a copy of one of its heads, drawn with `seed`, and comes after them. Its
    output, of the width of a value, is written to a new register. The unembedding reads this
    register with random signs, times a number by which the decoys together change the differences
    between logits on the prompts `pool` by at most `faint` times the smallest difference between
    the largest logit and another; for `faint` = 0, it does not read the register.
    """
    rng = np.random.default_rng(seed)
    layers = {
        layer: int(rng.integers(block.attn.n_heads))
        for layer, block in enumerate(model.blocks, 1)
        if block.attn is not None
    }
    widths = {DECOY + str(layer): _attn(model, layer).W_V.shape[-1] for layer in layers}
    stream, more = Stream(**model.stream.widths, **widths), sum(widths.values())
    blocks = [
        _beside(block, layers.get(layer), more, stream, DECOY + str(layer))
        for layer, block in enumerate(model.blocks, 1)
    ]

    def with_unembedding(W: Tensor) -> Transformer:
        positions = model.pos_embed
        return Transformer(
            Embed(pad(model.embed.W_E, (0, more))),
            blocks,
            Unembed(torch.cat([model.unembed.W_U, W]), model.unembed.b_U),
            pos_embed=None if positions is None else PosEmbed(pad(positions.W_pos, (0, more))),
            interface=model.interface,
            stream=stream,
            name=f"{model.name} with decoys",
            source=model.source,
        )

    outputs = model.unembed.W_U.shape[-1]
    signs = torch.from_numpy(rng.choice([-1.0, 1.0], size=(more, outputs)))
    if faint:
        logits = model.logits(pool)
        best = logits.topk(2, dim=-1).values
        apart = float((best[..., 0] - best[..., 1]).min())
        change = with_unembedding(signs).logits(pool) - logits
        largest = float((change.amax(-1) - change.amin(-1)).max())
        signs *= faint * apart / largest
    return with_unembedding(signs if faint else 0 * signs)


def is_decoy(node: Node, model: Transformer) -> bool:
    """Whether a node of a model with decoys is one: the last head of its layer."""
    return node.kind == "head" and node.index == _attn(model, node.layer or 0).n_heads - 1


def _attn(model: Transformer, layer: int) -> Attention:
    attn = model.blocks[layer - 1].attn
    assert attn is not None
    return attn


def _beside(block: Block, head: int | None, more: int, stream: Stream, register: str) -> Block:
    """A layer that reads the wider stream, with a copy of a head that writes to the register."""
    attn, mlp = block.attn, block.mlp
    if mlp is not None:
        mlp = MLP(
            pad(mlp.W_in, (0, 0, 0, more)),
            mlp.b_in,
            pad(mlp.W_out, (0, more)),
            pad(mlp.b_out, (0, more)),
        )
    if attn is not None and head is not None:
        readings = (pad(W, (0, 0, 0, more)) for W in (attn.W_Q, attn.W_K, attn.W_V))
        W_Q, W_K, W_V = (torch.cat([W, W[head : head + 1]]) for W in readings)
        W_O = W_V.new_zeros(1, attn.W_V.shape[-1], stream.d_model)
        W_O[0, :, stream[register]] = torch.eye(attn.W_V.shape[-1], dtype=W_O.dtype)
        attn = Attention(
            W_Q,
            W_K,
            W_V,
            torch.cat([pad(attn.W_O, (0, more)), W_O]),
            *(torch.cat([b, b[head : head + 1]]) for b in (attn.b_Q, attn.b_K)),
            normalise=attn.normalise,
            mask=(*attn.masks, attn.masks[head]),
            scale=attn.scale,
        )
    return Block(attn, mlp)
