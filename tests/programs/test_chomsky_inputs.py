"""The enumeration of the tasks' inputs."""

from __future__ import annotations

import numpy as np
import pytest

from theory.kinds import InputError
from theory.programs.chomsky import TASKS
from theory.programs.chomsky.enumeration import all_inputs


@pytest.mark.parametrize("length", [1, 2, 3, 4])
@pytest.mark.parametrize("name", TASKS)
def test_all_inputs_are_those_that_are_drawn(name, length):
    listed, rng = [*all_inputs(name, length)], np.random.default_rng(0)
    drawn = {tuple(TASKS[name].draw(length, rng)) for _ in range(15 * len(listed))}
    assert len({*listed}) == len(listed)
    assert drawn <= {*listed}
    assert len(drawn) > 0.98 * len(listed)


@pytest.mark.parametrize(
    ("name", "length", "count"),
    [
        ("modular arithmetic, brackets", 5, 2 * 5**2),
        ("modular arithmetic, brackets and products", 6, 2 * 3 * 5**2),
        ("modular arithmetic, brackets", 9, 2 * (2 * 5 * 50 + 3 * 5 * 5)),
        ("solve equation", 7, 2 * 2 * 5 * 5),
        ("stack manipulation", 5, 2 * 3**4 + 4 * 3**3 + 8 * 3**2 + 16 * 3),
        ("binary addition", 6, 15 + 3 * 7 + 7 * 3 + 15),
        ("missing duplicate", 7, 8 * 6),
    ],
)
def test_numbers_of_inputs(name, length, count):
    found = [*all_inputs(name, length)]
    assert len(found) == len({*found}) == count
    assert {len(each) for each in found} == {length}


def test_other_names_are_refused():
    with pytest.raises(InputError, match="name"):
        all_inputs("sorting", 3)
