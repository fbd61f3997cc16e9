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
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
import torch

from constructions.blocks import Block, Stack
from constructions.cached_keys import CachedKeys, Hulls, Plane, Table
from theory import machine
from theory.kinds import Count, InputError, checked

BYTES = 32  # of a number or a list, and of what refers to it
FEW = 64  # values of the further coordinates z, each of which has a hull
Numbers = list[float]


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
    cache: type[CachedKeys]
    mask: str

    @property
    def of_its_keys(self) -> object:
        """Equal for heads that can share a cache."""
        return self.cache, self.mask, self.key.W.tobytes(), self.key.b.tobytes()


class Heads:
    """Heads that read the same keys, and what they have cached of them."""

    def __init__(self, heads: Sequence[Head]) -> None:
        self.mask, self.kind = heads[0].mask, heads[0].cache
        self.reads = [heads[0].key, *(h.query for h in heads), *(h.value for h in heads)]
        self.key, *slices = _slices(self.reads)
        self.queries, values = slices[: len(heads)], slices[len(heads) :]
        self.value = slice(values[0].start, values[-1].stop)
        self.values = _slices([head.value for head in heads])
        # Without queries, the cache has one key.
        grows = any(head.query.width for head in heads)
        self.bytes = grows * BYTES * (4 + self.value.stop)  # for each token

        self.clear()

    def clear(self) -> None:
        """Empties the cache."""
        self.cache, self.first = self.kind(len(self.queries)), True

    def attended(self, read: Numbers) -> Iterable[float]:
        """The averages of the values that the heads attend to at the next token.

        Its key is added. `read` contains the functions of the token's stream, in order of `reads`.
        """
        value = tuple(read[self.value])
        if self.mask == "diagonal":
            return value
        before = self.mask == "causal" or self.first  # the first token attends to itself
        if before:
            self.cache.add(read[self.key], value)
        averages = Numbers()
        for head, (query, values) in enumerate(zip(self.queries, self.values, strict=True)):
            total, count = self.cache.best(read[query], head)
            averages += total[values] if count == 1 else [n / count for n in total[values]]
        if not before:
            self.cache.add(read[self.key], value)
        self.first = False
        return averages


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
        needed = context * sum(heads.bytes for layer in self.layers for heads in layer.heads)
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
        if not isinstance(token, int | np.integer) or not 0 <= token < len(self.reads.E):
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
        return math.prod(_different(M @ W) for M in (self.E, self.P) if M is not None)

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
        cache: type[CachedKeys] = Hulls
        if len(free) == 2 and not y[0].any() and not y[1]:
            cache = Plane
        else:
            # x is the coordinate of most values.
            free.sort(key=lambda i: self.values(W_K[:, [i]]), reverse=True)
            if free[1:] and self.values(W_K[:, free[1:]]) > FEW:
                cache = Table
        keys = [(W_K[:, i], b_K[i]) for i in free]
        if cache is Hulls:
            keys[1:1] = [y] if keys else [(0 * y[0], 0.0), y]
        elif cache is Table:
            keys[:0] = [y]
        key = Affine(np.stack([w for w, _ in keys], axis=1), np.array([b for _, b in keys]))
        value = Affine(W_V)
        return Head(Affine(W_Q[:, free], b_Q[free]), key, value, cache, mask)


class _Layer:
    """One block, as a function of the stream (D,) of the next token."""

    def __init__(self, block: Block, reads: _Reads) -> None:
        alike: dict[object, list[int]] = {}
        heads = reads.heads(block)
        for i, head in enumerate(heads):
            alike.setdefault(head.of_its_keys, []).append(i)
        self.heads = [Heads([heads[i] for i in each]) for each in alike.values()]
        if block.attn is not None:
            read = [each for heads in self.heads for each in heads.reads]
            W = np.concatenate([each.W for each in read], axis=1)
            self.read = Affine(W, np.concatenate([each.b for each in read]))
            ends = np.cumsum([0, *(h.value.stop for h in self.heads)]).tolist()
            self.cuts = [*zip(self.heads, ends[:-1], ends[1:], strict=True)]
            self.W_O = _array(block.attn.W_O[[*chain(*alike.values())]].flatten(0, 1))
        self.mlp: tuple[Affine, ...] = ()
        if (mlp := block.mlp) is not None:
            pairs = (mlp.W_in, mlp.b_in), (mlp.W_out, mlp.b_out)
            self.mlp = tuple(Affine(_array(W), _array(b)) for W, b in pairs)

    def __call__(self, H: np.ndarray) -> np.ndarray:
        if self.heads:
            read, added = self.read(H).tolist(), Numbers()
            for heads, start, end in self.cuts:
                added += heads.attended(read[start:end])
            H = H + np.array(added) @ self.W_O
        if self.mlp:
            hidden, out = self.mlp
            H = H + out(np.maximum(hidden(H), 0))
        return H


def _array(W: torch.Tensor) -> np.ndarray:
    array: np.ndarray = W.detach().numpy()
    return array


def _different(rows: np.ndarray) -> int:
    """The number of different rows."""
    if rows.shape[1] == 1:
        return len(np.unique(rows))
    return len(np.unique(rows, axis=0))


def _slices(reads: Sequence[Affine]) -> list[slice]:
    """Where each of them is, one after the other."""
    ends = np.cumsum([0, *(read.width for read in reads)]).tolist()
    return [slice(*each) for each in pairwise(ends)]
