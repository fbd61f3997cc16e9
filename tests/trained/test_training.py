"""The training loop: what it learns, and that nothing that interrupts it changes the weights."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects
from safetensors import safe_open
from safetensors.torch import save as save_tensors

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
from constructions.trained.lstm import LSTMShape
from constructions.trained.process import Process
from constructions.trained.quadratic import QuadraticShape
from constructions.trained.state import State
from constructions.trained.tasks.addition import Addition
from constructions.trained.tasks.automata import Automata
from constructions.trained.tasks.bigrams import Bigrams
from constructions.trained.tasks.connectivity import Connectivity
from constructions.trained.tasks.hop import Hop
from constructions.trained.tasks.modular import ModularAddition
from constructions.trained.tasks.regression import Regression
from constructions.trained.tasks.task import Corpus, Curriculum, TokenTask
from constructions.trained.training import AT_ONCE, advance
from constructions.trained.transformers import TiedShape, TransformerShape


@dataclass(frozen=True)
class Squares(Corpus, TokenTask, kind="squares"):
    """A table to be learnt by heart: t, then t², by the numbers below a prime."""

    @property
    def corpus(self):
        t = torch.arange(self.vocabulary_size)
        tokens = torch.stack([t, t**2 % self.vocabulary_size], dim=-1)
        return tokens[:, :1], tokens[:, 1:]

    def sequences(self, count, generator):
        rows = torch.randint(self.vocabulary_size, (count,), generator=generator)
        return tuple(part[rows] for part in self.corpus)

    def best(self, tokens, wanted):
        return "best possible: 0 nats"


SHAPE = TransformerShape(1, 2, 8, 16)
TINY = Configuration(Regression(2, 4), SHAPE, 70, 1e-2, batch_size=8, warmup=5, final_rate=0.1)
LINEAR = replace(TINY, shape=TransformerShape(1, 1, 8, 0, layer_norm=False, normalise="linear"))
KINDS = {
    "regression": TINY,
    "curriculum": replace(TINY, task=Regression(3, 6), curriculum=Curriculum(1, 2, 20)),
    "ill-conditioned": replace(TINY, task=Regression(2, 4, "ill-conditioned", 0.5)),
    "lstm": replace(TINY, shape=LSTMShape(2, 8)),
    "linear": LINEAR,
    "hop": replace(TINY, task=Hop(4, 8, 2)),
    "bigrams": replace(TINY, task=Bigrams(3, 8)),
    "automata": replace(TINY, task=Automata("flip-flop", 4, 0.5)),
    "graphs": replace(TINY, task=Connectivity(5, 0.2, "within")),
    "channels": replace(TINY, task=Connectivity(5, 0.2), shape=DisentangledShape(1, True)),
    "corpus": replace(TINY, task=Squares(13, 1)),
    "sums": replace(TINY, task=Addition(6), shape=TiedShape(1, 2, 8, 16)),
    "modular": replace(TINY, task=ModularAddition(5, 1e-3), shape=QuadraticShape(4)),
}
every = pytest.mark.parametrize("kind", KINDS)


class Stop(Exception):
    """Someone interrupts."""


def weights(path):
    return path.read_bytes()


def steps_of(folder):
    return [json.loads(line)["step"] for line in (folder / "model.jsonl").read_text().splitlines()]


def losses_of(folder):
    return [json.loads(line)["loss"] for line in (folder / "model.jsonl").read_text().splitlines()]


def compiled(folder):
    return json.loads((folder / "model.json").read_text())["environment"]["compiled"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a run of `TINY` without interruption."""
    folder = tmp_path_factory.mktemp("whole")
    train(TINY, folder)
    return folder


@pytest.fixture
def finished(whole, tmp_path):
    """A copy of that folder."""
    return shutil.copytree(whole, tmp_path / "finished")


