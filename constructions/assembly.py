"""The weight language: heads and MLPs written in terms of named registers.

A head is written as query, key, value and output.  Query, key and value are linear reads of
registers; the output names the registers to which the result is added.  An MLP is a list of
primitives (`primitives.py`), each of which adds a function of registers to a register.

The tensors, the printed lines and their statements of exactness are derived only from this
description.  All index arithmetic of the constructions is in `stream.py` and here.  Nothing is
rounded: every number of a construction appears unchanged in the tensors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from constructions.attention import Attention, Mask, Normalise
from constructions.blocks import MLP, Block, Embed, Unembed, UnitNorm
from constructions.margins import Margin, Restores
from constructions.primitives import Primitive, Times
from constructions.stream import LinearRead, Map, Stream, number, one
from theory.kinds import InputError

LinearReads = LinearRead | tuple[LinearRead, ...]


@dataclass(frozen=True)
class Head:
    """An attention head, written as linear reads of registers.

    The head adds times · Σ_i w_ti · value_i to the registers `output` of token t, where i runs over
    the tokens that token t sees. The weights w_ti are the scores ⟨query_t, key_i⟩, normalised as
    the layer prescribes.

    Tuples of reads are concatenated: a query (a, b) and a key (c, d) have the score ⟨a, c⟩ + ⟨b,
    d⟩, and value number j is added to register number j of `output`. `mask` replaces the mask of
    the layer. For softmax and hardmax heads, `margin` is a proved lower bound, over all prompts, on
    the gap between the scores of attended tokens and of all others.
    """

    query: LinearReads
    key: LinearReads
    value: LinearReads
    output: str | tuple[str, ...]
    times: Times = 1.0
    margin: Margin | None = None
    mask: Mask | None = None

    def __str__(self) -> str:
        parts = self.query, self.key, self.value, self.output
        query, key, value, output = map(_joined, parts)
        if isinstance(self.times, Map):
            value = f"{value}·{self.times.name}"
        elif isinstance(self.value, LinearRead) and len(self.value.terms) == 1:
            value = str(self.times * self.value)
        elif self.times != 1:
            value = f"{number(self.times)}·{value}"
        where = f" ({self.mask})" * (self.mask is not None)
        return f"query {query}, key {key}, value {value} → {output}{where}"


def _each(parts: Any) -> tuple[Any, ...]:
    return parts if isinstance(parts, tuple) else (parts,)


def _joined(parts: LinearReads | str | tuple[str, ...]) -> str:
    words = [str(part) for part in _each(parts)]
    return words[0] if len(words) == 1 else f"({', '.join(words)})"


def moved(reading: LinearReads, into: str | tuple[str, ...]) -> Head:
    """Returns a linear head that adds a linear read of each token to its register `into`."""
    return Head(one, one, reading, into, mask="diagonal")


def signed_pair(head: Head) -> tuple[Head, Head]:
    """Returns two ReLU heads that act as one linear head: relu(s)·v + relu(−s)·(−v) = s·v.

    Here s is a score and v a value. The value of the second head must be −v. With v in both heads
    the pair would compute |s|·v, as the printed proof of [Fu2024, Theorem 5.1] does in its
    equations (21) and (28).
    """
    assert not isinstance(head.times, Map)
    query = tuple(-reading for reading in _each(head.query))
    return head, replace(head, query=query, times=-head.times)


def attention(
    stream: Stream, heads: Iterable[Head], normalise: Normalise, mask: Mask, scale: float = 1.0
) -> Attention:
    """Returns the attention of a layer with these heads.

    All heads have the width of the widest head; the weights of narrower heads are padded with
    zeros.
    """
    heads, D = tuple(heads), stream.d_model
    outputs = [_placed(stream, head) for head in heads]
    widths = [
        (_width(head.query), _width(head.key), _width(head.value), len(W_O))
        for head, W_O in zip(heads, outputs, strict=True)
    ]
    for head, (query, key, value, written) in zip(heads, widths, strict=True):
        if query != key or value != written:
            raise InputError(
                f"head '{head}' has widths that do not fit: give a query as wide as the key, "
                "and a value as wide as the registers of the output"
            )
    d_head, _, d_value, _ = map(max, zip(*widths, strict=True))
    W_Q, W_K = (np.zeros((len(heads), D, d_head)) for _ in range(2))
    b_Q, b_K = (np.zeros((len(heads), d_head)) for _ in range(2))
    W_V, W_O = np.zeros((len(heads), D, d_value)), np.zeros((len(heads), d_value, D))
    for h, (head, output) in enumerate(zip(heads, outputs, strict=True)):
        _write(stream, head.query, W_Q[h], b_Q[h])
        _write(stream, head.key, W_K[h], b_K[h])
        b_V = np.zeros(d_value)
        _write(stream, head.value, W_V[h], b_V)
        if b_V.any():
            raise InputError(
                f"the value of head '{head}' has a constant term: put the constant in a register"
            )
        W_O[h, : len(output)] = output
    weights = map(torch.as_tensor, (W_Q, W_K, W_V, W_O, b_Q, b_K))
    masks = [head.mask or mask for head in heads]
    return Attention(*weights, normalise=normalise, mask=masks, scale=scale)


def mlp(stream: Stream, primitives: Iterable[Primitive]) -> MLP:
    """Returns the MLP that computes the sum of these primitives."""
    W_in, b_in = [np.zeros((stream.d_model, 0))], [np.zeros(0)]
    W_out, b_out = [np.zeros((0, stream.d_model))], np.zeros(stream.d_model)
    for primitive in primitives:
        for neuron in primitive.neurons:
            weights, bias = stream.matrix(neuron.reads)
            place = np.concatenate([stream.placement(name) for name in _each(neuron.into)])
            by = neuron.times.matrix if isinstance(neuron.times, Map) else neuron.times
            width = len(by) if isinstance(by, np.ndarray) else len(place)
            if weights.shape[1] != width or np.shape(by)[1:] not in ((), (len(place),)):
                raise InputError(
                    f"'{primitive}': a read of width {weights.shape[1]} is written to {width} "
                    f"coordinates: give a read of width {width}"
                )
            W_in.append(weights)
            b_in.append(bias)
            W_out.append(by @ place if isinstance(by, np.ndarray) else by * place)
        place = np.concatenate([stream.placement(name) for name in _each(primitive.into)])
        if np.size(primitive.constant) not in (1, len(place)):
            raise InputError(
                f"'{primitive}': a constant of {np.size(primitive.constant)} coordinates is "
                f"written to {len(place)} coordinates: give a constant of "
                f"{len(place)} coordinates or a single number"
            )
        b_out += primitive.constant * np.ones(len(place)) @ place
    tensors = np.concatenate(W_in, axis=1), np.concatenate(b_in), np.concatenate(W_out), b_out
    return MLP(*map(torch.as_tensor, tensors))


def block(
    stream: Stream,
    heads: Iterable[Head] = (),
    primitives: Iterable[Primitive] = (),
    *,
    normalise: Normalise = "linear",
    mask: Mask = "context-only",
    scale: float = 1.0,
    unit_norm: bool = False,
    restores: Iterable[Restores] = (),
) -> Block:
    """Returns one layer, built from its heads and the primitives of its MLP.

    Without heads the layer has no attention, and without primitives it has no MLP.

    `restores` states which registers the MLP makes exact again, by the construction's proof.
    """
    heads, primitives = tuple(heads), tuple(primitives)
    kind = "" if normalise == "linear" else f"{normalise} "
    lines = [f"{kind}head: {head}" for head in heads] + [f"mlp: {each}" for each in primitives]
    return Block(
        attention(stream, heads, normalise, mask, scale) if heads else None,
        mlp(stream, primitives) if primitives else None,
        (*lines, *["unit norm"] * unit_norm),
        UnitNorm() if unit_norm else None,
        margins=tuple(head.margin for head in heads if head.margin is not None),
        restores=tuple(restores),
    )


def copied(layer: Block) -> Block:
    """Returns a layer of linear heads with the same weights, as tensors of its own."""
    attn = layer.attn
    assert attn is not None
    assert layer.mlp is None
    names = ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K")
    weights = (getattr(attn, name).clone() for name in names)
    attn = Attention(*weights, normalise=attn.normalise, mask=attn.masks, scale=attn.scale)
    return Block(attn, None, layer.lines)


def embed(stream: Stream, **columns: Mapping[str, float]) -> Embed:
    """Returns the embedding that writes the columns of a token to registers.

    Each argument describes the next columns of the token by a map from registers to factors.

    For example, `embed(stream, x={"x": 1, "u": 0.5}, y={"y": 1})` writes the first d columns to the
    register x and, halved, to the register u, where d is the width of x and u. The next column is
    written to the register y.
    """
    parts = [
        sum(factor * stream.placement(name) for name, factor in targets.items())
        for targets in columns.values()
    ]
    return Embed(torch.as_tensor(np.concatenate(parts)))


def rows(stream: Stream, **registers: np.ndarray) -> torch.Tensor:
    """Returns the rows of an embedding, given the coordinates of each row in each register.

    For example, `rows(stream, code=codes, rank=np.arange(n))` writes codes[i] and i to the
    registers `code` and `rank` of row i. Each array has shape (number of rows, width), or
    (number of rows,) for a register of width 1. All other registers are 0. Raises `ValueError` if
    there is no array, or for an array of another shape.
    """
    if not registers:
        raise InputError("there are no registers: give an array for at least one")
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in registers.items()}
    count = max((len(values) for values in arrays.values() if values.ndim), default=0)
    written = np.zeros((count, stream.d_model))
    for name, values in arrays.items():
        block = written[:, stream[name]]
        if values.shape not in (block.shape, block.shape[: 2 - (block.shape[1] == 1)]):
            raise InputError(
                f"{name} has shape {values.shape}: give an array of shape {block.shape}, or leave "
                "the register out"
            )
        block += values.reshape(block.shape)
    return torch.as_tensor(written)


def unembed(stream: Stream, *readings: LinearRead, bias: np.ndarray | None = None) -> Unembed:
    """Returns the unembedding whose outputs are these linear reads plus the bias.

    The d_out outputs are the coordinates of all `readings` in order; `bias` has shape (d_out,).
    """
    columns, offset = _stack(stream, readings)
    if offset.any():
        raise InputError(
            f"'{_joined(readings)}' has a constant term: pass this constant to `unembed` as "
            "the argument `bias`"
        )
    return Unembed(torch.as_tensor(columns), None if bias is None else torch.tensor(bias))


def _stack(stream: Stream, readings: LinearReads) -> tuple[np.ndarray, np.ndarray]:
    """The weights (D, width) and bias (width,) of concatenated linear reads."""
    width = _width(readings)
    weights, biases = np.zeros((stream.d_model, width)), np.zeros(width)
    _write(stream, readings, weights, biases)
    return weights, biases


def _write(stream: Stream, readings: LinearReads, weights: np.ndarray, bias: np.ndarray) -> None:
    """Adds the weights of concatenated linear reads to the first columns of an array."""
    stop = 0
    for reading in _each(readings):
        start, stop = stop, stop + reading.width
        stream.write(reading, weights[:, start:stop], bias[start:stop])


def _width(readings: LinearReads) -> int:
    """The width of concatenated linear reads."""
    return sum(reading.width for reading in _each(readings))


def _placed(stream: Stream, head: Head) -> np.ndarray:
    """The matrix (width, D) that writes the value of a head to registers."""
    placed = _stack(stream, tuple(stream.read(name) for name in _each(head.output)))[0].T
    return head.times.matrix @ placed if isinstance(head.times, Map) else head.times * placed
