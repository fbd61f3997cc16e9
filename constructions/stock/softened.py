"""Models of this library with only softmax heads of one mask, as stock models have.

    linear head       2p softmax heads and a sink (`gadgets.py`), a token in front whose registers
                      stay 0
    diagonal head of constant scores               a linear map of the stream: the layer's MLP
    hard heads        softmax at the model's inverse temperature
    masks             registers contain the sink, the tokens that are masked (context-only) and
                      each token's position (strictly causal, diagonal, and causal beside heads
                      that see all tokens); masked keys get the score −L, whose weight is 0 in
                      every dtype
    ReLU attention and norms of the stream raise ValueError

Under a causal mask a context-only head is right at the tokens after the examples, as long as
nothing reads what such a head wrote into an example.

An MLP that also moves registers must read their values before the layer's heads.  The heads
therefore write to separate registers, which the MLP then moves to their place.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import Tensor

from constructions.attention import Attention, Heads, Mask
from constructions.blocks import MLP, Block, Embed, PosEmbed, Unembed
from constructions.interface import Interface, Prompt
from constructions.stock.gadgets import Gadgets, stencil
from constructions.stock.sink import Sunk
from constructions.stock.translatable import array
from constructions.stream import Stream
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory.kinds import InputError

FAR = 2.0**12  # e^{−FAR} is 0 in every dtype
BEFORE = ("causal", "strictly causal")  # masks under which no token sees a later one

Columns = list[tuple[np.ndarray, np.ndarray]]  # maps from the stream to queries and to keys


def softened(
    model: Transformer,
    gadgets: Gadgets,
    sizes: Sequence[Sequence[float]],
    places: int,
    causal: bool,
) -> Transformer:
    """Returns the model with only softmax heads of one mask, "causal" or "full".

    Further registers express all other masks. `sizes` contains bounds on the absolute values of
    scores of each head of each layer of `attentions`. These bounds determine the scale of linear
    heads.
    `places` is the largest number of tokens in a prompt, including the sink. The model must have
    passed `check_translatable`.
    """
    return _Softening(model, gadgets, causal, places).model(sizes)


class _Softening:
    def __init__(self, model: Transformer, gadgets: Gadgets, causal: bool, places: int) -> None:
        self.ours, self.gadgets, self.causal = model, gadgets, causal
        attentions = model.attentions
        masks = {mask for attn in attentions for mask in attn.masks}
        self.sink = any(map(_has_linear_heads, attentions))
        self.strict, self.own = "strictly causal" in masks, any(map(_has_own_scores, attentions))
        self.hides, self.places = "context-only" in masks, places
        self.later = _is_mixed(model)
        more = {"is_sink": 1, "is_hidden": 1}
        if self.strict or self.own or self.later:
            more["own_place"] = places
        if self.later:
            more["earlier_places"] = places
        if self.own:
            more["other_places"] = places
        scratch = max(len(_overlap(block)) for block in model.blocks) if model.blocks else 0
        if scratch:
            more["added_by_heads"] = scratch
        if twice := model.stream.widths.keys() & more.keys():
            raise InputError(
                f"{model.name} has a register named {min(twice)!r}, a name that the "
                "translation uses: rename this register"
            )
        self.stream = Stream(**model.stream.widths, **more)
        self.stream.fits(model.n_layers, heads=2 * gadgets.order)
        self.D, self.W = model.d_model, self.stream.d_model

    def at(self, name: str, places: slice = slice(None)) -> np.ndarray:
        """The columns (W, width) of the linear read of a register."""
        return np.eye(self.W)[:, self.stream[name]][:, places]

    def grown(self, W: Tensor) -> np.ndarray:
        """Weights (D, k) extended by zeros to the wider stream, (W, k)."""
        return np.pad(array(W), ((0, self.W - self.D), (0, 0)))

    def model(self, sizes: Sequence[Sequence[float]]) -> Transformer:
        left = iter([each for each in sizes if len(each)])  # of layers with heads
        blocks = [
            self.block(block, [] if block.attn is None else next(left))
            for block in self.ours.blocks
        ]
        interface, embed, positions = self.written()
        unembed = self.ours.unembed
        return Transformer(
            embed,
            blocks,
            Unembed(torch.as_tensor(self.grown(unembed.W_U)), deepcopy(unembed.b_U)),
            pos_embed=positions,
            interface=interface,
            stream=self.stream,
            stages=self.ours.stages,
            name=f"softened({self.ours.name})",
            source=f"{self.ours.source}; softmax heads: constructions/stock/softened.py",
        )

    def written(self) -> tuple[Interface, Embed, PosEmbed | None]:
        """The interface, and the embeddings of tokens and positions."""
        ours, inner = self.ours, self.ours.interface
        rows = np.pad(array(ours.embed.W_E), ((0, 0), (0, self.W - self.D)))
        positions = ours.pos_embed
        at = np.zeros((0, self.W))
        if positions is not None:
            at = np.pad(array(positions.W_pos), ((int(self.sink), 0), (0, self.W - self.D)))
        if self.strict or self.own or self.later:
            at = np.pad(at, ((0, max(0, self.places - len(at))), (0, 0)))
            at[: self.places, self.stream["own_place"]] = np.eye(self.places)
        if self.later:
            at[: self.places, self.stream["earlier_places"]] = np.tri(self.places, k=-1)
        if self.own:
            at[: self.places, self.stream["other_places"]] = 1 - np.eye(self.places)
            at[: int(self.sink), self.stream["other_places"]] = 0  # all tokens attend to the sink
        number: int | None = None
        if isinstance(inner, Tokens):
            if self.sink:
                number, rows = len(rows), np.vstack([rows, self.at("is_sink").T])
            if self.hides:
                if inner.length is None:
                    raise InputError(
                        f"{ours.name} masks the tokens after its examples, but its number "
                        "of examples is not fixed: give a model for a fixed number of examples"
                    )
                at = np.pad(at, ((0, inner.context + self.sink - len(at)), (0, 0)))
                at[inner.n_examples + self.sink :, self.stream["is_hidden"]] = 1
        else:
            rows = np.vstack([rows, self.at("is_sink").T, self.at("is_hidden").T])
            number = 0 if self.sink else None
        interface = inner
        behind = self.causal and self.hides
        if self.sink or behind or not isinstance(inner, Tokens):
            interface = Sunk(inner, number, behind)
        embedded = PosEmbed(torch.as_tensor(at)) if len(at) else None
        return interface, Embed(torch.as_tensor(rows)), embedded

    def block(self, block: Block, sizes: Sequence[float]) -> Block:
        """One layer: softmax heads, and an MLP with the same neurons and register moves."""
        apart = _overlap(block)
        into = np.eye(self.D, self.W)  # the registers to which heads write
        for place, coordinate in enumerate(apart):
            into[coordinate] = self.at("added_by_heads")[:, place]
        heads = list[list[np.ndarray]]()
        if block.attn is not None:
            for part, bounds in with_sizes(block.attn, sizes):
                for h, size in enumerate(bounds):
                    heads += self.head(part, h, size, into)
        mlp = self.mlp(block, apart)
        attn = None
        if heads:
            padded = map(_padded, zip(*heads, strict=True))
            mask: Mask = "causal" if self.causal else "full"
            attn = Attention(*padded, normalise="softmax", mask=mask)
        return Block(attn, mlp, margins=block.margins, restores=block.restores)

    def head(
        self, part: Heads, h: int, size: float, into: np.ndarray
    ) -> Iterator[list[np.ndarray]]:
        """The softmax heads that replace one head: W_Q, W_K, W_V, W_O, b_Q, b_K of each."""
        linear = part.normalise == "linear"
        if _is_move(part, h):
            return
        W_Q, W_K, W_V = (self.grown(W[h]) for W in (part.W_Q, part.W_K, part.W_V))
        b_Q, b_K, W_O = array(part.b_Q[h]), array(part.b_K[h]), array(part.W_O[h]) @ into
        if self.sink:  # the query and key of the sink are 0 except for its score
            W_Q, W_K = (W - self.at("is_sink") * b for W, b in ((W_Q, b_Q), (W_K, b_K)))
        classes = self.classes(part.mask, masked_by(part, size), linear)
        heads = [(part.scale, 1.0, 1.0)]
        if linear:  # W_O is a power of two, so that the sink cancels exactly (`gadgets.py`)
            filled = W_O.any(0)
            W_V, W_O = W_V @ W_O[:, filled], np.eye(self.W)[filled]
            heads = [*self.signs(part.scale, size)]
        for scores, values, factor in heads:
            yield [
                np.hstack([scores * W_Q, *(q for (q, _), _ in classes)]),
                np.hstack([W_K, *(k for (_, k), _ in classes)]),
                values * W_V,
                factor * W_O,
                np.concatenate([scores * b_Q, *(bias for _, bias in classes)]),
                np.concatenate([b_K, *(0 * bias for _, bias in classes)]),
            ]

    def signs(self, scale: float, size: float) -> Iterator[tuple[float, float, float]]:
        """The factors of scores, values and outputs of the 2p softmax heads of a linear head."""
        delta = self.gadgets.theta / scale_of(size)
        for m, c in enumerate(stencil(self.gadgets.order), start=1):
            for sign in (1.0, -1.0):
                yield sign * m * delta * scale, float(c), sign * 2.0**self.gadgets.bits / delta

    def classes(
        self, mask: str, far: float, linear: bool
    ) -> list[tuple[tuple[np.ndarray, np.ndarray], np.ndarray]]:
        """The scores that mask tokens, as ((query, key), query bias).

        For tokens that are not masked they are exactly 0, not differences of large numbers.
        """
        sink, hidden = self.at("is_sink"), self.at("is_hidden")
        nothing = 0 * sink
        key = self.gadgets.sink * sink if linear else -far * sink
        if mask == "context-only":
            key = key - far * hidden
        found = [((nothing, key), np.ones(1))]
        if self.sink:  # which attends only to itself
            found.append(((sink, 2 * far * sink), np.zeros(1)))
        if self.later and mask in BEFORE:
            # The key of a token is masked for the queries at earlier places, and at its own if the
            # mask is strict, except at the first token.
            query, masked = self.at("own_place"), self.at("earlier_places")
            if mask == "strictly causal":
                masked = masked + query * (np.arange(self.places) > int(self.sink))
            found.append(((query, -far * masked), np.zeros(self.places)))
        elif mask in ("strictly causal", "diagonal"):
            # Under a strictly causal mask the first token sees itself.
            strict = mask == "strictly causal"
            first = int(self.sink) + 1 if strict else 0
            here = self.at("own_place", slice(first, None))
            masked = here if strict else self.at("other_places", slice(first, None))
            found.append(((here, -far * masked), np.zeros(here.shape[1])))
        return found

    def mlp(self, block: Block, apart: np.ndarray) -> MLP | None:
        """The neurons of the layer's MLP, of its diagonal heads and of the sink."""
        moves = np.zeros((self.W, self.W))
        for part in [] if block.attn is None else block.attn.parts():
            moves[: self.D, : self.D] += _own_map(part)
        for place, coordinate in enumerate(apart):
            held = self.stream["added_by_heads"].start + place
            moves[held, coordinate], moves[held, held] = 1.0, -1.0
        filled = moves.any(0)
        units = [(moves[:, filled], np.zeros(filled.sum()), np.eye(self.W)[filled])]
        units.append((-units[0][0], units[0][1], -units[0][2]))
        b_out = np.zeros(self.W)
        if block.mlp is not None:
            reads, bias = self.grown(block.mlp.W_in), array(block.mlp.b_in)
            reads = reads + moves @ reads  # the stream as it is after the moves
            if self.sink:
                reads = reads - 2 * self.at("is_sink") * abs(bias)
            write = np.pad(array(block.mlp.W_out), ((0, 0), (0, self.W - self.D)))
            units.append((reads, bias, write))
            b_out[: self.D] = array(block.mlp.b_out)
            if self.sink and b_out.any():
                units.append((self.at("is_sink"), np.zeros(1), -b_out[None]))
        W_in, b_in, W_out = (
            np.concatenate(each, axis=axis)
            for each, axis in zip(zip(*units, strict=True), (1, 0, 0), strict=True)
        )
        if not len(b_in) and not b_out.any():
            return None
        return MLP(*map(torch.as_tensor, (W_in, b_in, W_out, b_out)))