@every
def test_an_interrupted_run_ends_with_the_same_weights(kind, tmp_path):
    configuration = KINDS[kind]
    wanted = train(configuration, tmp_path / "whole")

    def stop(step, _):
        if step >= 2 * AT_ONCE:
            raise Stop

    with pytest.raises(Stop):
        train(configuration, tmp_path / "parts", progress=stop, save_every=0)
    found = train(configuration, tmp_path / "parts")
    assert weights(found) == weights(wanted)
    assert losses_of(tmp_path / "parts") == losses_of(tmp_path / "whole")
    assert steps_of(tmp_path / "parts") == [20, 40, 60, 70]


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
    test_an_interrupted_run_ends_with_the_same_weights(kind, tmp_path)
    assert compiled(tmp_path / "whole")
    assert not compiled(tmp_path / "eager")
    eager, found = losses_of(tmp_path / "eager"), losses_of(tmp_path / "whole")
    assert abs(eager[0] - found[0]) < 1e-4 * eager[0]
    assert abs(eager[-1] - found[-1]) < 1e-2 * eager[-1]


UNCOMPILED = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2], str(Path(sys.argv[2]).parent)
from test_training import TINY, training
training.WORTH_COMPILING = 0
training.train(TINY, Path(sys.argv[1]))
"""


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


def test_a_line_of_the_log_is_of_all_its_steps(tmp_path, monkeypatch):
    """Also where the run was interrupted between two lines."""
    monkeypatch.setattr(training, "LINES", 1)  # a line after 60 steps, and one at the end
    train(TINY, tmp_path / "whole")

    def stop(step, _):
        if step == 2 * AT_ONCE:
            raise Stop

    with pytest.raises(Stop):
        train(TINY, tmp_path / "parts", progress=stop, save_every=0)
    train(TINY, tmp_path / "parts")
    assert steps_of(tmp_path / "parts") == steps_of(tmp_path / "whole") == [60, 70]
    assert losses_of(tmp_path / "parts") == losses_of(tmp_path / "whole")


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe\n", b'[1]\n{}\n3\n{"step": "x"}\n{'])
def test_a_log_that_is_damaged(content, whole, tmp_path):
    """What can be read of it stays; the weights and the sidecar are those of a whole run."""

    def stop(step, _):
        if step == 2 * AT_ONCE:
            raise Stop

    with pytest.raises(Stop):
        train(TINY, tmp_path / "parts", progress=stop, save_every=0)
    log = tmp_path / "parts" / "model.jsonl"
    if content is None:
        log.unlink()
    else:
        log.write_bytes(content)
    found = train(TINY, tmp_path / "parts")
    assert weights(found) == weights(whole / "model.safetensors")
    assert steps_of(tmp_path / "parts") == [40, 60, 70]  # 40 was not yet part of the state's log
    records = [(folder / "model.json").read_text() for folder in (whole, tmp_path / "parts")]
    assert len({json.loads(record)["loss"] for record in records}) == 1


def test_every_weight_begins_where_vector_instructions_like_it(tmp_path):
    """And what lies between two of them stays 0."""
    run = State.begin(TINY, tmp_path, Process(0, 1, torch.device("cpu")))
    assert all(W.data_ptr() % 16 == 0 for W in run.model.parameters())
    assert len([*advance(run, 5, TINY.task.loss)]) == run.step == 5
    used = sum(float(W.detach().square().sum()) for W in run.model.parameters())
    assert float(run.weights.detach().square().sum()) == pytest.approx(used, rel=1e-6)


def test_the_optimiser_is_the_one_that_is_described(tmp_path):
    """`Configuration` names AdamW's β, which runs were trained with."""
    run = State.begin(TINY, tmp_path, Process(0, 1, torch.device("cpu")))
    (group,) = run.optimizer.param_groups
    assert group["betas"] == (0.9, 0.98)
    assert "β = 0.9, 0.98" in (Configuration.__doc__ or "")
    assert (group["lr"], group["weight_decay"]) == (TINY.learning_rate, TINY.weight_decay)


def test_more_processes_than_gpus(monkeypatch):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with rejects("processes", "GPUs"):
        Process.join("cuda")


@settings(max_examples=3)
@given(moments=st.lists(st.integers(0, 3), min_size=1, max_size=2))
def test_any_number_of_interruptions(whole, moments, tmp_path_factory):
    """Each at a block of steps of its own, before or after the state was saved."""
    parts = tmp_path_factory.mktemp("parts")
    for moment in moments:
        seen = []

        def stop(step, _, seen=seen, moment=moment):
            seen.append(step)
            if len(seen) > moment:
                raise Stop

        with suppress(Stop):
            train(TINY, parts, progress=stop, save_every=0)
    assert weights(train(TINY, parts)) == weights(whole / "model.safetensors")
    assert losses_of(parts) == losses_of(whole)


