"""A bound on the rounding error of a transformer's prediction, to first order, layer by layer.

Write the float64 forward pass as the exact one plus the rounding errors δ_l made in layer l.  Then

    ŷ_float − ŷ = Σ_l ⟨∂ŷ/∂H_l, δ_l⟩ + O(eps²),

and each |δ_l| is bounded entry by entry by γ_N · |part|(|H_{l−1}|) for each part of the layer,
where |part| is the part with the absolute values of all weights and terms, N is the largest number
of roundings on a path through the part, and γ_N = N·eps/(1 − N·eps) [Higham2002, section 3.1].  The
derivatives come from automatic differentiation at the point itself, so the bound accounts for
cancellation and stability downstream.  The factor 2 below is for the terms of second order.  Tests,
but no proof, show that it covers them, so such findings are labelled "to first order".  ReLUs must
come in pairs relu(u)·v + relu(−u)·(−v), so that the model is differentiable.  Underflow is not
covered: below 10^−308 a rounding error is no longer relative.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from constructions.attention import Attention, Heads, per_head
from constructions.blocks import Block
from constructions.interface import Prompt
from constructions.transformer import Transformer
from theory.waiting import announced

UNIT_ROUNDOFF = 2.0**-53
IN_CACHE = 2**20  # numbers of a layer


def with_rounding_bound(model: Transformer, *inputs: Any) -> tuple[Tensor, Tensor]:
    """The model's answers to the inputs, and bounds (same shape) on the answers' rounding errors.

    Each answer must be one output of the model, possibly times a scale.
    """
    given = model.interface.check(model.like, *inputs)
    prompt = model.interface.write(torch, *given)
    tokens = prompt.tokens.detach()
    parts = tokens.split(_together(model, tokens.shape[-2])) if tokens.ndim == 3 else [tokens]
    each = [_answers_and_bounds(model, prompt._replace(tokens=part)) for part in parts]
    predictions, bound = (
        model.interface.read(torch.cat(part).unsqueeze(-1), *given)
        for part in zip(*each, strict=True)
    )
    return predictions, bound


def _together(model: Transformer, n_tokens: int) -> int:
    """The number of prompts whose numbers in one layer stay in cache."""
    each = [attn.W_Q.shape[-1] + attn.W_V.shape[-1] for attn in model.attentions]
    numbers = n_tokens * max(model.n_heads * (n_tokens + max(each, default=0)), model.d_model)
    return max(1, IN_CACHE // numbers)


def _answers_and_bounds(model: Transformer, prompt: Prompt) -> tuple[Tensor, Tensor]:
    """The outputs (…, answers) of the model, and bounds on their rounding errors."""
    prompt = prompt._replace(tokens=prompt.tokens.requires_grad_(True))
    with _SlopeAtZero():
        stream = list(model.residual_stream(prompt))
    answers = model.unembedding(stream[-1][..., prompt.answers, :])[..., 0]
    bounds = torch.zeros_like(answers)
    errors = _layer_errors(model, prompt, stream)
    for position in range(answers.shape[-1]):
        slopes = torch.autograd.grad(answers[..., position].sum(), stream, retain_graph=True)
        shares = (
            (slope.abs() * error).sum((-1, -2)) for slope, error in zip(slopes, errors, strict=True)
        )
        bounds[..., position] = 2 * sum(shares)
    return answers.detach(), bounds


class _SlopeAtZero(TorchFunctionMode):
    """ReLU with derivative 1 at 0.

    torch's derivative at 0 is 0, so a pair relu(u)·v + relu(−u)·(−v) = u·v would lose its slope v
    if u was rounded to 0.  With derivative 1 the pair has slope 2v at 0, which is an upper bound.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is Tensor.relu:
            return torch.where(args[0] < 0, 0.0, args[0])
        return func(*args, **(kwargs or {}))


def _layer_errors(model: Transformer, prompt: Prompt, stream: list[Tensor]) -> list[Tensor]:
    """Bounds on the rounding made by the embedding and by each block, (…, T, D) each.

    Rounding in the unembedding, and in encoders that divide by ‖x‖², is counted with the
    neighbouring layer.
    """
    with torch.no_grad():
        embedded = prompt.tokens.abs() @ model.embed.W_E.abs()
        # An encoder that divides by ‖x‖² rounds at most once for each column, and three more times.
        columns = prompt.tokens.shape[-1]
        errors = [_gamma(_longest(model.embed.W_E) + columns + 3) * embedded]
        layers = [*zip(model.blocks, stream[:-1], strict=True)]
        for block, H in announced(layers, "bounds on rounding, by layer"):
            errors.append(_local_error(block, H, prompt.n_examples))
        errors[-1] = errors[-1] + _gamma(_longest(model.unembed.W_U)) * stream[-1].abs()
        return errors


