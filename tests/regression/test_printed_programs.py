"""The programs of heads in theory/proofs, as Rocq prints them, are those that tensors contain."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import pytest
from compiled_proofs import copied

from constructions import gradient_descent, hyperpower, newton
from constructions.formulas import register_program
from constructions.regression.ladder_gram import power_ladder
from theory.proofs.check import OPTIONS, missing
from theory.regression.register_programs import (
    Polynomials,
    RegisterHead,
    RegisterLayer,
    RegisterProgram,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing()), reason=f"Rocq is not installed: {missing()}"),
]

ALPHA = 0.375
NEWTON = "printed newton_vector newton_scalar (@newton_direct rat_comRing alpha (fracq (1, 2%:Z))"
DESCENT = 'printed (fun=> "x"%string) (fun=> "e"%string) (@gradient_descent rat_comRing alpha'
LADDER = "printed ladder_vector ladder_scalar (@{} rat_comRing alpha"
PROGRAMS: dict[str, Any] = {
    **{
        f"{NEWTON} {start} {k})": lambda d, k=k, start=start: newton(d, k, ALPHA, start=start)
        for k in range(5)
        for start in ("gram", "identity")
    },
    **{f"{DESCENT} {k})": lambda d, k=k: gradient_descent(d, k, ALPHA) for k in range(1, 5)},
    **{
        f"{LADDER.format(name)} {N})": lambda d, N=N, start=start: power_ladder(d, N, ALPHA, start)
        for name, start in (("power_ladder", "identity"), ("gram_ladder", "gram"))
        for N in (*range(1, 21), 25, 26, 40, 41, 60, 61)
    },
    f"{LADDER.format('power_ladder')} (2 ^ 5))": lambda d: newton(
        d, 5, ALPHA, "ladder", start="identity"
    ),
    f"{LADDER.format('gram_ladder')} (2 ^ 5))": lambda d: newton(d, 5, ALPHA, "ladder"),
    f"{LADDER.format('gram_ladder')} (3 ^ 3))": lambda d: hyperpower(d, 3, 3, ALPHA),
    f"{LADDER.format('power_ladder')} 22)": lambda d: gradient_descent(d, 22, ALPHA, "ladder"),
}
"""What Rocq prints, and the model with these tensors, for any d."""


@pytest.fixture(scope="module")
def printed(tmp_path_factory) -> dict[str, RegisterProgram]:
    """The programs that Rocq prints, all in one run."""
    folder = copied(tmp_path_factory.mktemp("printed"))
    files = ("printing", "newton_direct", "gradient_descent", "ladder", "ladder_gram")
    alpha = "Definition alpha : rat := fracq ({}, {}%:Z).".format(*ALPHA.as_integer_ratio())
    lines = [
        "From mathcomp Require Import all_ssreflect all_algebra.",
        "From Coq Require Import String ZArith.",
        f"From weightwright Require Import linear_heads ladder_terms {' '.join(files)}.",
        "Local Open Scope ring_scope.",
        "Set Printing Width 10000000. Set Printing Depth 10000000.",
        alpha,
        *(f"Eval vm_compute in {words}." for words in PROGRAMS),
    ]
    (folder / "programs.v").write_text("\n".join(lines))
    run = subprocess.run(
        ["coqc", *OPTIONS, "programs.v"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    outputs = re.findall(r"^ +=(.*?)\n +: ", run.stdout, re.MULTILINE | re.DOTALL)
    return {words: program(output) for words, output in zip(PROGRAMS, outputs, strict=True)}


def program(output: str) -> RegisterProgram:
    """The program that Rocq printed as lists of names and fractions."""
    text = re.sub(r"%(Z|string)\b", "", output).replace("[::", "[").replace(";", ",")
    embedding, layers, answer = ast.literal_eval(text.strip())
    found = []
    for heads, own in layers:
        each = tuple(
            RegisterHead({(query, key): Fraction(1)}, {(value, into): Fraction(*number)})
            for query, key, value, into, number in heads
        )
        found.append(RegisterLayer(each, summed(own) or None))
    kinds = {into: "vector" if column == "x" else "scalar" for column, into, _ in embedding}
    for layer in found:
        for head in layer.heads:
            for pair in head.scores:
                kinds |= dict.fromkeys(pair, "vector")
    for layer in found:
        moves = [pair for head in layer.heads for pair in head.values] + [*(layer.own or {})]
        for source, into in moves * 2:
            known = kinds.get(source) or kinds.get(into) or "scalar"
            kinds |= {source: known, into: known}
    numbers = {register: Fraction(*number) for register, _, number in answer}
    return RegisterProgram(kinds, summed(embedding), tuple(found), numbers)


def summed(moves: list[tuple[str, str, tuple[int, int]]]) -> dict[tuple[str, str], Fraction]:
    total: dict[tuple[str, str], Fraction] = {}
    for source, into, number in moves:
        total[source, into] = total.get((source, into), Fraction(0)) + Fraction(*number)
    return {pair: number for pair, number in total.items() if number}


def numbers(program: RegisterProgram) -> Iterator[dict[tuple[str, ...], Fraction]]:
    """The numbers of each layer, by query, key, value and output, or by source and output.

    Registers that contain 0 before a layer are left out.
    """
    assert all(layer.mlp is None for layer in program.layers)
    yield {pair: factor for pair, factor in program.embedding.items() if factor}
    for layer, now in zip(program.layers, program.contents(Polynomials()), strict=False):
        empty = {name for name, content in now.items() if not any(content.values())}
        total: dict[tuple[str, ...], Fraction] = {}
        for head in layer.heads:
            for scores, c in head.scores.items():
                for values, v in head.values.items():
                    if not empty & {*scores, values[0]}:
                        four = (*scores, *values)
                        total[four] = total.get(four, Fraction(0)) + c * v
        total |= {pair: v for pair, v in (layer.own or {}).items() if pair[0] not in empty}
        yield {which: number for which, number in total.items() if number}
    yield {(register,): factor for register, factor in program.answer.items()}


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("words", PROGRAMS)
def test_the_program_that_is_proved_is_the_program_of_the_tensors(words, d, printed):
    proved, read = [*numbers(printed[words])], [*numbers(register_program(PROGRAMS[words](d)))]
    assert len(proved) == len(read)
    for number, (of_rocq, of_torch) in enumerate(zip(proved, read, strict=True)):
        assert of_rocq == of_torch, f"layer {number}"
    assert sum(map(len, proved)) > 2
    assert printed[words].prediction(Polynomials()) == register_program(
        PROGRAMS[words](d)
    ).prediction(Polynomials())


def test_another_number_is_seen(printed):
    """Of two models that differ in α, one has the printed numbers."""
    (words, _), *_ = PROGRAMS.items()
    other: Mapping[str, Any] = {"start": "gram"}
    assert [*numbers(printed[words])] != [*numbers(register_program(newton(2, 0, 0.25, **other)))]


LISTS = """([:: ("x"%string, "u", (1%Z, 1)); ("y", "s", (3, 4))],
  [:: ([:: ("u", "u", "s", "s", (-1, 2))], [:: ("u", "w", (5, 1))])], [:: ("s", "", (2, 3))])"""
"""A program as Rocq prints it: an embedding, one layer of one head, and the answer."""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("(1%Z, 1)", "(2%Z, 1)"),
        ("(3, 4)", "(4, 3)"),
        ("(-1, 2)", "(1, 2)"),
        ('"u", "u", "s"', '"w", "u", "s"'),
        ("(5, 1)", "(6, 1)"),
        ('"u", "w"', '"w", "u"'),
        ("(2, 3)", "(1, 3)"),
    ],
)
def test_each_number_and_each_register_is_compared(right, wrong):
    assert LISTS.count(right) == 1
    assert [*numbers(program(LISTS))] != [*numbers(program(LISTS.replace(right, wrong)))]


def test_programs_are_read_as_rocq_prints_them():
    read = program(LISTS)
    assert read.kinds == {"u": "vector", "s": "scalar", "w": "vector"}
    assert [*numbers(read)] == [
        {("x", "u"): 1, ("y", "s"): Fraction(3, 4)},
        {("u", "u", "s", "s"): Fraction(-1, 2), ("u", "w"): 5},
        {("s",): Fraction(2, 3)},
    ]
