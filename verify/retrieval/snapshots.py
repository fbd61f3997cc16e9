"""Snapshots of the stream of a model over tokens: before, within and after each layer.

Shape glossary: T tokens of the prompt, including the tokens before the sequence; D the width.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from constructions.blocks import Block
from constructions.stream import LinearRead, Term
from constructions.transformer import Transformer


@dataclass(frozen=True)
class Snapshot:
    """A layer with its attention patterns (…, heads, T, T), and the stream before and after it.

    The prompt has T tokens, and the stream is (…, T, width). `before` is the stream before the
    layer, `between` the stream after the heads of the layer, and `after` the stream after the MLP
    of the layer.
    """

    block: Block
    before: np.ndarray
    between: np.ndarray
    after: np.ndarray
    patterns: np.ndarray


def snapshots(model: Transformer, tokens: ArrayLike) -> Iterator[Snapshot]:
    """An iterator of the `Snapshot` of each layer of the model, for tokens (…, T)."""
    n_examples = model.interface.n_examples
    streams = itertools.pairwise(model.streams(tokens))
    for block, (H, after) in zip(model.blocks, streams, strict=True):
        between, patterns = H, np.zeros((*H.shape[:-2], 0, H.shape[-2], H.shape[-2]))
        if block.attn is not None:
            between = H + block.attn(H, n_examples)
            patterns = block.attn.pattern(H, n_examples).numpy()
        yield Snapshot(block, H.numpy(), between.numpy(), after.numpy(), patterns)


@dataclass(frozen=True)
class Part:
    """The part of a head's output that is written to the register `into`.

    `registers` names the registers that the head reads for this part, and `words` is a description
    of the part.
    """

    into: str
    registers: tuple[str, ...]
    words: str
    copies: bool  # one register, unchanged


def added_parts(model: Transformer, block: Block, h: int) -> list[Part]:
    """The parts that head h of a layer writes, one for each register that the head writes to."""
    assert block.attn is not None
    stream, parts = model.stream, []
    W = (block.attn.W_V[h] @ block.attn.W_O[h]).numpy()
    for into in stream:
        maps = {name: by for name in stream if (by := W[stream[name], stream[into]]).any()}
        if not maps:
            continue
        terms = [Term(name, float(by.flat[0])) for name, by in maps.items()]
        plain = all(
            np.array_equal(by, term.factor * np.eye(*by.shape))
            for term, by in zip(terms, maps.values(), strict=True)
        )
        positive_first = sorted(terms, key=lambda term: term.factor < 0)
        reading = LinearRead(tuple(positive_first), stream.widths[into])
        words = str(reading) if plain else ", ".join(maps)
        copies = plain and [term.factor for term in terms] == [1.0]
        parts.append(Part(into, tuple(maps), words, copies))
    return parts


def places(model: Transformer, T: int) -> tuple[np.ndarray, set[str]]:
    """The points (T, width) that encode the T positions, and the names of registers with points."""
    if model.pos_embed is None or "place" not in model.stream:
        return np.zeros((T, 1)), set()
    stream, W_pos = model.stream, model.pos_embed.W_pos.numpy()
    width = stream.widths["place"]
    pointers = {
        name for name, w in stream.widths.items() if w == width and W_pos[:, stream[name]].any()
    }
    for block in model.blocks:
        for h in range(0 if block.attn is None else block.attn.n_heads):
            parts = added_parts(model, block, h)
            pointers |= {part.into for part in parts if pointers.issuperset(part.registers)}
    return W_pos[:T, stream["place"]], pointers


def pointed_to(model: Transformer, points: np.ndarray) -> np.ndarray:
    """The positions (T,) that are encoded by the points nearest to the given points (T, width)."""
    here, _ = places(model, len(points))
    return ((points[:, None] - here[None]) ** 2).sum(-1).argmin(1)
