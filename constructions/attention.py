"""Attention heads that read the residual stream in parallel.

Shapes
    T tokens, D = d_model, heads, d_head (what scores compare), d_value (what is carried)
    H (…, T, D) is the residual stream; tokens are rows.

    Σ_h A_h(H) H W_V W_O            A_h = normalise(scale · (H W_Q + b_Q)(H W_K + b_K)ᵀ)

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

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from constructions.tensors import weight
from theory import checks
from theory.checks import InputError

Normalise = Literal["linear", "relu", "softmax", "hardmax"]
Mask = Literal["full", "causal", "strict", "examples"]

CAUSAL_BLOCK = 256  # tokens per block of the causal linear sum: small enough to stay in cache


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
        self.W_Q, self.W_K, self.b_Q, self.b_K = map(weight, (W_Q, W_K, b_Q, b_K))
        self.W_V, self.W_O = weight(W_V), weight(W_O)
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
