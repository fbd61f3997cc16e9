"""The one transformer of the project; hand-built and trained models are both instances of it.

Shapes
    T tokens, D = d_model, M = d_mlp; H (…, T, D) is the residual stream, tokens are rows.

A block adds its heads, then its MLP, and may then normalise each token:

    H ← H + Σ_h A_h(H) H W_V W_O            see `constructions.attention`
    H ← H + relu(H W_in + b_in) W_out + b_out
    H ← H / ‖H‖, row by row                 unit norm

Trained models may have heads, MLP and read-out see the stream through a layer norm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from constructions.attention import Attention
from constructions.stream import Stream
from constructions.tensors import weight
from theory import checks

Model = TypeVar("Model", bound="Transformer")


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

    Each of the three may be absent.  `lines` says in words what it does.  The layer norms `ln1` and
    `ln2` are what trained heads and MLPs see the stream through.
    """

    def __init__(
        self,
        attn: Attention | None = None,
        mlp: MLP | None = None,
        lines: tuple[str, ...] = (),
        norm: UnitNorm | None = None,
        *,
        ln1: LayerNorm | None = None,
        ln2: LayerNorm | None = None,
    ) -> None:
        super().__init__()
        self.attn, self.mlp, self.lines, self.norm = attn, mlp, lines, norm
        self.ln1, self.ln2 = ln1, ln2

    def forward(self, H: Tensor, n_examples: int) -> Tensor:
        # What a part adds is a fresh tensor, so the stream is added to it in place: in long prompts
        # the memory traffic of one more tensor is a good part of a layer's cost.
        if self.attn is not None:
            H = self.attn(_seen(H, self.ln1), n_examples).add_(H)
        if self.mlp is not None:
            H = self.mlp(_seen(H, self.ln2)).add_(H)
        return H if self.norm is None else self.norm(H)


def _seen(H: Tensor, norm: LayerNorm | None) -> Tensor:
    return H if norm is None else norm(H)


class Embed(nn.Module):
    """Tokens to the stream (…, T, D): rows of W_E (d_in, D) for whole numbers (…, T), which name
    them, and tokens @ W_E for vectors (…, T, d_in)."""

    def __init__(self, W_E: Tensor) -> None:
        super().__init__()
        self.W_E = weight(W_E)

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens @ self.W_E if tokens.is_floating_point() else self.W_E[tokens]


class PosEmbed(nn.Module):
    """The first T rows of W_pos (positions, D), which are added to the embedded tokens."""

    def __init__(self, W_pos: Tensor) -> None:
        super().__init__()
        self.W_pos = weight(W_pos)

    def forward(self, n_tokens: int) -> Tensor:
        return self.W_pos[:n_tokens]


class Unembed(nn.Module):
    """The stream (…, T, D) to outputs (…, T, d_out): W_U (D, d_out), and b_U (d_out,) if given."""

    def __init__(self, W_U: Tensor, b_U: Tensor | None = None) -> None:
        super().__init__()
        self.W_U = weight(W_U)
        self.b_U = None if b_U is None else weight(b_U)

    def forward(self, H: Tensor) -> Tensor:
        outputs = H @ self.W_U
        return outputs if self.b_U is None else outputs + self.b_U


class Transformer(nn.Module):
    """Embedding (of tokens and, if given, of positions), blocks, read-out.

    The model knows its `stream` (named registers), `name` (the call that builds it), `source`
    (the theorem, by key), `n_layers`, `n_heads` (of the layer with most), `d_model` and
    `n_parameters`.
    """

    def __init__(
        self,
        embed: Embed,
        blocks: list[Block],
        unembed: Unembed,
        *,
        pos_embed: PosEmbed | None = None,
        ln_final: LayerNorm | None = None,
        stream: Stream,
        name: str,
        source: str,
    ) -> None:
        super().__init__()
        self.ln_final = ln_final
        self.embed, self.pos_embed, self.unembed = embed, pos_embed, unembed
        self.blocks: Sequence[Block] = nn.ModuleList(blocks)  # type: ignore[assignment]
        self.stream, self.name, self.source = stream, name, source

    @property
    def n_layers(self) -> int:
        """The number of blocks."""
        return len(self.blocks)

    @property
    def n_heads(self) -> int:
        """The number of heads in the layer that has most."""
        heads = (block.attn.n_heads for block in self.blocks if block.attn is not None)
        return max(heads, default=0)

    @property
    def d_model(self) -> int:
        """The width of the residual stream."""
        return self.stream.d_model

    @property
    def n_parameters(self) -> int:
        """The number of weights, zeros included."""
        return sum(weights.numel() for weights in self.parameters())

    def residual_stream(self, tokens: Tensor, n_examples: int) -> Iterator[Tensor]:
        """The stream H (…, T, D) after the embedding and after each block, one by one."""
        H = self._embedded(tokens)
        yield H
        for block in self.blocks:
            H = block(H, n_examples)
            yield H

    def run(self, tokens: Tensor, n_examples: int) -> Tensor:
        """Outputs (…, T, d_out) for tokens (…, T, d_in), the first n_examples being examples."""
        H = self._embedded(tokens)
        for block in self.blocks:
            H = block(H, n_examples)
        return self.unembed(_seen(H, self.ln_final))

    def _embedded(self, tokens: Tensor) -> Tensor:
        H = self.embed(tokens)
        return H if self.pos_embed is None else H + self.pos_embed(H.shape[-2])

    def sharpened(self: Model, sharpness: float | None) -> Model:
        """The same weights with softmax attention at this sharpness β in every layer that compares
        scores, or with hardmax, its limit β → ∞, for None.

        Weights are shared, not copied: a later `.to(dtype)` of one model converts both.  A hardmax
        model at None is returned as it is.  Raises ValueError for a sharpness that is not a finite
        number above 0.
        """
        layers = [block.attn for block in self.blocks if block.attn is not None]
        if sharpness is None and all(attn.normalise != "softmax" for attn in layers):
            return self
        scale = 1.0 if sharpness is None else float(checks.positive("sharpness", sharpness))
        model = deepcopy(self, {id(weights): weights for weights in self.parameters()})
        for block in model.blocks:
            if block.attn is not None and block.attn.normalise in ("softmax", "hardmax"):
                block.attn.normalise = "hardmax" if sharpness is None else "softmax"
                block.attn.scale = scale
        return model

    def __str__(self) -> str:
        layers = f"{self.n_layers} layer{'s' * (self.n_layers != 1)}"
        heads = f"{self.n_heads} head{'s' * (self.n_heads != 1)}"
        size = f"{layers}, {heads}, width {self.d_model}"
        lines = [f"{self.name}: {size}, {self.n_parameters} weights", f"  source  {self.source}"]
        lines.append(f"  stream  {self.stream}")
        for number, block in enumerate(self.blocks, start=1):
            lines += [
                f"  {f'layer {number}' if i == 0 else '':9} {line}"
                for i, line in enumerate(block.lines)
            ]
        return "\n".join(lines)

    __repr__ = __str__
