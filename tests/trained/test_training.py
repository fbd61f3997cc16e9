"""The training loop: what it learns, compiled or not, in one process or several."""

import json
import math
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from refusals import rejects
from short_runs import (
    BEGIN,
    KINDS,
    LINEAR,
    TINY,
    Squares,
    compiled,
    ends_as_if_not_interrupted,
    kept,
    losses_of,
    steps_of,
    weights,
)

from constructions.trained import (
    Configuration,
    Diverged,
    load,
    preset,
    sidecar,
    train,
    training,
)
from constructions.trained.__main__ import main
from constructions.trained.disentangled import DisentangledShape
from constructions.trained.folder import alone
from constructions.trained.group import Group
from constructions.trained.lstm import LSTMShape
from constructions.trained.process import Process, _leave
from constructions.trained.state import State
from constructions.trained.tasks.automata import Automata
from constructions.trained.tasks.chomsky import Chomsky
from constructions.trained.tasks.connectivity import Connectivity
from constructions.trained.tasks.hop import Hop
from constructions.trained.tasks.regression import Regression
from constructions.trained.training import advance
from constructions.trained.transformers import TransformerShape

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler")


@pytest.mark.slow
@needs_compiler
@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
@pytest.mark.usefixtures("unchecked")  # what is compiled is the loss and not the checker too
@pytest.mark.parametrize("kind", ["regression", "linear", "hop", "corpus"])
def test_compiled_it_learns_the_same(kind, tmp_path, monkeypatch):
    """But for rounding; and interrupted, to the last bit."""
    configuration = KINDS[kind]
    train(configuration, tmp_path / "eager")
    monkeypatch.setattr(training, "WORTH_COMPILING", 0)
    ends_as_if_not_interrupted(configuration, tmp_path)
    assert compiled(tmp_path / "whole")
    assert not compiled(tmp_path / "eager")
    eager, found = losses_of(tmp_path / "eager"), losses_of(tmp_path / "whole")
    assert abs(eager[0] - found[0]) < 1e-4 * eager[0]
    assert abs(eager[-1] - found[-1]) < 1e-2 * eager[-1]


UNCOMPILED = BEGIN + "training.WORTH_COMPILING = 0; train(TINY, Path(sys.argv[1]))"


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["no-such-compiler", "false"])
def test_without_a_compiler_that_works(compiler, tmp_path):
    """In a process of its own, which has compiled nothing before."""
    caches = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache"), "CXX": compiler}
    arguments = [str(tmp_path / "run"), os.path.dirname(__file__)]
    run = subprocess.run(
        [sys.executable, "-c", UNCOMPILED, *arguments],
        env={**os.environ, **caches},
        capture_output=True,
        check=True,
    )
    assert run.stderr == b""
    assert not compiled(tmp_path / "run")
    assert steps_of(tmp_path / "run")[-1] == TINY.steps


def test_where_compiling_fails(whole, tmp_path, monkeypatch):
    """The run is the one that was not to be compiled, to the last bit."""

    def fail(*_):
        raise RuntimeError("300 lines")

    monkeypatch.setattr(torch, "compile", lambda *_, **__: fail)
    monkeypatch.setattr(training, "WORTH_COMPILING", 0)
    assert weights(train(TINY, tmp_path)) == weights(whole / "model.safetensors")
    assert not compiled(tmp_path)


def test_a_run_says_that_it_was_compiled(tmp_path, monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda loss, **_: loss)
    monkeypatch.setattr(training, "WORTH_COMPILING", 0)
    train(replace(TINY, steps=5), tmp_path)
    assert compiled(tmp_path)


def test_an_infinite_loss_ends_a_run(tmp_path):
    """Also if its weights are finite."""
    run = State.begin(TINY, tmp_path, Process(0, 1, torch.device("cpu")))
    run.step = 7
    assert training._diverged(run, [1.0, 0.5]) is None
    for loss in (math.inf, -math.inf, math.nan):
        assert "step 6" in str(training._diverged(run, [loss, 1.0]))


