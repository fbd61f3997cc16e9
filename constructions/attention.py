"""Attention heads that read the residual stream in parallel, each with its own mask.

Shapes
    T tokens, D = d_model, heads, d_head (width of queries and keys), d_value (width of values)
    H (…, T, D) is the residual stream; tokens are rows.

    Σ_h A_h(H) H W_V W_O            A_h = normalise(scale · (H W_Q + b_Q)(H W_K + b_K)ᵀ)

`normalise` is one of
    linear    the scores themselves
    relu      relu(scores) divided by the number of attended tokens
    softmax   as usual
    hardmax   uniform over the attended tokens of largest score
Under softmax and hardmax `scale` is the sharpness, the inverse temperature β of the scores.
`mask` is the set of tokens that a token attends to:
    full             all
    causal           itself and the tokens before it
    strictly causal  the tokens before it; the first token attends to itself
    context-only     only the examples of the prompt, so that queries neither see each other nor
                     change the states of the examples: the attention of [Fu2024, Definition B.1]
                     (N tokens, the sum runs over the n examples) and of [Ahn2023]
    diagonal         only itself: a linear head is then cubic in the token's own registers, and
                     with constant scores it is a linear map of them.  Under causal attention it is
                     the difference of a causal and a strictly causal head with the same weights
                     (whose first token attends to nothing)

Linear attention needs no T × T matrix.  Without a triangular mask it is one D × D map of the
stream,

    Σ_h H W_Q (Kᵀ V) W_O = H · [Σ_h W_Q (W_Kᵀ (HᵀH) W_V) W_O],

so T enters only through HᵀH and the last product.  The causal form takes O(T) too: it proceeds
block by block, with a running sum of Kᵀ V.

If no token sees a later token, a sequence can grow: the keys and values of its tokens are cached,
and the queries of the `following` tokens are compared with these keys.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from constructions.maps import LONG, all_zero, moved_by, span, unknown
from constructions.rows import averages
from constructions.tensors import weight
from theory import machine
from theory.kinds import InputError, Positive, checked

Normalise = Literal["linear", "relu", "softmax", "hardmax"]
Mask = Literal["full", "causal", "strictly causal", "context-only", "diagonal"]

CAUSAL_BLOCK = 256  # tokens per block of the causal linear sum: small enough to stay in cache
UNMASKED = "full", "context-only"  # all queries attend to the same tokens
LARGE = 2**30  # bytes of scores above which the available memory is checked


class Attention(nn.Module):
    """Attention heads of one layer, which read the residual stream (…, T, D) in parallel.

    For the residual stream H, the output is Σ_h A_h H W_V W_O, where W_V and W_O are the weights of
    head h, and A_h contains the scores of head h after the normalisation `normalise`. The scores
    are scale · (H W_Q + b_Q)(H W_K + b_K)ᵀ.

    The shapes are (heads, D, d_head) for W_Q and W_K, (heads, D, d_value) for W_V,
    (heads, d_value, D) for W_O, and (heads, d_head) for b_Q and b_K, where d_head is the width of
    keys and d_value the width of values. `mask` is one mask for all heads, or a sequence with one
    mask for each head. Raises ValueError if the number of masks differs from the number of heads.
    `replaced` is True if A_h is given instead (`constructions.trained.PatchedAttention`).
    """

    replaced = False

    @checked
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
        mask: Mask | Sequence[Mask],
        scale: Positive = 1.0,
    ) -> None:
        super().__init__()
        self.W_Q, self.W_K, self.b_Q, self.b_K = map(weight, (W_Q, W_K, b_Q, b_K))
        self.W_V, self.W_O = weight(W_V), weight(W_O)
        self.normalise, self.scale = normalise, scale
        self.masks = (mask,) * self.n_heads if isinstance(mask, str) else tuple(mask)
        if len(self.masks) != self.n_heads:
            raise InputError(
                f"the attention has {len(self.masks)} masks and {self.n_heads} heads: give "
                "one mask for each head"
            )

    @property
    def n_heads(self) -> int:
        """The number of heads."""
        return self.W_Q.shape[0]

    def parts(self) -> list[Heads]:
        """The heads grouped by their masks, in the order in which the masks first occur."""
        tensors = (self.W_Q, self.W_K, self.W_V, self.W_O, self.b_Q, self.b_K)
        found = []
        for mask in dict.fromkeys(self.masks):
            these = [h for h, other in enumerate(self.masks) if other == mask]
            own = tensors if len(these) == self.n_heads else [W[these] for W in tensors]
            found.append(Heads._make((*own, self.normalise, mask, self.scale)))
        return found

    def pattern(self, H: Tensor, n_examples: int) -> Tensor:
        """The attention pattern (…, heads, T, attended tokens) on a stream H (…, T, D)."""
        if len(set(self.masks)) == 1:
            return self.parts()[0].pattern(H, n_examples)
        T = H.shape[-2]
        pattern = H.new_zeros(*H.shape[:-2], self.n_heads, T, T)
        for part in self.parts():
            these = [h for h, mask in enumerate(self.masks) if mask == part.mask]
            seen = part.pattern(H, n_examples)
            pattern[..., these, :, : seen.shape[-1]] = seen
        return pattern

    @property
    def is_causal(self) -> bool:
        """Whether the output at each token depends neither on later tokens nor on the number of
        them.
        """
        return set(self.masks) <= {"causal", "strictly causal", "diagonal"}

    def new_cache(self, leading: Sequence[int], context: int) -> list[Cache]:
        """An empty cache of keys and values for `context` tokens, for the heads of each mask."""
        return [Cache(part, leading, context) for part in self.parts()]

    def following(self, H: Tensor, cache: list[Cache]) -> Tensor:
        """The output of the heads at the tokens H (…, t, D) that follow the cached tokens.

        The keys and values of these tokens are added to the cache.

        The terms are summed in another order than in `forward`; if no partial sum is rounded, the
        results are equal.
        """
        added = [part.following(H, each) for part, each in zip(self.parts(), cache, strict=True)]
        return sum(added[1:], start=added[0])

    def forward(self, H: Tensor, n_examples: int) -> Tensor:
        """The output (…, T, D) of the heads, to be added to the stream."""
        one_map, added = self._added(H, n_examples)
        return sum(added[1:], start=added[0]) if one_map is None else sum(added, start=H @ one_map)

    def after(self, H: Tensor, n_examples: int) -> Tensor:
        """The stream plus the heads' output, (…, T, D), as a new tensor."""
        one_map, added = self._added(H, n_examples)
        if one_map is None:
            return sum(added[1:], start=added[0]).add_(H)
        return sum(added, start=moved_by(H, one_map))

    def _added(self, H: Tensor, n_examples: int) -> tuple[Tensor | None, list[Tensor]]:
        """The heads that are linear maps, as one (…, D, D), and the outputs of the others."""
        maps, added = [], []
        for part in self.parts():
            if part.is_a_map(H, n_examples):
                one_map, offset = part.as_a_map(H, n_examples)
                maps.append(one_map)
                added += [] if offset is None else [offset]
            else:
                added.append(part.added(H, n_examples))
        return (sum(maps[1:], start=maps[0]) if maps else None), added


