"""Parallel random-access machines (PRAM): programs of reads, writes and local operations.

Processors are numbered 1, …, N. Register r of processor i contains an integer r_i in 0 … most. The
registers are shared memory, which every processor can read. A program is a list of steps that is
repeated. In each step all processors do the following at once:

    Read   into_i = of_a, where a is the sum of the registers `at` of processor i, plus a shift
    Write  into_i = min { value_k : to_k = i }, or `most` if no processor writes to i (MIN-CRCW);
           if processors have s cells each, the minimum for cell c of processor i is over all k
           with to_k = s·i + c
    Set    into_i = op(…), of registers and of the results of the reads and writes of the step

Reads and writes use the values of the registers before the step. The results of reads and writes
are in separate registers until the step ends. Addresses are clipped to 0 … N. Every register
contains 0 at address 0, and a write to address 0 has no effect.

A register is an int64 array (…, N), with one entry for each of the processors 1, …, N.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, repeat
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from theory import machine
from theory.kinds import Choice, Count, InputError, Integer, Integers, Steps, Within, checked
from theory.kinds.errors import shown
from theory.kinds.kind import is_integer

INDEX = "index"
"""The register that contains the number of its processor."""

RESERVED = ("bos", "1")
BYTES = 512  # approximate memory for the registers of a processor
LARGEST = 2**62 - 1  # of a register or a shift: the sum of two of them fits in int64

Registers = dict[str, np.ndarray]
Operand: TypeAlias = str | Steps
"""A register, or a number."""


def _total(most: int, *numbers: np.ndarray) -> np.ndarray:
    """The sum of integers in 0 … most, clipped at `most`; no partial sum exceeds int64."""
    total = np.zeros((), dtype=np.int64)
    for each in numbers:
        total = np.asarray(np.minimum(total, most - each) + each)
    return total


OPS: dict[str, tuple[int, Callable[..., np.ndarray]]] = {
    "copy": (1, lambda most, x: x),
    "min": (2, lambda most, x, y: np.minimum(x, y)),
    "max": (2, lambda most, x, y: np.maximum(x, y)),
    "plus": (2, _total),
    "minus": (2, lambda most, x, y: np.maximum(x - y, 0)),
    "where": (3, lambda most, flag, x, y: np.asarray(np.where(flag > 0, x, y))),
}
"""Local operations by name: the number of operands (for plus, the minimum number) and the function,
whose first argument is the limit `most` of the results."""


def processors_fit(count: int) -> None:
    """Raises `ValueError` unless the registers of `count` processors fit in memory."""
    count = min(count, 10**300)  # so that it can be converted to a float
    what = f"the registers of {count:.4g} processors"
    machine.fits_in_memory(what, BYTES * count, "give fewer processors")


@checked
@dataclass(frozen=True)
class Read:
    """A read in a step of a PRAM program: every processor copies a register of another processor.

    The register `of` is read, and the register `into` gets the result. Let r_i be the value of
    register r at processor i. Processor i reads at the address a = shift + Σ_r r_i, where the sum
    is over the registers r in `at`. The register `into` of processor i gets the value of the
    register `of` of processor a. Addresses are clipped to 0 … N′, where N′ is the number of
    processors of the inputs (`Program.run`), and every register is 0 at address 0.
    """

    of: str
    at: tuple[str, ...]
    into: str
    shift: Annotated[Integer, Within(least=-LARGEST, most=LARGEST)] = 0


@checked
@dataclass(frozen=True)
class Write:
    """A write in a step of a PRAM program: processors receive the minimum of the numbers sent.

    Processor k sends the value of its register `value` to the address in its register `to`. Each
    processor has `cells` cells, and cell c of processor i has the address cells·i + c. The register
    `into` of processor i gets the minimum of all numbers that are sent to its cell `cell`.

    If nothing is sent to this cell, the register gets the number `empty`. If `empty` is None, it
    gets the largest number `most` of the program.
    """

    value: str
    to: str
    into: str
    cell: Steps = 0
    cells: Annotated[Count, Within(most=LARGEST)] = 1
    empty: Steps | None = None


@checked
@dataclass(frozen=True)
class Set:
    """A local operation in a step of a PRAM program: into_i = op(operands) at processor i.

    Here into_i is the value of the register `into` at processor i. If `at` is None, all processors
    do the operation. Otherwise `at` is the name of a set of processors, and only these do the
    operation. Operands are names of registers of processor i, or integers.

    The operations are `copy`, `min`, `max`, `minus`, `plus` and `where`. The result of `minus` is
    clipped at 0. The operation `plus` takes two or more numbers, and its result is clipped at the
    largest number of the program. The result of `where(flag, x, y)` is x if flag > 0, and y
    otherwise.
    """

    into: str
    op: Annotated[str, Choice(tuple(OPS))]
    operands: tuple[Operand, ...]
    at: str | None = None


@checked
@dataclass(frozen=True)
class Step:
    """One step of a PRAM program: its reads and writes, followed by its local operations `sets`.

    A read or a write moves numbers between processors. All reads and writes are simultaneous, with
    the values of registers before the step. A local operation sets a register of a processor from
    registers of the same processor. All local operations are simultaneous too: their operands have
    the values before the step, or are results of its reads and writes. Operations on different
    sets of processors may set the same register; if a processor is in several of these sets, the
    last of the operations counts.
    """

    reads: tuple[Read, ...] = ()
    writes: tuple[Write, ...] = ()
    sets: tuple[Set, ...] = ()

    @property
    def brought(self) -> list[str]:
        """The names of the registers that contain the results of the step's reads and writes."""
        return [read.into for read in self.reads] + [write.into for write in self.writes]


