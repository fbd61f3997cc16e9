"""The parts of a transformer: embeddings, blocks of heads and an MLP, and the unembedding.

`Stack` is the part of a model that the analysis of weights reads (`exactness.py`, `softmax.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from constructions.attention import Attention, Cache
from constructions.interface import Model
from constructions.margins import Margin, Restores
from constructions.stream import Stream
from constructions.tensors import weight
from theory.kinds import Finite, InputError, Steps, checked


class MLP(nn.Module):
    """An MLP, which computes relu(H W_in + b_in) W_out + b_out for the residual stream H (…, T, D).

    With M hidden neurons, the shapes are W_in (D, M), b_in (M,), W_out (M, D) and b_out (D,).
    """

    def __init__(self, W_in: Tensor, b_in: Tensor, W_out: Tensor, b_out: Tensor) -> None:
        super().__init__()
        self.W_in, self.b_in = weight(W_in), weight(b_in)
        self.W_out, self.b_out = weight(W_out), weight(b_out)

    def forward(self, H: Tensor) -> Tensor:
        """The MLP's output, which is added to the stream, (…, T, D)."""
        # As one matrix: a compiler then needs no further tensor for the gradient of relu.
        rows = H.flatten(0, -2)
        return ((rows @ self.W_in + self.b_in).relu() @ self.W_out + self.b_out).view(H.shape)


class UnitNorm(nn.Module):
    """Normalisation H / ‖H‖ of each token of H (…, T, D); a token of norm 0 becomes NaN."""

    def forward(self, H: Tensor) -> Tensor:
        return H / torch.linalg.vector_norm(H, dim=-1, keepdim=True)


EPSILON = 1e-5  # keeps a layer norm from dividing by 0


