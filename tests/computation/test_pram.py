"""PRAM programs: the simulator, by definition, and the layers of their models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from leaks import leaks
from refusals import rejects

from constructions.computation import pram
from constructions.computation.pram import squared
from theory.computation import Program, Read, Set, Step, Write, list_ranking, ranks
from theory.computation.pram import OPS
from theory.computation.random_program import random_inputs, random_program
from verify.computation.pram import differences


def by_definition(program: Program, *inputs: list[int]) -> list[dict[str, list[int]]]:
    """The program once more, processor by processor, in dictionaries."""
    count = len(inputs[0])
    held = {
        name: dict.fromkeys(range(count + 1), 0)
        for name in (*program.inputs, *program.initial, *program.assigned)
    }
    for name, values in program.initial.items():
        held[name] |= {i: v for i, v in enumerate(values, start=1) if i <= count}
    for name, values in zip(program.inputs, inputs, strict=True):
        held[name] |= dict(enumerate(values, start=1))
    fixed = {kind: {i: int(i in m) for i in range(count + 1)} for kind, m in program.kinds.items()}
    fixed["index"] = {i: i for i in range(count + 1)}
    passed = [held]
    for step in program.steps * program.repeat:
        seen, now = {**held, **fixed}, {}
        for read in step.reads:
            at = {i: sum(seen[r][i] for r in read.at) + read.shift for i in range(1, count + 1)}
            now[read.into] = {i: seen[read.of][min(max(a, 0), count)] for i, a in at.items()}
        for write in step.writes:
            now[write.into] = {}
            for i in range(1, count + 1):
                place = write.cells * i + write.cell
                come = [
                    seen[write.value][k] for k in range(1, count + 1) if seen[write.to][k] == place
                ]
                empty = program.most if write.empty is None else write.empty
                now[write.into][i] = min(come, default=empty)
        after = {name: dict(values) for name, values in held.items()}
        for each in step.sets:
            for i in range(1, count + 1):
                if each.at is not None and i not in program.kinds[each.at]:
                    continue
                x = [{**seen, **now}[o][i] if isinstance(o, str) else o for o in each.operands]
                value = {
                    "copy": lambda x: x[0],
                    "min": min,
                    "max": max,
                    "plus": sum,
                    "minus": lambda x: x[0] - x[1],
                    "where": lambda x: x[1] if x[0] > 0 else x[2],
                }[each.op](x)
                after[each.into][i] = min(max(value, 0), program.most)
        held = after
        passed.append(held)
    return [{name: list(values.values())[1:] for name, values in h.items()} for h in passed]


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_random_programs_run_as_defined_and_as_layers(seed):
    program = random_program(seed)
    inputs = random_inputs(program, 3, seed)
    for row in zip(*inputs, strict=True):
        found = [{n: v.tolist() for n, v in held.items()} for held in program.run(*row)]
        assert found == by_definition(program, *(x.tolist() for x in row))
    model = pram(program)
    assert [*differences(model, program, inputs)] == []
    assert model.n_layers == len(program.steps) * program.repeat
    *_, last = program.run(*inputs)
    assert (model(*inputs).numpy() == last[program.answer]).all()


@settings(max_examples=15)
@given(st.lists(st.frozensets(st.integers(1, 4), min_size=1), min_size=2, max_size=4))
def test_the_last_operation_on_a_register_counts_where_sets_of_processors_overlap(members):
    kinds = {f"k{i}": each for i, each in enumerate(members)}
    sets = (
        Set("x", "plus" if i % 2 else "copy", ("y", i)[: 1 + i % 2], k) for i, k in enumerate(kinds)
    )
    program = Program("over", 4, ("x", "y"), "x", (Step(sets=tuple(sets)),), kinds=kinds, most=9)
    inputs = [5, 6, 7, 8], [1, 2, 3, 9]
    wanted = by_definition(program, *inputs)[-1]["x"]
    *_, last = program.run(*inputs)
    assert last["x"].tolist() == pram(program)(*inputs).tolist() == wanted


def test_changes_to_what_a_run_yields_do_not_change_the_run():
    wanted = list(list_ranking(3).run([2, 3, 0]))
    for held, right in zip(list_ranking(3).run([2, 3, 0]), wanted, strict=True):
        assert {n: v.tolist() for n, v in held.items()} == {n: v.tolist() for n, v in right.items()}
        for values in held.values():
            values += 1


@pytest.mark.parametrize("op", [*OPS])
@pytest.mark.parametrize("shift", [-(2**62 - 1), -1, 0, 2**62 - 1])
def test_the_largest_numbers_do_not_overflow(op, shift):
    """Also: a write allocates no memory for each number up to `most`."""
    most = 2**62 - 1
    names = ("x", "m") + ("y",) * (op == "where")
    names = names[: OPS[op][0]] + ("x", "y") * (op == "plus")
    reads, writes = (Read("x", ("x", "y"), "a", shift),), (Write("x", "y", "m"),)
    sets = Set("x", op, names), Set("z", "copy", ("a",))
    program = Program("big", 2, ("x", "y", "z"), "x", (Step(reads, writes, sets),), most=most)
    inputs = [most, 3], [most, 1], [0, 0]
    wanted = by_definition(program, *inputs)[-1]
    assert {n: v.tolist() for n, v in [*program.run(*inputs)][-1].items()} == wanted


def test_every_operation_is_tried_by_random_programs():
    programs = [random_program(seed) for seed in range(30)]
    steps = [step for program in programs for step in program.steps]
    assert {each.op for step in steps for each in step.sets} == {*OPS}
    assert any(read.shift < 0 for step in steps for read in step.reads)
    assert any(write.cell for step in steps for write in step.writes)


def test_a_faulty_layer_is_told_with_register_and_processor():
    program = list_ranking(5)
    model = pram(program)
    model.blocks[0].mlp.b_out.data[model.stream["rank"]] += 1
    wrong = next(differences(model, program, [np.array([2, 3, 4, 5, 0])]))
    assert "after layer 1 register rank of processor 0 is 1, in the program 0" in wrong


@settings(max_examples=15)
@given(st.integers(1, 40), st.integers(0, 1000))
def test_ranks_of_lists(length, seed):
    rng = np.random.default_rng(seed)
    order = 1 + rng.permutation(length)
    successors = np.zeros(length, dtype=int)
    successors[order[:-1] - 1] = order[1:]
    model = pram(list_ranking(length))
    wanted = np.empty(length, dtype=int)
    wanted[order - 1] = np.arange(length, 0, -1)
    assert ranks(successors).tolist() == wanted.tolist()
    assert model(successors).tolist() == wanted.tolist()


def test_fewer_processors_than_built_for_and_batches():
    model = pram(list_ranking(9))
    assert model([2, 0]).tolist() == [2, 1]
    assert model([[[2, 3, 0]] * 2] * 2).shape == (2, 2, 3)
    assert model(torch.tensor([0, 1])).tolist() == [1, 2]


def test_short_formats_answer_where_they_are_exact():
    successors = [2, 3, 4, 5, 0]
    assert pram(list_ranking(5)).to(torch.float16)(successors).tolist() == [5, 4, 3, 2, 1]
    with rejects("float16"):
        pram(list_ranking(5000)).to(torch.float16)


MOVE = Set("x", "copy", ("y",))


def program(*sets: Set, reads=(), writes=(), **fields) -> Program:
    given = {"inputs": ("x", "y"), "answer": "x", **fields}
    return Program("mine", 3, steps=(Step(tuple(reads), tuple(writes), sets),), **given)


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: program(MOVE, most=2), "most 3"),
        (lambda: program(MOVE, inputs=()), "mine"),
        (lambda: program(MOVE, inputs=("x", "x")), "x"),
        (lambda: program(MOVE, inputs=("x", "y", "bos")), "bos"),
        (lambda: program(MOVE, inputs=("x", "y", "z²")), "z²"),
        (lambda: program(MOVE, initial={"z": (4,)}), "z 3"),
        (lambda: program(MOVE, initial={"z": (1, 1, 1, 1)}), "z 3"),
        (lambda: program(MOVE, initial={"z": (True,)}), "z"),
        (lambda: program(MOVE, initial={"x": (1,)}), "x"),
        (lambda: program(MOVE, kinds={"even": frozenset({4})}), "even 3"),
        (lambda: program(MOVE, kinds={"y": frozenset({1})}), "y"),
        (lambda: program(MOVE, kinds={"index": frozenset({1})}), "index"),
        (lambda: program(Set("index", "copy", ("y",))), "index"),
        (lambda: program(MOVE, reads=[Read("y", ("y",), "x")]), "x"),
        (lambda: program(MOVE, answer="z"), "answer z"),
        (lambda: program(MOVE, reads=[Read("z", ("y",), "a")]), "z"),
        (lambda: program(MOVE, reads=[Read("y", ("a",), "a")]), "a"),
        (lambda: program(MOVE, writes=[Write("y", "z", "a")]), "z"),
        (lambda: program(Set("x", "copy", ("z",))), "z"),
        (lambda: program(MOVE, reads=[Read("y", ("y",), "a")] * 2), "a"),
        (lambda: program(MOVE, MOVE), "x"),
        (lambda: program(Set("x", "min", ("y",))), "min 1 2"),
        (lambda: program(Set("x", "copy", ("y", "y"))), "copy 2 1"),
        (lambda: program(Set("x", "copy", (4,))), "operand 4 3"),
        (lambda: program(Set("x", "copy", ("y",), "even")), "x"),
        (
            lambda: program(MOVE, Set("x", "copy", (1,), "even"), kinds={"even": frozenset({2})}),
            "x even",
        ),
        (lambda: program(MOVE, writes=[Write("y", "index", "a", 2, 2)]), "cell 1"),
        (lambda: program(MOVE, writes=[Write("y", "index", "a", empty=4)]), "empty 3"),
        (lambda: list(program(MOVE).run([1])), "1 x y"),
        (lambda: list(program(MOVE).run([1], [4])), "y 4"),
        (lambda: list(program(MOVE).run([1], [-1])), "y -1"),
        (lambda: list(program(MOVE).run([1], [1, 2])), "shape"),
        (lambda: list(program(MOVE).run([0] * 4, [0] * 4)), "processors 4 3"),
        (lambda: pram(program(MOVE))([1]), "1 x y"),
        (lambda: pram(list_ranking(8)).sharpened(0.1), "sharpness"),
        (lambda: pram(program(MOVE))([0.5], [1]), "x float64"),
        (lambda: pram(program(MOVE, writes=[Write("x", "y", "a")])), "y input"),
        (
            lambda: pram(program(Set("z", "plus", ("x", "y")), writes=[Write("x", "z", "a")])),
            "z plus",
        ),
        (lambda: pram(replace(program(MOVE), processors=10**10, most=10**10)), "GiB"),
        (lambda: pram(program(MOVE, repeat=10**12)), "layers"),
        (
            lambda: pram(program(MOVE, writes=[Write("x", "index", "a")], most=2**50)),
            "53 processors=3",
        ),
        (lambda: ranks([2, 1]), "successors 1"),
        (lambda: ranks([3, 0]), "successors 3 2"),
    ],
)
def test_what_cannot_be_run_is_refused(call, names):
    with rejects(*names.split()):
        call()


def test_any_number_of_processors_may_write_one_more_than_the_least():
    """All to one cell, so that their scores are one gap below that of the least."""
    steps = (Step((), (Write("x", "c", "m"),), (Set("x", "copy", ("m",)),)),)
    model = pram(Program("one", 20, ("x",), "x", steps, initial={"c": (1,) * 20}))
    values = [0] + [1] * 19
    assert int(model(values)[0]) == 0
    for sharpness in (2.0, 4.0, 8.0):
        for leaked, bound in leaks(model, sharpness, values):
            assert leaked <= bound + 1e-12


def test_squares_are_carried_where_places_are_made():
    chain = program(
        Set("c", "min", ("a", "d")),
        reads=[Read("index", ("x",), "a")],
        writes=[Write("y", "c", "m")],
        initial={"d": (1,)},
    )
    assert squared(chain) == {"index", "c", "a", "d"}