KILLED = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2], str(Path(sys.argv[2]).parent)
from test_training import TINY, replace
from constructions.trained import train
import torch
torch.set_num_threads(1)
train(replace(TINY, steps=400), Path(sys.argv[1]), save_every=0, keep=(5, 395))
"""


@pytest.mark.slow
def test_a_process_that_is_killed(tmp_path):
    """At no moment of its own choosing; what is on the disk is always whole."""
    long, here = replace(TINY, steps=400), os.path.dirname(__file__)
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path / "killed"), here])
    state = tmp_path / "killed" / "state.safetensors"
    while not state.exists() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it had ended before it was killed"
    assert not (tmp_path / "killed" / "model.safetensors").exists()
    found = train(long, tmp_path / "killed", keep=(5, 395))
    assert weights(found) == weights(train(long, tmp_path / "whole", keep=(5, 395)))
    assert kept(tmp_path / "killed") == kept(tmp_path / "whole")


def kept(folder):
    return {path.name: weights(path) for path in folder.glob("model-step*.safetensors")}


def test_models_that_are_kept_on_the_way(whole, tmp_path):
    """Of any step; that nothing else changes, and that of the last step is the model itself."""
    last = train(TINY, tmp_path / "whole", keep=(1, 30, 47, 70))
    assert {*kept(tmp_path / "whole")} == {f"model-step{k}.safetensors" for k in (1, 30, 47, 70)}
    assert weights(last) == kept(tmp_path / "whole")["model-step70.safetensors"]
    assert weights(last) == weights(whole / "model.safetensors")
    run = State.begin(TINY, tmp_path / "by hand", Process(0, 1, torch.device("cpu")))
    for steps in (20, 20, 20, 10):
        for loss in advance(run, steps, TINY.task.loss):
            if run.step not in (1, 30, 47, 70):
                continue
            path = tmp_path / "whole" / f"model-step{run.step}.safetensors"
            for W, V in zip(run.model.parameters(), load(path).parameters(), strict=True):
                assert torch.equal(W, V)
            record = sidecar(path)
            assert (record["steps"], record["loss"]) == (run.step, float(loss))
            assert record["configuration"] == TINY.to_json()


@pytest.mark.parametrize("save_every", [0, 1e9])
def test_what_is_kept_is_not_lost(save_every, tmp_path):
    """Stopped after any block of steps, with a state or without."""
    keep = (1, 30, 47, 70)
    train(TINY, tmp_path / "whole", keep=keep)
    for block in (AT_ONCE, 2 * AT_ONCE, 3 * AT_ONCE):

        def stop(step, _, block=block):
            if step >= block:
                raise Stop

        parts = tmp_path / str(block)
        with pytest.raises(Stop):
            train(TINY, parts, progress=stop, save_every=save_every, keep=keep)
        train(TINY, parts, keep=keep)
        assert kept(parts) == kept(tmp_path / "whole")
    again = (tmp_path / "whole" / "model-step30.json").read_text()
    train(TINY, tmp_path / "whole", keep=keep)
    assert (tmp_path / "whole" / "model-step30.json").read_text() == again


def test_steps_that_cannot_be_kept(tmp_path):
    for bad in (0, 71):
        with rejects("keep", str(bad)):
            train(TINY, tmp_path, keep=(bad,))
    train(TINY, tmp_path, keep=(30,))
    with rejects("70", "31"):
        train(TINY, tmp_path, keep=(30, 31))
    (tmp_path / "model-step30.json").unlink()
    with rejects("30"):
        train(TINY, tmp_path, keep=(30,))


def test_a_finished_run_is_not_trained_again(tmp_path):
    before = weights(train(TINY, tmp_path, command="the first"))
    record = (tmp_path / "model.json").read_text()
    calls = []
    assert weights(train(TINY, tmp_path, progress=lambda *a: calls.append(a))) == before
    assert calls == []
    assert (tmp_path / "model.json").read_text() == record


@pytest.mark.parametrize(
    "change",
    [
        {"weights": torch.zeros(1)},
        {"exp_avg": torch.zeros(3)},
        {"generator": None},
        {"step": "-3"},
        {"step": "x"},
        {"step": "1000"},
        {"generator": torch.zeros(16, dtype=torch.uint8)},
        {"generator": torch.zeros(16)},
        {"device": "cuda"},
    ],
)
def test_a_state_that_does_not_fit(change, finished):
    path = finished / "state.safetensors"
    with safe_open(path, framework="pt") as file:
        words = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    for name, value in change.items():
        part = words if isinstance(value, str) else tensors
        if value is None:
            del part[name]
        else:
            part[name] = value
    path.write_bytes(save_tensors(tensors, words))
    with rejects("cuda" if "device" in change else "state.safetensors"):
        train(TINY, finished)


def test_a_state_with_weights_that_are_no_numbers(finished):
    (finished / "model.safetensors").unlink()
    path = finished / "state.safetensors"
    with safe_open(path, framework="pt") as file:
        words = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    tensors["weights"][3] = float("nan")
    path.write_bytes(save_tensors(tensors, words))
    with rejects("state.safetensors"):
        train(TINY, finished)


@pytest.mark.parametrize("lost", ["model.json", "model.safetensors", "both", "hash"])
def test_killed_between_the_weights_and_their_sidecar(lost, finished):
    """The state is that of the last step: what is missing is written again."""
    before = weights(finished / "model.safetensors")
    record = (finished / "model.json").read_text()
    if lost == "hash":
        (finished / "model.json").write_text(record.replace('"sha256": "', '"sha256": "0'))
    for name in ("model.json", "model.safetensors"):
        if lost in (name, "both"):
            (finished / name).unlink()
    assert weights(train(TINY, finished)) == before
    load(finished / "model.safetensors")
    again, first = json.loads((finished / "model.json").read_text()), json.loads(record)
    assert {**again, "seconds": 0} == {**first, "seconds": 0}


def test_the_learning_rate_is_that_of_the_step(whole, tmp_path):
    run = State.begin(TINY, tmp_path, Process(0, 1, torch.device("cpu")))
    for _ in advance(run, 13, TINY.task.loss):
        wanted = TINY.learning_rate * TINY.rate(run.step - 1)
        assert run.optimizer.param_groups[0]["lr"] == wanted
    line = json.loads((whole / "model.jsonl").read_text().splitlines()[-1])
    assert line["rate"] == TINY.learning_rate * TINY.rate(TINY.steps - 1)


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"RANK": "x"}, "RANK"),
        ({"WORLD_SIZE": "abc"}, "WORLD_SIZE"),
        ({"WORLD_SIZE": "0"}, "WORLD_SIZE"),
        ({"WORLD_SIZE": "-1"}, "WORLD_SIZE"),
        ({"LOCAL_WORLD_SIZE": "q"}, "LOCAL_WORLD_SIZE"),
        ({"RANK": "3"}, "RANK"),
        ({"WORLD_SIZE": "2"}, "torchrun"),
    ],
)
def test_an_environment_that_torchrun_did_not_make(variables, named, monkeypatch, capsys):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with rejects(named):
        Process.join("cpu")
    assert main(["train", "regression", "--steps", "3", "--device", "cpu"]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_weights_that_are_no_numbers_are_not_saved(whole, tmp_path, monkeypatch):
    """The gradient of the last step of the second block is NaN, the losses are not."""
    clip, calls = torch.nn.utils.clip_grad_norm_, []

    def broken(weights, size):
        calls.append(size)
        clip(weights, size)
        if len(calls) == 2 * AT_ONCE:
            weights.grad.fill_(float("nan"))

    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", broken)
    with rejects(str(2 * AT_ONCE), error=Diverged):
        train(TINY, tmp_path, save_every=0)
    monkeypatch.undo()
    assert weights(train(TINY, tmp_path)) == weights(whole / "model.safetensors")


def test_seeds_matter(whole, tmp_path):
    assert weights(train(replace(TINY, seed=1), tmp_path)) != weights(whole / "model.safetensors")


LEARNERS = {
    "regression": replace(TINY, task=Regression(1, 6), shape=TransformerShape(2, 2, 16, 32)),
    "lstm": replace(TINY, task=Regression(1, 6), shape=LSTMShape(1, 16)),
    "linear": replace(LINEAR, task=Regression(1, 6)),
    "hop": replace(TINY, task=Hop(3, 8), shape=TransformerShape(2, 2, 16, 32)),
    "automata": replace(TINY, task=Automata("S3", 3), shape=TransformerShape(2, 2, 16, 32)),
    "graphs": replace(TINY, task=Connectivity(5, 0.3), shape=DisentangledShape(1, False)),
    "corpus": replace(TINY, task=Squares(13, 1), shape=TransformerShape(2, 2, 16, 32)),
}


SLOW_LEARNERS = "regression", "lstm", "hop", "automata"


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.slow] * (kind in SLOW_LEARNERS)) for kind in LEARNERS],
)
def test_it_learns(kind, tmp_path):
    """At first a model does no better than to say nothing, or to guess."""
    train(replace(LEARNERS[kind], steps=400, batch_size=32), tmp_path)
    losses = losses_of(tmp_path)
    assert losses[-1] < 0.6 * losses[0]


def test_a_loss_that_is_no_number_stops(tmp_path):
    wild = replace(LINEAR, learning_rate=1e8, warmup=0, final_rate=1.0, clip=1e12)
    with rejects(error=Diverged):
        train(wild, tmp_path, save_every=0)
    assert not (tmp_path / "model.safetensors").exists()


def test_the_last_good_state_is_kept(whole, tmp_path, monkeypatch):
    """The loss breaks in the third block: the state of the second stays on the disk."""
    sound = Regression.loss

    def broken(task, model, *batch):
        broken.calls += 1
        value = sound(task, model, *batch)
        return value * float("nan") if broken.calls > 2 * AT_ONCE + 5 else value

    broken.calls = 0
    monkeypatch.setattr(Regression, "loss", broken)
    with rejects(str(2 * AT_ONCE + 6), error=Diverged):
        train(TINY, tmp_path, save_every=0)
    monkeypatch.setattr(Regression, "loss", sound)
    seen = []
    train(TINY, tmp_path, progress=lambda step, _: seen.append(step))
    assert seen[0] == 3 * AT_ONCE
    assert weights(tmp_path / "model.safetensors") == weights(whole / "model.safetensors")


def test_a_folder_of_another_run(finished):
    with rejects("seed", "70"):
        train(replace(TINY, seed=1), finished)


def test_a_folder_in_which_another_process_trains(tmp_path):
    with (tmp_path / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with rejects("process"):
            train(TINY, tmp_path)
    train(TINY, tmp_path)


@pytest.mark.parametrize("content", [b"", b"not a state", b"\x08\0\0\0\0\0\0\0{}      "])
def test_a_state_that_is_none(content, tmp_path):
    (tmp_path / "state.safetensors").write_bytes(content)
    with rejects("state.safetensors"):
        train(TINY, tmp_path)


def test_a_batch_that_cannot_be_divided(tmp_path, monkeypatch):
    monkeypatch.setattr(Process, "join", lambda device: Process(0, 3, torch.device("cpu")))
    with rejects("batch_size", "processes"):
        train(TINY, tmp_path)


PARALLEL = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2], str(Path(sys.argv[2]).parent)
from test_training import TINY
from constructions.trained import train
train(TINY, Path(sys.argv[1]), keep=(30,))
"""


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
@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda folder: train(None, folder), "configuration"),
        (lambda folder: train(preset("regression"), folder, keep=[1.0]), "keep"),
        (lambda folder: train(preset("regression"), folder, keep=[0]), "keep"),
        (lambda folder: train(preset("regression"), folder, keep=[10**6]), "keep"),
        (lambda folder: preset("regression", seed=2**70), "seed"),
        (lambda folder: preset("regression", noise=True), "noise"),
    ],
)
def test_what_cannot_be_trained_leaves_no_folder(call, parameter, tmp_path):
    with rejects(parameter):
        call(tmp_path / "run")
    assert not (tmp_path / "run").exists()
