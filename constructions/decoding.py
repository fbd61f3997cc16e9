"""Decoding one sequence in time, and often in memory, that hardly grows with its length.

Of the earlier tokens, a hardmax head needs only the keys that some query can attend.  Some of the
coordinates of its queries are constants, equal for all tokens and positions.  In the score they add
a number y to each key, and what is left decides which keys are cached:

    coordinates of queries     score                   cached
    all constant               y                       the keys of largest y
    one is not                 u·x + y                 the upper hull of the keys (x, y)
    two are not, and y = 0     u·x + v·y               all keys (x, y), and their hulls
    more are not, few z        u·x + y + Σ_i w_i z_i   an upper hull of (x, y) for each z
    more are not, many z       y + Σ_i w_i z_i         the keys of largest y for each z

A key that is not cached is dominated: for every query, another key has a larger score
(`constructions.cached_keys`, `constructions.hulls`).  So the averages of values are those of the
whole cache.  For example, the latest write to a cell of a tape is one key for each cell, attention
to all tokens caches one key, with the sum of all values, and the latest token after each n-gram is
one key for each n-gram.

Hypotheses.  Keys that are integers are compared exactly.  Among other keys, one whose score exceeds
all others by no more than the rounding of scores may be dropped; so the largest score of a head has
to exceed the others by more than this, as its declared margin ensures.  The terms of sums are added
in another order than in `Transformer.decoder`; if no partial sum is rounded
(`constructions.exactness`), the outputs are equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch

from constructions.blocks import Block, Stack
from constructions.cached_keys import (
    CachedKeys,
    Lookups,
    arranged,
    different,
    on_paraboloid,
    slices,
)
from theory import machine
from theory.kinds import Count, InputError, checked, is_integer

BYTES = 32  # of a number or a list, and of what refers to it


class Affine:
    """The affine function H @ W + b of the stream or of hidden units."""

    def __init__(self, W: np.ndarray, b: np.ndarray | float = 0.0) -> None:
        self.W, self.b = W, np.zeros(W.shape[1]) + b
        self.width = len(self.b)
        self.linear = not self.b.any()

    def __call__(self, H: np.ndarray) -> np.ndarray:
        product: np.ndarray = H @ self.W
        return product if self.linear else product + self.b


class Head(NamedTuple):
    """What a head reads, which cache its keys have, and its mask."""

    query: Affine
    key: Affine
    value: Affine
    cache: Callable[[int], CachedKeys]
    mask: str

    @property
    def of_its_keys(self) -> object:
        """Equal for heads that can share a cache."""
        return self.cache, self.mask, self.key.W.tobytes(), self.key.b.tobytes()


class PrunedDecoder:
    """A hardmax model on one growing sequence, which caches only keys that can be attended.

    `append` takes the next token; `outputs` are those of the unembedding, (d_out,), at the last
    token. A token takes O(log n) comparisons for n keys of a hull. It reads all keys of a plane if
    its query has v = 0, and in the last case of the table, every z.

    Raises ValueError for models with other attention than causal hardmax, with layer norms, in
    another dtype than float64 or not on the CPU; and if the keys of `context` tokens, all of them
    cached, do not fit in memory, or the model takes fewer tokens.
    `append` raises ValueError for what is no row of the embedding and for more than `context`
    tokens, and `outputs` before the first token.
    """

    @checked
    def __init__(self, model: Stack, context: Count) -> None:
        if (most := model.interface.context) is not None and context > most:
            raise InputError(f"context is {context}: give an integer ≤ {most} for {model.name}")
        if (reason := unsuitable(model)) is not None:
            raise InputError(f"{model.name} {reason}: use model.decoder")
        self.model, self.context = model, context
        self.reads = reads = _Reads(model)
        self.layers = [_Layer(block, reads) for block in model.blocks]
        each = (h.width for layer in self.layers for h in layer.heads if h.grows)
        needed = context * sum(BYTES * (4 + width) for width in each)
        machine.fits_in_memory(f"the keys of {context} tokens", needed, "give a shorter sequence")
        W_U, b_U = model.unembed.W_U, model.unembed.b_U
        self.unembed = Affine(_array(W_U), 0.0 if b_U is None else _array(b_U))
        self.clear()

    def clear(self) -> None:
        """Begins a new sequence."""
        self.count, self.H = 0, np.zeros(self.model.d_model)
        for layer in self.layers:
            for heads in layer.heads:
                heads.clear()

    def append(self, token: int) -> None:
        """Appends a token, the number of a row of the embedding."""
        if not is_integer(token) or not 0 <= token < len(self.reads.E):
            raise InputError(
                f"token is {token!r}: give an integer from 0 to {len(self.reads.E) - 1}"
            )
        if self.count == self.context:
            raise InputError(
                f"the sequence has {self.count} tokens: build a decoder with a larger context"
            )
        H = self.reads.E[token]
        if self.reads.P is not None:
            H = H + self.reads.P[self.count]
        for layer in self.layers:
            H = layer(H)
        self.H, self.count = H, self.count + 1

    def outputs(self) -> np.ndarray:
        """The outputs (d_out,) at the last token."""
        if not self.count:
            raise InputError("the sequence has no token: append one")
        return self.unembed(self.H)

    @property
    def cached(self) -> list[int]:
        """The numbers of keys that the heads have cached, layer by layer."""
        return [len(heads.cache) for layer in self.layers for heads in layer.heads]


def unsuitable(model: Stack) -> str | None:
    """What keeps a model from being decoded with hulls; None if nothing does."""
    norms = [model.ln_final, *(n for b in model.blocks for n in (b.norm, b.ln1, b.ln2))]
    if any(norm is not None for norm in norms):
        return "normalises the stream"
    attentions = [block.attn for block in model.blocks if block.attn is not None]
    if any(not attn.is_causal or attn.normalise != "hardmax" for attn in attentions):
        return "has other attention than causal hardmax"
    if model.like.dtype != torch.float64 or model.like.device.type != "cpu":
        return "is not in float64 on the CPU"
    return None


class _Reads:
    """The embeddings, which coordinates of the stream layers write, and what heads read."""

    def __init__(self, model: Stack) -> None:
        self.E = _array(model.embed.W_E)
        self.P = None if model.pos_embed is None else _array(model.pos_embed.W_pos)
        self.written = np.zeros(model.d_model, dtype=bool)
        for block in model.blocks:
            outputs = [] if block.attn is None else [block.attn.W_O.flatten(0, 1)]
            outputs += [] if block.mlp is None else [block.mlp.W_out, block.mlp.b_out[None]]
            for W in outputs:
                self.written |= _array(W).any(0)

    def values(self, W: np.ndarray) -> float:
        """An upper bound on the number of values of H @ W: infinite if a layer writes some of H."""
        if W[self.written].any():
            return np.inf
        return math.prod(different(M @ W) for M in (self.E, self.P) if M is not None)

    def on_paraboloid(self, W: np.ndarray, b: np.ndarray) -> bool:
        """Whether the keys H @ W + b of all tokens depend on the position alone, as (−a‖z‖², z)."""
        tokens = self.E @ W + b
        if self.P is None or W[self.written].any() or (tokens != tokens[0]).any():
            return False
        y, *z = (tokens[0] + self.P @ W).T
        return on_paraboloid(y, np.stack(z, axis=1))

    def heads(self, block: Block) -> list[Head]:
        """What the heads of a block read."""
        if (attn := block.attn) is None:
            return []
        tensors = (attn.W_Q, attn.W_K, attn.W_V, attn.b_Q, attn.b_K)
        return [self._head(*each) for each in zip(*map(_array, tensors), attn.masks, strict=True)]

    def _head(
        self,
        W_Q: np.ndarray,
        W_K: np.ndarray,
        W_V: np.ndarray,
        b_Q: np.ndarray,
        b_K: np.ndarray,
        mask: str,
    ) -> Head:
        free = np.flatnonzero(W_Q.any(0)).tolist()
        fixed = [i for i in range(len(b_Q)) if i not in free]
        y = W_K[:, fixed] @ b_Q[fixed], b_K[fixed] @ b_Q[fixed]
        W = np.column_stack([W_K, y[0], 0 * y[0]])
        b = np.array([*b_K, y[1], 0.0])
        y_is_zero = not y[0].any() and not y[1]
        cache, query, key = arranged(
            free,
            len(b_Q),
            y_is_zero,
            lambda i: self.values(W[:, i]),
            lambda i: self.on_paraboloid(W[:, [len(b_Q), *i]], b[[len(b_Q), *i]]),
        )
        asks = Affine(W_Q[:, query], b_Q[query])
        return Head(asks, Affine(W[:, key], b[key]), Affine(W_V), cache, mask)


class _Layer:
    """One block, as a function of the stream (D,) of the next token."""

    def __init__(self, block: Block, reads: _Reads) -> None:
        alike: dict[object, list[int]] = {}
        heads = reads.heads(block)
        for i, head in enumerate(heads):
            alike.setdefault(head.of_its_keys, []).append(i)
        groups = [[heads[i] for i in each] for each in alike.values()]
        self.heads = [_lookups(group) for group in groups]
        if block.attn is not None:
            read = [f for group in groups for f in _read_by(group)]
            W = np.concatenate([each.W for each in read], axis=1)
            self.read = Affine(W, np.concatenate([each.b for each in read]))
            self.cuts = [*zip(self.heads, slices([h.width for h in self.heads]), strict=True)]
            self.W_O = _array(block.attn.W_O[[*chain(*alike.values())]].flatten(0, 1))
        self.mlp: tuple[Affine, ...] = ()
        if (mlp := block.mlp) is not None:
            pairs = (mlp.W_in, mlp.b_in), (mlp.W_out, mlp.b_out)
            self.mlp = tuple(Affine(_array(W), _array(b)) for W, b in pairs)

    def __call__(self, H: np.ndarray) -> np.ndarray:
        if self.heads:
            read, added = self.read(H).tolist(), list[float]()
            for heads, cut in self.cuts:
                added += heads.attended(read[cut])
            H = H + np.array(added) @ self.W_O
        if self.mlp:
            hidden, out = self.mlp
            H = H + out(np.maximum(hidden(H), 0))
        return H


def _read_by(heads: Sequence[Head]) -> list[Affine]:
    """What heads that share a cache read, in the order of `Lookups`."""
    return [heads[0].key, *(head.query for head in heads), *(head.value for head in heads)]


def _lookups(heads: Sequence[Head]) -> Lookups:
    """An empty cache for heads with the same keys."""
    key, *others = (read.width for read in _read_by(heads))
    return Lookups(heads[0].cache, heads[0].mask, key, others[: len(heads)], others[len(heads) :])


def _array(W: torch.Tensor) -> np.ndarray:
    array: np.ndarray = W.detach().numpy()
    return array