@checked
@dataclass(frozen=True)
class Program:
    """A program of a parallel random-access machine (PRAM): `steps`, repeated `repeat` times.

    The machine has at most N = `processors` processors, numbered from 1. Each processor has the
    same named registers, and a register contains an integer in 0 … most. The fields are:

    inputs   registers whose values are the arguments of `run`, numbers in 0 … most
    initial  initial values of other registers, one for each processor; 0 by default
    kinds    named sets of processors; each name is also a register, which is 1 at the processors
             of the set and 0 at the others
    answer   the register that is the output
    most     the largest number in a register; at least N, which is the default, and below 2^62

    Raises `ValueError` if (a) a name is not a register or is used twice, (b) an operation has a
    wrong number of operands, (c) a number is outside 0 … most, or (d) two operations of a step set
    one register at the same set of processors, or one of them at all processors.
    """

    name: str
    processors: Count
    inputs: tuple[str, ...]
    answer: str
    steps: tuple[Step, ...]
    repeat: Steps = 1
    initial: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    kinds: Mapping[str, frozenset[int]] = field(default_factory=dict)
    most: Annotated[Steps, Within(most=LARGEST)] = 0

    def __post_init__(self) -> None:
        N = self.processors
        processors_fit(N)
        object.__setattr__(self, "most", self.most or N)
        if self.most < N:
            raise InputError(
                f"the limit most={self.most} is below the number {N} of processors: give a number "
                f"of at least {N}"
            )
        for name, values in self.initial.items():
            listed = isinstance(name, str) and isinstance(values, Sequence)
            if not listed or len(values) > N or not all(self.holds(value) for value in values):
                raise InputError(
                    f"register {name} has the initial values {values!r:.40}: give at most {N} "
                    f"numbers from 0 to {self.most}"
                )
        for name, members in self.kinds.items():
            listed = isinstance(name, str) and isinstance(members, Collection)
            if not listed or not all(is_integer(i) and 1 <= i <= N for i in members):
                raise InputError(
                    f"the set {name} in `kinds` is {shown(members)}: give processors from 1 to {N}"
                )
        self._check_names()

    def holds(self, value: object) -> bool:
        """Whether a value is an integer in 0 … most, the numbers that a register can contain."""
        return is_integer(value) and 0 <= int(value) <= self.most

    @property
    def assigned(self) -> list[str]:
        """The names of the registers that a local operation of a step (`Step.sets`) sets."""
        return list(dict.fromkeys(each.into for step in self.steps for each in step.sets))

    @property
    def state(self) -> list[str]:
        """The names of the registers that keep their values from one step to the next.

        These are the inputs, the registers with initial values, and the registers that get a value
        from a local operation of a step (`Step.sets`).
        """
        return list(dict.fromkeys([*self.inputs, *self.initial, *self.assigned]))

    @property
    def brought(self) -> list[str]:
        """The names of the registers that contain results of reads and writes in any step."""
        return list(dict.fromkeys(name for step in self.steps for name in step.brought))

    def run(self, *inputs: ArrayLike) -> Iterator[Registers]:
        """Yields the values of the registers before the first step and after each step.

        The values are a dictionary from the names of the registers in `state` to arrays, which are
        copies. Each input has shape (…, N'), with one number for each of N' processors.

        Raises `ValueError` if (a) N' is larger than the number of processors of the program, (b)
        the inputs have different shapes, or (c) a number is outside 0 … most, where `most` is the
        largest number in a register.
        """
        given = self.checked(*inputs)
        shape = given[0].shape
        held = {name: np.zeros(shape, dtype=np.int64) for name in self.state}
        for name, values in self.initial.items():
            first = np.array([*values, *[0] * self.processors])[: shape[-1]]
            held[name] = held[name] + first
        held |= dict(zip(self.inputs, given, strict=True))
        steps = chain.from_iterable(repeat(self.steps, self.repeat))
        for now in accumulate(steps, self._after, initial=held):
            yield {name: values.copy() for name, values in now.items()}

    @checked
    def empty(self, write: Write) -> int:
        """The result of a write at each processor to which no processor sends anything.

        The result is `write.empty`; if `write.empty` is None, it is the largest number `most` of
        the program. Raises `ValueError` for an argument that is not a `Write`.
        """
        return self.most if write.empty is None else write.empty

    def checked(self, *inputs: ArrayLike) -> list[np.ndarray]:
        """The inputs of the program as int64 arrays of one shape (…, N') for N' processors.

        Raises `ValueError` if (a) N' is larger than the number of processors of the program, (b)
        the inputs have different shapes, or (c) a number is outside 0 … most, where `most` is the
        largest number in a register.
        """
        if len(inputs) != len(self.inputs):
            wanted = ", ".join(self.inputs)
            raise InputError(f"{self.name} was given {len(inputs)} inputs: give inputs {wanted}")
        numbers = Integers("... T", Within(least=0, most=self.most))
        given = [
            numbers.read(f"register {name}", values)
            for name, values in zip(self.inputs, inputs, strict=True)
        ]
        shapes = sorted({array.shape for array in given})
        if len(shapes) > 1:
            raise InputError(f"the inputs have shapes {shapes}: give inputs of equal shape")
        if shapes[0][-1] > self.processors:
            raise InputError(
                f"the inputs are for {shapes[0][-1]} processors, and {self.name} has "
                f"{self.processors}: give shorter inputs, or a program with more processors"
            )
        return given

    def _after(self, held: Registers, step: Step) -> Registers:
        shape = next(iter(held.values())).shape
        here = np.broadcast_to(np.arange(1, shape[-1] + 1), shape)
        kinds = {kind: np.isin(here, [*members]) for kind, members in self.kinds.items()}
        seen = {**held, INDEX: here, **{kind: at.astype(int) for kind, at in kinds.items()}}
        now = dict(seen)
        for read in step.reads:
            total = _total(self.most - min(read.shift, 0), *(seen[name] for name in read.at))
            place = np.broadcast_to(total + read.shift, shape)
            cells = np.concatenate([np.zeros((*shape[:-1], 1), int), seen[read.of]], axis=-1)
            now[read.into] = np.take_along_axis(cells, place.clip(0, shape[-1]), axis=-1)
        for write in step.writes:
            nothing = self.most + 1
            cells = np.full((*shape[:-1], shape[-1] + 1), nothing)
            to, cell = np.divmod(seen[write.to], write.cells)
            to[(cell != write.cell) | (to > shape[-1])] = 0
            batch = np.indices(shape, sparse=True)[:-1]
            np.minimum.at(cells, (*batch, to), seen[write.value])
            come = cells[..., 1:]
            now[write.into] = np.where(come == nothing, self.empty(write), come)
        after = dict(held)
        for each in step.sets:
            operands = (now[x] if isinstance(x, str) else np.asarray(x) for x in each.operands)
            value = OPS[each.op][1](self.most, *operands)
            at = kinds[each.at] if each.at is not None else np.True_
            after[each.into] = np.where(at, value, after[each.into])
        return after

    def _check_names(self) -> None:
        fixed, sources = {INDEX, *self.kinds}, {*self.inputs, *self.initial}
        if not self.inputs:
            raise InputError(f"{self.name} has no inputs: give at least one input register")
        if twice := [name for name, times in Counter(self.inputs).items() if times > 1]:
            raise InputError(f"register {twice[0]} is an input twice: give each register once")
        for name in (*fixed, *self.state, *self.brought):
            if name in RESERVED or name.endswith("²"):
                raise InputError(f"a register has the reserved name {name}: choose another name")
        for one, other, what in (
            ({INDEX}, {*self.kinds}, "the number of a processor and is also a set in `kinds`"),
            (set(self.inputs), set(self.initial), "an input and also has an initial value"),
            (
                fixed,
                {*self.state, *self.brought},
                "a constant of the processors and is also set by the program",
            ),
            (
                {*self.state},
                {*self.brought},
                "kept between steps and is also the result of a read or write",
            ),
        ):
            if both := sorted(one & other):
                raise InputError(f"register {both[0]} is {what}: use two registers")
        if not sources | fixed | {*self.assigned} >= {self.answer}:
            raise InputError(
                f"answer is {self.answer!r}: give an input of {self.name}, a register with an "
                "initial value, or a register that a step sets"
            )
        for step in self.steps:
            self._check_step(step, fixed | {*self.state})

    def _check_step(self, step: Step, kept: set[str]) -> None:
        known = kept | {*step.brought}
        uses: Iterator[tuple[str, set[str]]] = chain(
            ((name, kept) for read in step.reads for name in (read.of, *read.at)),
            ((name, kept) for write in step.writes for name in (write.value, write.to)),
            ((x, known) for each in step.sets for x in each.operands if isinstance(x, str)),
        )
        for name, allowed in uses:
            if name not in allowed:
                raise InputError(
                    f"a step reads {name}, which has no value: give one of the registers "
                    f"{', '.join(sorted(allowed))}"
                )
        for write in step.writes:
            if write.cell >= write.cells:
                raise InputError(
                    f"the cell of a write is {write.cell}: give a number from 0 to "
                    f"{write.cells - 1}"
                )
            if not self.holds(self.empty(write)):
                raise InputError(
                    f"the value `empty` of a write is {write.empty}: give a number from 0 to "
                    f"{self.most}"
                )
        for names in (step.brought, [_target(each) for each in step.sets]):
            if twice := [name for name, times in Counter(names).items() if times > 1]:
                raise InputError(f"register {twice[0]} is set twice in one step: use two steps")
        whole = {each.into for each in step.sets if each.at is None}
        for each in step.sets:
            count, wanted = len(each.operands), OPS[each.op][0]
            if count < wanted or (count > wanted and each.op != "plus"):
                raise InputError(
                    f"operation {each.op} is given {count} operands: give {wanted} operands"
                )
            if bad := [x for x in each.operands if not isinstance(x, str) and not self.holds(x)]:
                raise InputError(
                    f"an operand of {each.op} is {bad[0]!r}: give an integer from 0 to {self.most}"
                )
            if each.at is not None and each.at not in self.kinds:
                raise InputError(
                    f"register {each.into} is set at {each.at!r}: give the name of a set of "
                    "processors in `kinds`, or None for all processors"
                )
            if each.at is not None and each.into in whole:
                raise InputError(
                    f"register {each.into} is set at {each.at!r} and, in the same step, at all "
                    "processors: use two steps"
                )


def _target(each: Set) -> str:
    """The register that an operation sets, with the name of the set of processors, if any."""
    return each.into if each.at is None else f"{each.into} at {each.at}"
