"""The first logged steps of every shipped checkpoint come out again from its configuration."""

import numpy as np
import pytest
import torch
from scipy.stats import t

from constructions.trained import configuration_of, log_of, shipped, sidecar
from constructions.trained.checkpoint import run_of
from constructions.trained.group import Group
from constructions.trained.process import Process
from constructions.trained.state import State
from constructions.trained.tasks.digits import Digits, installed
from constructions.trained.tasks.search import Search
from constructions.trained.tasks.text import Text, available
from constructions.trained.training import AT_ONCE, advance

QUICK = 20, 100_000  # so many steps of models of so many bytes; all others are for the slow tests
RUNS, NOISE = 5, 2.0**-18  # of first weights, relative: 64 times half a unit in the last place
ROUNDING = 1e-4  # of a loss: sums in another order, over so many steps in float32


def is_quick(name):
    """Whether the first line of its log is made in a second."""
    steps, size = QUICK
    return first_line(name)[0] <= steps and sidecar(name)["bytes"] <= size


def first_line(name):
    """The step and the mean loss of the first line of its log."""
    line = log_of(name)[0]
    return line["step"], line["loss"]


def losses_of(name, steps, folder, rounding=None):
    """The losses of so many steps, of prompts drawn as many at once as in training; with a
    generator, from first weights that are each off by about NOISE of their size."""
    run, losses = State.begin(configuration_of(name), folder, Process.join("cpu")), []
    group = Group([run])
    if rounding is not None:
        with torch.no_grad():
            for weights in run.model.parameters():
                weights *= 1 + NOISE * torch.randn(weights.shape, generator=rounding)
    while run.step < steps:
        losses += map(float, advance(group, AT_ONCE))
    return losses


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=[pytest.mark.slow] * (not is_quick(name) or not name.endswith("seed0")),
        )
        for name in shipped()
        if run_of(name) == name  # kept on the way: the log is beside the last one
    ],
)
def test_first_logged_steps(name, tmp_path):
    task = configuration_of(name).task
    images = isinstance(task, Digits) or (isinstance(task, Search) and task.law == "images")
    if (images and not installed()) or (isinstance(task, Text) and not available()):
        pytest.skip("what it was trained on is not here: scikit-learn, or the texts of Python")
    step, logged = first_line(name)
    losses = losses_of(name, step, tmp_path)
    assert abs(losses[0] - logged) > ROUNDING * logged  # one step is not the mean of them all
    assert agree(name, step, logged, np.mean(losses), tmp_path)


def agree(name, step, logged, found, folder):
    """Whether two mean losses of a run differ by rounding alone.  Runs of the task search look up
    single cells: a rounding chooses another, and moves the very first loss."""
    apart = abs(found - logged)
    if apart <= ROUNDING * logged or not isinstance(configuration_of(name).task, Search):
        return apart <= ROUNDING * logged
    return apart < interval(name, step, folder)


def interval(name, step, folder):
    """How far two runs that differ by roundings are apart, but for one pair in a thousand.

    This is Student's t on `RUNS` runs, whose first weights are off by 64 times a rounding.  If an
    event changes the mean loss and has probability p under a rounding, for a small p, then it has
    about 64p in such a run: it occurs between two runs, but in none of the five, with probability
    p(1 − 64p)⁵, which is at most 1/384 · (5/6)⁵ = 0.00105.
    """
    runs = [
        np.mean(losses_of(name, step, folder / str(seed), torch.Generator().manual_seed(seed)))
        for seed in range(RUNS)
    ]
    return t.isf(0.0005, RUNS - 1) * np.std(runs, ddof=1) * np.sqrt(2)


@pytest.mark.parametrize("run", ["regression-linear-2-layers", "search-frozen-16"])
def test_another_seed_does_not_pass(run, tmp_path):
    one, other = f"{run}-seed0", f"{run}-seed1"
    step, logged = first_line(one)
    found = np.mean(losses_of(other, step, tmp_path / "other"))
    assert abs(found - logged) > 10 * ROUNDING * logged
    assert not agree(one, step, logged, found, tmp_path)
