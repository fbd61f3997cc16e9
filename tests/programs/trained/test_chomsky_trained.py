"""The claim on models trained on tasks of the Chomsky hierarchy, on models whose answers are known.

Models in place of trained ones: right at all lengths, right up to T, and of constant outputs.
"""

import numpy as np
import pytest
import torch

from constructions.trained.tasks.chomsky import Chomsky
from verify.finding import Verdict
from verify.programs.trained.chomsky_trained import built, findings_of, order
from verify.programs.trained.chomsky_trained_picture import draw
from verify.programs.trained.generalisation import Accuracies, Inputs

T = 4


def answers(task, up_to):
    """Right answers to inputs of at most `up_to` tokens, and zeros for longer ones."""

    def model(x):
        wanted = [task.definition.answer(row) for row in x.tolist()]
        return torch.tensor(wanted) * (x.shape[-1] <= up_to)

    return model


def measured(problem, up_to, seed=0):
    inputs = Inputs(Chomsky(problem, T), 30, 20, seed)
    task = inputs.task
    return Accuracies.measured(inputs, answers(task, up_to), answers(task, 0))


def failing(findings):
    return {each.id for each in findings if each.verdict is Verdict.FAILS}


@pytest.mark.parametrize(
    ("problem", "up_to", "expected"),
    [
        ("bucket sort", 5 * T, set()),
        ("bucket sort", T, {"learnt/beyond", "longer"}),
        ("bucket sort", 0, {"right", "learnt/within", "learnt/beyond", "longer"}),
        ("cycle navigation", 5 * T, {"longer"}),
        ("cycle navigation", T, set()),
        ("reverse string", 5 * T, {"longer"}),
    ],
)
def test_verdicts_are_those_of_models_with_known_answers(problem, up_to, expected):
    assert failing(findings_of(measured(problem, up_to))) == expected


def test_the_hand_built_model_is_right_and_another_is_not():
    inputs = Inputs(Chomsky("cycle navigation", 2), 5, 5, 0)
    assert not failing(built(inputs))
    inputs.__dict__["of_built"] = [*inputs.of_built[:-1], np.array([1.0, 0.9])]
    assert failing(built(inputs)) == {"built"}


def test_the_order_compares_every_model_of_bucket_sort_with_every_other():
    good, bad = measured("bucket sort", 5 * T), measured("bucket sort", T)
    other = measured("cycle navigation", 2 * T)
    assert not failing(order({"a": good, "b": other}))
    assert failing(order({"a": good, "b": bad, "c": measured("reverse string", 5 * T)})) == {
        "order"
    }
    assert not [*order({"a": good, "b": bad})]


def test_the_best_constant_output_is_the_most_frequent_one():
    """Of sorted inputs of one token every symbol is as frequent; long outputs are predictable."""
    inputs = Inputs(Chomsky("bucket sort", 5), 50, 50, 0)
    by_length = [float(each.mean()) for each in inputs.of_constant]
    assert by_length[0] == pytest.approx(0.2, abs=0.2)
    assert np.mean(by_length[15:]) == pytest.approx(0.7, abs=0.1)


def test_the_picture_has_a_panel_for_each_task(tmp_path):
    models = {
        f"{problem}-seed{seed}": measured(problem, T)
        for problem in ("cycle navigation", "bucket sort")
        for seed in (0, 1)
    }
    figure = draw(models)
    titles = [panel.get_title().splitlines()[0] for panel in figure.axes]
    assert titles == ["cycle navigation", "bucket sort"]
    assert {len(panel.lines) for panel in figure.axes} == {5}
