"""Bounds on the distance of a translated model from ours: for all prompts, or for given prompts.

For models over tokens with proved score gaps, `softmax.softmax_error` bounds the distance for every
prompt; norms and rounding are relative errors of linear reads.

For other models the errors of each layer are bounded by the proofs of `gadgets.py`, from the scores
and values on these inputs, and propagated to the answers by the original's derivatives:

    |stock − ours| ≤ 2 Σ_l ⟨|∂ŷ/∂H_l|, δ_l⟩,

to first order, as for rounding [Higham2002, section 3.1]; the 2 is for the terms of second order.
Each rounding has a relative error of at most u.  A layer norm rounds v − m and −v − m, where m is
the mean that it computes, with |m| ≤ 3u(K + ‖v‖₁) (`gadgets.py`); so every linear read has an error
of up to u·(|v| + |m|) for each rounding, even if v is small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from constructions.attention import Heads, per_head
from constructions.blocks import Block
from constructions.exactness import Hardmax
from constructions.softmax import softmax_error
from constructions.stock.gadgets import GELU, Gadgets, unit_roundoff
from constructions.stock.short import is_short, restored_bound
from constructions.stock.softened import scale_of, tokens_read, with_sizes
from constructions.tokens import Tokens
from constructions.transformer import Transformer

ROUNDINGS = 8  # roundings of a number between the stream and a product: norm, projection, sum


def prompts_bound(
    model: Transformer,
    sharpness: float,
    gadgets: Gadgets,
    square: float,
    dtype: torch.dtype,
    hardmax: Hardmax | None = None,
) -> float:
    """A bound, for all prompts, on the distance of stock logits from the hardmax logits.

    The stock model is the translation of `model`. Its dtype is `dtype`, its softmax attention has
    the inverse temperature `sharpness`, and ‖v‖² is at most `square` for its residual stream v at
    every token. `hardmax` is the result of `hardmax_numbers`, if known.
    """
    if is_short(dtype):
        return restored_bound(model, sharpness, gadgets, square, dtype, hardmax)
    relative = gadgets.gamma(square) + (model.d_model + ROUNDINGS) * unit_roundoff(dtype)
    # ‖v‖₁ ≤ (d_model·‖v‖²)^½ for the registers of the model; those of the translation are 0 or 1.
    total = math.sqrt(model.d_model * square) + square
    constant = gadgets.mean(total, unit_roundoff(dtype))
    return softmax_error(model, sharpness, hardmax, relative=relative, constant=constant).logits


def error_bound(
    model: Transformer,
    gadgets: Gadgets,
    sizes: Sequence[Sequence[float]],
    square: float,
    dtype: torch.dtype,
    *inputs: Any,
) -> Tensor:
    """Bounds, to first order, on the errors of a stock model's answers (for tokens, logits).

    The result has the shape of the answers or logits. `sizes` contains bounds on the scores of each
    head of each layer, and `square` is the result of `softened.largest_square` on these inputs.
    """
    given = model.interface.check(model.like, *inputs)
    prompt = model.interface.write(torch, *given)
    embedded = next(model.residual_stream(prompt))
    stream = [embedded.detach().requires_grad_(True)]
    for block in model.blocks:
        stream.append(block(stream[-1], prompt.n_examples))
    outputs = model.unembedding(stream[-1][..., prompt.answers, :])
    u, gamma = unit_roundoff(dtype), gadgets.gamma(square)
    left = iter(sizes)
    with torch.no_grad():
        errors = [ROUNDINGS * u * stream[0].abs()]
        read = tokens_read(model, prompt)
        for block, before, after, rows in zip(
            model.blocks, stream[:-1], stream[1:], read, strict=True
        ):
            own = [] if block.attn is None else next(left)
            error = _layer(block, before, prompt.n_examples, own, gadgets, gamma, u)
            error = error + ROUNDINGS * u * (before.abs() + after.abs())
            # At other tokens scores may be so large that the bound is ∞.
            errors.append(torch.zeros_like(error))
            errors[-1][..., rows, :] = error[..., rows, :]
        errors[-1] = errors[-1] + (gamma + ROUNDINGS * u) * _seen(stream[-1], gadgets, u)
    bounds = torch.zeros_like(outputs).flatten(-2)
    for place, output in enumerate(outputs.flatten(-2).unbind(-1)):
        slopes = torch.autograd.grad(output.sum(), stream, retain_graph=True, allow_unused=True)
        shares = (
            (slope.abs() * error).sum((-1, -2))
            for slope, error in zip(slopes, errors, strict=True)
            if slope is not None
        )
        bounds[..., place] = 2 * sum(shares)
    # Overflows, such as ∞·0, give no bound.
    bounds = bounds.detach().nan_to_num(math.inf, math.inf).view(outputs.shape)
    return bounds if isinstance(model.interface, Tokens) else model.interface.read(bounds, *given)


def _seen(H: Tensor, gadgets: Gadgets, u: float) -> Tensor:
    """|v| + |m|, to which the errors of linear reads of v are relative."""
    return H.abs() + gadgets.mean(H.abs().sum(-1, keepdim=True), u)


def _layer(
    block: Block,
    H: Tensor,
    n_examples: int,
    sizes: Sequence[float],
    gadgets: Gadgets,
    gamma: float,
    u: float,
) -> Tensor:
    """Bounds on the errors of the heads and the MLP of a layer, by coordinate, (…, T, D)."""
    error = torch.zeros_like(H)
    read = gamma + ROUNDINGS * u
    if block.attn is not None:
        for part, bounds in with_sizes(block.attn, sizes):
            error += _heads(part, H, n_examples, bounds, gadgets, gamma, u)
        H = block.attn.after(H, n_examples)
    if block.mlp is not None:
        mlp = block.mlp
        hidden = _seen(H, gadgets, u) @ mlp.W_in.abs() + mlp.b_in.abs()
        error += (read * hidden + GELU / gadgets.steep) @ mlp.W_out.abs() + read * mlp.b_out.abs()
    return error


def _heads(
    part: Heads,
    H: Tensor,
    n_examples: int,
    sizes: Sequence[float],
    gadgets: Gadgets,
    gamma: float,
    u: float,
) -> Tensor:
    """`_layer` for the heads of one mask."""
    sizes_of = Heads._make(W.abs() if isinstance(W, Tensor) else W for W in part)
    most = _seen(H, gadgets, u)
    attended = sizes_of.attended(most, n_examples)
    values = per_head(attended, sizes_of.W_V) @ sizes_of.W_O  # (…, heads, attended, D)
    Q, K = sizes_of.queries_keys(most, n_examples)
    off = Q @ K.transpose(-1, -2) * part.scale
    Q, K = part.queries_keys(H, n_examples)
    raw = Q @ K.transpose(-1, -2) * part.scale
    seen = part.hidden(raw).logical_not()
    scores = torch.where(seen, raw, 0.0).abs()
    read = gamma + ROUNDINGS * u
    off = torch.where(seen, 2 * read * off, 0.0)  # of scores
    if part.normalise == "linear":
        # Moves of a token's own registers are linear too, and are bounded together with the heads.
        delta = torch.tensor([gadgets.theta / scale_of(size) for size in sizes], dtype=H.dtype)
        delta = delta[:, None, None]
        B, n = scores.amax(-1, keepdim=True), float(seen.sum(-1).max())
        each = B * gadgets.with_norms(delta * B, n, gamma)
        each = each + (gadgets.rounding(u) + n * u / gadgets.theta) * gadgets.theta / delta
        return (each * (seen.to(H.dtype) @ values) + off @ values).sum(-3)
    weights = part.pattern(H, n_examples)
    return ((torch.expm1(2 * off.amax(-1, keepdim=True)) + read) * (weights @ values)).sum(-3)
