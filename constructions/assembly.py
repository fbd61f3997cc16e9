"""From words to weights: heads and MLPs written in terms of named registers.

A head says which reading asks, which answers, which is carried and where it is added; an MLP says
which reading is moved where.  All index arithmetic of the constructions is in `stream.py` and here.
Nothing is rounded: every number that a construction names appears in the tensors as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch

from constructions.attention import Attention, Mask, Normalise
from constructions.stream import Reading, Stream, number
from constructions.transformer import MLP, Block, Embed, Unembed
from theory.checks import InputError

Readings = Reading | tuple[Reading, ...]


@dataclass(frozen=True)
class Head:
    """One head: Σ_i ⟨asks_t, answers_i⟩ · times · carries_i is added to the registers `into`.

    Tuples are stacked: ⟨(a, b), (c, d)⟩ = ⟨a, c⟩ + ⟨b, d⟩, and each carried reading goes into the
    register of the same place.
    """

    asks: Readings
    answers: Readings
    carries: Readings
    into: str | tuple[str, ...]
    times: float = 1.0

    def __str__(self) -> str:
        targets = (self.into,) if isinstance(self.into, str) else self.into
        into = targets[0] if len(targets) == 1 else f"({', '.join(targets)})"
        asks, answers, carried = map(_words, (self.asks, self.answers, self.carries))
        if self.times != 1 and not isinstance(self.carries, tuple) and len(self.carries.terms) == 1:
            carried = str(self.times * self.carries)
        elif self.times != 1:
            carried = f"{number(self.times)}·{carried}"
        return f"{asks} asks, {answers} answers, {carried} added to {into}"


def _words(readings: Readings) -> str:
    parts = readings if isinstance(readings, tuple) else (readings,)
    return str(parts[0]) if len(parts) == 1 else f"({', '.join(map(str, parts))})"


def signed_pair(head: Head) -> tuple[Head, Head]:
    """Two ReLU heads that act as one linear head: relu(s)·v + relu(−s)·(−v) = s·v.

    The second value must be the negative of the first: with equal signs the pair computes |s|·v,
    as the printed proof of [Fu2024, Theorem 5.1] does in its equations (21) and (28).
    """
    asks = head.asks if isinstance(head.asks, tuple) else (head.asks,)
    opposite = replace(head, asks=tuple(-reading for reading in asks), times=-head.times)
    return head, opposite


@dataclass(frozen=True)
class Move:
    """An MLP's linear map: the reading is added to the register `into`, exactly.

    Each coordinate takes two units, relu(u) − relu(−u) = u.
    """

    reads: Reading
    into: str

    def __str__(self) -> str:
        return f"{self.reads} added to {self.into}"


def attention(stream: Stream, heads: Iterable[Head], normalise: Normalise, mask: Mask) -> Attention:
    """The tensors of these heads; narrower heads are padded with zeros to the widest."""
    asked, answered, carried, added = [], [], [], []
    for head in heads:
        asks, answers = _stack(stream, head.asks), _stack(stream, head.answers)
        carries, carry_bias = _stack(stream, head.carries)
        targets = (head.into,) if isinstance(head.into, str) else head.into
        places = np.concatenate([stream.placement(name) for name in targets])
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
        added.append(head.times * places)
    return Attention(
        W_Q=_padded([weights for weights, _ in asked], axis=1),
        W_K=_padded([weights for weights, _ in answered], axis=1),
        W_V=_padded(carried, axis=1),
        W_O=_padded(added, axis=0),
        b_Q=_padded([bias for _, bias in asked], axis=0),
        b_K=_padded([bias for _, bias in answered], axis=0),
        normalise=normalise,
        mask=mask,
    )


def linear_mlp(
    stream: Stream, moves: Iterable[Move], constants: Mapping[str, float] | None = None
) -> MLP:
    """An MLP that carries out these moves at once, and adds the constants to their registers."""
    W_in, b_in = [np.zeros((stream.d_model, 0))], [np.zeros(0)]
    W_out, b_out = [np.zeros((0, stream.d_model))], np.zeros(stream.d_model)
    for move in moves:
        weights, bias = stream.matrix(move.reads)
        place = stream.placement(move.into)
        W_in += [weights, -weights]
        b_in += [bias, -bias]
        W_out += [place, -place]
    for name, value in (constants or {}).items():
        b_out[stream[name]] = value
    return MLP(
        torch.as_tensor(np.concatenate(W_in, axis=1)),
        torch.as_tensor(np.concatenate(b_in)),
        torch.as_tensor(np.concatenate(W_out)),
        torch.as_tensor(b_out),
    )


def block(
    stream: Stream,
    heads: Iterable[Head] = (),
    moves: Iterable[Move] = (),
    constants: Mapping[str, float] | None = None,
    *,
    normalise: Normalise = "linear",
    mask: Mask = "examples",
) -> Block:
    """One layer from its heads, moves and constants; absent parts leave no weights behind."""
    heads, moves = tuple(heads), tuple(moves)
    kind = "" if normalise == "linear" else f"{normalise} "
    lines = [f"{kind}head: {head}" for head in heads] + [f"mlp: {move}" for move in moves]
    lines += [f"mlp: {number(value)} added to {name}" for name, value in (constants or {}).items()]
    return Block(
        attention(stream, heads, normalise, mask) if heads else None,
        linear_mlp(stream, moves, constants) if moves or constants else None,
        tuple(lines),
    )


def embed(stream: Stream, **columns: Mapping[str, float]) -> Embed:
    """W_E from the token's columns, in order: the registers each is written into, and the factors.

    `embed(stream, x={"x": 1, "u": 0.5}, y={"y": 1})`: the first d columns go into x and, halved,
    into u; the next one goes into y.
    """
    rows = [
        sum(factor * stream.placement(name) for name, factor in targets.items())
        for targets in columns.values()
    ]
    return Embed(torch.as_tensor(np.concatenate(rows)))


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


def unembed(stream: Stream, reading: Reading) -> Unembed:
    """W_U that reads this combination of registers."""
    return Unembed(torch.as_tensor(stream.matrix(reading)[0]))


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
