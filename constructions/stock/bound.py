"""Bounds on the distance of a translated model from ours: for all prompts, or for given prompts.

For models over tokens with proved score gaps, `softmax.softmax_error` bounds the distance for every
prompt; norms and rounding are relative errors of linear reads.

For other models the errors δ_l of heads and of MLPs are bounded by the proofs of `gadgets.py`, from
the scores and values on these inputs, and propagated to the answers by the original's derivatives:

    |stock − ours| ≤ 2 Σ_l ⟨|∂ŷ/∂H_l|, δ_l⟩,

where H_l is the stream after these heads or this MLP.  This is to first order, as for rounding
[Higham2002, section 3.1]; the 2 is for the terms of second order.  ReLUs have no derivative at 0.
If the input z of a hidden neuron is within the bound e on its error, the neuron has an error of up
to e beside that of the derivative 0 or 1, since relu is monotone and 1-Lipschitz.  These e are
further errors δ, at the hidden neurons.

Errors above all numbers of the forward pass are not small, and the bound is then ∞.

A key that is masked has the weight 0 if its score is below all other scores by FAR/4.  On inputs
with larger scores the bound is ∞.

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
from constructions.exactness import Hardmax
from constructions.softmax import softmax_error
from constructions.stock.gadgets import GELU, Gadgets, unit_roundoff
from constructions.stock.short import is_short, restored_bound
from constructions.stock.softened import FAR, masked_by, scale_of, tokens_read, with_sizes
from constructions.tokens import Tokens
from constructions.transformer import Transformer

TOGETHER = 2**24  # numbers in the derivatives of several outputs
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
    rounding = unit_roundoff(dtype) + unit_roundoff(model.like.dtype)  # also of the original
    return softmax_error(
        model, sharpness, hardmax, relative=relative, constant=constant, rounding=rounding
    ).logits


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
    H = next(model.residual_stream(prompt)).detach().requires_grad_(True)
    n_examples, u, left = prompt.n_examples, unit_roundoff(dtype), iter(sizes)
    gamma = gadgets.gamma(square)
    places, errors = [H], [ROUNDINGS * u * H.detach().abs()]

    def add(place: Tensor, error: Tensor, rows: slice) -> None:
        # At other tokens scores may be so large that the bound is ∞.
        places.append(place)
        errors.append(torch.zeros_like(error))
        errors[-1][..., rows, :] = error[..., rows, :]

    for block, rows in zip(model.blocks, tokens_read(model, prompt), strict=True):
        if block.attn is not None:
            after = block.attn.after(H, n_examples)
            with torch.no_grad():
                error = ROUNDINGS * u * (H.abs() + after.abs())
                for part, most in with_sizes(block.attn, next(left)):
                    error += _heads(part, H, n_examples, most, gadgets, gamma, u)
            add(H := after, error, rows)
        if (mlp := block.mlp) is not None:
            read = H @ mlp.W_in + mlp.b_in
            hidden = read.relu()
            after = H + hidden @ mlp.W_out + mlp.b_out
            with torch.no_grad():
                size = _seen(H, gadgets, u) @ mlp.W_in.abs() + mlp.b_in.abs()
                off = (gamma + ROUNDINGS * u) * size
                written = (off + GELU / gadgets.steep) @ mlp.W_out.abs()
                written += (gamma + ROUNDINGS * u) * mlp.b_out.abs()
                written += ROUNDINGS * u * (H.abs() + after.abs())
                near = off + _moved(read, places, errors, rows)
                crossing = torch.where(read.abs() <= near, near, 0.0)
            add(hidden, crossing, rows)
            add(H := after, written, rows)
    errors[-1] = errors[-1] + (gamma + ROUNDINGS * u) * _seen(H.detach(), gadgets, u)
    outputs = model.unembedding(H[..., prompt.answers, :])
    moved = _moved(outputs, places, errors, slice(None))
    # Errors as large as all numbers are not small: terms of second order could be larger still.
    with torch.no_grad():
        largest = max(float(each.abs().max()) for each in (*places, outputs))
        moved = moved.where(moved <= largest, math.inf)
    if isinstance(model.interface, Tokens):
        return moved
    bounds: Tensor = model.interface.read(moved, *given)
    return bounds


def _moved(
    outputs: Tensor, places: Sequence[Tensor], errors: Sequence[Tensor], rows: slice
) -> Tensor:
    """How far errors at places (…, T, D) move the numbers `outputs` (…, T, M) at the tokens `rows`.

    The result, of the shape of `outputs`, is twice the sum of the errors times the derivatives; it
    is 0 at other tokens, and ∞ if it overflows.
    """
    moved = torch.zeros_like(outputs, requires_grad=False)
    one = torch.eye(outputs.shape[-1]).to(moved)
    some = max(1, TOGETHER // sum(place.numel() for place in places))
    for t in range(outputs.shape[-2])[rows]:
        for first in range(0, len(one), some):
            these = slice(first, first + some)
            ones = moved.new_zeros(len(one[these]), *moved.shape)
            ones[..., t, :] = one[these].view(-1, *[1] * (moved.ndim - 2), len(one))
            slopes = torch.autograd.grad(
                outputs, places, ones, retain_graph=True, allow_unused=True, is_grads_batched=True
            )
            for slope, error in zip(slopes, errors, strict=True):
                if slope is not None:
                    share = 2 * (slope.abs() * error).sum((-1, -2))
                    moved[..., t, these] += share.movedim(0, -1)
    # Overflows, such as ∞·0, give no bound.
    return moved.nan_to_num(math.inf, math.inf)


def _seen(H: Tensor, gadgets: Gadgets, u: float) -> Tensor:
    """|v| + |m|, to which the errors of linear reads of v are relative."""
    return H.abs() + gadgets.mean(H.abs().sum(-1, keepdim=True), u)


def _heads(
    part: Heads,
    H: Tensor,
    n_examples: int,
    sizes: Sequence[float],
    gadgets: Gadgets,
    gamma: float,
    u: float,
) -> Tensor:
    """Bounds on the errors of the heads of one mask, by coordinate, (…, T, D)."""
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
        error = each * (seen.to(H.dtype) @ values) + off @ values
    else:
        weights = part.pattern(H, n_examples)
        error = (torch.expm1(2 * off.amax(-1, keepdim=True)) + read) * (weights @ values)
    return error.where(_masks(part, H, n_examples, sizes, gadgets), math.inf).sum(-3)


def _masks(
    part: Heads, H: Tensor, n_examples: int, sizes: Sequence[float], gadgets: Gadgets
) -> Tensor:
    """Whether the keys that are masked for a query have weight 0, (…, heads, T, 1)."""
    Q, K = part._replace(mask="full").queries_keys(H, n_examples)
    scores = Q @ K.transpose(-1, -2) * part.scale
    if part.mask == "context-only":
        hidden = torch.arange(scores.shape[-1], device=H.device) >= n_examples
    else:
        hidden = part.hidden(scores)
    masked = scores.masked_fill(hidden.logical_not(), 0.0)  # 0 is the score of the sink
    by = torch.tensor([masked_by(part, size) for size in sizes], dtype=H.dtype)[:, None, None]
    if part.normalise == "linear":
        factors = [gadgets.order * gadgets.theta / scale_of(size) for size in sizes]
        factor = torch.tensor(factors, dtype=H.dtype)[:, None, None]
        return (factor * masked.abs()).amax(-1, keepdim=True) <= by - FAR / 4
    best = scores.masked_fill(hidden, -math.inf).amax(-1, keepdim=True)
    return masked.amax(-1, keepdim=True) - by <= best - FAR / 4
