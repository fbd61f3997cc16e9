"""A model of this library inside torch's `nn.TransformerEncoder`.

Layers are unmodified `nn.TransformerEncoderLayer(norm_first=True, activation="relu")`.  Causal
models use the stock causal mask, and other models use no mask: causal heads beside heads that see
all tokens mask later tokens by their scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from constructions.blocks import Embed, PosEmbed, Unembed
from constructions.interface import Model, Prompt
from constructions.stock.gadgets import Dtype, Gadgets
from constructions.stock.neutral import EPSILON, Doubled
from constructions.stock.softened import sees_no_later_token
from constructions.stock.translated import Plan, StockModel, planned, rounded
from constructions.transformer import Transformer
from theory.kinds import Positive, checked


class StockEncoder(StockModel):
    """A model of this library, translated into torch's nn.TransformerEncoder.

    The attribute `module` is the nn.TransformerEncoder. Three parts are outside of `module`,
    because torch's class lacks them: the embedding `embed` of tokens, the unembedding `unembed`,
    and the embedding `pos_embed` of positions. `pos_embed` also adds large constants K and −K to
    two coordinates of each token. Because of these constants, the factors by which layer norms
    multiply are nearly constant (see `Gadgets`).
    """

    @checked
    def __init__(self, plan: Plan) -> None:
        soft, doubled = plan.soft, plan.doubled
        super().__init__("to_encoder", rounded(_encoder(soft, doubled), plan), plan)
        self.doubled, self.causal = doubled, any(attn.is_causal for attn in soft.attentions)
        unembed = soft.unembed
        self.embed = Embed(doubled.writes(soft.embed.W_E))
        at = torch.zeros(1, soft.d_model) if soft.pos_embed is None else soft.pos_embed.W_pos
        self.pos_embed = PosEmbed(doubled.writes(at.double()) + doubled.row)
        self.unembed = Unembed(doubled.reads(unembed.W_U), unembed.b_U)
        self.to(plan.dtype)

    def _begin(self, prompt: Prompt) -> tuple[Tensor, Tensor | None]:
        z = self.embed(prompt.tokens)
        T = z.shape[-2]
        if self.plan.soft.pos_embed is None:
            z = z + self.pos_embed.W_pos
        else:
            self.fits(T, len(self.pos_embed.W_pos))
            z = z + self.pos_embed(T)
        mask = nn.Transformer.generate_square_subsequent_mask(T, dtype=z.dtype)
        return z.flatten(0, -3) if z.ndim > 3 else z, mask if self.causal else None

    @checked
    def residual_stream(self, prompt: Prompt) -> Iterator[Tensor]:
        z, mask = self._begin(prompt)
        leading = prompt.tokens.shape[: prompt.tokens.ndim - 1 - prompt.tokens.is_floating_point()]
        yield self.doubled.back(z.reshape(*leading, *z.shape[-2:]))
        for layer in self.module.layers:  # type: ignore[union-attr]
            z = layer(z, src_mask=mask)
            yield self.doubled.back(z.reshape(*leading, *z.shape[-2:]))

    @checked
    def run(self, prompt: Prompt) -> Tensor:
        z, mask = self._begin(prompt)
        leading = prompt.tokens.shape[: prompt.tokens.ndim - 1 - prompt.tokens.is_floating_point()]
        if self.plan.soft.n_layers:  # torch's class needs a layer
            z = self.module(z, mask=mask)
        z = z.reshape(*leading, *z.shape[-2:])
        return self.unembed(z[..., prompt.answers, :])

    @checked
    def unembedding(self, H: Tensor) -> Tensor:
        return self.unembed(self.doubled.writes(H.flatten(0, -2))).unflatten(0, H.shape[:-1])


@checked
def to_encoder(
    model: Model,
    *inputs: Any,
    error: Positive | None = None,
    dtype: Dtype = torch.float64,
    gadgets: Gadgets | None = None,
) -> StockEncoder:
    """Returns the model translated into an unmodified `torch.nn.TransformerEncoder`.

        stock = to_encoder(gradient_descent(5, 10, 1 / 64), x, y, x_query, error=1e-9)
        stock(x, y, x_query), stock.bound(x, y, x_query), stock.module

    The result is called with the same inputs as the model, and `stock.module` is the encoder.
    `inputs` are typical inputs of the model. The translation has as many layers as the original.
    Each linear head becomes 2p softmax heads, where p is called the order of the translation. The
    scores of these heads are proportional to the scores of the linear head, divided by the largest
    score on these inputs, which is rounded up to a power of two. One more token, which takes up
    attention weight, is put in front of prompts. For a model over tokens with proved gaps between
    the largest score and all others, `inputs` can be omitted; the translation does not depend on
    them.

    `error` is the allowed distance of the answers from the answers of the original, on these
    inputs. For a model over tokens, it is the allowed distance of the logits, on all inputs. The
    smallest sufficient order p is chosen; without `error` the order is 3. If `gadgets` is given, it
    contains the order and the other parameters of the translation.

    For a model over tokens and a dtype shorter than float32, the dtype must represent exactly all
    numbers that the model with hardmax attention computes. Rounding to the dtype then restores
    these numbers (`short.py`). In this case the weights of the layer norms of the translation are
    powers of two.

    Raises ValueError for an error that cannot be guaranteed in the dtype, and without `error` if no
    finite bound on the error is known on these inputs; the message states the smallest bound. Also
    raises ValueError for a model with a layer that cannot be translated: a layer with ReLU
    attention, with a layer norm, or with hardmax attention without proved gaps.
    """
    causal = isinstance(model, Transformer) and sees_no_later_token(model)
    return StockEncoder(planned(model, inputs, causal, error, dtype, gadgets))


def _encoder(soft: Transformer, doubled: Doubled) -> nn.TransformerEncoder:
    """The stock module and its tensors."""
    layer = nn.TransformerEncoderLayer(
        doubled.d,
        doubled.n_heads,
        doubled.neurons,
        dropout=0.0,
        activation="relu",
        layer_norm_eps=EPSILON,
        batch_first=True,
        norm_first=True,
        dtype=torch.float64,
    )
    encoder = nn.TransformerEncoder(layer, soft.n_layers, enable_nested_tensor=False)
    with torch.no_grad():
        for stock, block in zip(encoder.layers, soft.blocks, strict=True):
            W, b, W_O, b_O = doubled.heads(block.attn)
            W_in, b_in, W_out, b_out = doubled.mlp(block.mlp)
            values = {
                "self_attn.in_proj_weight": W.T,
                "self_attn.in_proj_bias": b,
                "self_attn.out_proj.weight": W_O.T,
                "self_attn.out_proj.bias": b_O,
                "linear1.weight": W_in.T,
                "linear1.bias": b_in,
                "linear2.weight": W_out.T,
                "linear2.bias": b_out,
            }
            for norm in ("norm1", "norm2"):
                values |= {f"{norm}.weight": doubled.norm, f"{norm}.bias": 0 * doubled.norm}
            stock.load_state_dict(values)
    return encoder
