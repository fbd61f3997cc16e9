"""Transformers that run PRAM programs (`theory/computation/pram.py`), with one layer for each step.

BOS is at position 0 and is not a processor: the registers that steps keep are 0 there.  Processor i
is the token at position i.  Each register of the program is a register r of the stream.  If r can
be part of the address of a write, a second register r² of the stream contains the square of r.
Position j has the registers `index` = j and `index²` = j².

Read of_a, where the address a is the sum of the registers `at` plus a shift: the head `placed`
finds position a by

    score 2a·j − j² = a² − (a − j)²        largest at j = a, by at least 1; clipped at both ends

At BOS, which has no shift, the head finds BOS.

Write: among the tokens k with to_k = a, where a = cells·i + cell, the head `written` finds a token
of minimum value, with M = 2·most + 2:

    score M(2a·c_k − c_k²) − value_k + (M a² − M/2)·bos_k,        c = to

At tokens with c = a the score is M a² − value.  This is at least 1 more than the score M a² − M/2
of BOS, and the score of BOS is at least 1 more than the scores of all other tokens.  Tokens of
equal value write the same number.  The value of BOS is `empty`.  The query at BOS has a = 0, and 1
in place of a²: the score of BOS is M/2, and all other scores are at most 0.

Set: the MLP computes the operations by ReLUs of sums.  Numbers are never negative, so relu(x) = x:

    copy x     relu(x)                          plus x y …  relu(x + y + …) − relu(x + y + … − most)
    min x y    relu(x) − relu(x − y)            minus x y   relu(x − y)
    max x y    relu(y) + relu(x − y)
    where f x y    relu(x + K(f − 1)) − relu(K(f − 1)) + relu(y − K f),   K = most, f = 0, 1, …

A further ReLU, −relu(old), subtracts the old value.  For a Set at the processors of one kind,
G·(1 − kind) is subtracted from the argument of each ReLU, where G is the largest value of the
argument.  The operations copy, min, max and where act on squares by the same formulas, since r ↦ r²
is increasing.  So the model never squares a number.  The results of reads and writes are cleared by
−relu(result), so that heads of later steps add to 0.

A write requires the square of its address in a register.  There is no such square if `to` is an
input, if `to` is set by plus or minus, or if `to` depends on such a register through copy, min,
max, where, reads or writes.  In this case `pram` raises ValueError.  The remedy is to write in two
steps: the first step reads `index` at this address, and with it index²; the second step writes to
the address that was read.

All numbers are integers, and tied tokens have equal values.  So average-hard attention is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from constructions.assembly import Head, block, embed, rows, unembed
from constructions.blocks import Block, PosEmbed, Stage
from constructions.call import construction
from constructions.exactness import exact_in
from constructions.interface import Interface, Prompt, all_below, as_many
from constructions.primitives import ReLU
from constructions.stream import LinearRead, Map, Stream, one
from constructions.tokens import placed, rows_fit, written
from constructions.transformer import Transformer
from theory.computation.pram import INDEX, Operand, Program, Read, Set, Step
from theory.kinds import InputError

CHOOSE = ("copy", "min", "max", "where")
FLOAT64_BITS = 53

Held = Callable[..., np.ndarray]
Units = dict[tuple[tuple[str, float], ...], tuple[LinearRead, dict[str, float]]]


@construction
def pram(program: Program) -> Transformer:
    """Returns a model that runs a program of a parallel random access machine, one layer per step.

    `pram(program)(*inputs)` is the content of the program's answer register after all steps. Each
    input, and the answer, is an array (…, N') with one integer for each of N' processors, where N'
    is at most program.processors. A layer has one head for each address that is read and one for
    each write, all without a mask.

    The scores of a write require the square of its address. Raises ValueError if no register
    contains this square, for example if the address is an input or is computed by plus or minus. In
    this case the program can read the register `index` at the address one step before, and then
    write to the address that was read. Also raises ValueError for a program whose model does not
    fit in memory, and for scores of more than 53 bits.
    """
    return _Compiled(program).model(Processors(program))


class Processors(Interface):
    """The interface of a PRAM program: input registers (…, N') → answer register (…, N'), int64.

    N' is at most the number of processors of the program.  The outputs of the model are rounded to
    integers, which are right if each output is within ½ of its exact value.  Raises ValueError for
    more processors than the program has, for inputs of different shapes, and for numbers that the
    program does not allow.
    """

    margin = 1.0

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program, self.context = program, program.processors + 1

    def check(self, like: Tensor, *inputs: Any) -> tuple[Any, ...]:
        given = self.program.checked(*as_many(inputs, *self.program.inputs))
        return tuple(torch.from_numpy(each).to(like.device, like.dtype) for each in given)

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        columns = xp.stack(inputs, axis=-1)
        tokens = xp.concat([columns[..., :1, :] * 0, columns], axis=-2)
        return Prompt(tokens, 0, slice(1, None))

    def all_inputs(self, most: int, causal: bool) -> Iterator[tuple[np.ndarray, ...]] | None:
        choices, lengths = self.choices()
        rows = all_below([len(choices)] * lengths[-1], lengths, most)
        return None if rows is None else (self.called(choices[each]) for each in rows)

    def choices(self) -> tuple[np.ndarray, range]:
        """All possible inputs of a processor, (choices, inputs), and the numbers of processors."""
        given = np.indices((self.program.most + 1,) * len(self.program.inputs))
        return given.reshape(len(given), -1).T, range(1, self.program.processors + 1)

    def called(self, rows: np.ndarray) -> tuple[np.ndarray, ...]:
        """The inputs of the model, each (…, N'), from an array (…, N', inputs) of all inputs."""
        return tuple(np.moveaxis(rows, -1, 0))

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        return outputs[..., 0].double().round().to(torch.int64)


def held_after(
    program: Program, name: str, power: int, after: int, *inputs: np.ndarray
) -> np.ndarray:
    """The given power of the program's register `name` after `after` steps."""
    return next(islice(program.run(*inputs), after, None))[name][..., None] ** power


class _Compiled:
    """The parts of the model of a program."""

    def __init__(self, program: Program) -> None:
        rows_fit(program.processors)
        self.program, self.most = program, program.most
        self.squared = squared(program)
        names = [INDEX, *program.kinds, *program.state, *program.brought]
        widths = {"bos": 1}
        for name in names:
            widths |= {name: 1} | ({f"{name}²": 1} if name in self.squared else {})
        self.stream = Stream(**widths)
        self.stream.fits(len(program.steps) * program.repeat, heads=4, shared=True)

    def model(self, interface: Interface, held: Held = held_after) -> Transformer:
        """The transformer."""
        program, stream = self.program, self.stream
        layers = [self.layer(step) for step in program.steps] * program.repeat
        stages = tuple(
            Stage(after, part, partial(held, program, name, power, after))
            for after in range(len(layers) + 1)
            for name in program.state
            for part, power in ((name, 1), (f"{name}²", 2))
            if part in stream.widths
        )
        model = Transformer(
            embed(stream, **{name: {name: 1.0} for name in program.inputs}),
            layers,
            unembed(stream, self.value(program.answer)),
            pos_embed=self.positions(),
            interface=interface,
            stream=stream,
            stages=stages,
            at_most={name: self.bound(name) for name in stream},
            source="weightwright",
        )
        if (bits := exact_in(model).bits) > FLOAT64_BITS:
            raise InputError(
                f"scores of {program.name} take {bits} bits, and float64 has 53: give a program "
                "with fewer processors or a smaller `most`; it has "
                f"processors={program.processors} and most={self.most}"
            )
        return model

    def positions(self) -> PosEmbed:
        """The position embedding: indices, kinds and initial values, with squares; BOS's flag."""
        N = self.program.processors
        here = np.arange(N + 1)
        at = {INDEX: here, "bos": here == 0}
        at |= {kind: np.isin(here, [*members]) for kind, members in self.program.kinds.items()}
        for name, values in self.program.initial.items():
            at[name] = np.array([0, *values, *[0] * (N - len(values))])
        squares = {f"{name}²": at[name] ** 2 for name in self.squared if name in at}
        return PosEmbed(rows(self.stream, **at, **squares))

    def layer(self, step: Step) -> Block:
        """The layer of a step: the heads of its reads and writes, and the ReLUs of its sets."""
        heads = [*self.reads(step), *self.writes(step)]
        units = [self.unit(*each) for each in self.units(step).values()]
        words = [unit for unit in units if unit is not None]
        return block(self.stream, heads, words, normalise="hardmax", mask="full")

    def reads(self, step: Step) -> Iterator[Head]:
        """Yields a head for each address that is read."""
        places = dict[tuple[tuple[str, ...], int], list[Read]]()
        for read in step.reads:
            places.setdefault((tuple(sorted(read.at)), read.shift), []).append(read)
        line = self.value(INDEX), self.square(INDEX)
        for (at, shift), alike in places.items():
            place = sum(map(self.value, at), start=float(shift) * (one - self.value("bos")))
            parts = [part for read in alike for part in self.parts(read.into, read.of)]
            carried = tuple(self.part(x, power) for _, x, power in parts)
            yield placed(place, line, carried, tuple(part for part, *_ in parts))

    def writes(self, step: Step) -> Iterator[Head]:
        """Yields a head for each write."""
        index, square, bos = self.value(INDEX), self.square(INDEX), self.value("bos")
        for write in step.writes:
            parts = self.parts(write.into, write.value)
            empty = float(self.program.empty(write))
            carried = [self.part(x, power) + empty**power * bos for _, x, power in parts]
            s, k = float(write.cells), float(write.cell)
            place = s * index + k * (one - bos)
            yield written(
                (place, s**2 * square + 2 * s * k * index + k**2 * (one - bos) + bos),
                (self.value(write.to), self.square(write.to)),
                -self.value(write.value),
                bos,
                tuple(carried),
                tuple(part for part, *_ in parts),
                self.most,
                ties=True,
            )

    def units(self, step: Step) -> Units:
        """The linear read of each ReLU, with the factors of its outputs; equal reads are merged."""
        found: Units = {}

        def add(reading: LinearRead, into: str, times: float) -> None:
            key = tuple(sorted((term.register, term.factor) for term in reading.terms))
            _, goes = found.setdefault(key, (reading, {}))
            goes[into] = goes.get(into, 0.0) + times

        for each in step.sets:
            for part, power in self.powers(each.into):
                gate = self.gate(step, each)
                for reading, times in (*self.new(each, power), (self.value(part), -1.0)):
                    add(reading - self.largest(reading) * gate, part, times)
        for name in step.brought:
            for part, _ in self.powers(name):
                add(self.value(part), part, -1.0)
        return found

    def unit(self, reading: LinearRead, goes: dict[str, float]) -> ReLU | None:
        """The ReLU of a linear read; None if it has no outputs or is always 0."""
        goes = {into: times for into, times in goes.items() if times}
        if not goes or self.largest(reading) <= 0:
            return None
        if len(goes) == 1:
            ((into, times),) = goes.items()
            return ReLU(reading, into, times)
        signs = ", ".join(f"{times:+g}" for times in goes.values()).replace("-", "−")
        return ReLU(reading, tuple(goes), Map(np.array([[*goes.values()]]), f"({signs})"))

    def new(self, each: Set, power: int) -> list[tuple[LinearRead, float]]:
        """The ReLUs of an operation on numbers or on their squares, with their signs."""
        if each.op == "where":
            flag, x, *rest = each.operands
        else:
            flag, x, *rest = 0, *each.operands
        y = rest[0] if rest else 0
        X, Y, most = self.part(x, power), self.part(y, power), float(self.most**power)
        total = sum((self.part(each, power) for each in rest[1:]), start=X + Y)
        f = most * self.part(flag, 1)
        relus = {
            "copy": [(X, 1.0)],
            "min": [(X, 1.0), (X - Y, -1.0)],
            "max": [(Y, 1.0), (X - Y, 1.0)],
            "plus": [(total, 1.0), (total - most * one, -1.0)],
            "minus": [(X - Y, 1.0)],
            "where": [(X + f - most * one, 1.0), (f - most * one, -1.0), (Y - f, 1.0)],
        }
        return relus[each.op]

    def gate(self, step: Step, each: Set) -> LinearRead:
        """The gate of a Set: 0 where it acts, and at least 1 where it does not.

        It does not act at other kinds, and at kinds where a later Set of the step sets the same
        register. It also does not act at BOS if the result could be non-zero there.
        """
        if each.at is not None:
            kinds = self.program.kinds
            later = [x.at for x in step.sets[step.sets.index(each) + 1 :] if x.into == each.into]
            over = [at for at in later if at is not None and kinds[at] & kinds[each.at]]
            return sum(map(self.value, over), start=one - self.value(each.at))
        loud = {write.into for write in step.writes if self.program.empty(write)}
        makes = any(x in loud if isinstance(x, str) else x > 0 for x in each.operands)
        return self.value("bos") if makes else 0.0 * one

    def value(self, name: str) -> LinearRead:
        """The linear read of a register of the stream."""
        return self.stream.read(name)

    def square(self, name: str) -> LinearRead:
        """The linear read of a square; a kind, which is 0 or 1, equals its square."""
        return self.value(name if name in self.program.kinds else f"{name}²")

    def part(self, x: Operand, power: int) -> LinearRead:
        """The linear read of an operand, or of its square."""
        if not isinstance(x, str):
            return float(x**power) * one
        return self.value(x) if power == 1 else self.square(x)

    def powers(self, name: str) -> list[tuple[str, int]]:
        """The register with power 1, and its square with power 2 if it has one."""
        both = (name, 1), (f"{name}²", 2)
        return [(part, power) for part, power in both if part in self.stream.widths]

    def parts(self, into: str, source: str) -> list[tuple[str, str, int]]:
        """The registers of `powers` for `into`, each with the source and power copied to it."""
        return [(part, source, power) for part, power in self.powers(into)]

    def bound(self, part: str) -> float:
        """The largest value of a register of the stream."""
        name, power = (part[:-1], 2) if part.endswith("²") else (part, 1)
        if name in ("bos", *self.program.kinds):
            return 1.0
        return float((self.program.processors if name == INDEX else self.most) ** power)

    def largest(self, reading: LinearRead) -> float:
        """The largest value of a linear read."""
        return float(reading.constant.sum()) + sum(
            max(term.factor, 0.0) * self.bound(term.register)
            for term in reading.without_constant.terms
        )


def squared(program: Program) -> set[str]:
    """The registers whose squares are required: addresses of writes, and the sources of addresses.

    Raises ValueError if a square is required that no register contains.
    """
    needed = {INDEX} | {write.to for step in program.steps for write in step.writes}
    while True:
        sources = set(needed)
        for step in program.steps:
            sources |= {read.of for read in step.reads if read.into in needed}
            sources |= {write.value for write in step.writes if write.into in needed}
            for each in step.sets:
                if each.into not in needed:
                    continue
                if each.op not in CHOOSE:
                    raise _no_square(program, each.into, f"is set by {each.op}")
                chosen = each.operands[1:] if each.op == "where" else each.operands
                sources |= {x for x in chosen if isinstance(x, str)}
        sources -= {*program.kinds}
        if given := sorted(sources & {*program.inputs}):
            raise _no_square(program, given[0], "is an input")
        if sources == needed:
            return needed
        needed = sources


def _no_square(program: Program, name: str, reason: str) -> InputError:
    return InputError(
        f"{program.name} writes to an address that depends on {name}, which {reason}: no register "
        f"contains its square. In a step before, read {INDEX!r} at {name}; then write to the "
        "register that was read"
    )
