"""The weight language: heads and MLPs written in terms of named registers.

A head says which reading asks, which answers, which is carried and where it is added.  An MLP is a
list of words (`words.py`), each of which is added to a register.

The tensors, the printed lines and what they say of exactness come from the words alone.  All index
arithmetic of the constructions is in `stream.py` and here.  Nothing is rounded: every number that a
construction names appears in the tensors as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from constructions.attention import Attention, Mask, Normalise
from constructions.blocks import MLP, Block, Embed, Unembed, UnitNorm
from constructions.margins import Margin, Restores
from constructions.stream import Map, Reading, Stream, number, one
from constructions.words import Times, Word
from theory.kinds import InputError

Readings = Reading | tuple[Reading, ...]


@dataclass(frozen=True)
class Head:
    """One head: Σ_i ⟨query_t, key_i⟩ · value_i · times is added to the registers `output`.

    Tuples are stacked: ⟨(a, b), (c, d)⟩ = ⟨a, c⟩ + ⟨b, d⟩, and the value of each place is
    added to the register of the same place.  `mask` replaces that of the layer.  `margin` is a
    proved lower bound on the smallest gap of the scores over all prompts, where scores are compared
    and the construction has one.
    """

    query: Readings
    key: Readings
    value: Readings
    output: str | tuple[str, ...]
    times: Times = 1.0
    margin: Margin | None = None
    mask: Mask | None = None

    def __str__(self) -> str:
        parts = self.query, self.key, self.value, self.output
        query, key, value, output = map(_words, parts)
        if isinstance(self.times, Map):
            value = f"{value}·{self.times.name}"
        elif isinstance(self.value, Reading) and len(self.value.terms) == 1:
            value = str(self.times * self.value)
        elif self.times != 1:
            value = f"{number(self.times)}·{value}"
        where = f" ({self.mask})" * (self.mask is not None)
        return f"query {query}, key {key}, value {value} → {output}{where}"


def _each(parts: Any) -> tuple[Any, ...]:
    return parts if isinstance(parts, tuple) else (parts,)


def _words(parts: Readings | str | tuple[str, ...]) -> str:
    words = [str(part) for part in _each(parts)]
    return words[0] if len(words) == 1 else f"({', '.join(words)})"


def moved(reading: Readings, into: str | tuple[str, ...]) -> Head:
    """A linear head that adds a reading of the token's own registers to another of them."""
    return Head(one, one, reading, into, mask="own")


def signed_pair(head: Head) -> tuple[Head, Head]:
    """Two ReLU heads that act as one linear head: relu(s)·v + relu(−s)·(−v) = s·v.

    The second value must be the negative of the first: with equal signs the pair computes |s|·v,
    as the printed proof of [Fu2024, Theorem 5.1] does in its equations (21) and (28).
    """
    assert not isinstance(head.times, Map)
    query = tuple(-reading for reading in _each(head.query))
    return head, replace(head, query=query, times=-head.times)


def attention(
    stream: Stream, heads: Iterable[Head], normalise: Normalise, mask: Mask, scale: float = 1.0
) -> Attention:
    """The tensors of these heads; narrower heads are padded with zeros to the widest."""
    weights, masks = [], []
    for head in heads:
        (W_Q, b_Q), (W_K, b_K) = _stack(stream, head.query), _stack(stream, head.key)
        W_V, b_V = _stack(stream, head.value)
        W_O = np.concatenate([stream.placement(name) for name in _each(head.output)])
        W_O = head.times.matrix @ W_O if isinstance(head.times, Map) else head.times * W_O
        if W_Q.shape != W_K.shape or W_V.shape[1] != W_O.shape[0]:
            raise InputError(
                f"head '{head}': give a query as wide as the key, and a value as wide as the "
                "registers that it is written to"
            )
        if b_V.any():
            raise InputError(
                f"head '{head}': a value has no constant term; give the constant a register"
            )
        weights.append((W_Q, W_K, W_V, W_O, b_Q, b_K))
        masks.append(head.mask or mask)
    padded = map(_padded, zip(*weights, strict=True))
    return Attention(*padded, normalise=normalise, mask=masks, scale=scale)


