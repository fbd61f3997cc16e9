"""What is of another kind than asked for, given to the public functions of the topic: one line."""

import pytest

from constructions.computation import scratchpad, semiautomaton, shortcut, turing_machine
from theory.checks import InputError
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
    ("call", "says"),
    [
        *[
            (lambda function=function: function("S3"), "^a str is no semiautomaton: give Semi")
            for function in (cascade, holonomy, image_sets, monoid)
        ],
        *[
            (lambda build=build: build("S3", 3), "^a str is no semiautomaton: give Semi")
            for build in (semiautomaton, shortcut, scratchpad)
        ],
        (lambda: product(S3, 5), "^a int is no semiautomaton"),
        (lambda: Language(None, frozenset(), "ab"), "^a NoneType is no semiautomaton"),
        (lambda: formula_of("ab"), "^a str is no language: give regular_expression"),
        (lambda: language_of("a", "ab"), "^a str is no formula: give formula"),
        (lambda: read_automaton("/nowhere.json"), "^cannot read /nowhere.json: No such file"),
        (lambda: read_automaton(None), "^path is None: give where a file with an automaton is"),
        (lambda: read_machine(5), "^path is 5: give where a file with a machine is"),
        (lambda: read_brackets(5, 2), r"^a int is no text: give some of \(\) \[\]"),
        (lambda: list(all_circuits("a", 1)), "^n_inputs is 'a'"),
        (lambda: list(all_circuits(1, 0)), "^n_gates is 0"),
        (lambda: BEAVER.writing(None), "^word is None: give the symbols"),
        (
            lambda: turing_machine(BEAVER, 4).interface.steps("RL"),
            r"^tokens have shape \(\) and dtype <U2: give one row of integers",
        ),
        (lambda: scratchpad(A5, 3).interface.states("ab"), "^tokens have shape"),
        (lambda: scratchpad(A5, 3).interface.states([99]), "^tokens contain 99 but the vocab"),
        (
            lambda: scratchpad(A5, 3).interface.states([2, 1]),
            "^token 1 is a letter and no state: give what .* decodes, from 2 to 6$",
        ),
    ],
)
def test_other_kinds_are_refused_in_one_line(call, says):
    with pytest.raises(InputError, match=says):
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
    with pytest.raises(InputError, match=r"GiB of memory and .* are available"):
        build()
