"""The words of an MLP: what is added to a register, as units relu(reading)·times and a constant.

    Move    reading                                         always exact
    Unit    times·relu(reading)                             always exact
    Clip    clip(reading, low, high)                        always exact
    Step    times·[reading ≥ at]                            exact outside (at − margin, at)
    And, Or times·(a and b and not c)                       exact on bits
    Table   the entry of the key that registers hold        exact for the keys

Flat tables and gates also forgive: what they compare may be off by a quarter, and nothing of that
comes through.  Each says in print what it adds and where it is exact; `assembly.py` makes
tensors of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from constructions.stream import Map, Reading, number, one
from theory.kinds import InputError

Times = float | Map
Into = str | tuple[str, ...]


class Word(ABC):
    """What is added to the register `into`, or to several side by side: the sum of `units`, and
    `constant`, a number for each coordinate or one for all.

    As text it says what is added, and where it is exact if that is not everywhere.
    """

    into: Into

    @property
    @abstractmethod
    def units(self) -> tuple[Unit, ...]: ...

    @property
    def constant(self) -> float | np.ndarray:
        return 0.0

    @property
    def registers(self) -> tuple[str, ...]:
        """The registers that something is added to."""
        return (self.into,) if isinstance(self.into, str) else self.into

    @property
    def _place(self) -> str:
        return self.registers[0] if len(self.registers) == 1 else f"({', '.join(self.registers)})"


@dataclass(frozen=True)
class Unit(Word):
    """times·relu(reading), coordinate by coordinate, or relu(reading) times a matrix."""

    reads: Reading
    into: Into
    times: Times = 1.0

    @property
    def units(self) -> tuple[Unit, ...]:
        return (self,)

    def __str__(self) -> str:
        if isinstance(self.times, Map):
            return f"relu({self.reads})·{self.times.name} → {self._place}"
        sign = {1.0: "", -1.0: "−"}.get(self.times, f"{number(self.times)}·")
        return f"{sign}relu({self.reads}) → {self._place}"


@dataclass(frozen=True)
class Move(Word):
    """The reading itself.  Each coordinate takes two units, relu(u) − relu(−u) = u; a constant in
    the reading takes none."""

    reads: Reading
    into: str

    @property
    def constant(self) -> np.ndarray:
        return self.reads.constant

    @property
    def units(self) -> tuple[Unit, ...]:
        moved = self.reads.without_constant
        return (Unit(moved, self.into), Unit(-moved, self.into, -1.0)) if moved.terms else ()

    def __str__(self) -> str:
        return f"{self.reads} → {self.into}"


@dataclass(frozen=True)
class Clip(Word):
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
        return f"clip({self.reads}, {number(self.low)}, {number(self.high)}) → {self.into}"


@dataclass(frozen=True)
class Step(Word):
    """times·[reading ≥ at] for readings that are not between at − margin and at:

        (relu(reading − at + margin) − relu(reading − at))/margin.

    The margin is a power of two, so that nothing is rounded.
    """

    reads: Reading
    at: float
    into: str
    margin: float = 1.0
    times: float = 1.0

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
            f"{size}[{self.reads} ≥ {at}] → {self.into}, exact unless {below} < {self.reads} < {at}"
        )


@dataclass(frozen=True)
class _Gate(Word):
    literals: tuple[Reading, ...]
    into: str
    times: Times = 1.0

    @property
    def total(self) -> Reading:
        return sum(self.literals[1:], start=self.literals[0])

    def __str__(self) -> str:
        def word(literal: Reading) -> str:
            negated = one - literal
            one_term = len(negated.terms) == 1 and literal.constant.any()
            return f"not {negated}" if one_term else str(literal)

        text = f"({f' {type(self).__name__.lower()} '.join(map(word, self.literals))})"
        if isinstance(self.times, Map):
            text += f"·{self.times.name}"
        elif self.times != 1:
            text = f"{number(self.times)}·{text}"
        return f"{text} → {self.into}, exact on bits"


@dataclass(frozen=True)
class And(_Gate):
    """times·(all of the literals), each a reading that is 0 or 1: relu(Σ literals − (count − 1)).

    `one − a` is the literal "not a".  One of them may be any number in [0, 1]: it is then what
    passes if the others are 1.

    A `flat` one takes relu(2z − ½) − relu(2z − 3/2) for relu(z): its literals may be off by a
    quarter in all; two units, and times is a number.
    """

    flat: bool = False

    @property
    def units(self) -> tuple[Unit, ...]:
        total = self.total - (len(self.literals) - 1) * one
        if not self.flat:
            return (Unit(total, self.into, self.times),)
        assert not isinstance(self.times, Map)
        low, high = 2.0 * total - 0.5 * one, 2.0 * total - 1.5 * one
        return Unit(low, self.into, self.times), Unit(high, self.into, -self.times)

    def __str__(self) -> str:
        more = (
            ", and if off by a quarter in all" if self.flat else ", one of which may be a fraction"
        )
        return f"{super().__str__()}{more}"


@dataclass(frozen=True)
class Or(_Gate):
    """times·(any of the literals), each a reading that is 0 or 1: 1 − relu(1 − Σ literals)."""

    times: float = 1.0

    @property
    def constant(self) -> float:
        return self.times

    @property
    def units(self) -> tuple[Unit, ...]:
        return (Unit(one - self.total, self.into, -self.times),)


@dataclass(frozen=True)
class Table(Word):
    """entries[v] where the readings are keys[v]: the sum of relu(z)·entry, z = ⟨reading, key⟩ −
    ‖key‖² + 1.

    keys (V, width of the readings side by side) are whole numbers with ⟨key, other⟩ < ‖key‖² for
    all others, as those of one length are; so z is 1 for the key that is held and at most 0 for the
    others.  entries (V, width of `into`).  A reading that is 0 has no entry: nothing is added.

    A `flat` table takes relu(2z − ½) − relu(2z − 3/2) for relu(z): 1 from z = ¾ on and 0 up to ¼,
    so that z may be off by a quarter and the entry is still exact; two units for each key.
    """

    reads: Reading | tuple[Reading, ...]
    keys: np.ndarray
    entries: np.ndarray
    into: Into
    flat: bool = False

    def __post_init__(self) -> None:
        if len(self.keys) != len(self.entries):
            raise InputError(f"{len(self.keys)} keys and {len(self.entries)} entries: give as many")
        width = sum(reading.width for reading in self._reads)
        if self.keys.shape[1] != width:
            raise InputError(f"keys of width {self.keys.shape[1]} for readings of width {width}")
        lengths = (self.keys**2).sum(1)
        if not (self.keys == np.round(self.keys)).all() or lengths.min() < 1:
            raise InputError("the keys of a table are whole numbers, not all 0: scale them")
        # Different keys of one length are told apart (Cauchy–Schwarz); others are compared.
        alike = (lengths == lengths[0]).all()
        if alike and len(np.unique(self.keys, axis=0)) == len(self.keys):
            return
        products = self.keys @ self.keys.T
        if (products > lengths[:, None] - 1 + np.eye(len(self.keys))).any():
            raise InputError(
                "the keys of a table must be told apart: ⟨key, other⟩ < ‖key‖² for any two, "
                "as for different codes of one length"
            )

    @property
    def _reads(self) -> tuple[Reading, ...]:
        return self.reads if isinstance(self.reads, tuple) else (self.reads,)

    @property
    def units(self) -> tuple[Unit, ...]:
        scale, below = (2.0, 0.5) if self.flat else (1.0, 0.0)
        shift = scale * (1.0 - (self.keys**2).sum(1)[None]) - below
        found, at = one @ Map(shift, "offset"), 0
        for reading in self._reads:
            keys = self.keys[:, at : at + reading.width].T.astype(np.float64)
            found, at = found + reading @ Map(scale * keys, "keys"), at + reading.width
        entries = Map(self.entries.astype(np.float64), "entries")
        held = Unit(found, self.into, entries)
        if not self.flat:
            return (held,)
        return held, Unit(found - one, self.into, Map(-entries.matrix, "−entries"))

    def __str__(self) -> str:
        reads = ", ".join(map(str, self._reads))
        reads = reads if len(self._reads) == 1 else f"({reads})"
        off = ", and if off by a quarter in all" if self.flat else ""
        return (
            f"table of {len(self.keys)} entries at {reads} → {self._place}, "
            f"exact for its keys and 0{off}"
        )
