"""The first logged steps of every shipped checkpoint come out again from its configuration."""

import pytest

from constructions.trained import configuration_of, log_of, shipped
from constructions.trained.process import Process
from constructions.trained.state import State
from constructions.trained.training import advance

SECONDS = 20  # steps that take a second or two; the others are for the slow tests
ROUNDING = 1e-4  # of a loss: sums in another order, over so many steps in float32


def first_line(name):
    """The step and the mean loss of the first line of its log."""
    line = log_of(name)[0]
    return line["step"], line["loss"]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (first_line(name)[0] > SECONDS))
        for name in shipped()
    ],
)
def test_first_logged_steps(name, tmp_path):
    step, logged = first_line(name)
    run = State.begin(configuration_of(name), tmp_path, Process.join("cpu"))
    losses = [float(loss) for loss in advance(run, step, run.configuration.task.loss)]
    assert sum(losses) / len(losses) == pytest.approx(logged, rel=ROUNDING)
    assert abs(losses[0] - logged) > ROUNDING * logged  # one step is not the mean of them all


def test_another_seed_does_not_pass(tmp_path):
    one, other = "regression-linear-2-layers-seed0", "regression-linear-2-layers-seed1"
    step, logged = first_line(one)
    run = State.begin(configuration_of(other), tmp_path, Process.join("cpu"))
    losses = [float(loss) for loss in advance(run, step, run.configuration.task.loss)]
    assert abs(sum(losses) / len(losses) - logged) > 10 * ROUNDING * logged