class Heads(NamedTuple):
    """Attention heads that have the same mask; the weights have the shapes of `Attention`."""

    W_Q: Tensor
    W_K: Tensor
    W_V: Tensor
    W_O: Tensor
    b_Q: Tensor
    b_K: Tensor
    normalise: Normalise
    mask: Mask
    scale: float

    def attended(self, H: Tensor, n_examples: int) -> Tensor:
        """The tokens of H (…, T, D) to which the mask allows attention."""
        return H[..., :n_examples, :] if self.mask == "context-only" else H

    def pattern(self, H: Tensor, n_examples: int) -> Tensor:
        """The attention pattern (…, heads, T, attended tokens) on H (…, T, D)."""
        weights, total = self.weights(*self.queries_keys(H, n_examples))
        return weights / total

    def hidden(self, scores: Tensor) -> Tensor:
        """Whether each key (column) is masked for each query (row) of the scores."""
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device)
        before = scores.shape[-1] - scores.shape[-2]  # cached tokens, which precede the first row
        if self.mask == "causal":
            return hidden.triu_(before + 1)
        if self.mask == "strictly causal":
            hidden.triu_(before)
            hidden[: before == 0, 0] = False
            return hidden
        return hidden.fill_diagonal_(False) if self.mask == "diagonal" else hidden.logical_not_()

    def added(self, H: Tensor, n_examples: int) -> Tensor:
        """The output (…, T, D) of the heads, to be added to the stream."""
        return self.added_by(H, H, H, n_examples)

    def added_by(self, query: Tensor, key: Tensor, value: Tensor, n_examples: int) -> Tensor:
        """The output (…, T, D) for queries, keys and values of three streams (…, T, D)."""
        known = query.numel() >= LONG and not any(map(unknown, self[:4]))
        if known and self.is_bilinear and all_zero(self.b_Q) and all_zero(self.b_K):
            attended = self.attended(key, n_examples), self.attended(value, n_examples)
            return self._from_blocks(query, *attended)
        Q, K = self.queries_keys(query, n_examples, key)
        V = per_head(self.attended(value, n_examples), self.W_V)
        if self.normalise == "linear" and self.mask in ("causal", "strictly causal"):
            mixed = _causal_linear(Q, K, V, strictly=self.mask != "causal") * self.scale
        elif self.normalise == "linear" and self.mask == "diagonal":
            mixed = torch.linalg.vecdot(Q, K).unsqueeze(-1) * V * self.scale
        else:
            mixed = averages(self, Q, K, V)
        return self._placed(mixed)

    def _from_blocks(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """The output of linear heads without mask and biases, from their non-zero weights."""
        output = torch.zeros_like(query)
        for W_Q, W_K, W_V, W_O in zip(*self[:4], strict=True):
            asks, answers, gives, into = (slice(*span(W)) for W in (W_Q, W_K, W_V, W_O.T))
            form, carried = W_Q[asks] @ W_K[answers].T, W_V[gives] @ W_O[:, into] * self.scale
            scores = query[..., asks] @ form @ key[..., answers].transpose(-1, -2)
            output[..., into] += scores @ (value[..., gives] @ carried)
        return output

    def following(self, H: Tensor, cache: Cache) -> Tensor:
        """The output of the heads at the tokens H (…, t, D) that follow the cached tokens.

        The keys and values of these tokens are added to the cache.
        """
        if self.mask == "diagonal":
            return self.added(H, 0)
        Q, K = self.queries_keys(H, 0)
        return self._placed(cache.averages(self, Q, K, per_head(H, self.W_V)))

    def _placed(self, mixed: Tensor) -> Tensor:
        """The averages of values (…, heads, T, d_value), mapped by W_O."""
        return mixed.transpose(-2, -3).flatten(-2) @ self.W_O.flatten(0, 1)

    @property
    def is_bilinear(self) -> bool:
        """Whether the heads are linear and have no mask between tokens."""
        return self.normalise == "linear" and self.mask in UNMASKED

    def is_a_map(self, H: Tensor, n_examples: int) -> bool:
        """Whether the heads act as one linear map that costs less than computing the scores."""
        if self.normalise == "linear" and self.mask == "diagonal":
            return all_zero(self.W_Q) and all_zero(self.W_K)  # their scores are constant
        if not self.is_bilinear:
            return False
        asking, answering, D = H.shape[-2], self.attended(H, n_examples).shape[-2], H.shape[-1]
        heads, d_head, d_value = self.W_Q.shape[0], self.W_Q.shape[-1], self.W_V.shape[-1]
        widths = d_head + d_value
        scores = (asking + answering) * D * widths + asking * answering * widths
        one_map = D * D * widths + 2 * D * d_head * d_value
        return (asking + answering) * D * D + heads * one_map < heads * scores

    def as_a_map(self, H: Tensor, n_examples: int) -> tuple[Tensor, Tensor | None]:
        """The heads as one linear map: a matrix (…, D, D), and a constant (…, 1, D) or None."""
        if self.mask == "diagonal":
            scores = torch.linalg.vecdot(self.b_Q, self.b_K) * self.scale
            return torch.einsum("h,hdv,hve->de", scores, self.W_V, self.W_O), None
        attended, grams = self.attended(H, n_examples), dict[tuple[int, ...], Tensor]()
        mixed = []  # Kᵀ V of each head
        for W_K, W_V, b_K in zip(self.W_K, self.W_V, self.b_K, strict=True):
            (a, b), (c, d) = span(W_K), span(W_V)
            if (a, b, c, d) not in grams:
                grams[a, b, c, d] = attended[..., a:b].transpose(-1, -2) @ attended[..., c:d]
            products = W_K[a:b].T @ grams[a, b, c, d] @ W_V[c:d]
            if not all_zero(b_K):
                total = attended[..., c:d].sum(-2, keepdim=True)
                products = products + b_K[:, None] * (total @ W_V[c:d])
            mixed.append(products * self.scale)
        together = torch.stack(mixed, dim=-3)
        one_map = torch.einsum("hdk,...hkv,hve->...de", self.W_Q, together, self.W_O)
        if all_zero(self.b_Q):
            return one_map, None
        offset = torch.einsum("hk,...hkv,hve->...e", self.b_Q, together, self.W_O)
        return one_map, offset.unsqueeze(-2)

    def queries_keys(
        self, H: Tensor, n_examples: int, key: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """The queries (…, heads, T, d_head) and the keys (…, heads, attended tokens, d_head).

        Keys are computed from the stream `key`, by default from H, as queries are.
        """
        attended = self.attended(H if key is None else key, n_examples)
        Q = per_head(H, self.W_Q) + self.b_Q.unsqueeze(-2)
        K = per_head(attended, self.W_K) + self.b_K.unsqueeze(-2)
        return Q, K

    def weights(self, Q: Tensor, K: Tensor) -> tuple[Tensor, Tensor | float]:
        """The pattern before normalisation, and the divisor of each row.

        Q (…, heads, t, d_head) are the queries of the last t tokens, and K (…, heads, T, d_head)
        the keys. Dividing the sums of values costs less than dividing the pattern, and the hardmax
        average of integers is then rounded only once. Raises ValueError for scores that do not fit
        in memory.
        """
        *leading, asking, _ = Q.shape
        needed = 2 * Q.element_size() * math.prod((*leading, asking, K.shape[-2]))
        if needed > LARGE and Q.device.type == "cpu":
            what = f"the scores of {math.prod(leading[:-1]):.4g} prompts of {K.shape[-2]} tokens"
            machine.fits_in_memory(what, needed, "give fewer or shorter prompts")
        scores = Q @ K.transpose(-1, -2)
        if self.normalise in ("softmax", "hardmax") and self.mask not in UNMASKED:
            earlier = K.shape[-2] - asking  # every query sees these keys
            own = scores[..., earlier:] if earlier else scores
            hidden = self.hidden(own)
            if earlier and self.mask == "strictly causal":
                hidden[0, 0] = True
            own.masked_fill_(hidden, -torch.inf)
        weights, total = self.normalised(scores)
        if self.normalise in ("softmax", "hardmax") or self.mask in UNMASKED:
            return weights, total
        hidden = self.hidden(scores)
        count = hidden.logical_not().sum(-1, keepdim=True)
        return weights.masked_fill(hidden, 0.0), 1.0 if self.normalise == "linear" else count

    def normalised(self, scores: Tensor) -> tuple[Tensor, Tensor | float]:
        """The pattern before normalisation, and the divisor of each row, if all keys are seen.

        `scores` has shape (…, t, keys), and hardmax overwrites it.
        """
        if self.normalise in ("linear", "relu"):
            scaled = scores if self.scale == 1 else scores * self.scale
            return (
                (scaled, 1.0) if self.normalise == "linear" else (scaled.relu(), scores.shape[-1])
            )
        # Neither the hardmax nor the shift by the largest score has a gradient.
        largest = scores.detach().amax(-1, keepdim=True)
        if self.normalise == "softmax":
            # Subtract first: differences of integers are exact, also in short dtypes.
            weights = ((scores - largest) * self.scale).exp()
        else:
            weights = scores.detach().eq_(largest)
        return weights, weights.sum(-1, keepdim=True)


class Cache:
    """The cached keys (…, heads, tokens, d_head) and values of the heads that have one mask.

    The tensors are allocated for `context` tokens.
    """

    def __init__(self, heads: Heads, leading: Sequence[int], context: int) -> None:
        context = 0 if heads.mask == "diagonal" else context  # a diagonal head caches nothing
        self.keys, self.values = (
            W.new_empty(*leading, len(W), context, W.shape[-1]) for W in (heads.W_K, heads.W_V)
        )
        self.count = 0

    def extended(self, K: Tensor, V: Tensor) -> tuple[Tensor, Tensor]:
        """Appends keys K and values V of the next tokens; returns all cached keys and values."""
        start, self.count = self.count, self.count + K.shape[-2]
        self.keys[..., start : self.count, :] = K
        self.values[..., start : self.count, :] = V
        return self.keys[..., : self.count, :], self.values[..., : self.count, :]

    def averages(self, heads: Heads, Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
        """The averages of values at the next tokens, whose queries, keys and values are given."""
        return averages(heads, Q, *self.extended(K, V))


def per_head(H: Tensor, W: Tensor) -> Tensor:
    """The products H W_h for all heads h, (…, heads, T, width), computed as one product.

    H has shape (…, T, D), and W = (W_1, W_2, …) has shape (heads, D, width).
    """
    heads, D, width = W.shape
    if heads == 1:
        return (H @ W[0]).unsqueeze(-3)
    joint = H @ W.transpose(0, 1).reshape(D, heads * width)
    return joint.unflatten(-1, (heads, width)).transpose(-2, -3)


def _causal_linear(Q: Tensor, K: Tensor, V: Tensor, *, strictly: bool) -> Tensor:
    """tril(Q Kᵀ) V in O(T): a triangle inside each block, and the sum of Kᵀ V of earlier blocks.

    If `strictly`, the diagonal of the triangle is 0, except in its first row.
    """
    parts = []
    before = K.new_zeros(*K.shape[:-2], K.shape[-1], V.shape[-1])
    for q, k, v in zip(*(M.split(CAUSAL_BLOCK, dim=-2) for M in (Q, K, V)), strict=True):
        triangle = (q @ k.transpose(-1, -2)).tril(-int(strictly))
        parts.append(triangle @ v + q @ before)
        before = before + k.transpose(-1, -2) @ v
    if strictly:
        parts[0][..., 0, :] += (
            torch.linalg.vecdot(Q[..., 0, :], K[..., 0, :])[..., None] * V[..., 0, :]
        )
    return torch.cat(parts, dim=-2)
