"""Evidence that the layers of `pram` compute the steps of a PRAM program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, product

import numpy as np
import torch

from constructions.exactness import exact_in
from constructions.interface import Prompt
from constructions.transformer import Transformer
from theory.computation.pram import INDEX, Program, Read, Registers, Step, Write
from theory.kinds import InputError
from verify.domains import Rational, streams
from verify.evidence import size
from verify.evidence.gaps import States, at_positions, gap_finding, looking_up
from verify.evidence.restoring import makes
from verify.evidence.sequences import FLOAT64_BITS
from verify.finding import Evidence, Finding, no_counterexample, same

Inputs = Sequence[np.ndarray]
MOST_STATES = 10**6
FOLLOW = "registers of the model, compared with the registers of the PRAM program"


def whole_evidence(model: Transformer) -> Evidence:
    """The kind of evidence of a float64 run in which all registers are compared with integers.

    The only numbers that are rounded are averages over the k tokens to which a head attends.
    Suppose that an average is rounded to an integer p, that k times the average is an integer, and
    that p·k < 2^52. Then the average equals p.
    """
    needs = exact_in(model)
    small = needs.largest * model.interface.context < 2.0 ** (FLOAT64_BITS - 1)
    return "exact" if needs.bits <= FLOAT64_BITS and small else "float"


def registers_follow(
    name: str, cases: Iterable[tuple[Transformer, Program, Inputs]], id: str = "registers"
) -> Finding:
    """Checks that after every layer the stream contains the registers of the PRAM program.

    The output of the model is also compared with the answer of the program.  Each case consists of
    a model, its program, and inputs.
    """
    cases = [*cases]
    counts = [int(np.prod(inputs[0].shape[:-1])) for *_, inputs in cases]
    layers = sum(n * model.n_layers for n, (model, *_) in zip(counts, cases, strict=True))
    return no_counterexample(
        id,
        name,
        chain.from_iterable(differences(*each) for each in cases),
        evidence=whole_evidence(cases[-1][0]),
        words=f"equal after every layer, {layers} layers in all, on {sum(counts)} inputs",
    )


def differences(model: Transformer, program: Program, inputs: Inputs) -> Iterator[str]:
    """Yields a line for each register that differs from the program, and for wrong outputs."""
    passed = (H.numpy() for H in model.residual_stream(prompt_of(model, inputs)))
    for after, (H, held) in enumerate(zip(passed, program.run(*inputs), strict=True)):
        wanted = stream_of(model, program, held)
        if (differs := wanted != H).any():
            *row, token, column = map(int, np.argwhere(differs)[0])
            part = list(model.stream)[column]
            yield (
                f"{model.name}, inputs {[x[tuple(row)].tolist() for x in inputs]}: after layer "
                f"{after} register {part} of processor {token} is {H[*row, token, column]:g}, in "
                f"the program {wanted[*row, token, column]}"
            )
    output = model.run(prompt_of(model, inputs)).numpy()
    if (output != wanted[..., 1:, model.stream[program.answer]]).any():
        yield f"{model.name}: the output is not register {program.answer}"


def over_q(model: Transformer, program: Program, inputs: Inputs, id: str = "rational") -> Finding:
    """Compares the model's registers over ℚ with the registers of the PRAM program.

    The comparison is made on each row of the inputs. Each input is an array (rows, N') for N'
    processors.
    """

    def search() -> Iterator[str]:
        for row in zip(*inputs, strict=True):
            passed = streams(model, prompt_of(model, row), Rational())
            for after, (H, held) in enumerate(zip(passed, program.run(*row), strict=True)):
                if H.tolist() != stream_of(model, program, held).tolist():
                    yield f"{model.name}: a register after layer {after}, on {row}"

    return no_counterexample(
        id,
        f"{FOLLOW}, in rational arithmetic",
        search(),
        words=f"equal after each of {model.n_layers} layers on {len(inputs[0])} inputs",
    )


def stream_of(model: Transformer, program: Program, held: Registers) -> np.ndarray:
    """The stream (…, 1 + N', width) of N' processors between two steps of the program.

    The stream contains the registers and their squares, and the numbers and kinds of the
    processors.  The stream is 0 at BOS, except for the flag of BOS, and 0 in the registers of reads
    and writes.
    """
    shape = next(iter(held.values())).shape
    here = np.arange(1, shape[-1] + 1)
    kinds = {kind: np.isin(here, [*members]) for kind, members in program.kinds.items()}
    H = np.zeros((*shape[:-1], shape[-1] + 1, model.d_model), dtype=np.int64)
    H[..., 0, model.stream["bos"]] = 1
    for part, values in _with_squares(model, {**held, **kinds, INDEX: here}):
        H[..., 1:, model.stream[part].start] = values
    return H


def prompt_of(model: Transformer, inputs: Inputs) -> Prompt:
    """The prompt for a program's inputs, each (…, N') for N' processors."""
    return model.interface.write(
        torch, *(torch.as_tensor(np.array(each, dtype=np.float64)) for each in inputs)
    )


def units(models: Iterable[tuple[Transformer, int]]) -> Finding:
    """Checks that the number of hidden neurons of each layer equals the stated number."""
    counts, wanted = list[int](), list[int]()
    for model, stated in models:
        counts, wanted = [*counts, *size.units(model)], [*wanted, *[stated] * model.n_layers]
    words = f"{counts[0]} in each of {len(counts)} layers" if len({*counts}) == 1 else ""
    return same(
        "units", "hidden neurons of each layer", counts, wanted, words=words, wanted="equal"
    )


def works_locally(model: Transformer, program: Program, number: int = 1) -> Finding:
    """Checks that the MLP of one step computes its local operations, for all register values.

    The check is made for each kind of processor, and also covers the squares of registers.  The
    registers of reads and writes must be cleared, also at BOS.
    """
    step = program.steps[number - 1]
    read = sorted(_touched(step) - {INDEX, *program.kinds})
    processors = _each(program)
    states = (program.most + 1) ** len(read) * len(processors)
    if states > MOST_STATES:
        raise InputError(
            f"the registers have {states} possible contents, more than {MOST_STATES}: give a "
            "program of fewer processors"
        )
    alone = replace(
        program,
        inputs=(*read,),
        steps=(Step(sets=step.sets),),
        repeat=1,
        initial={},
        answer=read[0],
    )
    values = np.array([*product(range(program.most + 1), repeat=len(read))])
    given = dict(zip(read, values.T, strict=True))
    before, wanted = list[Registers](), list[Registers]()
    for i in processors:
        inputs = np.zeros((len(read), len(values), program.processors), dtype=np.int64)
        inputs[:, :, i - 1] = values.T
        *_, after = alone.run(*inputs)
        fixed = {kind: int(i in members) for kind, members in program.kinds.items()}
        fixed |= {INDEX: i, "bos": 0}
        before.append(given | {name: np.full(len(values), each) for name, each in fixed.items()})
        gone = dict.fromkeys(step.brought, np.zeros(len(values), dtype=np.int64))
        wanted.append({name: after[name][:, i - 1] for name in read} | gone)
    nothing = dict.fromkeys([*before[0]], np.zeros(1, dtype=np.int64))
    empty = {write.into: np.array([program.empty(write)]) for write in step.writes}
    before.append({**nothing, "bos": np.ones(1, dtype=np.int64), **empty})
    wanted.append(nothing)
    return makes(
        "local" if len(program.steps) == 1 else f"local/step-{number}",
        f"the MLP{f' of step {number}' * (len(program.steps) > 1)} does the local operations of "
        f"the program, for all register values up to {program.most}",
        model,
        {number: (_stacked(model, before), _stacked(model, wanted))},
    )


def _stacked(model: Transformer, several: Sequence[Registers]) -> Registers:
    """The contents of all these registers, concatenated, with the squares of the first."""
    whole = {name: np.concatenate([each[name] for each in several]) for name in several[0]}
    return dict(_with_squares(model, whole))


def _with_squares(model: Transformer, held: Registers) -> Iterator[tuple[str, np.ndarray]]:
    """Yields registers, and their squares if the model has them."""
    for name, values in held.items():
        for part, power in ((name, 1), (f"{name}²", 2)):
            if part in model.stream.widths:
                yield part, values**power


def _each(program: Program) -> list[int]:
    """One processor for each combination of kinds that occurs."""
    found = dict[tuple[bool, ...], int]()
    for i in range(1, program.processors + 1):
        found.setdefault(tuple(i in members for members in program.kinds.values()), i)
    return list(found.values())


def _touched(step: Step) -> set[str]:
    """The registers that local operations read, set or clear."""
    names = {each.into for each in step.sets} | {*step.brought}
    return names | {x for each in step.sets for x in each.operands if isinstance(x, str)}


def gaps(label: str, model: Transformer, program: Program) -> Iterator[Finding]:
    """Yields a finding on the score gap of each head, over all contents of its registers."""
    for number, step in enumerate(program.steps, start=1):
        places = list(dict.fromkeys((tuple(sorted(r.at)), r.shift) for r in step.reads))
        for head, (at, shift) in enumerate(places):
            states = reading(model, program, Read("", at, "", shift), number, head)
            yield gap_finding(label, model, states)
        for head, write in enumerate(step.writes, start=len(places)):
            yield gap_finding(label, model, writing(model, program, write, number, head))


def reading(model: Transformer, program: Program, read: Read, layer: int, head: int = 0) -> States:
    """The queries and keys of the head of a read, for all addresses.

    Addresses are clipped to 0 … N for N processors, and BOS looks up BOS.
    """
    N, most = program.processors, program.most
    # BOS contains 0 in every register, the others any value.
    values = list(product(range(most + 1), repeat=len(read.at)))
    columns = np.array([[0] * len(read.at), *values]).T
    queries = dict(zip(read.at, columns.astype(float), strict=True))
    bos = np.zeros(len(values) + 1)
    bos[0] = 1
    wanted = (columns.sum(0) + read.shift * (bos == 0)).clip(0, N)
    if read.shift:
        queries["bos"] = bos
    return looking_up(model, layer, queries, wanted, head, line=(INDEX, f"{INDEX}²"))


def writing(
    model: Transformer, program: Program, write: Write, layer: int, head: int = 0
) -> States:
    """The queries and keys of the head of a write, for all addresses and values.

    Each value is written by two processors, and BOS is included.
    """
    most = program.most
    queries = at_positions(model, INDEX, f"{INDEX}²", "bos")
    c, value, _ = (each.ravel() for each in np.indices((most + 1, most + 1, 2)))
    keys = {
        write.to: np.append(0, c).astype(float),
        f"{write.to}²": np.append(0, c**2).astype(float),
        write.value: np.append(0, value).astype(float),
        "bos": np.append(1, 0 * c).astype(float),
    }
    here = np.arange(program.processors + 1)
    wanted = write.cells * here + write.cell
    preference = np.where(c == wanted[:, None], -value.astype(float), -np.inf)
    preference[0] = -np.inf  # a write to BOS has no effect
    preference = np.hstack([np.full((len(here), 1), -most - 1.0), preference])
    return States(layer, queries, keys, preference, np.arange(len(c) + 1), head)
