"""The layers of the ladders: slots of registers, and heads that combine them.

A slot belongs to a residual R = E^p of one exponent p. With S·G = I − R, it contains on every token

    u = G x,   e = R x,   s = y − xᵀG b,        and if needed   w = S R x,   f = xᵀR b.

The slot "low" starts at exponent 0, where u = 0, e = x and s = y. All other registers are 0 at
first. The prediction is −s at the query.  The proofs are in `ladder.py` and `ladder_gram.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from math import ceil
from typing import Any, Protocol, runtime_checkable

from constructions.assembly import Head, LinearReads, block, copied, embed, moved, unembed
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
INVARIANTS: dict[str, tuple[Any, float]] = {
    "u": (Inverse, 1.0),
    "e": (Residual, 1.0),
    "s": (Prediction, -1.0),
    "w": (Image, 1.0),
    "f": (Correlation, 1.0),
}
"""The layer invariant of each part of a slot, at queries, and its sign."""


@runtime_checkable
class Written(Protocol):
    """A protocol of what a layer writes to one slot, a group of registers that store one residual.

    The residual is a power or a combination with one `exponent`, and `parts` names the registers
    that the layer writes.
    """

    @property
    def slot(self) -> str: ...
    @property
    def exponent(self) -> int: ...
    @property
    def parts(self) -> tuple[str, ...]: ...
    @property
    def recipe(self) -> Hashable:
        """Everything but the exponent: equal recipes are computed by equal heads."""
        ...


def check_memory(d: int, layers: float) -> None:
    """Raises ValueError if a ladder of `layers` layers and dimension d exceeds the memory."""
    parts = [f"{slot}_{part}" for slot in SLOTS for part in "ues"]
    _stream(d, parts).fits(ceil(layers), heads=7)


def ladder_stream(d: int, plan: Sequence[Iterable[Written]]) -> Stream:
    """The residual stream with the registers that a plan uses.

    Registers that a head reads together are neighbours, so that the head multiplies adjacent
    columns. Raises ValueError if the layers of the plan exceed the memory.
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


class LadderLayers:
    """A builder of ladders, which appends one layer at a time.

    A slot is a group of registers that store one residual of the family `of`. Heads with the same
    query and key are merged, and one head with the mask "diagonal" moves registers of a token to
    other registers of the same token. Linear reads of registers that are still 0 are omitted.
    """

    def __init__(self, stream: Stream, of: Residuals) -> None:
        self.stream, self.of = stream, of
        self._blocks, self._stages = list[Block](), list[Stage]()
        self._empty = {*stream} - {"x", "y", "low_e", "low_s"}
        self._layers = dict[Hashable, tuple[Block, set[str]]]()
        self._begin()

    def _begin(self) -> None:
        self._scores: dict[tuple[LinearReads, LinearReads], list[tuple[LinearRead, str]]] = {}
        self._diagonal: dict[str, LinearRead] = {}
        self._reads = dict[str, LinearRead]()

    def read(self, name: str) -> LinearRead:
        """A linear read of a register, or 0 if nothing has been written to the register yet."""
        if name not in self._reads:
            self._reads[name] = (0.0 if name in self._empty else 1.0) * self.stream.read(name)
        return self._reads[name]

    def layer(self, rungs: Sequence[Written], add: Callable[..., None], *, last: bool) -> None:
        """Appends the layer that writes the rungs, where add(layers, rung, part) adds one part.

        In the last layer, only the part s is written, because the unembedding reads only s. Layers
        of equal recipes that find the same registers empty have equal weights: they are formed once
        and copied.
        """
        made = [(rung, part) for rung in rungs for part in (("s",) if last else rung.parts)]
        same = tuple(rung.recipe for rung in rungs), last, frozenset(self._empty)
        if same in self._layers:
            first, filled = self._layers[same]
            self._blocks.append(copied(first))
        else:
            self._begin()
            for rung, part in made:
                add(self, rung, part)
            first, filled = self._layers[same] = self._formed()
            self._blocks.append(first)
        self._empty -= filled
        for rung, part in made:
            register, (what, sign) = f"{rung.slot}_{part}", INVARIANTS[part]
            self._stages.append(
                Stage(len(self._blocks), register, what(rung.exponent, self.of), sign)
            )

    def assign(self, into: str, *readings: LinearRead) -> None:
        """Sets the register `into` to the sum of linear reads of the same token.

        The outputs of heads of the same layer are added to this sum.
        """
        before = self._diagonal.get(into, -self.read(into))
        self._diagonal[into] = sum(readings, start=before)

    def add_head(self, query: LinearReads, key: LinearReads, value: LinearRead, into: str) -> None:
        """Adds a head that writes Σ_i ⟨query, key_i⟩ value_i to the register `into`.

        The sum is over the tokens i, whose keys and values are the linear reads `key` and `value`.
        """
        if all(any(each.terms for each in _each(part)) for part in (query, key, value)):
            self._scores.setdefault((query, key), []).append((value, into))

    def product(self, into: str, part: str, a: str, c: str, factor: float = 1.0) -> None:
        """Adds one of the parts u, e, s of the product factor·R_a²R_c to the register `into`.

        R_a and R_c are the residuals in the slots a and c. For a residual R = I − S G, the parts on
        a token with input x and label y are u = G x, e = R x and s = y − xᵀG b, where S = XᵀX and b
        = Xᵀy for the examples X.
        """
        x, y = self.read("x"), self.read("y")
        (u_a, e_a, s_a), (u_c, e_c, s_c) = ([self.read(f"{s}_{p}") for p in "ues"] for s in (a, c))
        if part == "u":
            self.assign(into, factor * (2 * u_a + u_c))
            self.add_head((u_a + u_c, u_c), (x, e_a), -factor * u_a, into)
        elif part == "e":
            self.assign(into, factor * e_c)
            self.add_head(e_c, e_a + x, -factor * u_a, into)
        else:
            self.assign(into, factor * s_c)
            self.add_head(e_c, u_a, -factor * (s_a + y), into)

    def _formed(self) -> tuple[Block, set[str]]:
        """The layer of the heads that were added, and the registers to which it writes."""
        heads = [
            Head(
                query,
                key,
                tuple(value for value, _ in sums),
                tuple(into for _, into in sums),
            )
            for (query, key), sums in self._scores.items()
        ]
        diagonal = {into: reading for into, reading in self._diagonal.items() if reading.terms}
        if diagonal:
            heads.append(moved(tuple(diagonal.values()), tuple(diagonal)))
        filled = {*diagonal, *(into for sums in self._scores.values() for _, into in sums)}
        return block(self.stream, heads), filled

    def model(self, d: int, source: str) -> Transformer:
        """The transformer that consists of all layers so far.

        The prediction is −s at the query, where s is the register "low_s".
        """
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
