"""What the ladders are made of: slots of registers, and layers that combine them.

A slot holds, for one exponent p, of a residual R = E^p with S·G = I − R, on every token

    u = G x,   e = R x,   s = y − xᵀG b,        and where it is kept   w = S R x,   f = xᵀR b.

The slot "low" starts at exponent 0, where u = 0, e = x and s = y; every other register starts as 0.
The prediction is −s at the query.  The proofs are in `ladder.py` and `ladder_gram.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import Any, Protocol, runtime_checkable

from constructions.assembly import Head, LinearReads, block, embed, moved, unembed
from constructions.blocks import Block, Stage
from constructions.examples import Examples
from constructions.regression.stages import (
    Correlation,
    Image,
    Inverse,
    Prediction,
    Residual,
    Residuals,
)
from constructions.stream import LinearRead, Stream
from constructions.transformer import Transformer

SLOTS = ("low", "high")
HOLDS: dict[str, tuple[Any, float]] = {
    "u": (Inverse, 1.0),
    "e": (Residual, 1.0),
    "s": (Prediction, -1.0),
    "w": (Image, 1.0),
    "f": (Correlation, 1.0),
}
"""What stands in a part of a slot, at queries, and the sign with which it stands there."""


@runtime_checkable
class Made(Protocol):
    """What a layer makes: these parts of a slot, of a residual to this exponent."""

    @property
    def slot(self) -> str: ...
    @property
    def exponent(self) -> int: ...
    @property
    def parts(self) -> tuple[str, ...]: ...


def room_for(d: int, layers: float) -> None:
    """ValueError if so many layers do not fit; for powers that are too large to be computed."""
    parts = [f"{slot}_{part}" for slot in SLOTS for part in "ues"]
    _stream(d, parts).fits(ceil(layers), heads=7)


def slots_stream(d: int, plan: Sequence[Iterable[Made]]) -> Stream:
    """The registers that a plan uses; ValueError if the memory does not hold so many layers.

    What is read together stands together, so that products of registers are those of neighbouring
    columns.
    """
    parts = {f"{rung.slot}_{part}" for rungs in plan for rung in rungs for part in rung.parts}
    stream = _stream(d, parts)
    stream.fits(len(plan), heads=9)
    return stream


def _stream(d: int, parts: Iterable[str]) -> Stream:
    used = {"x", "y", "low_e", "low_u", "low_s", *parts}
    order = "high_w high_e x low_e low_w low_u high_u low_s y high_s low_f high_f"
    widths = {name: 1 if name[-1] in "sfy" else d for name in order.split() if name in used}
    return Stream(**widths)


class Climb:
    """Layers that are being written, one after the other.

    Slots hold powers or combinations of the residuals `of`.  Heads with the same query and key
    are one, and one head with a diagonal mask moves registers of a token to other registers of it.
    Reads of registers that are still 0 are left out.
    """

    def __init__(self, stream: Stream, of: Residuals) -> None:
        self.stream, self.of = stream, of
        self._blocks, self._stages = list[Block](), list[Stage]()
        self._empty = {*stream} - {"x", "y", "low_e", "low_s"}
        self._begin()

    def _begin(self) -> None:
        self._scores: dict[tuple[LinearReads, LinearReads], list[tuple[LinearRead, str]]] = {}
        self._own: dict[str, LinearRead] = {}
        self._made: list[tuple[str, Made, str]] = []

    def read(self, name: str) -> LinearRead:
        """A register, or 0 as long as nothing has been added to it."""
        return (0.0 if name in self._empty else 1.0) * self.stream.read(name)

    def parts(self, rung: Made, last: bool) -> Iterator[str]:
        """The parts of a rung, of the last one only s; each is noted as made."""
        for part in ("s",) if last else rung.parts:
            self._made.append((f"{rung.slot}_{part}", rung, part))
            yield part

    def becomes(self, into: str, *readings: LinearRead) -> None:
        """A register becomes the sum of these readings of its own token and of the scores."""
        before = self._own.get(into, -self.read(into))
        self._own[into] = sum(readings, start=before)

    def score(
        self, asks: LinearReads, answers: LinearReads, carried: LinearRead, into: str
    ) -> None:
        """Σ_i ⟨query, key_i⟩ value_i is added to a register."""
        if all(any(each.terms for each in _each(part)) for part in (asks, answers, carried)):
            self._scores.setdefault((asks, answers), []).append((carried, into))

    def product(self, into: str, part: str, a: str, c: str, factor: float = 1.0) -> None:
        """factor·R_a²R_c of the slots a and c, as u, e or s of it."""
        x, y = self.read("x"), self.read("y")
        (u_a, e_a, s_a), (u_c, e_c, s_c) = ([self.read(f"{s}_{p}") for p in "ues"] for s in (a, c))
        if part == "u":
            self.becomes(into, factor * (2 * u_a + u_c))
            self.score((u_a + u_c, u_c), (x, e_a), -factor * u_a, into)
        elif part == "e":
            self.becomes(into, factor * e_c)
            self.score(e_c, e_a + x, -factor * u_a, into)
        else:
            self.becomes(into, factor * s_c)
            self.score(e_c, u_a, -factor * (s_a + y), into)

    def next_layer(self) -> None:
        """The layer is whole."""
        heads = [
            Head(
                asks,
                answers,
                tuple(carried for carried, _ in sums),
                tuple(into for _, into in sums),
            )
            for (asks, answers), sums in self._scores.items()
        ]
        own = {into: reading for into, reading in self._own.items() if reading.terms}
        if own:
            heads.append(moved(tuple(own.values()), tuple(own)))
        self._blocks.append(block(self.stream, heads))
        self._empty -= {*own, *(into for sums in self._scores.values() for _, into in sums)}
        for register, rung, part in self._made:
            what, sign = HOLDS[part]
            self._stages.append(
                Stage(len(self._blocks), register, what(rung.exponent, self.of), sign)
            )
        self._begin()

    def model(self, d: int, source: str) -> Transformer:
        """The transformer of the layers so far, read at s of the slot low."""
        return Transformer(
            embed(self.stream, x={"x": 1.0, "low_e": 1.0}, y={"y": 1.0, "low_s": 1.0}),
            self._blocks,
            unembed(self.stream, -self.stream.read("low_s")),
            interface=Examples(d),
            stream=self.stream,
            stages=tuple(self._stages),
            source=source,
        )


def _each(readings: LinearReads) -> tuple[LinearRead, ...]:
    return readings if isinstance(readings, tuple) else (readings,)
