"""What a transformer is made of: embeddings, blocks of heads and an MLP, and the unembedding.

`Stack` is what the analysis of weights (`exactness.py`, `softmax.py`) reads of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from constructions.attention import Attention, Held
from constructions.interface import Model
from constructions.margins import Margin, Restores
from constructions.stream import Stream
from constructions.tensors import weight


class MLP(nn.Module):
    """relu(H W_in + b_in) W_out + b_out; W_in (D, M), b_in (M,), W_out (M, D), b_out (D,)."""

    def __init__(self, W_in: Tensor, b_in: Tensor, W_out: Tensor, b_out: Tensor) -> None:
        super().__init__()
        self.W_in, self.b_in = weight(W_in), weight(b_in)
        self.W_out, self.b_out = weight(W_out), weight(b_out)

    def forward(self, H: Tensor) -> Tensor:
        """What the MLP adds to the stream, (…, T, D)."""
        # As one matrix: a compiler then finds the sign of what passes relu in what is kept anyway.
        rows = H.flatten(0, -2)
        return ((rows @ self.W_in + self.b_in).relu() @ self.W_out + self.b_out).view(H.shape)


class UnitNorm(nn.Module):
    """H / ‖H‖ for each token, (…, T, D); a token of length 0 has no direction and becomes NaN."""

    def forward(self, H: Tensor) -> Tensor:
        return H / torch.linalg.vector_norm(H, dim=-1, keepdim=True)


EPSILON = 1e-5  # keeps a layer norm from dividing by 0


class LayerNorm(nn.Module):
    """w·(H − mean)/√(variance + EPSILON) + b for each token, (…, T, D); w and b are (D,)."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.w, self.b = weight(torch.ones(d_model)), weight(torch.zeros(d_model))

    def forward(self, H: Tensor) -> Tensor:
        return layer_norm(H, H.shape[-1:], self.w, self.b, EPSILON)


class Block(nn.Module):
    """A layer: heads, then an MLP, then the normalisation of what they have been added to.

    Each of the three may be absent.  `lines` says in words what it does, and `margins` the smallest
    score gap of each head and `restores` what the MLP makes exact again, if the construction has
    proved them.  The layer norms `ln1` and `ln2`
    are what trained heads and MLPs see the stream through.
    """

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

    def forward(self, H: Tensor, n_examples: int, held: list[Held] | None = None) -> Tensor:
        """The stream after the layer; of tokens that follow others, if those are `held`."""
        # What a part adds is a fresh tensor, so the stream is added to it in place: in long prompts
        # the memory traffic of one more tensor is a good part of a layer's cost.
        if self.attn is not None and held is not None:
            H = self.attn.following(normed(H, self.ln1), held).add_(H)
        elif self.attn is not None and self.ln1 is None:
            H = self.attn.after(H, n_examples)
        elif self.attn is not None:
            H = self.attn(normed(H, self.ln1), n_examples).add_(H)
        if self.mlp is not None:
            H = self.mlp(normed(H, self.ln2)).add_(H)
        return H if self.norm is None else self.norm(H)


def normed(H: Tensor, norm: LayerNorm | None) -> Tensor:
    """The stream through a layer norm, if there is one."""
    return H if norm is None else norm(H)


def _sizes(attn: Attention | None, mlp: MLP | None) -> tuple[str, ...]:
    """What can be said of weights that were not written in words."""
    lines = []
    if attn is not None:
        heads, width = plural(attn.n_heads, "head"), attn.W_Q.shape[-1]
        lines.append(f"{attn.normalise} attention: {heads} of width {width}")
    if mlp is not None:
        lines.append(f"mlp: {plural(len(mlp.b_in), 'ReLU')}")
    return tuple(lines)


def plural(count: int, what: str) -> str:
    """1 head, 2 heads."""
    return f"{count} {what}{'s' * (count != 1)}"


class Embed(nn.Module):
    """Tokens to the stream (…, T, D): rows of W_E (d_in, D) for whole numbers (…, T), which name
    them, and tokens @ W_E for vectors (…, T, d_in)."""

    def __init__(self, W_E: Tensor) -> None:
        super().__init__()
        self.W_E = weight(W_E)

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens @ self.W_E if tokens.is_floating_point() else self.W_E[tokens]


class PosEmbed(nn.Module):
    """T rows of W_pos (positions, D) from `first` on, which are added to the embedded tokens."""

    def __init__(self, W_pos: Tensor) -> None:
        super().__init__()
        self.W_pos = weight(W_pos)

    def forward(self, n_tokens: int, first: int = 0) -> Tensor:
        return self.W_pos[first : first + n_tokens]


class Unembed(nn.Module):
    """The stream (…, T, D) to outputs (…, T, d_out): W_U (D, d_out), and b_U (d_out,) if given."""

    def __init__(self, W_U: Tensor, b_U: Tensor | None = None) -> None:
        super().__init__()
        self.W_U = weight(W_U)
        self.b_U = None if b_U is None else weight(b_U)

    def forward(self, H: Tensor) -> Tensor:
        outputs = H @ self.W_U
        return outputs if self.b_U is None else outputs + self.b_U


@dataclass(frozen=True)
class Stage:
    """A layer invariant, a line of a construction's proof: after `after` layers, times·register is
    what `holds` returns.

    `holds` is a function of the model's inputs, written with the functions of `theory`: of tokens
    (…, T) it returns (…, T, width), the prefix left out; of a number system, X, y and queries a row
    for each answer.
    """

    after: int
    register: str
    holds: Callable[..., Any]
    times: float = 1.0

    def __str__(self) -> str:
        return f"{self.register} after layer {self.after}"


class Stack(Model):
    """Embedding, blocks and unembedding of a model, and what its construction has proved of them.

    `stream` are its named registers; `stages` say what stands where, and `at_most` bounds
    registers.
    """

    embed: Embed
    pos_embed: PosEmbed | None
    blocks: Sequence[Block]
    unembed: Unembed
    stream: Stream
    stages: tuple[Stage, ...]
    at_most: Mapping[str, float]

    @property
    def d_model(self) -> int:
        """The width of the residual stream."""
        return self.stream.d_model
