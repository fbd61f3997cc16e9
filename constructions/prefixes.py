"""A causal model on all sequences: the last token of each prefix is computed once.

Under causal attention, the stream at a token depends on the sequence up to this token only.  The
prefixes of all sequences x₁ … x_n over V symbols form a tree, in which a token attends to itself
and to its ancestors.  So V + V² + … + Vⁿ tokens are computed, where all sequences have n·Vⁿ.

The V tokens after one prefix share the keys and values of this prefix, and do not see each other.
Prefixes are continued in blocks, depth first, so that memory is bounded.  A score or a sum of
values has the same terms as in a run on the whole sequence, in another order: outputs are equal if
no partial sum is rounded (`constructions.exactness`), and otherwise up to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeGuard

import numpy as np
import torch
from torch import Tensor

from constructions.attention import Cache, Heads
from constructions.interface import Model
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory.kinds import InputError

AT_ONCE = 2**12  # sequences in a block
FEW = 2**6  # sequences that are run as a whole


class Prefixes(NamedTuple):
    """Sequences (P, t) in lexicographic order, and the outputs (P, d_out) at their last tokens."""

    tokens: Tensor
    outputs: Tensor


class Siblings(Cache):
    """The cached keys (P, heads, t, d_head) and values of P prefixes of t tokens.

    The next tokens (P, S) are S continuations of each prefix, which do not see each other.
    """

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        self.keys, self.values, self.count = keys, values, keys.shape[-2]
        self.next: tuple[Tensor, Tensor] | None = None  # diagonal heads cache nothing

    def averages(self, heads: Heads, Q: Tensor, K: Tensor, V: Tensor) -> Tensor:
        """The averages of values at the next tokens, (P, heads, S, d_value)."""
        self.next = K, V
        earlier = Q @ self.keys.transpose(-1, -2)
        own = torch.linalg.vecdot(Q, K).unsqueeze(-1).expand(*earlier.shape[:-1], 1)
        if heads.mask == "strictly causal" and self.count:  # the first token attends to itself
            own = own[..., :0]
        weights, total = heads.normalised(torch.cat([earlier, own], dim=-1))
        averages = weights[..., : self.count] @ self.values
        return (averages if not own.shape[-1] else averages + weights[..., -1:] * V) / total

    def part(self, first: int, end: int) -> Siblings:
        """The cache of the prefixes from number `first` to before `end`."""
        return Siblings(self.keys[first:end], self.values[first:end])

    def continued(self) -> Siblings:
        """The cache of all continuations (P·S, heads, t + 1, d_head) of the prefixes."""
        if self.next is None:
            return self
        longer = []
        for M, new in zip((self.keys, self.values), self.next, strict=True):
            S = new.shape[-2]
            each = new.transpose(-2, -3).unsqueeze(-2).expand(len(M), *[-1] * 4)
            longer.append(torch.cat([M.unsqueeze(1).expand(-1, S, -1, -1, -1), each], dim=-2))
        return Siblings(*(M.flatten(0, 1) for M in longer))


@torch.no_grad()
def after_prefix(model: Transformer, tokens: Tensor) -> tuple[Tensor, list[list[Siblings]]]:
    """The last stream (P, t, D) of prefixes, and their keys and values, layer by layer.

    The prefixes have t ≥ 1 tokens (P, t), or vectors (P, t, columns).  To continue them, each layer
    is called with a stream (P, S, D) of S next tokens and its entry of the list, as in
    `block(H, 0, cache)`.

    Raises ValueError for a model that is not causal.
    """
    if not model.is_causal:
        raise InputError(f"{model.name} is not causal: run it on whole sequences")
    H, found = model.embed(tokens), list[list[Siblings]]()
    if model.pos_embed is not None:
        H = H + model.pos_embed(H.shape[-2])
    for block in model.blocks:
        parts = [] if block.attn is None else block.attn.new_cache(H.shape[:1], H.shape[1])
        H = block(H, 0, parts)
        known = ((each.keys, each.values) for each in parts)
        found.append([Siblings(*each) for each in known])
    return H, found


@torch.no_grad()
def streams_after(model: Transformer, tokens: Tensor, following: Tensor) -> Iterator[Tensor]:
    """Yields the stream (P, S, D) at each of S tokens that may follow a prefix of t tokens.

    The first is the embedding, and then there is one for each layer. `tokens` are P prefixes
    (P, t), or vectors (P, t, columns); `following` are the next tokens, (P, S) or (P, S, columns),
    which do not see each other.

    Raises ValueError for a model that is not causal.
    """
    cache, H = after_prefix(model, tokens)[1], model.embed(following)
    if model.pos_embed is not None:  # all at the same position
        H = H + model.pos_embed(1, tokens.shape[1])
    yield H
    for block, parts in zip(model.blocks, cache, strict=True):
        H = block(H, 0, parts)
        yield H


@torch.no_grad()
def all_prefixes(model: Transformer, slots: Sequence[range]) -> Iterator[Prefixes]:
    """Yields the outputs of a causal model at the last token of each prefix, in blocks.

    The sequences have a token of slots[i] at position i.  The prefixes of one length are in
    lexicographic order; a block of prefixes comes before the blocks of its continuations.  The
    model's own tokens, such as BOS, precede every sequence.

    Raises ValueError for a model that is not causal, and for sequences that it does not take.
    """
    model.prompt(np.array([[slot.start for slot in slots], [slot.stop - 1 for slot in slots]]))
    tokens = torch.tensor([[*model.interface.prefix]], dtype=torch.int64, device=model.like.device)
    ahead, sizes = tokens.shape[1], [*map(len, slots)]
    few = [t for t in range(1, len(slots) + 1) if t == 1 or math.prod(sizes[:t]) <= FEW]
    for slot in slots[: few[-1]]:
        tokens = _longer(tokens, slot)
    H, cache = after_prefix(model, tokens)  # short prefixes in one run of those of length few[-1]
    for t in few:
        step = math.prod(sizes[t : few[-1]])
        outputs = model.unembedding(model.seen(H[::step, ahead + t - 1]))
        yield Prefixes(tokens[::step, ahead : ahead + t], outputs)
    if len(slots) > len(few):
        for found in _continued(model, tokens, cache, slots[len(few) :]):
            yield found._replace(tokens=found.tokens[:, ahead:])


def _longer(tokens: Tensor, slot: range) -> Tensor:
    """All continuations (P·S, t + 1) of prefixes (P, t) by S tokens."""
    symbols = torch.arange(slot.start, slot.stop, device=tokens.device)
    last = symbols.repeat(len(tokens)).unsqueeze(1)
    return torch.cat([tokens.repeat_interleave(len(symbols), dim=0), last], dim=1)


def _continued(
    model: Transformer, tokens: Tensor, cache: list[list[Siblings]], slots: Sequence[range]
) -> Iterator[Prefixes]:
    """The outputs at all continuations of prefixes (P, t) by tokens of these slots."""
    slot, *later = slots
    symbols = torch.arange(slot.start, slot.stop, device=tokens.device)
    size = max(1, AT_ONCE // len(slot))
    for first in range(0, len(tokens), size):
        some = tokens[first : first + size]
        parts = [[each.part(first, first + size) for each in caches] for caches in cache]
        H = model.embed(symbols).unsqueeze(0)  # before the first heads the same for all prefixes
        if model.pos_embed is not None:
            H = H + model.pos_embed(1, some.shape[1])
        for block, caches in zip(model.blocks, parts, strict=True):
            H = block(H, 0, caches)
        outputs = model.unembedding(model.seen(H)).expand(len(some), -1, -1).flatten(0, 1)
        longer = _longer(some, slot)
        yield Prefixes(longer, outputs)
        if later:
            following = [[each.continued() for each in caches] for caches in parts]
            yield from _continued(model, longer, following, later)


class PrefixOutputs:
    """The outputs of a causal model at the last token of every prefix, as tables.

    The table of a length t contains the outputs (P, d_out) of all sequences with a token of
    slots[i] at position i, for i < t, in lexicographic order.

    The raised errors are those of `all_prefixes`.
    """

    def __init__(self, model: Transformer, slots: Sequence[range]) -> None:
        self.slots, parts = list(slots), [list[Tensor]() for _ in slots]
        for found in all_prefixes(model, self.slots):
            parts[found.tokens.shape[1] - 1].append(found.outputs)
        self.tables = [torch.cat(each) for each in parts]

    def __call__(self, rows: np.ndarray) -> Tensor:
        """The outputs (…, T, d_out) at all tokens of sequences (…, T)."""
        number, found = np.zeros(rows.shape[:-1], dtype=np.int64), list[Tensor]()
        for i, slot in enumerate(self.slots[: rows.shape[-1]]):
            number = number * len(slot) + rows[..., i] - slot.start
            found.append(self.tables[i][torch.from_numpy(number)])
        return torch.stack(found, dim=-2)


def answers_at_every_prefix(model: Model) -> TypeGuard[Transformer]:
    """Whether a model is a causal transformer that answers at each token of a sequence."""
    of = model.interface
    if not (isinstance(model, Transformer) and isinstance(of, Tokens) and model.is_causal):
        return False
    alone = type(of).write is Tokens.write and type(of).ends is Tokens.ends
    return alone and of.answered == slice(len(of.prefix), None)


def slots_of(rows: np.ndarray) -> list[range] | None:
    """The tokens at each position, if the sequences `rows` (R, T) are all with such tokens.

    The result is None if a sequence is missing or occurs twice, or if the tokens at a position are
    not consecutive.
    """
    low, high = rows.min(0), rows.max(0)
    slots = [range(a, b + 1) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    sizes = [*map(len, slots)]
    if math.prod(sizes) != len(rows):
        return None
    places = np.cumprod([1, *sizes[:0:-1]])[::-1]
    seen = np.bincount((rows - low) @ places, minlength=len(rows))
    return slots if seen.all() else None