def test_batches_of_several_shapes_are_not_compiled(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "WORTH_COMPILING", 0)
    monkeypatch.setattr(torch, "compile", lambda *_, **__: pytest.fail("it is compiled"))
    run = State.begin(KINDS["chomsky"], tmp_path, Process(0, 1, torch.device("cpu")))
    assert training.compiled(run) is None


def test_weight_decay(tmp_path):
    """Gradients that are nearly nothing: what is left shrinks the weights by (1 − rate·decay)^n."""
    still = replace(TINY, clip=1e-30, warmup=0, final_rate=1.0, learning_rate=0.01, steps=40)
    kept, shrunk = (
        load(train(replace(still, weight_decay=decay), tmp_path / str(decay)))
        for decay in (0.0, 0.3)
    )
    for W, V in zip(kept.parameters(), shrunk.parameters(), strict=True):
        torch.testing.assert_close(V, W * (1 - 0.01 * 0.3) ** 40, rtol=1e-4, atol=1e-5)
    assert Configuration.from_json(replace(TINY, weight_decay=0.3).to_json()).weight_decay == 0.3


def test_every_weight_begins_where_vector_instructions_like_it(tmp_path):
    """And what lies between two of them stays 0."""
    run = State.begin(TINY, tmp_path, Process(0, 1, torch.device("cpu")))
    group = Group([run])
    assert all(W.data_ptr() % 16 == 0 for W in run.model.parameters())
    assert len([*advance(group, 5)]) == run.step == 5
    used = sum(float(W.detach().square().sum()) for W in run.model.parameters())
    assert float(run.weights.square().sum()) == pytest.approx(used, rel=1e-6)


def test_the_optimiser_is_the_one_that_is_described(tmp_path):
    """`Configuration` names AdamW's β, which runs were trained with."""
    run = State.begin(TINY, tmp_path, Process(0, 1, torch.device("cpu")))
    (group,) = Group([run]).optimizer.param_groups
    assert group["betas"] == (0.9, 0.98)
    assert "β = (0.9, 0.98)" in (Configuration.__doc__ or "")
    assert (group["lr"], group["weight_decay"]) == (TINY.learning_rate, TINY.weight_decay)


def test_more_processes_than_gpus(monkeypatch):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with rejects("processes", "GPUs"):
        Process.join("cuda")


