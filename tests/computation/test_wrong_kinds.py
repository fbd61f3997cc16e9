"""What is of another kind than asked for, given to the public functions of the topic: one line."""

import pytest
from refusals import rejects

from constructions.computation import scratchpad, semiautomaton, shortcut, turing_machine
from theory.computation import (
    A5,
    MACHINES,
    S3,
    Language,
    all_circuits,
    cascade,
    cyclic,
    formula_of,
    holonomy,
    image_sets,
    language_of,
    monoid,
    product,
    read_automaton,
    read_brackets,
    read_machine,
)

BEAVER = MACHINES["busy-beaver-2"]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "names"),
    [
        *[
            (lambda function=function: function("S3"), "str")
            for function in (cascade, holonomy, image_sets, monoid)
        ],
        *[
            (lambda build=build: build("S3", 3), "str")
            for build in (semiautomaton, shortcut, scratchpad)
        ],
        (lambda: product(S3, 5), "int"),
        (lambda: Language(None, frozenset(), "ab"), "NoneType"),
        (lambda: formula_of("ab"), "str"),
        (lambda: language_of("a", "ab"), "str"),
        (lambda: read_automaton("/nowhere.json"), "/nowhere.json"),
        (lambda: read_automaton(None), "path"),
        (lambda: read_machine(5), "path"),
        (lambda: read_brackets(5, 2), "int"),
        (lambda: list(all_circuits("a", 1)), "n_inputs"),
        (lambda: list(all_circuits(1, 0)), "n_gates"),
        (lambda: BEAVER.writing(None), "word"),
        (
            lambda: turing_machine(BEAVER, 4).interface.steps("RL"),
            "tokens",
        ),
        (lambda: scratchpad(A5, 3).interface.states("ab"), "tokens"),
        (lambda: scratchpad(A5, 3).interface.states([99]), "tokens"),
        (
            lambda: scratchpad(A5, 3).interface.states([2, 1]),
            "token 1 2 6",
        ),
    ],
)
def test_other_kinds_are_refused_in_one_line(call, names):
    with rejects(*names.split()):
        call()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    "build",
    [
        lambda: scratchpad(cyclic(10**5), 3),
        lambda: semiautomaton(cyclic(20_000), 9),
        lambda: semiautomaton(cyclic(20_000), 9, form="robust"),
    ],
)
def test_units_that_memory_does_not_hold_are_refused(build):
    with rejects("GiB"):
        build()
