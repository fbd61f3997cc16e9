"""MLP primitives: functions of registers that an MLP adds to a register.

    Move    u                                               always exact
    ReLU    times·relu(u)                                   always exact
    Clip    clip(u, low, high)                              always exact
    Step    times·[u ≥ at]                                  exact outside (at − margin, at)
    And, Or times·(a and b and not c)                       exact on bits
    Table        the entry of the key in the registers       exact for the keys
    Staircase    Σ_k entries_k·[u ≥ at_k]                    exact outside (at_k − margin_k, at_k)
    Interpolation  linear between knots of u                 always exact

where u, a, b, c are linear reads.  Each primitive is a sum of hidden neurons relu(u)·times and a
constant; `assembly.py` makes tensors of them.  Flat tables and gates are also exact if the numbers
that they compare have an error of at most 1/4.  The text of a primitive states which function it
adds and where this is exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from constructions.stream import LinearRead, Map, number, one
from theory.kinds import InputError

Times = float | Map
Into = str | tuple[str, ...]


class Primitive(ABC):
    """A function that an MLP adds to the register `into`, or to several registers.

    The function is the sum of the hidden `neurons` and of `constant`, which has one number for each
    coordinate or one number for all. The text of a primitive states the function and, if it is not
    exact everywhere, where it is exact.
    """

    into: Into

    @property
    @abstractmethod
    def neurons(self) -> tuple[ReLU, ...]: ...

    @property
    def constant(self) -> float | np.ndarray:
        return 0.0

    @property
    def registers(self) -> tuple[str, ...]:
        """The registers to which the primitive is added."""
        return (self.into,) if isinstance(self.into, str) else self.into

    @property
    def _place(self) -> str:
        return self.registers[0] if len(self.registers) == 1 else f"({', '.join(self.registers)})"


@dataclass(frozen=True)
class ReLU(Primitive):
    """Adds times·relu(u) of a linear read u, coordinate by coordinate; `times` may be a matrix."""

    reads: LinearRead
    into: Into
    times: Times = 1.0

    @property
    def neurons(self) -> tuple[ReLU, ...]:
        return (self,)

    def __str__(self) -> str:
        if isinstance(self.times, Map):
            return f"relu({self.reads})·{self.times.name} → {self._place}"
        sign = {1.0: "", -1.0: "−"}.get(self.times, f"{number(self.times)}·")
        return f"{sign}relu({self.reads}) → {self._place}"


@dataclass(frozen=True)
class Move(Primitive):
    """Adds a linear read u to a register.

    The identity relu(u) − relu(−u) = u gives two neurons for each coordinate. A constant term needs
    no neuron.
    """

    reads: LinearRead
    into: str

    @property
    def constant(self) -> np.ndarray:
        return self.reads.constant

    @property
    def neurons(self) -> tuple[ReLU, ...]:
        moved = self.reads.without_constant
        return (ReLU(moved, self.into), ReLU(-moved, self.into, -1.0)) if moved.terms else ()

    def __str__(self) -> str:
        return f"{self.reads} → {self.into}"


@dataclass(frozen=True)
class Clip(Primitive):
    """Adds clip(u, low, high) = low + relu(u − low) − relu(u − high) of a linear read u."""

    reads: LinearRead
    low: float
    high: float
    into: str

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InputError(
                f"a clip primitive has low = {self.low:g} and high = {self.high:g}: give low < high"
            )

    @property
    def constant(self) -> float:
        return self.low

    @property
    def neurons(self) -> tuple[ReLU, ...]:
        below, above = self.reads - self.low * one, self.reads - self.high * one
        return ReLU(below, self.into), ReLU(above, self.into, -1.0)

    def __str__(self) -> str:
        return f"clip({self.reads}, {number(self.low)}, {number(self.high)}) → {self.into}"


@dataclass(frozen=True)
class Step(Primitive):
    """Adds times·[u ≥ at], for linear reads u with no value between at − margin and at.

    The value added is

        times·(relu(u − at + margin) − relu(u − at))/margin.

    The margin is a power of two, so that nothing is rounded.
    """

    reads: LinearRead
    at: float
    into: str
    margin: float = 1.0
    times: float = 1.0

    def __post_init__(self) -> None:
        if np.frexp(self.margin)[0] != 0.5:
            raise InputError(
                f"the margin of a step primitive is {self.margin:g}: give a margin that is a "
                "power of two"
            )

    @property
    def neurons(self) -> tuple[ReLU, ...]:
        slope, above = self.times / self.margin, self.reads - self.at * one
        return ReLU(above + self.margin * one, self.into, slope), ReLU(above, self.into, -slope)

    def __str__(self) -> str:
        size = "" if self.times == 1 else f"{number(self.times)}·"
        at, below = number(self.at), number(self.at - self.margin)
        return (
            f"{size}[{self.reads} ≥ {at}] → {self.into}, exact unless {below} < {self.reads} < {at}"
        )


@dataclass(frozen=True)
class _Gate(Primitive):
    literals: tuple[LinearRead, ...]
    into: str
    times: Times = 1.0

    @property
    def total(self) -> LinearRead:
        return sum(self.literals[1:], start=self.literals[0])

    def __str__(self) -> str:
        def word(literal: LinearRead) -> str:
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
    """Adds `times` times the conjunction of literals, which are linear reads in {0, 1}.

    The conjunction is relu(Σ literals − (count − 1)), where count is the number of literals.

    The literal "not a" is `one − a`. One literal may be any number in [0, 1]: if all other literals
    are 1, the conjunction has the value of this literal.

    If `flat`, relu(z) for z = Σ literals − (count − 1) is replaced by
    relu(2z − ½) − relu(2z − 3/2). The conjunction is then exact if the errors of the literals sum
    to at most 1/4. A flat conjunction has two neurons, and `times` must be a number.
    """

    flat: bool = False

    @property
    def neurons(self) -> tuple[ReLU, ...]:
        total = self.total - (len(self.literals) - 1) * one
        if not self.flat:
            return (ReLU(total, self.into, self.times),)
        assert not isinstance(self.times, Map)
        low, high = 2.0 * total - 0.5 * one, 2.0 * total - 1.5 * one
        return ReLU(low, self.into, self.times), ReLU(high, self.into, -self.times)

    def __str__(self) -> str:
        more = (
            ", and if off by a quarter in all" if self.flat else ", one of which may be a fraction"
        )
        return f"{super().__str__()}{more}"


@dataclass(frozen=True)
class Or(_Gate):
    """Adds `times` times the disjunction 1 − relu(1 − Σ literals) of linear reads in {0, 1}."""

    times: float = 1.0

    @property
    def constant(self) -> float:
        return self.times

    @property
    def neurons(self) -> tuple[ReLU, ...]:
        return (ReLU(one - self.total, self.into, -self.times),)


@dataclass(frozen=True)
class Table(Primitive):
    """A lookup table, which adds entries[v] if the linear reads u equal keys[v].

    For V keys, the table adds Σ_v relu(⟨u, keys[v]⟩ − ‖keys[v]‖² + 1)·entries[v] over v = 0, …,
    V − 1.

    The keys (V, total width of the reads) are integers, and any two different keys k and l satisfy
    ⟨k, l⟩ < ‖k‖². Different keys of equal norm satisfy this inequality. So the argument z of relu
    is 1 for the key equal to u and at most 0 for all other keys. The entries have shape (V, width
    of `into`). If u = 0, nothing is added.

    A `flat` table has relu(2z − ½) − relu(2z − 3/2) in place of relu(z): 1 for z ≥ ¾ and 0 for
    z ≤ ¼. The entry added is then exact if z has an error of at most 1/4. A flat table has two
    neurons for each key.
    """

    reads: LinearRead | tuple[LinearRead, ...]
    keys: np.ndarray
    entries: np.ndarray
    into: Into
    flat: bool = False

    def __post_init__(self) -> None:
        if len(self.keys) != len(self.entries):
            raise InputError(
                f"a table has {len(self.keys)} keys and {len(self.entries)} entries: give one "
                "entry for each key"
            )
        width = sum(reading.width for reading in self._reads)
        if self.keys.shape[1] != width:
            raise InputError(
                f"a table has keys of width {self.keys.shape[1]} and linear reads of total "
                f"width {width}: give keys and linear reads of the same width"
            )
        lengths = (self.keys**2).sum(1)
        if not (self.keys == np.round(self.keys)).all() or lengths.min() < 1:
            raise InputError(
                "a table has a key with entries that are not integers, or that are all 0: scale "
                "the keys to integers, and give keys that are not 0"
            )
        # Different keys of equal norm satisfy the condition (Cauchy–Schwarz); others are compared.
        alike = (lengths == lengths[0]).all()
        if alike and len(np.unique(self.keys, axis=0)) == len(self.keys):
            return
        products = self.keys @ self.keys.T
        if (products > lengths[:, None] - 1 + np.eye(len(self.keys))).any():
            raise InputError(
                "two keys of a table violate ⟨key, other key⟩ < ‖key‖²: give different keys of "
                "equal norm, for example"
            )

    @property
    def _reads(self) -> tuple[LinearRead, ...]:
        return self.reads if isinstance(self.reads, tuple) else (self.reads,)

    @property
    def neurons(self) -> tuple[ReLU, ...]:
        scale, below = (2.0, 0.5) if self.flat else (1.0, 0.0)
        shift = scale * (1.0 - (self.keys**2).sum(1)[None]) - below
        found, at = one @ Map(shift, "offset"), 0
        for reading in self._reads:
            keys = self.keys[:, at : at + reading.width].T.astype(np.float64)
            found, at = found + reading @ Map(scale * keys, "keys"), at + reading.width
        entries = Map(self.entries.astype(np.float64), "entries")
        held = ReLU(found, self.into, entries)
        if not self.flat:
            return (held,)
        return held, ReLU(found - one, self.into, Map(-entries.matrix, "−entries"))

    def __str__(self) -> str:
        reads = ", ".join(map(str, self._reads))
        reads = reads if len(self._reads) == 1 else f"({reads})"
        off = ", and if off by a quarter in all" if self.flat else ""
        return (
            f"table of {len(self.keys)} entries at {reads} → {self._place}, "
            f"exact for its keys and 0{off}"
        )


@dataclass(frozen=True)
class Staircase(Primitive):
    """Adds the sum of entries[k] over all k with u ≥ at[k], for a linear read u of width 1.

    With z_k = (u − at[k])/margins[k], it is Σ_k entries[k]·(relu(z_k + 1) − relu(z_k)), for reads u
    with no value between at[k] − margins[k] and at[k].  The margins are powers of two.  The entries
    have shape (number of steps, width of `into`).
    """

    reads: LinearRead
    at: np.ndarray
    margins: np.ndarray
    entries: np.ndarray
    into: Into

    def __post_init__(self) -> None:
        if not len(self.at) == len(self.margins) == len(self.entries) > 0:
            raise InputError(
                f"{len(self.at)} steps have {len(self.margins)} margins and {len(self.entries)} "
                "entries: give a margin and an entry for each step"
            )
        if (np.frexp(self.margins)[0] != 0.5).any():
            raise InputError("the margin of a step is no power of two: give powers of two")

    @property
    def neurons(self) -> tuple[ReLU, ...]:
        slopes = Map(1 / self.margins[None], "slopes")
        above = self.reads @ slopes - one @ Map((self.at / self.margins)[None], "at")
        entries = Map(self.entries.astype(np.float64), "entries")
        negative = Map(-entries.matrix, "−entries")
        return (
            ReLU(above + one @ Map(np.ones((1, len(self.at))), "1"), self.into, entries),
            ReLU(above, self.into, negative),
        )

    def __str__(self) -> str:
        count = "a step" if len(self.at) == 1 else f"{len(self.at)} steps"
        return (
            f"{count} at {self.reads} → {self._place}, exact unless at most "
            f"{number(float(self.margins.max()))} below a step"
        )


@dataclass(frozen=True)
class Interpolation(Primitive):
    """Adds entries[k] if u = knots[k] and, between two knots, the linear interpolation.

    Here u is a linear read of width 1.  Below the first knot nothing is added, and above the last
    one entries[-1].  The knots are ascending, and the entries (number of knots, width of `into`)
    begin with zeros.  A neuron is used at each knot at which the slope changes.
    """

    reads: LinearRead
    knots: np.ndarray
    entries: np.ndarray
    into: Into

    def __post_init__(self) -> None:
        if (np.diff(self.knots) <= 0).any() or len(self.knots) != len(self.entries):
            raise InputError("the knots are not ascending, one for each entry: sort the knots")
        if self.entries[0].any():
            raise InputError("the first entry is not 0: subtract it from all entries")

    def _changes(self) -> np.ndarray:
        """The change of the slope at each knot."""
        slopes = np.diff(self.entries, axis=0) / np.diff(self.knots)[:, None]
        level = np.zeros((1, self.entries.shape[1]))
        changes: np.ndarray = np.diff(np.concatenate([level, slopes, level]), axis=0)
        return changes

    def most(self, largest: float) -> float:
        """The largest sum of the absolute values of all neurons' outputs, for u ≤ `largest`."""
        activations = np.maximum(largest - self.knots, 0)
        return float((activations @ abs(self._changes())).max())

    @property
    def neurons(self) -> tuple[ReLU, ...]:
        changes = self._changes()
        bends = changes.any(1)
        ones = Map(np.ones((1, int(bends.sum()))), "1")
        above = self.reads @ ones - one @ Map(self.knots[bends][None].astype(np.float64), "knots")
        return (ReLU(above, self.into, Map(changes[bends], "slopes")),) if bends.any() else ()

    def __str__(self) -> str:
        low, high = number(float(self.knots[0])), number(float(self.knots[-1]))
        return (
            f"piecewise linear function of {self.reads} with {len(self.knots)} knots from {low} to "
            f"{high} → {self._place}"
        )