def test_as_many_processes_as_gpus(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert Process.join("cuda") == Process(0, 1, torch.device("cuda:0"))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_mean_over_processes(size, monkeypatch):
    """Process r has the values of the first process plus r."""

    def add_those_of_the_others(values):
        values.mul_(size).add_(sum(range(size)))

    monkeypatch.setattr(torch.distributed, "all_reduce", add_those_of_the_others)
    values = torch.tensor([3.0, -5.0])
    found = Process(0, size, torch.device("cpu")).mean(values)
    assert found is values
    assert found.tolist() == [3 + (size - 1) / 2, -5 + (size - 1) / 2]


def test_only_the_first_process_locks_the_folder(tmp_path, monkeypatch):
    """The others train in a folder that the first has locked, and write nothing."""
    other = Process(1, 1, torch.device("cpu"))
    monkeypatch.setattr(training.Process, "join", lambda device: other)
    with alone(tmp_path):
        train(replace(TINY, steps=1), tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["lock"]


def test_the_process_group_is_destroyed_once(tmp_path):
    store = f"file://{tmp_path}/store"
    torch.distributed.init_process_group("gloo", init_method=store, rank=0, world_size=1)
    for _ in range(2):
        _leave()
        assert not torch.distributed.is_initialized()


def test_snapshots_during_training(whole, tmp_path):
    """Of any step; that nothing else changes, and that of the last step is the model itself."""
    last = train(TINY, tmp_path / "whole", keep=(1, 30, 47, 70))
    assert {*kept(tmp_path / "whole")} == {f"model-step{k}.safetensors" for k in (1, 30, 47, 70)}
    assert weights(last) == kept(tmp_path / "whole")["model-step70.safetensors"]
    assert weights(last) == weights(whole / "model.safetensors")
    run = State.begin(TINY, tmp_path / "by hand", Process(0, 1, torch.device("cpu")))
    group = Group([run])
    for steps in (20, 20, 20, 10):
        for loss in advance(group, steps):
            if run.step not in (1, 30, 47, 70):
                continue
            path = tmp_path / "whole" / f"model-step{run.step}.safetensors"
            for W, V in zip(run.model.parameters(), load(path).parameters(), strict=True):
                assert torch.equal(W, V)
            record = sidecar(path)
            assert (record["steps"], record["loss"]) == (run.step, float(loss))
            assert record["configuration"] == TINY.to_json()


def test_steps_without_a_possible_snapshot(tmp_path):
    for bad in (0, 71):
        with rejects("keep", str(bad)):
            train(TINY, tmp_path, keep=(bad,))
    train(TINY, tmp_path, keep=(30,))
    with rejects("70", "31"):
        train(TINY, tmp_path, keep=(30, 31))
    with rejects("70"):
        train(TINY, tmp_path, keep=(30, 70))
    (tmp_path / "model-step30.json").unlink()
    with rejects("30"):
        train(TINY, tmp_path, keep=(30,))


def test_the_learning_rate_is_that_of_the_step(whole, tmp_path):
    group = Group([State.begin(TINY, tmp_path, Process(0, 1, torch.device("cpu")))])
    for _ in advance(group, 13):
        wanted = TINY.learning_rate * TINY.rate(group.step - 1)
        assert group.optimizer.param_groups[0]["lr"] == wanted
    line = json.loads((whole / "model.jsonl").read_text().splitlines()[-1])
    assert line["rate"] == TINY.learning_rate * TINY.rate(TINY.steps - 1)


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"RANK": "x"}, "RANK"),
        ({"WORLD_SIZE": "abc"}, "WORLD_SIZE"),
        ({"WORLD_SIZE": "0"}, "WORLD_SIZE"),
        ({"WORLD_SIZE": "-1"}, "WORLD_SIZE"),
        ({"WORLD_SIZE": "²"}, "WORLD_SIZE"),
        ({"LOCAL_WORLD_SIZE": "0"}, "LOCAL_WORLD_SIZE"),
        ({"LOCAL_RANK": "-1"}, "LOCAL_RANK"),
        ({"LOCAL_WORLD_SIZE": "q"}, "LOCAL_WORLD_SIZE"),
        ({"RANK": "3"}, "RANK"),
        ({"WORLD_SIZE": "2"}, "torchrun"),
        ({"WORLD_SIZE": "2", "RANK": "2"}, "RANK"),
        ({"WORLD_SIZE": "2", "RANK": "3"}, "RANK"),
        ({"WORLD_SIZE": "abc", "RANK": "1"}, "WORLD_SIZE"),
    ],
)
def test_an_environment_that_torchrun_did_not_make(variables, named, monkeypatch, capsys):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with rejects(named):
        Process.join("cpu")
    assert main(["train", "regression", "--steps", "3", "--device", "cpu"]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_seeds_matter(whole, tmp_path):
    assert weights(train(replace(TINY, seed=1), tmp_path)) != weights(whole / "model.safetensors")


LEARNERS = {
    "regression": replace(TINY, task=Regression(1, 6), shape=TransformerShape(2, 2, 16, 32)),
    "lstm": replace(TINY, task=Regression(1, 6), shape=LSTMShape(1, 16)),
    "linear": replace(LINEAR, task=Regression(1, 6)),
    "hop": replace(TINY, task=Hop(3, 8), shape=TransformerShape(2, 2, 16, 32)),
    "automata": replace(TINY, task=Automata("S3", 3), shape=TransformerShape(2, 2, 16, 32)),
    "graphs": replace(TINY, task=Connectivity(5, 0.3), shape=DisentangledShape(1, False)),
    "chomsky": replace(TINY, task=Chomsky("even pairs", 3), shape=TransformerShape(2, 2, 16, 32)),
    "corpus": replace(TINY, task=Squares(13, 1), shape=TransformerShape(2, 2, 16, 32)),
}


SLOW_LEARNERS = "regression", "lstm", "hop", "automata"


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.slow] * (kind in SLOW_LEARNERS)) for kind in LEARNERS],
)
def test_it_learns(kind, tmp_path):
    """The loss decreases from that of the initial model, which predicts almost uniformly."""
    train(replace(LEARNERS[kind], steps=400, batch_size=32), tmp_path)
    losses = losses_of(tmp_path)
    assert losses[-1] < 0.6 * losses[0]


