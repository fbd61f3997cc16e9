"""The numbers that a compiled program holds: registers of width 1, and readings of them.

The *leaves* of an s-op are the s-ops from whose values an elementwise map computes it
(`theory.programs.domains`).  A *column* is a register whose content is a function of the value of
one leaf, or of the values of several.  A function of the values of an s-op is a `Reading`, an
affine function of columns, wherever the columns that exist span it; otherwise a column is added:

    tokens, indices        by the embedding of tokens or positions
    one head               by steps: the head's output, a mean or 1/(w + 1), is compared with
                           thresholds between its possible values
    exact integers         by linear interpolation of the integer
    several leaves         by linear interpolation of an integer Σ_i M_i·(number of leaf i's value)

*Time* counts half-layers: a column with time 2b is known after layer b, and with time 2b − 1 after
the heads of layer b, to its MLP.  At BOS every column has a known value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np

from constructions.programs.functions import (
    Function,
    Table,
    as_function,
    fewest_bends,
    limited,
    line,
    rational,
    sum_of_parts,
    whole,
)
from constructions.stream import LinearRead, Stream, one
from theory.programs.domains import Domains
from theory.programs.elementwise import linear_form
from theory.programs.language import Indices, SOp, Tokens
from theory.programs.values import is_number, unit_of

SPAN = 4  # the number of columns of which combinations are tried


@dataclass(frozen=True)
class Reading:
    """An affine function of registers, known at a time."""

    factors: Mapping[str, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)
    time: int = 0

    def __add__(self, other: Reading) -> Reading:
        factors = dict(self.factors)
        for name, factor in other.factors.items():
            factors[name] = factors.get(name, Fraction(0)) + factor
        factors = {name: factor for name, factor in factors.items() if factor}
        return Reading(factors, self.constant + other.constant, max(self.time, other.time))

    def __rmul__(self, factor: Any) -> Reading:
        c = rational(factor)
        factors = {name: c * value for name, value in self.factors.items() if c}
        return Reading(factors, c * self.constant, self.time if c else 0)


@dataclass
class Column:
    """A register of width 1: its time, its value at BOS, and its largest absolute value.

    `exact` is False for the mean that a head computes, to which the embedding adds `offset`;
    `error` bounds its rounding error in float64.
    `holds` is an s-op and the number in the register for each value of it.
    """

    name: str
    time: int
    most: Fraction
    at_bos: Fraction = Fraction(0)
    exact: bool = True
    offset: Fraction = Fraction(0)
    error: Fraction = Fraction(0)
    holds: tuple[SOp, list[Fraction] | Function] | None = None


@dataclass
class Leaf:
    """A leaf of s-ops: the columns that are functions of its value.

    kind     "embedded", "means" (the output of one head, read by steps) or "integer"
    code     a reading of an exact integer, different for different values, or None
    raw      for means: the register of the head's output and the exact outputs, by value
    columns  names and functions of the columns
    """

    sop: SOp
    kind: str
    code: Reading | None = None
    codes: list[int] = field(default_factory=list)
    raw: tuple[Reading, list[Fraction]] | None = None
    columns: dict[str, Function] = field(default_factory=dict)


@dataclass
class Joint:
    """The columns of an s-op that are functions of several leaves.

    `readings` are integers that distinguish the values of the leaves, and `codes` (leaves, rows)
    these integers in the rows of the table of the s-op.
    """

    readings: list[Reading]
    codes: np.ndarray
    columns: dict[str, Function] = field(default_factory=dict)


class Columns:
    """The columns of a program, which `reading` adds on demand.

    `head` computes a leaf by a head. Embeddings write the columns `embedded`, and MLPs the columns
    in `steps`, functions of a head's output, and in `pieces`, functions of an integer.
    """

    def __init__(self, domains: Domains, head: Callable[[SOp], Leaf]) -> None:
        self.domains, self.head = domains, head
        self.columns: dict[str, Column] = {}
        self.leaves: dict[SOp, Leaf] = {}
        self.tables: dict[SOp, Table] = {}
        self.joint: dict[SOp, Joint] = {}
        self.embedded: dict[str, tuple[SOp, Function]] = {}
        # (layer, raw register) → the columns of the leaf, by name
        self.steps: dict[tuple[int, str], tuple[Leaf, dict[str, Function]]] = {}
        # (layer, argument) → knots and columns
        self.pieces: dict[tuple[int, Any], Pieces] = {}

    # Readings

    def reading(
        self, sop: SOp, function: Sequence[Any] | Function, label: str = "", exact: bool = True
    ) -> Reading:
        """A reading of a function of the values of an s-op, a number for each value.

        The reading is exact, or a mean that a head computed is allowed if not `exact`.
        """
        label, table = label or str(sop), self.table(sop)
        wanted = as_function(function)[table.number]
        if (wanted == wanted[0]).all():
            return Reading(constant=rational(wanted[0]))
        parts = sum_of_parts(table, wanted)
        if parts is None:
            return self._of_several(sop, table, wanted, label)
        constant, functions = parts
        found = Reading(constant=constant)
        for leaf, own in zip(table.leaves, functions, strict=True):
            found += self.of_leaf(self.leaf(leaf), own, label, exact)
        return found

    def table(self, sop: SOp) -> Table:
        """The table of an s-op over its leaves, except combinations that do not occur."""
        if sop not in self.tables:
            leaves = self.domains.leaves[sop]
            places = [{v: i for i, v in enumerate(self.domains.values[leaf])} for leaf in leaves]
            own = {v: i for i, v in enumerate(self.domains.values[sop])}
            entries = self.domains.tables[sop]
            rows = [[place[v] for place, v in zip(places, at, strict=True)] for at in entries]
            number = np.array([own[value] for value in entries.values()], dtype=np.int64)
            sizes = tuple(map(len, places))
            self.tables[sop] = Table(leaves, sizes, np.array(rows).reshape(len(number), -1), number)
        return self.tables[sop]

    def scale(self, sop: SOp) -> Fraction | None:
        """A factor for which numbers are integer combinations of means, or None."""
        table = self.table(sop)
        if not all(map(is_number, self.domains.values[sop])):
            return None
        parts = sum_of_parts(table, as_function(self.domains.values[sop])[table.number])
        slopes = []
        for leaf, own in zip(map(self.leaf, table.leaves), parts[1] if parts else (), strict=False):
            if leaf.raw is not None and (found := line(as_function(leaf.raw[1]), own)) is not None:
                slopes.append(found[0])
        if not any(slopes):
            return None
        over = lcm(*(each.denominator for each in slopes))
        return Fraction(over, gcd(*(int(each * over) for each in slopes)))

    def leaf(self, sop: SOp) -> Leaf:
        """The leaf of this s-op, computed by a head if it is new."""
        if sop not in self.leaves:
            count = len(self.domains.values[sop])
            if isinstance(sop, Tokens | Indices):
                made = Leaf(sop, "embedded", codes=list(range(count)))
            elif self.domains.leaves[sop][0] is sop and (form := linear_form(sop)) is not None:
                made = self._combination(sop, *form)
            elif self.domains.leaves[sop][:1] and self.domains.leaves[sop][0] is sop:
                made = self.head(sop)
            else:  # an elementwise map with too many combinations, held as a number
                code = self.reading(sop, range(count))
                made = Leaf(sop, "integer", code=code, codes=list(range(count)))
            limited(str(sop), *(made.raw[1] if made.raw else made.codes))
            self.leaves[sop] = made
        return self.leaves[sop]

    def _combination(self, sop: SOp, a: SOp, b: SOp, p: Fraction, q: Fraction) -> Leaf:
        """A linear combination with many values, as an exact integer."""
        values = [Fraction(v) for v in self.domains.values[sop]]
        unit = unit_of(values)
        code = Reading(constant=-values[0] / unit)
        for factor, part in ((p, a), (q, b)):
            numbers = [factor * Fraction(v) / unit for v in self.domains.values[part]]
            code += self.reading(part, numbers)
        return Leaf(sop, "integer", code=code, codes=[int((v - values[0]) / unit) for v in values])

    def of_leaf(self, leaf: Leaf, function: Function, label: str, exact: bool) -> Reading:
        """A reading of a function of the value of one leaf."""
        if (function == function[0]).all():
            return Reading(constant=rational(function[0]))
        if leaf.raw is not None and not exact:
            found = line(as_function(leaf.raw[1]), function)
            if found is not None and not found[0].denominator & (found[0].denominator - 1):
                return found[0] * leaf.raw[0] + Reading(constant=found[1])
        if leaf.code is not None:
            found = line(np.array(leaf.codes), function)
            if found is not None and found[0].denominator == 1:
                return found[0] * leaf.code + Reading(constant=found[1])
        values = whole(function, label)
        reading = self._combined(leaf.columns, function, values)
        if reading is None:
            self._add(leaf, values - values[0], label)  # 0 at the smallest code
            reading = self._combined(leaf.columns, function, values)
            assert reading is not None
        return reading

    def _combined(
        self, columns: Mapping[str, Function], function: Function, values: Function
    ) -> Reading | None:
        """A reading of a function as an affine function of columns, or None.

        `values` is the function up to an affine map, as `_whole` returns it.
        """
        for name, column in columns.items():
            if np.array_equal(column - column[0], values):
                affine = line(column, function)
                assert affine is not None
                return affine[0] * self.of_column(name) + Reading(constant=affine[1])
        if not 2 <= len(columns) <= SPAN:
            return None
        basis = np.stack([*columns.values(), np.ones(len(values))], axis=-1).astype(np.float64)
        solved = np.linalg.lstsq(basis, values.astype(np.float64), rcond=None)[0]
        factors = [int(each) for each in solved.round()]
        if (basis.astype(np.int64) @ factors != values).any():
            return None
        affine = line(values, function)
        assert affine is not None
        total = Reading(constant=affine[1] + affine[0] * factors[-1])
        for name, factor in zip(columns, factors[:-1], strict=True):
            total += affine[0] * factor * self.of_column(name)
        return total

    def of_column(self, name: str) -> Reading:
        """The content of a register."""
        return Reading({name: Fraction(1)}, time=self.columns[name].time)

    def code(self, leaf: Leaf) -> tuple[Reading, list[int]]:
        """A reading of an exact integer that distinguishes the values of a leaf."""
        if leaf.code is None:
            count = range(len(self.domains.values[leaf.sop]))
            return self.of_leaf(leaf, np.array(count), str(leaf.sop), True), list(count)
        return leaf.code, leaf.codes

    def error(self, reading: Reading) -> Fraction:
        """A bound on the rounding error of a reading."""
        errors = (abs(f) * self.columns[n].error for n, f in reading.factors.items() if n != "bos")
        return sum(errors, Fraction(0))

    # New columns

    def register(self, label: str, time: int, most: Fraction, **rest: Any) -> str:
        """A new column, with the first free name of a register."""
        name, tries = label, 1
        while name in self.columns or name in ("bos", "1"):
            tries += 1
            name = f"{label}.{tries}"
        self.columns[name] = Column(name, time, most=most, **rest)
        return name

    def keep(self, names: set[str]) -> None:
        """Removes all columns except those with these names."""
        for held in (self.columns, self.embedded):
            for name in [name for name in held if name not in names]:
                del held[name]
        for _, columns in self.steps.values():
            for name in [name for name in columns if name not in names]:
                del columns[name]
        for pieces in self.pieces.values():
            for name in [name for name in pieces.columns if name not in names]:
                del pieces.columns[name]

    def _add(self, leaf: Leaf, values: Function, label: str) -> None:
        """Adds a column of one leaf."""
        most = Fraction(int(abs(values).max()))
        if leaf.kind == "embedded":
            name = self.register(label, 0, most)
            self.embedded[name] = leaf.sop, values
        elif leaf.kind == "means":
            assert leaf.raw is not None
            layer = (leaf.raw[0].time + 1) // 2
            name = self.register(label, 2 * layer, most)
            (raw,) = leaf.raw[0].factors
            self.steps.setdefault((layer, raw), (leaf, {}))[1][name] = values
        else:
            assert leaf.code is not None
            layer = leaf.code.time // 2 + 1
            name = self.register(label, 2 * layer, most)
            self._interpolate(layer, leaf.code, np.array(leaf.codes), name, values)
        self.columns[name].holds = leaf.sop, values
        leaf.columns[name] = values

    def _of_several(self, sop: SOp, table: Table, wanted: Function, label: str) -> Reading:
        """A reading of a function of several leaves that is not a sum of functions of one leaf."""
        if sop not in self.joint:
            codes = [self.code(self.leaf(leaf)) for leaf in table.leaves]
            of = [np.array(own)[at] for (_, own), at in zip(codes, table.rows.T, strict=True)]
            self.joint[sop] = Joint([code for code, _ in codes], np.stack(of))
        joint = self.joint[sop]
        values = whole(wanted, label)
        found = self._combined(joint.columns, wanted, values)
        if found is None:
            factors = fewest_bends(joint.codes, values, label)
            z = Reading()
            for factor, code in zip(factors, joint.readings, strict=True):
                z += factor * code
            at = np.array(factors) @ joint.codes
            moved = values - values[at.argmin()]  # 0 at the first knot, and so at BOS
            layer = z.time // 2 + 1
            name = self.register(label, 2 * layer, Fraction(int(abs(moved).max())))
            self._interpolate(layer, z, at, name, moved)
            own = np.zeros(len(self.domains.values[sop]), dtype=np.int64)
            own[table.number] = moved
            self.columns[name].holds = sop, own
            joint.columns[name] = moved
            found = self._combined(joint.columns, wanted, values)
            assert found is not None
        return found

    def _interpolate(
        self, layer: int, z: Reading, at: np.ndarray, name: str, values: Function
    ) -> None:
        argument = tuple(sorted(z.factors.items())), z.constant
        held = self.pieces.setdefault((layer, argument), Pieces(z))
        held.columns[name] = dict(zip(at.tolist(), values.tolist(), strict=True))


@dataclass
class Pieces:
    """The interpolations of one integer z: for each column, its values by the value of z."""

    z: Reading
    columns: dict[str, dict[int, int]] = field(default_factory=dict)


def at_bos(reading: Reading, columns: Mapping[str, Column]) -> Fraction:
    """The value of a reading at BOS."""
    own = (
        f * (columns[name].at_bos if name != "bos" else 1) for name, f in reading.factors.items()
    )
    return reading.constant + sum(own, Fraction(0))


def read(
    stream: Stream, columns: Mapping[str, Column], reading: Reading, wanted: Any
) -> LinearRead:
    """The reading as a linear read of the stream, which is `wanted` at BOS."""
    found = float(reading.constant) * one
    for name, factor in reading.factors.items():
        found = found + float(factor) * stream.read(name)
    missing = Fraction(wanted) - at_bos(reading, columns)
    return found + float(missing) * stream.read("bos")


def largest(reading: Reading, columns: Mapping[str, Column]) -> Fraction:
    """A bound on the absolute value of a reading."""
    return abs(reading.constant) + sum(
        (abs(f) * columns[name].most for name, f in reading.factors.items()), Fraction(0)
    )