def tokens_read(model: Transformer, prompt: Prompt) -> list[slice]:
    """For each block, tokens such that no answer depends on the output of the block at others.

    They are all tokens before the last block with heads, and the answered tokens from this block
    on. Proof: heads alone read other tokens, so the output of this block or of a later one at a
    token influences only this token's logits, and only those of answered tokens are read.
    """
    last = max((i for i, block in enumerate(model.blocks) if block.attn is not None), default=0)
    return [prompt.answers if i >= last else slice(None) for i in range(model.n_layers)]


def largest_square(soft: Transformer, *inputs: Any) -> float:
    """The largest ‖v‖² over all streams v that a layer norm reads, on these inputs.

    `soft` is a model with only softmax heads (`softened`). In its stock model, layer norms are
    before heads, before MLPs and before the unembedding. Streams on which no answer depends
    (`tokens_read`) are omitted.
    """
    prompt = soft.prompt(*inputs)
    before, *after = soft.residual_stream(prompt)
    found = [before]
    for block, H, rows in zip(soft.blocks, after, tokens_read(soft, prompt), strict=True):
        if block.attn is not None and block.mlp is not None:
            found.append(block.attn.after(before, prompt.n_examples)[..., rows, :])
        found.append(H[..., rows, :])
        before = H
    return float(torch.stack([(H**2).sum(-1).max() for H in found]).max())  # NaN if any is NaN