def mlp(stream: Stream, words: Iterable[Word]) -> MLP:
    """The tensors of these words, side by side."""
    W_in, b_in = [np.zeros((stream.d_model, 0))], [np.zeros(0)]
    W_out, b_out = [np.zeros((0, stream.d_model))], np.zeros(stream.d_model)
    for word in words:
        for unit in word.units:
            weights, bias = stream.matrix(unit.reads)
            place = np.concatenate([stream.placement(name) for name in _each(unit.into)])
            by = unit.times.matrix if isinstance(unit.times, Map) else unit.times
            width = len(by) if isinstance(by, np.ndarray) else len(place)
            if weights.shape[1] == 1 < width:
                raise InputError(f"'{word}': a reading of width 1 cannot fill {width} coordinates")
            if weights.shape[1] != width or np.shape(by)[1:] not in ((), (len(place),)):
                raise InputError(
                    f"'{word}': what is read has width {weights.shape[1]} and goes into {width} "
                    "coordinates: they must be as many"
                )
            W_in.append(weights)
            b_in.append(bias)
            W_out.append(by @ place if isinstance(by, np.ndarray) else by * place)
        place = np.concatenate([stream.placement(name) for name in _each(word.into)])
        if np.size(word.constant) not in (1, len(place)):
            raise InputError(
                f"'{word}': a constant of {np.size(word.constant)} coordinates goes into "
                f"{len(place)}: they must be as many"
            )
        b_out += word.constant * np.ones(len(place)) @ place
    tensors = np.concatenate(W_in, axis=1), np.concatenate(b_in), np.concatenate(W_out), b_out
    return MLP(*map(torch.as_tensor, tensors))


def block(
    stream: Stream,
    heads: Iterable[Head] = (),
    words: Iterable[Word] = (),
    *,
    normalise: Normalise = "linear",
    mask: Mask = "examples",
    scale: float = 1.0,
    unit_norm: bool = False,
    restores: Iterable[Restores] = (),
) -> Block:
    """One layer from its heads and the words of its MLP; absent parts leave no weights behind.

    `restores` says what its MLP makes exact again, by the construction's proof.
    """
    heads, words = tuple(heads), tuple(words)
    kind = "" if normalise == "linear" else f"{normalise} "
    lines = [f"{kind}head: {head}" for head in heads] + [f"mlp: {word}" for word in words]
    return Block(
        attention(stream, heads, normalise, mask, scale) if heads else None,
        mlp(stream, words) if words else None,
        (*lines, *["unit norm"] * unit_norm),
        UnitNorm() if unit_norm else None,
        margins=tuple(head.margin for head in heads if head.margin is not None),
        restores=tuple(restores),
    )


def embed(stream: Stream, **columns: Mapping[str, float]) -> Embed:
    """W_E from the token's columns, in order: the registers each is written into, and the factors.

    `embed(stream, x={"x": 1, "u": 0.5}, y={"y": 1})`: the first d columns go into x and, halved,
    into u; the next one goes into y.
    """
    parts = [
        sum(factor * stream.placement(name) for name, factor in targets.items())
        for targets in columns.values()
    ]
    return Embed(torch.as_tensor(np.concatenate(parts)))


def rows(stream: Stream, **registers: np.ndarray) -> torch.Tensor:
    """Rows of an embedding, by register: `rows(stream, code=codes, rank=np.arange(n))`.

    Each array is (rows, width), or (rows,) for a register of width 1; all other registers are 0.
    """
    return torch.as_tensor(
        sum(
            np.asarray(values, dtype=np.float64).reshape(len(values), -1) @ stream.placement(name)
            for name, values in registers.items()
        )
    )


def unembed(stream: Stream, *readings: Reading, bias: np.ndarray | None = None) -> Unembed:
    """W_U that reads these, side by side, and b_U if there is a bias (d_out,)."""
    columns, offset = _stack(stream, readings)
    if offset.any():
        raise InputError(f"'{_words(readings)}' has a constant: give it as the bias")
    return Unembed(torch.as_tensor(columns), None if bias is None else torch.as_tensor(bias))


def _stack(stream: Stream, readings: Readings) -> tuple[np.ndarray, np.ndarray]:
    weights, biases = zip(*map(stream.matrix, _each(readings)), strict=True)
    return np.concatenate(weights, axis=1), np.concatenate(biases)


def _padded(arrays: Sequence[np.ndarray]) -> torch.Tensor:
    """The arrays on top of each other, with zeros behind those that are narrower."""
    shapes = np.array([array.shape for array in arrays])
    padding = shapes.max(axis=0) - shapes
    padded = [np.pad(a, [(0, more) for more in by]) for a, by in zip(arrays, padding, strict=True)]
    return torch.as_tensor(np.stack(padded))
