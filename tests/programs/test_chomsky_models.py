"""The tasks of the Chomsky hierarchy as compiled programs, against the tasks' answers."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import torch
from refusals import rejects
from registers import registers_are_right

from constructions.programs import chomsky_task
from theory.kinds import InputError
from theory.programs import evaluate
from theory.programs.chomsky import TASKS
from theory.programs.chomsky.enumeration import all_inputs
from theory.programs.chomsky.solutions import SOLUTIONS
from verify.programs.chomsky import stated_layers

each_task = pytest.mark.parametrize("name", SOLUTIONS)


def right(model, name, inputs):
    """Whether all answers to inputs of one length are right."""
    return model(np.array(inputs)).tolist() == [TASKS[name].answer(x) for x in inputs]


@each_task
def test_programs_by_definition(name):
    task, solution, rng = TASKS[name], SOLUTIONS[name], np.random.default_rng(0)
    for length in [*range(1, 9), 20]:
        x = task.draw(length, rng)
        count = solution.empties(len(x))
        values = evaluate(solution.program(), [*x, *[len(task.tokens)] * count])
        assert values[-count if count else -1 :] == task.answer(x)


@each_task
def test_short_inputs(name):
    model = chomsky_task(name, 5)
    for length in range(1, 6):
        assert right(model, name, [*islice(all_inputs(name, length), 500)])


@each_task
def test_registers(name):
    model, rng = chomsky_task(name, 8), np.random.default_rng(0)
    for length in (1, 2, 5, 8):
        registers_are_right(model, np.array([TASKS[name].draw(length, rng)]))


@each_task
def test_softmax(name):
    """At the smallest sharpness at which the bound shows that all answers are right."""
    hard, rng = chomsky_task(name, 5), np.random.default_rng(0)
    sharpness = hard.least_sharpness()
    model = chomsky_task(name, 5, sharpness=sharpness)
    for length in range(1, 6):
        assert right(model, name, [TASKS[name].draw(length, rng) for _ in range(20)])
    with pytest.raises(InputError, match="sharpness"):
        chomsky_task(name, 5, sharpness=sharpness / 2)


@pytest.mark.slow
@pytest.mark.parametrize("max_length", [100, 500])
@each_task
def test_long_inputs(name, max_length):
    model, rng = chomsky_task(name, max_length), np.random.default_rng(max_length)
    assert model.n_layers <= stated_layers(name)
    for length in (1, 2, max_length // 2 - 1, max_length - 1, max_length):
        assert right(model, name, [TASKS[name].draw(length, rng) for _ in range(2)])


def test_inputs_and_answers():
    model = chomsky_task("reverse string", 3)
    assert model([0, 1, 1]) == [1, 1, 0]
    assert model([[0, 1], [1, 1]]) == [[1, 0], [1, 1]]
    answers = model(torch.tensor([[0, 1], [1, 1]]))
    assert torch.equal(answers, torch.tensor([[1, 0], [1, 1]]))
    assert chomsky_task("parity check", 3)([1, 0, 1]) == [0]


@pytest.mark.parametrize("given", [[], [2], [0, 1, 0, 1], [[0], [0, 1]]])
def test_wrong_inputs_are_refused(given):
    with pytest.raises(InputError):
        chomsky_task("reverse string", 3)(given)


def test_other_names_are_refused():
    with pytest.raises(InputError, match="name"):
        chomsky_task("sorting", 3)


def test_the_output_is_one_answer():
    with pytest.raises(InputError, match="at once"):
        chomsky_task("reverse string", 3).generate([0, 1], 1)


def test_a_text_is_no_list_of_integers():
    model = chomsky_task("parity check", 5)
    assert model([0, 1]) == [1]
    with rejects("tokens", "01"):
        model("01")