def beside(model: Transformer, places: int) -> float:
    """An upper bound on the squared norm of the constant registers of a softened model.

    The registers `is_sink` and `is_hidden` contribute 1 together, `own_place` contributes 1, for
    diagonal heads that compare scores, each of the `other_places` contributes 1, and if heads that
    see no later token are beside others, each of the `earlier_places`.
    """
    return 2.0 + (places - 1) * (any(map(_has_own_scores, model.attentions)) + _is_mixed(model))


def _is_mixed(model: Transformer) -> bool:
    """Whether some heads see no later token, and others see all tokens."""
    masks = {mask for attn in model.attentions for mask in attn.masks}
    return "full" in masks and any(mask in masks for mask in BEFORE)


def sees_no_later_token(model: Transformer) -> bool:
    """Whether a stock model has the causal mask: a head has it, and no head sees all tokens."""
    masks = {mask for attn in model.attentions for mask in attn.masks}
    return "full" not in masks and any(mask in masks for mask in BEFORE)


def with_sizes(attn: Attention, sizes: Sequence[float]) -> Iterator[tuple[Heads, list[float]]]:
    """Yields the heads of each mask, with the bounds on their scores from `sizes`."""
    for part in attn.parts():
        yield part, [sizes[h] for h, mask in enumerate(attn.masks) if mask == part.mask]


