"""Registers and answers that differ from the invariants are found, with the input."""

from dataclasses import replace

import numpy as np
import pytest

from constructions.structures import binary_search, sort
from verify.evidence.invariants import wrong_in_float64, wrong_over_q

POINTS, QUERIES = np.array([[3, 1, 2], [1, 5, 7]]), np.array([[0, 2, 4], [0, 2, 4]])
ANSWERS = (POINTS[:, None] <= QUERIES[..., None]).sum(-1)


def searches(model, answers=ANSWERS):
    """What is wrong with both sets in float64, and with the first one over Q."""
    yield list(wrong_in_float64(model, answers, POINTS, QUERIES))
    yield list(wrong_over_q(model, answers[0], POINTS[0], QUERIES[0]))


def test_what_is_right_has_no_counterexample():
    assert [*searches(binary_search(2))] == [[], []]
    assert not [*wrong_in_float64(sort(3), np.sort(POINTS), POINTS)]


def test_a_wrong_answer_is_found():
    for (found,) in searches(binary_search(2), np.add(ANSWERS, [[0, 0, 1], [0, 0, 0]])):
        assert "the answer is" in found
        assert "[3, 1, 2]" in found


@pytest.mark.parametrize("change", ["holds", "times"])
def test_a_wrong_register_is_found(change):
    model = binary_search(2)
    first, second = model.stages
    other = {"holds": lambda points, queries: second.holds(points, queries) + 1, "times": 3.0}
    model.stages = first, replace(second, **{change: other[change]})
    for found in searches(model):
        assert found
        assert all(str(second) in each and "instead of" in each for each in found)