def test_a_loss_that_is_no_number_stops(tmp_path):
    wild = replace(LINEAR, learning_rate=1e8, warmup=0, final_rate=1.0, clip=1e12)
    with rejects(error=Diverged):
        train(wild, tmp_path, save_every=0)
    assert not (tmp_path / "model.safetensors").exists()


def test_on_a_cpu_products_keep_their_precision(tmp_path, monkeypatch):
    chosen = []
    monkeypatch.setattr(torch, "set_float32_matmul_precision", chosen.append)
    train(TINY, tmp_path, device="cpu")
    assert not chosen


def test_a_batch_that_cannot_be_divided(tmp_path, monkeypatch):
    monkeypatch.setattr(Process, "join", lambda device: Process(0, 3, torch.device("cpu")))
    with rejects("batch_size", "processes"):
        train(TINY, tmp_path)


def test_only_the_first_process_writes(tmp_path, monkeypatch):
    monkeypatch.setattr(Process, "join", lambda device: Process(1, 1, torch.device("cpu")))
    train(TINY, tmp_path, save_every=0, keep=(30,))
    assert [*tmp_path.iterdir()] == []


PARALLEL = BEGIN + "train(TINY, Path(sys.argv[1]), keep=(30,))"


@pytest.mark.slow
def test_two_processes_train_the_model_of_one(tmp_path):
    """torchrun with two processes: the same prompts, the same gradients but for rounding."""
    script = tmp_path / "script.py"
    script.write_text(PARALLEL)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    arguments = [str(script), str(tmp_path / "two"), os.path.dirname(__file__)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([*command, *arguments], check=True, env=environment, capture_output=True)
    train(TINY, tmp_path / "one", keep=(30,))
    records = [sidecar(tmp_path / part / "model-step30.safetensors") for part in ("one", "two")]
    assert records[0]["loss"] == pytest.approx(records[1]["loss"], rel=1e-2)
    one, two = losses_of(tmp_path / "one"), losses_of(tmp_path / "two")
    assert steps_of(tmp_path / "two") == steps_of(tmp_path / "one")
    # Rounding grows along training; the first line sums up 20 steps.
    assert abs(one[0] - two[0]) < 1e-4 * one[0]
    assert abs(one[-1] - two[-1]) < 1e-2 * one[-1]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("keep", [[1.0], [0], [10**6]])
def test_what_cannot_be_trained_leaves_no_folder(keep, tmp_path):
    with rejects("keep"):
        train(preset("regression"), tmp_path / "run", keep=keep)
    assert not (tmp_path / "run").exists()


def test_folders_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "run", tmp_path / "\ud800"):
        with rejects():
            train(TINY, folder)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_command_with_a_name_that_is_not_unicode(tmp_path):
    path = train(replace(TINY, steps=1), tmp_path, command="\ud800")
    assert sidecar(path)["command"] == "\ud800"
