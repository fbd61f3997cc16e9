"""The one transformer of the project; hand-built and trained models are both instances of it.

Shapes
    T tokens, D = d_model, heads, d_head (what scores compare), d_value (what is carried), M = d_mlp
    H (…, T, D) is the residual stream; tokens are rows.

A block adds its heads, then its MLP, and may then normalise each token:

    H ← H + Σ_h A_h(H) H W_V W_O            A_h = normalise(scale · (H W_Q + b_Q)(H W_K + b_K)ᵀ)
    H ← H + relu(H W_in + b_in) W_out + b_out
    H ← H / ‖H‖, row by row                 unit norm

`normalise` is one of
    linear    the scores themselves
    relu      relu(scores) divided by the number of attended tokens
    softmax   as usual
    hardmax   uniform over the attended tokens of largest score
and scores that softmax or hardmax compares are multiplied by the head's sharpness (`scale`).
`mask` says which tokens a token attends to:
    full      all
    causal    itself and those before it
    strict    those before it; the first, which has none, attends to itself
    examples  the examples of the prompt and nothing else, so that queries neither see each other
              nor change what the examples compute.  It is the attention of [Fu2024, Definition B.1]
              (N tokens, the sum runs over the n examples) and of [Ahn2023].

Linear attention needs no T × T matrix.  Without a triangular mask it is one D × D map of the
stream,

    Σ_h H W_Q (Kᵀ V) W_O = H · [Σ_h W_Q (W_Kᵀ (HᵀH) W_V) W_O],

so T enters only through HᵀH and the last product; the causal form is O(T) too, block after block
with a running sum of Kᵀ V.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any, Literal, TypeVar, get_args

import numpy as np
import torch
from torch import Tensor, nn

from constructions.stream import Stream
from theory import checks
from theory.checks import InputError

Model = TypeVar("Model", bound="Transformer")
Normalise = Literal["linear", "relu", "softmax", "hardmax"]
Mask = Literal["full", "causal", "strict", "examples"]

CAUSAL_BLOCK = 256  # tokens per block of the causal linear sum: small enough to stay in cache


def as_tensor(array: Any, like: Tensor | None = None) -> Tensor:
    """`torch.as_tensor`, in the format and on the device of `like`, of any numpy array too.

    torch itself takes none that is read-only or runs backwards.
    """
    if isinstance(array, np.ndarray):
        array = np.require(array, requirements=["C", "W"])
    if like is None:
        return torch.as_tensor(array)
    return torch.as_tensor(array, dtype=like.dtype, device=like.device)


def _weight(values: Tensor) -> nn.Parameter:
    return nn.Parameter(torch.as_tensor(values, dtype=torch.float64), requires_grad=False)


class Attention(nn.Module):
    """Heads that read the stream in parallel; see the module's formulas.

    W_Q, W_K (heads, D, d_head), W_V (heads, D, d_value), W_O (heads, d_value, D), b_Q, b_K
    (heads, d_head).  Raises ValueError for an unknown `normalise` or `mask`, or a `scale` that is
    not above 0.
    """

    def __init__(
        self,
        W_Q: Tensor,
        W_K: Tensor,
        W_V: Tensor,
        W_O: Tensor,
        b_Q: Tensor,
        b_K: Tensor,
        *,
        normalise: Normalise,
        mask: Mask,
        scale: float = 1.0,
    ) -> None:
        super().__init__()
        for label, word, known in (("normalise", normalise, Normalise), ("mask", mask, Mask)):
            if word not in get_args(known):
                raise InputError(f"{label} is {word!r}: choose one of {', '.join(get_args(known))}")
        self.W_Q, self.W_K, self.b_Q, self.b_K = map(_weight, (W_Q, W_K, b_Q, b_K))
        self.W_V, self.W_O = _weight(W_V), _weight(W_O)
        self.normalise, self.mask = normalise, mask
        self.scale = float(checks.positive("scale", scale))

    @property
    def n_heads(self) -> int:
        """The number of heads."""
        return self.W_Q.shape[0]

    def _queries_keys(self, H: Tensor, n_examples: int) -> tuple[Tensor, Tensor]:
        Q = per_head(H, self.W_Q) + self.b_Q.unsqueeze(-2)
        K = per_head(self._attended(H, n_examples), self.W_K) + self.b_K.unsqueeze(-2)
        return Q, K

    def _attended(self, H: Tensor, n_examples: int) -> Tensor:
        return H[..., :n_examples, :] if self.mask == "examples" else H

    def pattern(self, H: Tensor, n_examples: int) -> Tensor:
        """The attention pattern A (…, heads, T, attended tokens)."""
        weights, total = self._weights(*self._queries_keys(H, n_examples))
        return weights / total

    def _weights(self, Q: Tensor, K: Tensor) -> tuple[Tensor, Tensor | float]:
        """The pattern before normalisation, and what it has to be divided by, row by row.

        Dividing what the values sum to costs less than dividing the pattern, and the hardmax
        average of whole numbers is then rounded only once.
        """
        scores = Q @ K.transpose(-1, -2)
        hidden = self._hidden(scores)
        if self.normalise == "linear":
            return scores.masked_fill(hidden, 0.0) * self.scale, 1.0
        if self.normalise == "relu":
            count = hidden.logical_not().sum(-1, keepdim=True)
            return scores.relu().masked_fill(hidden, 0.0) * self.scale, count
        scores.masked_fill_(hidden, -torch.inf)
        # Neither the hardmax nor the shift by the largest score has a gradient.
        largest = scores.detach().amax(-1, keepdim=True)
        if self.normalise == "softmax":
            # Differences first: those of whole numbers are exact, also in short formats.
            weights = ((scores - largest) * self.scale).exp()
        else:
            weights = scores.detach().eq_(largest)
        return weights, weights.sum(-1, keepdim=True)

    def _hidden(self, scores: Tensor) -> Tensor:
        """Which attended tokens (columns) each token (row) must not see."""
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device)
        if self.mask == "causal":
            return hidden.triu_(1)
        if self.mask == "strict":
            hidden.triu_()[0, 0] = False
            return hidden
        return hidden.logical_not_()

    def forward(self, H: Tensor, n_examples: int) -> Tensor:
        """What the heads add to the stream, (…, T, D)."""
        attended = self._attended(H, n_examples)
        untriangular = self.mask in ("full", "examples")
        if self.normalise == "linear" and untriangular and self._is_long(H, attended):
            return self._as_one_map(H, attended)
        Q, K = self._queries_keys(H, n_examples)
        V = per_head(attended, self.W_V)
        if self.normalise == "linear" and self.mask == "causal":
            mixed = _causal_linear(Q, K, V) * self.scale
        else:
            weights, total = self._weights(Q, K)
            mixed = weights @ V / total
        return mixed.transpose(-2, -3).flatten(-2) @ self.W_O.flatten(0, 1)

    def _is_long(self, H: Tensor, attended: Tensor) -> bool:
        """Whether one map of the stream takes fewer multiplications than scores between tokens."""
        asking, answering, D = H.shape[-2], attended.shape[-2], H.shape[-1]
        heads, d_head, d_value = self.W_Q.shape[0], self.W_Q.shape[-1], self.W_V.shape[-1]
        widths = d_head + d_value
        scores = (asking + answering) * D * widths + asking * answering * widths
        one_map = D * D * widths + 2 * D * d_head * d_value
        return (asking + answering) * D * D + heads * one_map < heads * scores

    def _as_one_map(self, H: Tensor, attended: Tensor) -> Tensor:
        gram, total = attended.transpose(-1, -2) @ attended, attended.sum(-2, keepdim=True)
        values = per_head(gram, self.W_V)
        mixed = self.W_K.transpose(-1, -2) @ values  # Kᵀ V without its biases
        mixed = mixed + self.b_K.unsqueeze(-1) * per_head(total, self.W_V)
        mixed = mixed * self.scale
        one_map = torch.einsum("hdk,...hkv,hve->...de", self.W_Q, mixed, self.W_O)
        offset = torch.einsum("hk,...hkv,hve->...e", self.b_Q, mixed, self.W_O)
        return H @ one_map + offset.unsqueeze(-2)


def per_head(H: Tensor, W: Tensor) -> Tensor:
    """H W for each head, (…, T, D) and (heads, D, width) → (…, heads, T, width), as one product."""
    heads, D, width = W.shape
    if heads == 1:
        return (H @ W[0]).unsqueeze(-3)
    joint = H @ W.transpose(0, 1).reshape(D, heads * width)
    return joint.unflatten(-1, (heads, width)).transpose(-2, -3)


def _causal_linear(Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
    """tril(Q Kᵀ) V in O(T): inside a block by its triangle, before it by the sum of Kᵀ V."""
    parts = []
    before = K.new_zeros(*K.shape[:-2], K.shape[-1], V.shape[-1])
    for q, k, v in zip(*(M.split(CAUSAL_BLOCK, dim=-2) for M in (Q, K, V)), strict=True):
        parts.append((q @ k.transpose(-1, -2)).tril() @ v + q @ before)
        before = before + k.transpose(-1, -2) @ v
    return torch.cat(parts, dim=-2)


class MLP(nn.Module):
    """relu(H W_in + b_in) W_out + b_out; W_in (D, M), b_in (M,), W_out (M, D), b_out (D,)."""

    def __init__(self, W_in: Tensor, b_in: Tensor, W_out: Tensor, b_out: Tensor) -> None:
        super().__init__()
        self.W_in, self.b_in = _weight(W_in), _weight(b_in)
        self.W_out, self.b_out = _weight(W_out), _weight(b_out)

    def forward(self, H: Tensor) -> Tensor:
        """What the MLP adds to the stream, (…, T, D)."""
        return (H @ self.W_in + self.b_in).relu() @ self.W_out + self.b_out


class UnitNorm(nn.Module):
    """H / ‖H‖ for each token, (…, T, D); a token of length 0 has no direction and becomes NaN."""

    def forward(self, H: Tensor) -> Tensor:
        return H / torch.linalg.vector_norm(H, dim=-1, keepdim=True)


class Block(nn.Module):
    """A layer: heads, then an MLP, then the normalisation of what they have been added to.

    Each of the three may be absent.  `lines` says in words what it does.
    """

    def __init__(
        self,
        attn: Attention | None = None,
        mlp: MLP | None = None,
        lines: tuple[str, ...] = (),
        norm: UnitNorm | None = None,
    ) -> None:
        super().__init__()
        self.attn, self.mlp, self.lines, self.norm = attn, mlp, lines, norm

    def forward(self, H: Tensor, n_examples: int) -> Tensor:
        # What a part adds is a fresh tensor, so the stream is added to it in place: in long prompts
        # the memory traffic of one more tensor is a good part of a layer's cost.
        if self.attn is not None:
            H = self.attn(H, n_examples).add_(H)
        if self.mlp is not None:
            H = self.mlp(H).add_(H)
        return H if self.norm is None else self.norm(H)


class Embed(nn.Module):
    """Tokens to the stream (…, T, D): rows of W_E (d_in, D) for whole numbers (…, T), which name
    them, and tokens @ W_E for vectors (…, T, d_in)."""

    def __init__(self, W_E: Tensor) -> None:
        super().__init__()
        self.W_E = _weight(W_E)

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens @ self.W_E if tokens.is_floating_point() else self.W_E[tokens]


class PosEmbed(nn.Module):
    """The first T rows of W_pos (positions, D), which are added to the embedded tokens."""

    def __init__(self, W_pos: Tensor) -> None:
        super().__init__()
        self.W_pos = _weight(W_pos)

    def forward(self, n_tokens: int) -> Tensor:
        return self.W_pos[:n_tokens]


class Unembed(nn.Module):
    """The stream (…, T, D) to outputs (…, T, d_out): W_U (D, d_out), and b_U (d_out,) if given."""

    def __init__(self, W_U: Tensor, b_U: Tensor | None = None) -> None:
        super().__init__()
        self.W_U = _weight(W_U)
        self.b_U = None if b_U is None else _weight(b_U)

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
        stream: Stream,
        name: str,
        source: str,
    ) -> None:
        super().__init__()
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
        return self.unembed(H)

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
