"""The weight language: heads and MLPs written in terms of named registers.

A head says which reading asks, which answers, which is carried and where it is added.  An MLP is a
list of words, each of which is added to a register; every word is a sum of units
relu(reading)·times and a constant:

    Move    reading                                         always exact
    Unit    times·relu(reading)                             always exact
    Clip    clip(reading, low, high)                        always exact
    Step    times·[reading ≥ at]                            exact outside (at − margin, at)
    And, Or times·(a and b and not c)                       exact on bits
    Table   the entry of the key that a register holds      exact for the keys

The tensors, the printed lines and what they say of exactness come from the words alone.  All index
arithmetic of the constructions is in `stream.py` and here.  Nothing is rounded: every number that a
construction names appears in the tensors as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
import torch

from constructions.attention import Attention, Mask, Normalise
from constructions.margins import Margin
from constructions.stream import Map, Reading, Stream, number, one
from constructions.transformer import MLP, Block, Embed, Unembed, UnitNorm
from theory.checks import InputError

Readings = Reading | tuple[Reading, ...]
Times = float | Map


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


@runtime_checkable
class Word(Protocol):
    """What is added to the register `into`: the sum of `units`, and `constant` in each coordinate.

    As text it says what is added, and where it is exact if that is not everywhere.
    """

    @property
    def into(self) -> str: ...
    @property
    def units(self) -> tuple[Unit, ...]: ...
    @property
    def constant(self) -> float: ...


@dataclass(frozen=True)
class Unit:
    """times·relu(reading), coordinate by coordinate, or relu(reading) times a matrix."""

    reads: Reading
    into: str
    times: Times = 1.0
    constant = 0.0

    @property
    def units(self) -> tuple[Unit, ...]:
        return (self,)

    def __str__(self) -> str:
        if isinstance(self.times, Map):
            return f"relu({self.reads})·{self.times.name} added to {self.into}"
        sign = {1.0: "", -1.0: "−"}.get(self.times, f"{number(self.times)}·")
        return f"{sign}relu({self.reads}) added to {self.into}"


@dataclass(frozen=True)
class Move:
    """The reading itself.  Each coordinate takes two units, relu(u) − relu(−u) = u; a constant in
    the reading takes none."""

    reads: Reading
    into: str

    @property
    def constant(self) -> float:
        return self.reads.constant

    @property
    def units(self) -> tuple[Unit, ...]:
        moved = self.reads - self.constant * one
        return (Unit(moved, self.into), Unit(-moved, self.into, -1.0)) if moved.terms else ()

    def __str__(self) -> str:
        return f"{self.reads} added to {self.into}"


@dataclass(frozen=True)
class Clip:
    """clip(reading, low, high) = low + relu(reading − low) − relu(reading − high)."""

    reads: Reading
    low: float
    high: float
    into: str

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InputError(f"clip between {self.low:g} and {self.high:g}: give low < high")

    @property
    def constant(self) -> float:
        return self.low

    @property
    def units(self) -> tuple[Unit, ...]:
        below, above = self.reads - self.low * one, self.reads - self.high * one
        return Unit(below, self.into), Unit(above, self.into, -1.0)

    def __str__(self) -> str:
        return f"clip({self.reads}, {number(self.low)}, {number(self.high)}) added to {self.into}"


@dataclass(frozen=True)
class Step:
    """times·[reading ≥ at] for readings that are not between at − margin and at:

        (relu(reading − at + margin) − relu(reading − at))/margin.

    The margin is a power of two, so that nothing is rounded.
    """

    reads: Reading
    at: float
    into: str
    margin: float = 1.0
    times: float = 1.0
    constant = 0.0

    def __post_init__(self) -> None:
        if self.margin <= 0 or np.frexp(self.margin)[0] != 0.5:
            raise InputError(f"the margin of a step is {self.margin:g}: give a power of two")

    @property
    def units(self) -> tuple[Unit, ...]:
        slope, above = self.times / self.margin, self.reads - self.at * one
        return Unit(above + self.margin * one, self.into, slope), Unit(above, self.into, -slope)

    def __str__(self) -> str:
        size = "" if self.times == 1 else f"{number(self.times)}·"
        at, below = number(self.at), number(self.at - self.margin)
        return (
            f"{size}[{self.reads} ≥ {at}] added to {self.into}, "
            f"exact unless {below} < {self.reads} < {at}"
        )


@dataclass(frozen=True)
class And:
    """times·(all of the literals), each a reading that is 0 or 1: relu(Σ literals − (count − 1)).

    `one − a` is the literal "not a".  One of them may be any number in [0, 1]: it is then what
    passes if the others are 1.
    """

    literals: tuple[Reading, ...]
    into: str
    times: Times = 1.0
    constant = 0.0

    @property
    def units(self) -> tuple[Unit, ...]:
        total = sum(self.literals[1:], start=self.literals[0])
        return (Unit(total - (len(self.literals) - 1) * one, self.into, self.times),)

    def __str__(self) -> str:
        return _gate(" and ", self) + ", one of which may be a fraction"


@dataclass(frozen=True)
class Or:
    """times·(any of the literals), each a reading that is 0 or 1: 1 − relu(1 − Σ literals)."""

    literals: tuple[Reading, ...]
    into: str
    times: float = 1.0

    @property
    def constant(self) -> float:
        return self.times

    @property
    def units(self) -> tuple[Unit, ...]:
        total = sum(self.literals[1:], start=self.literals[0])
        return (Unit(one - total, self.into, -self.times),)

    def __str__(self) -> str:
        return _gate(" or ", self)


def _gate(joint: str, gate: And | Or) -> str:
    def word(literal: Reading) -> str:
        negated = one - literal
        return f"not {negated}" if len(negated.terms) == 1 and literal.constant else str(literal)

    text = f"({joint.join(map(word, gate.literals))})"
    if isinstance(gate.times, Map):
        text += f"·{gate.times.name}"
    elif gate.times != 1:
        text = f"{number(gate.times)}·{text}"
    return f"{text} added to {gate.into}, exact on bits"


@dataclass(frozen=True)
class Table:
    """entries[v] where the reading is keys[v]: the sum of relu(⟨reading, key⟩ − ‖key‖² + 1)·entry.

    keys (V, width) are whole numbers with ⟨key, other⟩ < ‖key‖² for all others, as those of one
    length are; so the unit of the key that is held is 1 and the others are 0.  entries (V, width of
    `into`).  A reading that is 0 has no entry: nothing is added.
    """

    reads: Reading
    keys: np.ndarray
    entries: np.ndarray
    into: str
    constant = 0.0

    def __post_init__(self) -> None:
        if len(self.keys) != len(self.entries):
            raise InputError(f"{len(self.keys)} keys and {len(self.entries)} entries: give as many")
        products = self.keys @ self.keys.T
        lengths = np.diag(products)
        if not (self.keys == np.round(self.keys)).all() or lengths.min() < 1:
            raise InputError("the keys of a table are whole numbers, not all 0: scale them")
        if (products > lengths[:, None] - 1 + np.eye(len(self.keys))).any():
            raise InputError(
                "the keys of a table must be told apart: ⟨key, other⟩ < ‖key‖² for any two, "
                "as for different codes of one length"
            )

    @property
    def units(self) -> tuple[Unit, ...]:
        offset = Map(1.0 - (self.keys**2).sum(1)[None], "offset")
        found = self.reads @ Map(self.keys.T.astype(np.float64), "keys") + one @ offset
        return (Unit(found, self.into, Map(self.entries.astype(np.float64), "entries")),)

    def __str__(self) -> str:
        return (
            f"table of {len(self.keys)} entries at {self.reads} added to {self.into}, "
            "exact for its keys and 0"
        )


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