def _local_error(block: Block, H: Tensor, n_examples: int) -> Tensor:
    """A bound on the rounding errors that a block makes, entry by entry, (…, T, D)."""
    if any(norm is not None for norm in (block.norm, block.ln1, block.ln2)):
        raise ValueError(
            "there is no rounding bound for a layer that normalises the stream: give a model "
            "without normalisation layers"
        )
    error = torch.zeros_like(H)
    if block.attn is not None:
        size, before = _attention_size(block.attn, H, n_examples), H
        H = H + block.attn(H, n_examples)
        error = _sum(size, H)
        if any(heads.is_a_map(before, n_examples) for heads in block.attn.parts()):
            # the stream is a term of the product that computes the heads
            size = size + before.abs()
        error = error + _gamma(_attention_roundings(block.attn, H, n_examples)) * size
    if block.mlp is not None:
        mlp = block.mlp
        read_size, hidden = H.abs() @ mlp.W_in.abs() + mlp.b_in.abs(), H @ mlp.W_in + mlp.b_in
        read = error @ mlp.W_in.abs() + _gamma(_dot_roundings(H, mlp.W_in, mlp.b_in)) * read_size
        hidden = hidden.relu()
        size = hidden @ mlp.W_out.abs() + mlp.b_out.abs()
        H = H + hidden @ mlp.W_out + mlp.b_out
        error = error + read @ mlp.W_out.abs() + _sum(size, H)
        error = error + _gamma(_dot_roundings(hidden, mlp.W_out, mlp.b_out)) * size
    return error


def _sum(added: Tensor, H: Tensor) -> Tensor:
    """The rounding error of the sum H of the stream and an output of size `added`.

    It is relative to the sum, so it is 0 if a register cancels or if nothing is added.
    """
    return torch.where(added > 0, UNIT_ROUNDOFF * H.abs(), 0.0)


def _dot_roundings(H: Tensor, W: Tensor, b: Tensor) -> Tensor:
    """The number of roundings in H W + b: the non-zero terms, minus 1 if no product is rounded."""
    terms = (H != 0).to(W) @ (W != 0).to(W) + (b != 0).to(W)
    rounded = (W.abs().frexp().mantissa != 0.5).logical_and(W != 0).any(-2)
    return torch.where(rounded, terms, (terms - 1).clamp_min(0))


def _attention_size(attn: Attention, H: Tensor, n_examples: int) -> Tensor:
    """The output of the attention layer with the absolute values of all weights and terms."""
    if attn.normalise not in ("linear", "relu", "hardmax"):
        raise ValueError(
            f"there is no rounding bound for {attn.normalise} attention: give a model "
            "with linear attention"
        )
    sizes = [_size_of(heads, H, n_examples) for heads in attn.parts()]
    return sum(sizes[1:], start=sizes[0])


def _size_of(heads: Heads, H: Tensor, n_examples: int) -> Tensor:
    attended = heads.attended(H, n_examples).abs()
    V = per_head(attended, heads.W_V.abs())
    if heads.normalise == "hardmax":
        pattern = heads.pattern(H, n_examples)
        return torch.einsum("...htv,hvd->...td", pattern @ V, heads.W_O.abs())
    Q = per_head(H.abs(), heads.W_Q.abs()) + heads.b_Q.abs().unsqueeze(-2)
    K = per_head(attended, heads.W_K.abs()) + heads.b_K.abs().unsqueeze(-2)
    if heads.normalise == "linear" and heads.mask in ("full", "context-only"):
        mixed = Q @ (K.transpose(-1, -2) @ V)
    elif heads.mask == "diagonal":
        mixed = torch.linalg.vecdot(Q, K).unsqueeze(-1) * V
    else:
        scores = Q @ K.transpose(-1, -2)
        hidden = heads.hidden(scores)
        mixed = scores.masked_fill(hidden, 0.0) @ V
        if heads.normalise == "relu":
            mixed = mixed / hidden.logical_not().sum(-1, keepdim=True)
    return torch.einsum("...htv,hvd->...td", mixed * heads.scale, heads.W_O.abs())


def _attention_roundings(attn: Attention, H: Tensor, n_examples: int) -> int:
    """The roundings on the longest path: projections, d_head, scale, tokens, W_O and sums."""
    projections = sum(_longest(W) for W in (attn.W_Q, attn.W_K, attn.W_V)) + 3
    carried = attn.n_heads * attn.W_O.shape[-2]
    seen = max(heads.attended(H, n_examples).shape[-2] for heads in attn.parts())
    return projections + attn.W_Q.shape[-1] + seen + H.shape[-1] + carried + len(attn.parts()) + 3


def _longest(W: Tensor) -> int:
    """The largest number of non-zero terms in a dot product with a column of W."""
    return int((W != 0).sum(-2).max()) if W.numel() else 0


def _gamma(roundings: Any) -> Any:
    return roundings * UNIT_ROUNDOFF / (1 - roundings * UNIT_ROUNDOFF)
