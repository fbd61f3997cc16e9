"""The weight language: heads and MLPs written in terms of named registers.

A head says which reading asks, which answers, which is carried and where it is added.  An MLP is a
list of words (`words.py`), each of which is added to a register.

The tensors, the printed lines and what they say of exactness come from the words alone.  All index
arithmetic of the constructions is in `stream.py` and here.  Nothing is rounded: every number that a
construction names appears in the tensors as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch

from constructions.attention import Attention, Mask, Normalise
from constructions.margins import Margin
from constructions.stream import Map, Reading, Stream, number
from constructions.transformer import MLP, Block, Embed, Unembed, UnitNorm
from constructions.words import Times, Word
from theory.checks import InputError

Readings = Reading | tuple[Reading, ...]


@dataclass(frozen=True)
class Head:
    """One head: Σ_i ⟨asks_t, answers_i⟩ · carries_i · times is added to the registers `into`.

    Tuples are stacked: ⟨(a, b), (c, d)⟩ = ⟨a, c⟩ + ⟨b, d⟩, and each carried reading goes into the
    register of the same place.  `margin` is the smallest gap of its scores over all prompts, where
    scores are compared and the construction has proved one.
    """

    asks: Readings
    answers: Readings
    carries: Readings
    into: str | tuple[str, ...]
    times: Times = 1.0
    margin: Margin | None = None

    def __str__(self) -> str:
        asks, answers = _words(self.asks), _words(self.answers)
        targets = (self.into,) if isinstance(self.into, str) else self.into
        into = targets[0] if len(targets) == 1 else f"({', '.join(targets)})"
        return f"{asks} asks, {answers} answers, {_times(self.times, self.carries)} added to {into}"


def _words(readings: Readings) -> str:
    parts = readings if isinstance(readings, tuple) else (readings,)
    return str(parts[0]) if len(parts) == 1 else f"({', '.join(map(str, parts))})"


def _times(times: Times, readings: Readings) -> str:
    """The product in words."""
    if isinstance(times, Map):
        return f"{_words(readings)}·{times.name}"
    if isinstance(readings, Reading) and len(readings.terms) == 1:
        return str(times * readings)
    return _words(readings) if times == 1 else f"{number(times)}·{_words(readings)}"


def signed_pair(head: Head) -> tuple[Head, Head]:
    """Two ReLU heads that act as one linear head: relu(s)·v + relu(−s)·(−v) = s·v.

    The second value must be the negative of the first: with equal signs the pair computes |s|·v,
    as the printed proof of [Fu2024, Theorem 5.1] does in its equations (21) and (28).
    """
    asks = head.asks if isinstance(head.asks, tuple) else (head.asks,)
    assert not isinstance(head.times, Map)
    return head, replace(head, asks=tuple(-reading for reading in asks), times=-head.times)


def attention(
    stream: Stream, heads: Iterable[Head], normalise: Normalise, mask: Mask, scale: float = 1.0
) -> Attention:
    """The tensors of these heads; narrower heads are padded with zeros to the widest."""
    asked, answered, carried, added = [], [], [], []
    for head in heads:
        asks, answers = _stack(stream, head.asks), _stack(stream, head.answers)
        carries, carry_bias = _stack(stream, head.carries)
        targets = (head.into,) if isinstance(head.into, str) else head.into
        places = np.concatenate([stream.placement(name) for name in targets])
        places = head.times.matrix @ places if isinstance(head.times, Map) else head.times * places
        if asks[0].shape != answers[0].shape or carries.shape[1] != places.shape[0]:
            raise InputError(
                f"head '{head}': what asks must be as wide as what answers, and what "
                "is carried as wide as the registers it is added to"
            )
        if carry_bias.any():
            raise InputError(f"head '{head}': a head cannot carry a constant; give it a register")
        asked.append(asks)
        answered.append(answers)
        carried.append(carries)
        added.append(places)
    return Attention(
        W_Q=_padded([weights for weights, _ in asked], axis=1),
        W_K=_padded([weights for weights, _ in answered], axis=1),
        W_V=_padded(carried, axis=1),
        W_O=_padded(added, axis=0),
        b_Q=_padded([bias for _, bias in asked], axis=0),
        b_K=_padded([bias for _, bias in answered], axis=0),
        normalise=normalise,
        mask=mask,
        scale=scale,
    )


def mlp(stream: Stream, words: Iterable[Word]) -> MLP:
    """The tensors of these words, side by side."""
    W_in, b_in = [np.zeros((stream.d_model, 0))], [np.zeros(0)]
    W_out, b_out = [np.zeros((0, stream.d_model))], np.zeros(stream.d_model)
    for word in words:
        b_out[stream[word.into]] += word.constant
        for unit in word.units:
            weights, bias = stream.matrix(unit.reads)
            place = stream.placement(unit.into)
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
    return MLP(
        torch.as_tensor(np.concatenate(W_in, axis=1)),
        torch.as_tensor(np.concatenate(b_in)),
        torch.as_tensor(np.concatenate(W_out)),
        torch.as_tensor(b_out),
    )


def block(
    stream: Stream,
    heads: Iterable[Head] = (),
    words: Iterable[Word] = (),
    *,
    normalise: Normalise = "linear",
    mask: Mask = "examples",
    scale: float = 1.0,
    unit_norm: bool = False,
) -> Block:
    """One layer from its heads and the words of its MLP; absent parts leave no weights behind."""
    heads, words = tuple(heads), tuple(words)
    kind = "" if normalise == "linear" else f"{normalise} "
    lines = [f"{kind}head: {head}" for head in heads] + [f"mlp: {word}" for word in words]
    return Block(
        attention(stream, heads, normalise, mask, scale) if heads else None,
        mlp(stream, words) if words else None,
        (*lines, *["unit norm"] * unit_norm),
        UnitNorm() if unit_norm else None,
        margins=tuple(head.margin for head in heads if head.margin is not None),
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
    parts = readings if isinstance(readings, tuple) else (readings,)
    weights, biases = zip(*(stream.matrix(reading) for reading in parts), strict=True)
    return np.concatenate(weights, axis=1), np.concatenate(biases)


def _padded(arrays: list[np.ndarray], axis: int) -> torch.Tensor:
    widest = max(array.shape[axis] for array in arrays)
    padded = []
    for array in arrays:
        padding = [(0, 0)] * array.ndim
        padding[axis] = (0, widest - array.shape[axis])
        padded.append(np.pad(array, padding))
    return torch.as_tensor(np.stack(padded))