class LayerNorm(nn.Module):
    """Layer norm w·(H − mean)/√(variance + EPSILON) + b of each token of H (…, T, D).

    The weights w and b have shape (D,).
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.w, self.b = weight(torch.ones(d_model)), weight(torch.zeros(d_model))

    def forward(self, H: Tensor) -> Tensor:
        return layer_norm(H, H.shape[-1:], self.w, self.b, EPSILON)


class Block(nn.Module):
    """A layer: heads, then an MLP, then a normalisation of the stream; each part may be absent.

    `lines` describe the layer in words. `margins` are the smallest score gaps of the heads, and
    `restores` states which registers the MLP makes exact again; `margins` and `restores` are given
    only if the construction's proof contains them. In trained models, the layer norms `ln1` and
    `ln2` are applied to the inputs of the heads and of the MLP.
    """

    @checked
    def __init__(
        self,
        attn: Attention | None = None,
        mlp: MLP | None = None,
        lines: tuple[str, ...] = (),
        norm: UnitNorm | None = None,
        *,
        margins: tuple[Margin, ...] = (),
        restores: tuple[Restores, ...] = (),
        ln1: LayerNorm | None = None,
        ln2: LayerNorm | None = None,
    ) -> None:
        super().__init__()
        self.attn, self.mlp, self.norm = attn, mlp, norm
        self.lines, self.margins = lines or _sizes(attn, mlp), margins
        self.restores = restores
        self.ln1, self.ln2 = ln1, ln2

    def forward(self, H: Tensor, n_examples: int, cache: list[Cache] | None = None) -> Tensor:
        """The stream (…, T, D) after the layer, for the stream H (…, T, D) before the layer.

        With a `cache`, H contains only the tokens that follow the cached tokens.
        """
        # The output of a part is a new tensor, so the stream is added to it in place: in long
        # prompts the memory traffic of one more tensor is a considerable part of a layer's cost.
        if self.attn is not None and cache is not None:
            H = self.attn.following(normed(H, self.ln1), cache).add_(H)
        elif self.attn is not None and self.ln1 is None:
            H = self.attn.after(H, n_examples)
        elif self.attn is not None:
            H = self.attn(normed(H, self.ln1), n_examples).add_(H)
        if self.mlp is not None:
            H = self.mlp(normed(H, self.ln2)).add_(H)
        return H if self.norm is None else self.norm(H)


def normed(H: Tensor, norm: LayerNorm | None) -> Tensor:
    """The stream H (…, T, D) after the layer norm `norm`; if `norm` is None, H is not changed."""
    return H if norm is None else norm(H)


def _sizes(attn: Attention | None, mlp: MLP | None) -> tuple[str, ...]:
    """A description of weights that were not written as heads and primitives."""
    lines = []
    if attn is not None:
        heads, width = plural(attn.n_heads, "head"), attn.W_Q.shape[-1]
        lines.append(f"{attn.normalise} attention: {heads} of width {width}")
    if mlp is not None:
        lines.append(f"mlp: {plural(len(mlp.b_in), 'ReLU')}")
    return tuple(lines)


def plural(count: int, what: str) -> str:
    """The count with the noun `what`, such as "1 head" or "2 heads"."""
    return f"{count} {what}{'s' * (count != 1)}"


class Embed(nn.Module):
    """The embedding of tokens as vectors (…, T, D), with weights W_E (d_in, D).

    Integers (…, T) are indices of rows of W_E; vectors (…, T, d_in) are multiplied by W_E.
    """

    def __init__(self, W_E: Tensor) -> None:
        super().__init__()
        self.W_E = weight(W_E)

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens @ self.W_E if tokens.is_floating_point() else self.W_E[tokens]


class PosEmbed(nn.Module):
    """The embedding of positions, with weights W_pos (positions, D).

    For T tokens the embedding returns the T rows of W_pos from row `first` on.
    """

    def __init__(self, W_pos: Tensor) -> None:
        super().__init__()
        self.W_pos = weight(W_pos)

    def forward(self, n_tokens: int, first: int = 0) -> Tensor:
        return self.W_pos[first : first + n_tokens]


class Unembed(nn.Module):
    """The unembedding, which maps the stream H (…, T, D) to the outputs H W_U + b_U (…, T, d_out).

    W_U has shape (D, d_out); b_U has shape (d_out,) or is None.
    """

    def __init__(self, W_U: Tensor, b_U: Tensor | None = None) -> None:
        super().__init__()
        self.W_U = weight(W_U)
        self.b_U = None if b_U is None else weight(b_U)

    def forward(self, H: Tensor) -> Tensor:
        outputs = H @ self.W_U
        return outputs if self.b_U is None else outputs + self.b_U


@checked
@dataclass(frozen=True)
class Stage:
    """A layer invariant: the content of a register after a layer, as a function of the inputs.

    A register is a named group of coordinates of the residual stream. After `after` layers, the
    content of the register `register`, multiplied by the number `times`, equals `holds`(inputs).
    This invariant is part of the construction's proof.

    `holds` is written with functions of the package `theory`. In models over tokens,
    `holds(tokens)` maps tokens (…, T) to an array (…, T, width), where `width` is the width of the
    register. The array has no entry for the tokens that the model puts in front of every prompt
    (`interface.prefix`), but entries for the tokens that it puts behind a sequence. It may have
    entries for the answers only. In models over examples, `holds(domain, X, y, queries)` computes
    in the number system `domain`, for example the rational numbers, from the examples X (n × d),
    their labels y (n × 1) and the queries (m × d). It returns one row for each answer.
    """

    after: Steps
    register: str
    holds: Callable[..., Any]
    times: Finite = 1.0

    def __str__(self) -> str:
        return f"{self.register} after layer {self.after}"


class Stack(Model):
    """The embedding, blocks and unembedding of a model, with properties from the model's proof.

    `stream` contains the named registers, `stages` the layer invariants, and `at_most` upper bounds
    on the entries of registers.
    """

    embed: Embed
    pos_embed: PosEmbed | None
    blocks: Sequence[Block]
    unembed: Unembed
    ln_final: LayerNorm | None
    stream: Stream
    stages: tuple[Stage, ...]
    at_most: Mapping[str, float]

    @property
    def d_model(self) -> int:
        """The width of the residual stream."""
        return self.stream.d_model


def check_own_heads(model: Stack) -> None:
    """Raises ValueError if the attention of a layer is replaced (`verify.interpret.patched`)."""
    for number, block in enumerate(model.blocks, start=1):
        if block.attn is not None and block.attn.replaced:
            raise InputError(
                f"the attention of layer {number} of {model.name} is replaced, and its weights do "
                "not determine the answers: give the model whose attention was replaced"
            )