def masked_by(part: Heads, size: float) -> float:
    """The distance L by which masked scores are below scores of this size."""
    return (
        FAR
        if part.normalise == "linear"
        else 2.0 ** math.ceil(math.log2(2 * size * part.scale + FAR))
    )


def scale_of(size: float) -> float:
    """The smallest power of two B that bounds scores of this size; division by B is exact."""
    return 2.0 ** math.ceil(math.log2(size)) if size > 0 else 1.0


def _is_move(part: Heads, h: int) -> bool:
    """Whether a head is diagonal linear attention with constant scores: a linear map of a token."""
    return (
        part.normalise == "linear"
        and part.mask == "diagonal"
        and not part.W_Q[h].any()
        and not part.W_K[h].any()
    )


def _has_linear_heads(attn: Attention) -> bool:
    """Whether a head needs the sink."""
    return attn.normalise == "linear" and any(
        not _is_move(part, h) for part in attn.parts() for h in range(len(part.W_Q))
    )


def _has_own_scores(attn: Attention) -> bool:
    """Whether a diagonal head has scores that are not constant."""
    return any(
        part.mask == "diagonal" and not _is_move(part, h)
        for part in attn.parts()
        for h in range(len(part.W_Q))
    )


def _own_map(part: Heads) -> np.ndarray:
    """The linear map (D, D) of diagonal heads with constant scores."""
    total = np.zeros((part.W_V.shape[1],) * 2)
    for h in range(len(part.W_Q)):
        if _is_move(part, h):
            score = float(part.b_Q[h] @ part.b_K[h]) * part.scale
            total += score * array(part.W_V[h]) @ array(part.W_O[h])
    return total


def _overlap(block: Block) -> np.ndarray:
    """The coordinates to which heads of the layer write and from which its moves read."""
    if block.attn is None:
        return np.zeros(0, dtype=int)
    D = block.attn.W_V.shape[1]
    written, moved = np.zeros(D, dtype=bool), np.zeros((D, D))
    for part in block.attn.parts():
        moved += _own_map(part)
        for h in range(len(part.W_Q)):
            if not _is_move(part, h):
                written |= (array(part.W_O[h]) != 0).any(0)
    return np.flatnonzero(written & moved.any(1))


def _padded(arrays: Sequence[np.ndarray]) -> Tensor:
    shapes = np.array([array.shape for array in arrays])
    padding = shapes.max(axis=0) - shapes
    padded = [np.pad(a, [(0, more) for more in by]) for a, by in zip(arrays, padding, strict=True)]
    return torch.as_tensor(np.stack(padded))
