"""Runs of several seeds at once: each is the run of its seed alone."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest
import torch
from refusals import rejects
from short_runs import BEGIN, KINDS, TINY, Squares, Stop, kept, losses_of, steps_of, weights

from constructions.trained import (
    Diverged,
    configuration_of,
    group,
    load,
    preset,
    sidecar,
    state,
    train,
    train_together,
)
from constructions.trained.__main__ import main
from constructions.trained.group import Group
from constructions.trained.lstm import LSTMShape
from constructions.trained.process import Process
from constructions.trained.state import State
from constructions.trained.training import AT_ONCE, advance
from constructions.trained.transformers import TransformerShape

SEEDS = 3, 0, 7
MODELS = {
    **KINDS,
    "search, each": preset("search", "plane-32", steps=70),
    "search, final": preset("search", "extra-16", steps=70),
    "frozen": replace(preset("search", "frozen-16", steps=70), batch_size=8),
    "fixed rows": replace(preset("addition", "gaussian", steps=70), batch_size=8),
    "counts": preset("counts", "sketch-32", steps=70),
}
ALONE = "lstm", "linear", "chomsky"  # kinds whose losses are evaluated one after the other
QUICK = "modular", "channels", "fixed rows"  # all others are for the slow tests
FEW = "regression", "channels", "modular", "lstm"


def slow_unless(quick, kinds):
    return [pytest.param(kind, marks=[pytest.mark.slow] * (kind not in quick)) for kind in kinds]


def of_seeds(made, seeds=SEEDS):
    return [replace(made, seed=seed) for seed in seeds]


def begun(made, folder):
    return State.begin(made, folder, Process(0, 1, torch.device("cpu")))


def trained_together(made, folder, seeds=SEEDS, **given):
    folders = [folder / str(seed) for seed in seeds]
    return train_together(of_seeds(made, seeds), folders, **given)


def interrupted_together(made, folder, after, seeds=SEEDS):
    def stop(step, _):
        if step >= after:
            raise Stop

    with pytest.raises(Stop):
        trained_together(made, folder, seeds, progress=stop, save_every=0)


def assert_close(path, other):
    """Weights differ by roundings, of which another processor has more (1.5·10⁻⁴), and by less than
    one step changes them (2·10⁻³). Left out is b_K of softmax heads: it has the gradient 0, of
    which AdamW takes the rounding for a direction."""
    models = load(path), load(other)
    for (name, W), (_, V) in zip(*(model.named_parameters() for model in models), strict=True):
        if not name.endswith("b_K"):
            assert float((W - V).norm()) <= 1e-3 * float(V.norm()), name


@pytest.mark.parametrize("kind", slow_unless(QUICK, MODELS))
def test_every_run_has_the_weights_that_it_has_alone(kind, tmp_path, monkeypatch):
    """In float64, where no rounding is seen after 20 steps."""
    untrained, draw = state.untrained, Group.draw
    monkeypatch.setattr(state, "untrained", lambda made: untrained(made).double())
    monkeypatch.setattr(
        Group,
        "draw",
        lambda runs, steps: tuple(
            part.double() if part.is_floating_point() else part for part in draw(runs, steps)
        ),
    )
    monkeypatch.setattr(group, "_operations", lambda run: 0)
    made = replace(MODELS[kind], batch_size=min(8, MODELS[kind].batch_size))
    together = Group([begun(each, tmp_path / f"{each.seed}") for each in of_seeds(made)])
    assert together.stacked == (kind not in ALONE)
    losses = torch.stack([*advance(together, AT_ONCE)], dim=-1)
    for run, found in zip(together.runs, losses, strict=True):
        alone = Group([begun(run.configuration, tmp_path / "alone")])
        assert not alone.stacked
        wanted = torch.cat([*advance(alone, AT_ONCE)])
        torch.testing.assert_close(found, wanted, rtol=1e-11, atol=1e-11)
        torch.testing.assert_close(run.weights, alone.weights[0].detach(), rtol=1e-9, atol=1e-9)
        assert run.step == alone.step == AT_ONCE
        assert float((run.weights - together.runs[0].weights).norm()) > 1e-3 or (
            run is together.runs[0]
        )


@pytest.mark.parametrize("kind", slow_unless(["regression"], FEW))
def test_files_are_those_of_runs_alone(kind, tmp_path):
    """In the same places, with the same logs and the same snapshots, up to rounding."""
    made = KINDS[kind]
    paths = trained_together(made, tmp_path, keep=(30,), commands=["one", "two", "three"])
    for seed, path, command in zip(SEEDS, paths, ("one", "two", "three"), strict=True):
        alone = train(replace(made, seed=seed), tmp_path / "alone" / str(seed), keep=(30,))
        assert {each.name for each in path.parent.iterdir()} == {
            each.name for each in alone.parent.iterdir()
        }
        assert_close(path, alone)
        assert_close(*(each.with_name("model-step30.safetensors") for each in (path, alone)))
        assert steps_of(path.parent) == steps_of(alone.parent)
        assert losses_of(path.parent) == pytest.approx(losses_of(alone.parent), rel=1e-5)
        record, other = sidecar(path), sidecar(alone)
        assert configuration_of(path) == configuration_of(alone) == replace(made, seed=seed)
        assert (record["command"], record["steps"]) == (command, other["steps"])
        assert record["loss"] == pytest.approx(other["loss"], rel=1e-5)


def test_every_run_has_the_snapshots_that_it_has_passed(tmp_path):
    made = of_seeds(replace(TINY, steps=2), seeds=(0, 1))
    folders = [tmp_path / name for name in ("first", "second")]
    for each, folder, keep in zip(made, folders, ((1,), ()), strict=True):
        train(each, folder, keep=keep)
    for order in (1, -1):
        with rejects("keep is 1", "second"):
            train_together(made[::order], folders[::order], keep=(1,))


@pytest.mark.parametrize("kind", slow_unless(["modular", "lstm"], FEW))
def test_interrupted_together_and_resumed_together(kind, tmp_path):
    """To the last bit."""
    paths = trained_together(KINDS[kind], tmp_path / "whole")
    interrupted_together(KINDS[kind], tmp_path / "parts", 2 * AT_ONCE)
    found = trained_together(KINDS[kind], tmp_path / "parts")
    for path, wanted in zip(found, paths, strict=True):
        assert weights(path) == weights(wanted)
        assert losses_of(path.parent) == losses_of(wanted.parent)
        assert steps_of(path.parent) == [20, 40, 60, 70]


@pytest.mark.parametrize("kind", slow_unless(["modular"], FEW))
def test_one_seed_of_several_is_resumed_alone(kind, tmp_path):
    interrupted_together(KINDS[kind], tmp_path / "parts", 2 * AT_ONCE)
    for made in of_seeds(KINDS[kind]):
        found = train(made, tmp_path / "parts" / str(made.seed))
        wanted = train(made, tmp_path / "alone" / str(made.seed))
        assert_close(found, wanted)
        assert losses_of(found.parent) == pytest.approx(losses_of(wanted.parent), rel=1e-5)


@pytest.mark.parametrize("kind", slow_unless(["modular"], FEW))
def test_runs_begun_alone_are_resumed_together(kind, tmp_path):
    """Also at different steps: one is finished, one has a state after 40 steps, one has none."""
    made, folder = KINDS[kind], tmp_path / "parts"
    finished = train(replace(made, seed=SEEDS[0]), folder / str(SEEDS[0]))
    before = weights(finished)
    interrupted_together(made, folder, 3 * AT_ONCE, seeds=SEEDS[1:2])
    seen = []
    paths = trained_together(made, folder, progress=lambda step, _: seen.append(step))
    assert seen == [20, 40, 60, 70]  # the last run reaches the second, and both end together
    assert weights(finished) == before
    for path, each in zip(paths, of_seeds(made), strict=True):
        alone = train(each, tmp_path / "alone" / str(each.seed))
        assert_close(path, alone)
        assert steps_of(path.parent) == steps_of(alone.parent)


def test_gradients_are_clipped_run_by_run(tmp_path):
    runs = Group([begun(made, tmp_path) for made in of_seeds(TINY)])
    for row, norm in zip(runs.weights.grad, (0.5, 4.0, 100.0), strict=True):
        row.copy_(torch.randn(len(row), generator=torch.Generator().manual_seed(0)))
        row.mul_(norm / row.norm())
    before = runs.weights.grad.clone()
    runs.clip(2.0)
    assert torch.equal(runs.weights.grad[0], before[0])
    assert runs.weights.grad.norm(dim=-1).tolist() == pytest.approx([0.5, 2.0, 2.0], rel=1e-5)
    torch.testing.assert_close(runs.weights.grad[2], before[2] / 50, rtol=1e-5, atol=0)


def test_prompts_are_those_of_the_step(tmp_path):
    """A corpus is traversed in the order of the seed, from the place of the step."""
    made = replace(MODELS["corpus"], batch_size=3)
    runs = Group([begun(each, tmp_path / f"{each.seed}") for each in of_seeds(made)])
    for run in runs.runs:
        run.step = 5
    tokens, wanted = runs.draw(2)
    for seed, *found in zip(SEEDS, tokens, wanted, strict=True):
        each = replace(made, seed=seed)
        all_prompts = made.task.draw(each, 21, 0, step=0)
        for part, whole in zip(found, all_prompts, strict=True):
            assert torch.equal(part, whole[15:])


def test_which_runs_are_evaluated_at_once(tmp_path):
    """Runs of small steps without a compiled loss; more arithmetic is done run by run."""

    def stacked(made, loss=None, seeds=SEEDS):
        return Group([begun(each, tmp_path) for each in of_seeds(made, seeds)], loss).stacked

    assert stacked(TINY)
    assert not stacked(TINY, seeds=(0,))
    assert not stacked(TINY, loss=TINY.task.loss)
    compiled = partial(TINY.task.loss)
    assert Group([begun(TINY, tmp_path)], compiled).loss is compiled
    assert not stacked(replace(TINY, shape=LSTMShape(1, 4)))
    assert not stacked(KINDS["chomsky"])  # batches of another shape at each step
    # A hidden layer of 2 · 8 · 7 · 2000 · 2 operations for each of 800 prompts, and its gradients.
    assert not stacked(replace(TINY, batch_size=800, shape=TransformerShape(1, 2, 8, 2000)))


def test_weights_on_which_no_loss_depends_have_gradient_zero(tmp_path, monkeypatch):
    """Also where the losses of all runs are evaluated at once."""

    def loss(task, model, *batch):
        return next(model.parameters()).square().sum()

    monkeypatch.setattr(type(TINY.task), "loss", loss)
    runs = Group([begun(each, tmp_path) for each in of_seeds(TINY)])
    assert runs.stacked
    runs.optimizer.zero_grad(set_to_none=False)
    runs.backward(*runs.draw(1))
    size = next(runs.runs[0].model.parameters()).numel()
    assert torch.equal(runs.weights.grad[:, :size], 2 * runs.weights[:, :size])
    assert not runs.weights.grad[:, size:].any()


def test_a_run_that_diverges_does_not_stop_the_others(tmp_path, monkeypatch):
    """Its state is the last one before; the others end as they end alone.

    A second run diverges later: the error is that of the first.
    """
    clip, calls = Group.clip, []

    def broken(runs, size):
        calls.append(size)
        clip(runs, size)
        if len(calls) in (AT_ONCE + 5, 2 * AT_ONCE + 5):
            runs.weights.grad[1] = float("nan")

    monkeypatch.setattr(Group, "clip", broken)
    with rejects(str(AT_ONCE + 6), str(tmp_path / str(SEEDS[1])), error=Diverged):
        trained_together(TINY, tmp_path, save_every=0)
    monkeypatch.undo()
    for seed in SEEDS:
        ended = (tmp_path / str(seed) / "model.safetensors").exists()
        assert ended == (seed == SEEDS[0])
    for made in of_seeds(TINY):
        alone = train(made, tmp_path / "alone" / str(made.seed))
        if made.seed != SEEDS[0]:
            train(made, tmp_path / str(made.seed))  # from the state after 20 or 40 steps
        assert_close(tmp_path / str(made.seed) / "model.safetensors", alone)


def test_runs_that_have_learnt_leave_the_others(tmp_path, monkeypatch):
    """Each at its own step, as alone."""

    def learnt(task, model):
        tokens, wanted = task.corpus
        return bool((model.logits(tokens).argmax(-1) == wanted).float().mean() > 0.6)

    monkeypatch.setattr(Squares, "learnt", learnt)
    made = replace(KINDS["corpus"], steps=400)
    paths = trained_together(made, tmp_path)
    ends = [sidecar(path)["steps"] for path in paths]
    assert len(set(ends)) > 1
    assert max(ends) < 400
    for path, each in zip(paths, of_seeds(made), strict=True):
        alone = train(each, tmp_path / "alone" / str(each.seed))
        assert sidecar(alone)["steps"] == sidecar(path)["steps"]
        assert_close(path, alone)


@pytest.mark.parametrize(
    ("configurations", "folders", "commands", "named"),
    [
        ([], [], [], "configurations"),
        ([TINY, replace(TINY, seed=1, steps=60)], ["a", "b"], [], "seeds"),
        ([TINY, TINY], ["a", "b"], [], "seeds"),
        (of_seeds(TINY), ["a", "b"], [], "folders"),
        (of_seeds(TINY), ["a", "b", "c"], ["x"], "commands"),
        (of_seeds(TINY), ["a", "b", "b/../a"], [], "folders"),
    ],
)
def test_what_cannot_be_trained_together(configurations, folders, commands, named, tmp_path):
    places = [tmp_path / folder for folder in folders]
    with rejects(named):
        train_together(configurations, places, commands=commands)
    assert not any(place.exists() for place in places)


def test_a_folder_of_another_run_among_several(tmp_path):
    """The folders that were made for the others are removed."""
    train(replace(TINY, seed=9), tmp_path / str(SEEDS[2]))
    with rejects("seed", "9"):
        trained_together(TINY, tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == [str(SEEDS[2])]


def test_several_seeds_from_the_command_line(tmp_path, capsys):
    """Resumed by the same command; the sidecar has the command that trains one seed."""
    words = ["train", "modular", "--preset", "p7", "--steps", "40", "--device", "cpu"]
    several = [*words, "--seed", "2", "--seed", "0", "--keep", "20", "--out", str(tmp_path)]
    for _ in range(2):
        assert main(several) == 0
        assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == [
            "modular-p7-seed2",
            "modular-p7-seed0",
        ]
    for seed, wanted in ((2, " --seed 2"), (0, "")):
        folder = tmp_path / f"modular-p7-seed{seed}"
        record = json.loads((folder / "model.json").read_text())
        assert record["command"].endswith(f"--preset p7{wanted} --steps 40 --keep 20")
        assert [*kept(folder)] == ["model-step20.safetensors"]
        assert configuration_of(folder / "model.safetensors").seed == seed


PARALLEL = (
    BEGIN
    + """
import atexit, os
from torch.distributed import is_initialized
from constructions.trained import train_together

def at_last():
    threads = Path("/proc/self/task")  # on Linux
    names = [each.read_text() for each in threads.glob("*/comm")]
    if is_initialized() or any("gloo" in name for name in names):
        os._exit(3)

atexit.register(at_last)
train_together([replace(TINY, seed=s) for s in (3, 0)], [Path(sys.argv[1]) / s for s in "30"])
"""
)


@pytest.mark.slow
def test_two_processes_train_several_seeds(tmp_path):
    """And destroy their process group, with all its threads, before they end."""
    script = tmp_path / "script.py"
    script.write_text(PARALLEL)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    arguments = [str(script), str(tmp_path / "two"), os.path.dirname(__file__)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    run = subprocess.run([*command, *arguments], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    for made in of_seeds(TINY, (3, 0)):
        train(made, tmp_path / "one" / str(made.seed))
        one, two = (losses_of(tmp_path / name / str(made.seed)) for name in ("one", "two"))
        assert abs(one[0] - two[0]) < 1e-4 * one[0]
        assert abs(one[-1] - two[-1]) < 1e-2 * one[-1]
