"""Decoding one sequence in time, and often in memory, that hardly grows with its length.

Of the earlier tokens, a hardmax head needs only the keys that some query can attend.  Some of the
coordinates of its queries are constants, equal for all tokens and positions.  In the score they add
a number y to each key, and what is left decides which keys are cached:

    coordinates of queries     score                   cached
    all constant               y                       the keys of largest y
    one is not                 u·x + y                 the upper hull of the keys (x, y)
    two are not, and y = 0     u·x + v·y               all keys (x, y), and their hulls
    more are not               u·x + y + Σ_i w_i z_i   an upper hull of (x, y) for each z

In the last case z must have few values.  A key that is not on a hull is dominated: for every
query, another key has a larger score (`constructions.hulls`).  So the averages of values are those
of the whole cache.  For example, the latest write to a cell of a tape is one key for each cell, and
attention to all tokens caches one key, with the sum of all values.

Hypotheses.  Keys that are integers are compared exactly.  Among other keys, one whose score exceeds
all others by no more than the rounding of scores may be dropped; so the largest score of a head has
to exceed the others by more than this, as its declared margin ensures.  The terms of sums are added
in another order than in `Transformer.decoder`; if no partial sum is rounded
(`constructions.exactness`), the outputs are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from constructions.blocks import Block, Stack
from constructions.hulls import UpperHull
from theory import machine
from theory.kinds import Count, InputError, checked

BYTES = 32  # of a number or a list, and of what refers to it
FEW = 64  # values of the further coordinates z, each of which has a hull
Numbers = list[float]


class Column(NamedTuple):
    """A linear function of the stream, ⟨H, w⟩ + b."""

    w: np.ndarray
    b: float


class CachedKeys:
    """The keys that one head caches of the tokens of a sequence, with their values.

    `query`, `key` and `value` are the functions of the stream that the head reads. The scores are
    those of the table above, where the keys of a head with two coordinates and y = 0 are a `plane`.
    """

    def __init__(
        self, query: list[Column], key: list[Column], value: list[Column], mask: str, plane: bool
    ) -> None:
        self.columns = [*query, *key, *value]
        self.q, self.k, self.mask, self.plane = len(query), len(query) + len(key), mask, plane
        self.hulls: dict[tuple[float, ...], UpperHull] = {}
        self.seen: list[tuple[float, float, Numbers]] = []  # the keys of a plane
        self.added = {1: 0, -1: 0}  # how many of them are in the hull of each sign of v

    def __len__(self) -> int:
        """The largest number of keys of a hull."""
        return max(map(len, self.hulls.values()), default=0)

    def attended(self, read: Numbers) -> Numbers:
        """The average of the values that the next token attends to; its own key is added.

        `read` contains the functions of the token's stream, in the order of `columns`.
        """
        query, key, value = read[: self.q], read[self.q : self.k], read[self.k :]
        if self.mask == "diagonal":
            return value
        first = not self.hulls and not self.seen
        if self.mask == "causal" or first:  # the first token attends to itself
            self._add([*map(_integer, key)], value)
            return self._average([*map(_integer, query)])
        found = self._average([*map(_integer, query)])
        self._add([*map(_integer, key)], value)
        return found

    def _add(self, key: Numbers, value: Numbers) -> None:
        x, y, *z = key
        if self.plane:
            self.seen.append((x, y, value))
        else:
            self._hull(*z).add(x, y, value)

    def _hull(self, *z: float) -> UpperHull:
        if z not in self.hulls:
            self.hulls[z] = UpperHull()
        return self.hulls[z]

    def _average(self, query: Numbers) -> Numbers:
        if self.plane:
            total, count = self._in_plane(*query)
        else:
            found = [
                (top + sum(a * b for a, b in zip(query[1:], z, strict=True)), total, count)
                for z, hull in self.hulls.items()
                for top, total, count in [hull.best(query[0] if query else 0, 1)]
            ]
            top = max(score for score, _, _ in found)
            total, count = _together([each[1:] for each in found if each[0] == top])
        return [n / count for n in total]

    def _in_plane(self, u: float, v: float) -> tuple[Sequence[float], int]:
        """The sum of the values of the best keys (x, y), and their number.

        The hull of one sign of v is formed when it is first needed. For v = 0, all keys are read.
        """
        if not v:
            top = max(u * x for x, _, _ in self.seen)
            return _together([(value, 1) for x, _, value in self.seen if u * x == top])
        sign = 1 if v > 0 else -1
        hull = self._hull(sign)
        for x, y, value in self.seen[self.added[sign] :]:
            hull.add(x, sign * y, value)
        self.added[sign] = len(self.seen)
        return hull.best(u, abs(v))[1:]


def _together(found: list[tuple[Sequence[float], int]]) -> tuple[Sequence[float], int]:
    """The sums of sums and of numbers."""
    (total, count), *others = found
    for more, number in others:
        total, count = [a + b for a, b in zip(total, more, strict=True)], count + number
    return total, count


class PrunedDecoder:
    """A hardmax model on one growing sequence, which caches only keys that can be attended.

    `append` takes the next token; `outputs` are those of the unembedding, (d_out,), at the last
    token. A token takes O(log n) comparisons for n cached keys, and reads all keys of a plane if
    its query has v = 0.

    Raises ValueError for models with other attention than causal hardmax, with layer norms, in
    another dtype than float64 or not on the CPU; for heads whose queries have several coordinates
    that are not constant, if keys have more than 64 values of the further ones; and if the keys of
    `context` tokens, all of them cached, do not fit in memory, or the model takes fewer tokens.
    `append` raises ValueError for what is no row of the embedding and for more than `context`
    tokens, and `outputs` before the first token.
    """

    @checked
    def __init__(self, model: Stack, context: Count) -> None:
        if (most := model.interface.context) is not None and context > most:
            raise InputError(f"context is {context}: give an integer ≤ {most} for {model.name}")
        if (reason := unsuitable(model)) is not None:
            raise InputError(f"{model.name} {reason}: use model.decoder")
        self.model, self.context, self.count = model, context, 0
        self.reads = reads = _Reads(model)
        self.layers = [_Layer(block, reads) for block in model.blocks]
        each = (len(keys.columns) for layer in self.layers for keys in layer.heads if keys.q)
        needed = context * sum(BYTES * (4 + columns) for columns in each)
        machine.fits_in_memory(f"the keys of {context} tokens", needed, "give a shorter sequence")
        self.W_U = _array(model.unembed.W_U)
        self.b_U = 0.0 if model.unembed.b_U is None else _array(model.unembed.b_U)
        self.H = np.zeros(model.d_model)

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
        outputs: np.ndarray = self.H @ self.W_U + self.b_U
        return outputs

    @property
    def cached(self) -> list[int]:
        """The numbers of keys that the heads have cached, layer by layer."""
        return [len(keys) for layer in self.layers for keys in layer.heads]


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
    reads = _Reads(model)
    if any(keys is None for block in model.blocks for keys in reads.cached(block)):
        return "has heads whose keys have too many values"
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

    def values(self, *columns: Column) -> float:
        """An upper bound on the number of values; infinite if a layer writes what is read."""
        W = np.array([column.w for column in columns]).T
        if W[self.written].any():
            return np.inf
        found = len(np.unique(self.E @ W, axis=0))
        return found if self.P is None else found * len(np.unique(self.P @ W, axis=0))

    def cached(self, block: Block) -> list[CachedKeys | None]:
        """The keys of the heads of a block, or None for keys that have too many values."""
        attn = block.attn
        if attn is None:
            return []
        tensors = (attn.W_Q, attn.W_K, attn.W_V, attn.b_Q, attn.b_K)
        heads = zip(*map(_array, tensors), attn.masks, strict=True)
        return [self._cached(*each) for each in heads]

    def _cached(
        self,
        W_Q: np.ndarray,
        W_K: np.ndarray,
        W_V: np.ndarray,
        b_Q: np.ndarray,
        b_K: np.ndarray,
        mask: str,
    ) -> CachedKeys | None:
        free = np.flatnonzero(W_Q.any(0)).tolist()
        fixed = [i for i in range(len(b_Q)) if i not in free]
        keys = [Column(W_K[:, i], float(b_K[i])) for i in range(len(b_K))]
        constant = Column(W_K[:, fixed] @ b_Q[fixed], float(b_K[fixed] @ b_Q[fixed]))
        plane = len(free) == 2 and not constant.w.any() and not constant.b
        if plane:
            key = [keys[i] for i in free]
        else:
            # x is the coordinate of most values.
            free.sort(key=lambda i: self.values(keys[i]), reverse=True)
            if free[1:] and self.values(*(keys[i] for i in free[1:])) > FEW:
                return None
            first = [keys[i] for i in free[:1]] or [Column(0 * constant.w, 0.0)]
            key = [*first, constant, *(keys[i] for i in free[1:])]
        query = [Column(W_Q[:, i], float(b_Q[i])) for i in free]
        return CachedKeys(query, key, [Column(w, 0.0) for w in W_V.T], mask, plane)


class _Layer:
    """One block, as a function of the stream (D,) of the next token."""

    def __init__(self, block: Block, reads: _Reads) -> None:
        self.heads = [keys for keys in reads.cached(block) if keys is not None]
        if block.attn is not None:
            columns = [column for keys in self.heads for column in keys.columns]
            self.W = np.ascontiguousarray(np.stack([column.w for column in columns], axis=1))
            self.b = np.array([column.b for column in columns])
            ends = np.cumsum([0, *(len(keys.columns) for keys in self.heads)]).tolist()
            self.cuts = [*zip(self.heads, ends[:-1], ends[1:], strict=True)]
            self.W_O = _array(block.attn.W_O.flatten(0, 1))
        mlp = block.mlp
        self.mlp = mlp and [*map(_array, (mlp.W_in, mlp.b_in, mlp.W_out, mlp.b_out))]

    def __call__(self, H: np.ndarray) -> np.ndarray:
        if self.heads:
            read, added = (H @ self.W + self.b).tolist(), Numbers()
            for keys, start, end in self.cuts:
                added += keys.attended(read[start:end])
            H = H + np.array(added) @ self.W_O
        if self.mlp:
            W_in, b_in, W_out, b_out = self.mlp
            H = H + np.maximum(H @ W_in + b_in, 0) @ W_out + b_out
        return H


def _array(W: torch.Tensor) -> np.ndarray:
    array: np.ndarray = W.detach().numpy()
    return array


def _integer(number: float) -> float:
    """A float that is an integer as an `int`, whose products are exact at any size."""
    return int(number) if number.is_integer() else number
