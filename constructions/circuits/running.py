"""The forward pass with one input of each component changed: the basis of patching.

Shapes
    T tokens, D = d_model; H (…, T, D) is the residual stream

A change of a port is a tensor that is added to the stream as this port reads it, before a layer
norm if there is one.  Heads are computed one by one and added in their order.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from constructions.attention import Heads
from constructions.blocks import Block, normed
from constructions.circuits.edges import Node, Port
from constructions.interface import Prompt
from constructions.transformer import Transformer

Changes = Mapping[tuple[Node, Port], Tensor]


class Ports:
    """A model whose components read the stream at ports that can be changed one by one.

    `neurons` contains the hidden neurons of each node that is an MLP.
    """

    def __init__(self, model: Transformer, neurons: Mapping[Node, np.ndarray]) -> None:
        self.model = model
        self.groups = {
            layer: {
                node: torch.from_numpy(each)
                for node, each in neurons.items()
                if node.layer == layer
            }
            for layer in range(1, model.n_layers + 1)
        }

    def start(self, prompt: Prompt) -> dict[Node, Tensor]:
        """What the embedding and the positions write, (…, T, D) and (T, D)."""
        written = {Node("embed"): self.model.embed(prompt.tokens)}
        if self.model.pos_embed is not None:
            written[Node("positions")] = self.model.pos_embed(prompt.tokens.shape[-1])
        return written

    def heads(self, layer: int, H: Tensor, n_examples: int, changes: Changes) -> dict[Node, Tensor]:
        """What each head of a layer writes, (…, T, D), for the stream H before the layer."""
        block = self.model.blocks[layer - 1]
        if (attn := block.attn) is None:
            return {}
        written = {}
        for h in range(attn.n_heads):
            node = Node("head", layer, h)
            tensors = attn.W_Q, attn.W_K, attn.W_V, attn.W_O, attn.b_Q, attn.b_K
            own = [W[h : h + 1] for W in tensors]
            head = Heads._make((*own, attn.normalise, attn.masks[h], attn.scale))
            ports: tuple[Port, ...] = ("Q", "K", "V")
            query, key, value = (
                normed(_changed(H, changes.get((node, port))), block.ln1) for port in ports
            )
            written[node] = head.added_by(query, key, value, n_examples)
        return written

    def mlps(self, layer: int, H: Tensor, changes: Changes) -> dict[Node, Tensor]:
        """What each group of hidden neurons writes, for the stream H after the heads."""
        block = self.model.blocks[layer - 1]
        if (mlp := block.mlp) is None:
            return {}
        written = {}
        for node, group in self.groups[layer].items():
            read = normed(_changed(H, changes.get((node, "MLP"))), block.ln2)
            hidden = (read @ mlp.W_in[:, group] + mlp.b_in[group]).relu()
            written[node] = hidden @ mlp.W_out[group]
        return written

    def after(
        self, layer: int, H: Tensor, n_examples: int, changes: Changes
    ) -> tuple[Tensor, Tensor, dict[Node, Tensor]]:
        """The stream after the heads of a layer and after the layer, and what was written."""
        heads = self.heads(layer, H, n_examples, changes)
        between = H + sum(heads.values()) if heads else H
        mlps = self.mlps(layer, between, changes)
        after = (
            between + (sum(mlps.values()) + _bias(self.model.blocks[layer - 1]))
            if mlps
            else between
        )
        return between, after, heads | mlps

    def logits(
        self,
        H: Tensor,
        prompt: Prompt,
        changes: Changes,
        *,
        layer: int = 1,
        last: int | None = None,
    ) -> Tensor:
        """The outputs at the answer tokens, where H is the stream before a layer.

        Layers after `last` have no changes and are computed as the model computes them.
        """
        for number in range(layer, self.model.n_layers + 1):
            if last is not None and number > last:
                H = self.model.blocks[number - 1](H, prompt.n_examples)
            else:
                _, H, _ = self.after(number, H, prompt.n_examples, changes)
        H = _changed(H, changes.get((Node("unembed"), "logits")))
        return self.model.unembedding(self.model.seen(H[..., prompt.answers, :]))


def _bias(block: Block) -> Tensor:
    assert block.mlp is not None
    return block.mlp.b_out


def _changed(H: Tensor, change: Tensor | None) -> Tensor:
    return H if change is None else H + change
