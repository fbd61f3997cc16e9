"""Our models in TransformerLens: the same weights in its transformer, for use with its hooks.

TransformerLens builds a transformer without layer norms (`boot_native`): softmax heads of one mask,
causal or full, ReLU MLPs, learned positions.  Our models over tokens are copied into it, entry by
entry:

    heads       W_Q β √d_head, since TransformerLens divides scores by √d_head; d_head is a power of
                4, so that the root is exact
    masks       causal, or full if a head sees all tokens; tokens that this mask admits and the
                head's mask (strictly causal, diagonal, causal) does not get a score so low that
                their weight is exactly 0 (`softened.py`); the registers for this come after the
                model's
    the rest    zeros, if a layer has fewer heads or hidden neurons than the largest layer

The logits are those of our model, up to the order of sums; `model.softmax_error(β)` bounds their
distance from those of hardmax attention.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from constructions.attention import Mask
from constructions.blocks import Block
from constructions.softmax import score_sizes
from constructions.stock.gadgets import chosen
from constructions.stock.softened import softened
from constructions.stock.translatable import check_translatable
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory.kinds import InputError, checked


@checked
def to_lens(model: Transformer) -> Any:
    """Returns a `TransformerBridge` of TransformerLens with the weights of a model over tokens.

    The bridge computes in float64. Its inputs are the tokens of `model.prompt(…)`, including the
    tokens that the model puts in front of every prompt. Its outputs are the logits at all these
    tokens. As for Tracr's models, its attribute `residual_labels` contains the names of the
    coordinates of its residual stream. These are `labels(model)`, followed by the names of further
    coordinates that implement masks other than that of the bridge. This mask is causal, or full if
    a head of the model sees all tokens.

    Raises ValueError if TransformerLens is not installed, for a model that is not over tokens, and
    for layers that cannot be translated: layers with hardmax, linear or ReLU attention, or with
    layer norms. For a hardmax model, translate `model.sharpened(β)`, which has softmax attention.
    """
    try:
        from transformer_lens.config import TransformerBridgeConfig
        from transformer_lens.model_bridge import TransformerBridge
    except ImportError as error:
        raise InputError(
            f"TransformerLens cannot be imported ({error}): run pip install 'weightwright[lens]'"
        ) from None
    if not isinstance(model.interface, Tokens) or model.interface.context is None:
        raise InputError(
            f"{model.name} is not a model over tokens with a largest length: give such a model, "
            "for example induction_heads"
        )
    for number, block in enumerate(model.blocks, 1):
        if reason := _unfit(block):
            raise InputError(f"layer {number} of {model.name} {reason}")
    model = under_one_mask(model)
    positions = model.embed.W_E.new_zeros(model.interface.context or 1, model.d_model)
    if model.pos_embed is not None:
        positions = model.pos_embed.W_pos
    mask = _one_mask(model)
    widths = [max(a.W_Q.shape[-1], a.W_V.shape[-1]) for a in model.attentions]
    units = [0 if block.mlp is None else len(block.mlp.b_in) for block in model.blocks]
    d_head = 4 ** next(p for p in range(20) if 4**p >= max(widths, default=1))
    config = TransformerBridgeConfig(
        d_model=model.d_model,
        d_head=d_head,
        n_heads=max(1, model.n_heads),
        n_layers=model.n_layers,
        n_ctx=len(positions),
        d_vocab=len(model.embed.W_E),
        d_vocab_out=model.unembed.W_U.shape[-1],
        d_mlp=max(units, default=0) or None,
        attn_only=not any(units),
        attention_dir="bidirectional" if mask == "full" else "causal",
        act_fn="relu",
        normalization_type=None,
        init_weights=False,
    )
    bridge = TransformerBridge.boot_native(config, dtype=torch.float64)
    weights = {name: torch.zeros_like(W) for name, W in bridge.state_dict().items()}
    _put(weights["embed.weight"], model.embed.W_E)
    _put(weights["pos_embed.weight"], positions)
    _put(weights["unembed.weight"], model.unembed.W_U.T)
    if model.unembed.b_U is not None:
        _put(weights["unembed.bias"], model.unembed.b_U)
    for number, block in enumerate(model.blocks):
        at = f"blocks.{number}"
        if block.attn is not None:
            heads, sharp = block.attn, block.attn.scale * d_head**0.5
            for h in range(heads.n_heads):
                rows = slice(h * d_head, (h + 1) * d_head)
                _put(weights[f"{at}.attn.q.weight"][rows], sharp * heads.W_Q[h].T)
                _put(weights[f"{at}.attn.q.bias"][rows], sharp * heads.b_Q[h])
                _put(weights[f"{at}.attn.k.weight"][rows], heads.W_K[h].T)
                _put(weights[f"{at}.attn.k.bias"][rows], heads.b_K[h])
                _put(weights[f"{at}.attn.v.weight"][rows], heads.W_V[h].T)
                _put(weights[f"{at}.attn.o.weight"][:, rows], heads.W_O[h].T)
        if block.mlp is not None:
            _put(weights[f"{at}.mlp.in.weight"], block.mlp.W_in.T)
            _put(weights[f"{at}.mlp.in.bias"], block.mlp.b_in)
            _put(weights[f"{at}.mlp.out.weight"], block.mlp.W_out.T)
            _put(weights[f"{at}.mlp.out.bias"], block.mlp.b_out)
    bridge.load_state_dict(weights)
    bridge.residual_labels = labels(model)
    return bridge


def under_one_mask(model: Transformer) -> Transformer:
    """The model of softmax heads whose tensors `to_lens` copies: all heads have one mask.

    The mask is causal, or full if a head sees all tokens. A model of heads with only this mask is
    returned unchanged; other masks are implemented by further registers.
    """
    mask = _one_mask(model)
    if all({*attn.masks} == {mask} for attn in model.attentions):
        return model
    check_translatable(model, causal=mask == "causal")
    unused = chosen(1, torch.float64, 1, 1.0)  # no head is linear
    sizes = score_sizes(model)
    return softened(model, unused, sizes, model.interface.context or 1, causal=mask == "causal")


def _one_mask(model: Transformer) -> Mask:
    return "full" if any("full" in attn.masks for attn in model.attentions) else "causal"


@checked
def labels(model: Transformer) -> list[str]:
    """The names of the coordinates of the model's residual stream, for use in TransformerLens.

    A register is a named group of coordinates. Coordinate i of the register "name" has the name
    "name[i]".
    """
    return [f"{name}[{i}]" for name, width in model.stream.widths.items() for i in range(width)]


def _unfit(block: Block) -> str:
    """The reason why a layer cannot be translated; empty if it can."""
    if block.norm is not None or block.ln1 is not None or block.ln2 is not None:
        return (
            "normalises its stream, and this translation has no norms: give a model without norms"
        )
    if block.attn is None:
        return ""
    if block.attn.normalise == "hardmax":
        return "has hardmax attention: give model.sharpened(β), which has softmax"
    if block.attn.normalise != "softmax":
        return (
            f"has {block.attn.normalise} attention, but TransformerLens has only softmax: "
            "give a model with softmax attention"
        )
    return ""


def _put(into: Tensor, weights: Tensor) -> None:
    """Write weights into the corner of a larger tensor."""
    into[tuple(slice(size) for size in weights.shape)] = weights
