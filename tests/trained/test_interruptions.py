"""Nothing that interrupts a run, and nothing that lies in its folder, changes its weights."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects
from safetensors import safe_open
from safetensors.torch import save as save_tensors
from short_runs import (
    BEGIN,
    KINDS,
    TINY,
    Stop,
    ends_as_if_not_interrupted,
    interrupted,
    kept,
    losses_of,
    steps_of,
    weights,
)

from constructions.trained import (
    Diverged,
    load,
    train,
    training,
)
from constructions.trained.group import Group
from constructions.trained.process import Process
from constructions.trained.state import State
from constructions.trained.tasks.regression import Regression
from constructions.trained.training import AT_ONCE


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_run_ends_with_the_same_weights(kind, tmp_path):
    ends_as_if_not_interrupted(KINDS[kind], tmp_path)


def test_a_line_of_the_log_is_of_all_its_steps(tmp_path, monkeypatch):
    """Also where the run was interrupted between two lines."""
    monkeypatch.setattr(training, "LINES", 1)  # a line after 60 steps, and one at the end
    train(TINY, tmp_path / "whole")
    interrupted(TINY, tmp_path / "parts")
    train(TINY, tmp_path / "parts")
    assert steps_of(tmp_path / "parts") == steps_of(tmp_path / "whole") == [60, 70]
    assert losses_of(tmp_path / "parts") == losses_of(tmp_path / "whole")


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe\n", b'[1]\n{}\n3\n{"step": "x"}\n{'])
def test_a_log_that_is_damaged(content, whole, tmp_path):
    """What can be read of it stays; the weights and the sidecar are those of a whole run."""
    interrupted(TINY, tmp_path / "parts")
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


KILLED = (
    BEGIN
    + """
import torch
torch.set_num_threads(1)
train(replace(TINY, steps=400), Path(sys.argv[1]), save_every=0, keep=(5, 395))
"""
)


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


def test_a_state_is_not_saved_before_its_time(tmp_path):
    interrupted(TINY, tmp_path, save_every=1e9)
    assert not (tmp_path / "state.safetensors").exists()


@pytest.mark.parametrize("save_every", [0, 1e9])
def test_snapshots_are_not_lost(save_every, tmp_path):
    """Stopped after any block of steps, with a state or without."""
    keep = (1, 30, 47, 70)
    train(TINY, tmp_path / "whole", keep=keep)
    for block in (AT_ONCE, 2 * AT_ONCE, 3 * AT_ONCE):
        parts = tmp_path / str(block)
        interrupted(TINY, parts, block, save_every=save_every, keep=keep)
        train(TINY, parts, keep=keep)
        assert kept(parts) == kept(tmp_path / "whole")
    again = (tmp_path / "whole" / "model-step30.json").read_text()
    train(TINY, tmp_path / "whole", keep=keep)
    assert (tmp_path / "whole" / "model-step30.json").read_text() == again


def test_a_finished_run_is_not_trained_again(tmp_path):
    before = weights(train(TINY, tmp_path, command="the first"))
    record = (tmp_path / "model.json").read_text()
    calls = []
    assert weights(train(TINY, tmp_path, progress=lambda *a: calls.append(a))) == before
    assert calls == []
    assert (tmp_path / "model.json").read_text() == record


def change_state(folder, change):
    """Entries of the saved state, of its words where they are words; None takes one out."""
    path = folder / "state.safetensors"
    with safe_open(path, framework="pt") as file:
        words = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    for name, value in change.items():
        part = words if isinstance(value, str) else tensors
        part[name] = value(part[name]) if callable(value) else value
        if value is None:
            del part[name]
    path.write_bytes(save_tensors(tensors, words))


def larger(vector):
    return torch.cat([vector, torch.zeros(4)])


def ends_with_nan(vector):
    return torch.cat([vector[:-1], torch.tensor([float("nan")])])


@pytest.mark.parametrize(
    "change",
    [
        {"weights": torch.zeros(1)},
        {"exp_avg": torch.zeros(3)},
        {"generator": None},
        {"step": "-3"},
        {"step": "x"},
        {"step": "1000"},
        {"step": "71"},
        {"weights": lambda W: W[:, None]},
        {"exp_avg": None},
        *({name: larger} for name in ("weights", "exp_avg", "exp_avg_sq")),
        *({name: ends_with_nan} for name in ("weights", "exp_avg", "exp_avg_sq")),
        {"generator": torch.zeros(16, dtype=torch.uint8)},
        {"generator": torch.zeros(16)},
        {"device": "cuda"},
    ],
)
def test_a_state_that_does_not_fit(change, finished):
    change_state(finished, change)
    with rejects("cuda" if "device" in change else "state.safetensors"):
        train(TINY, finished)


def test_a_state_is_read_as_it_was_saved(tmp_path):
    """All of it, with 70 000 losses since the last line of the log."""
    saved = State.begin(TINY, tmp_path, Process.join("cpu"))
    saved.step, saved.seconds, saved.loss = 70, 123456.789, 1 / 3
    saved.recent = tuple(1 / n for n in range(1, 70_001))
    for vector in (saved.weights, *saved.moments):
        vector += torch.rand(len(vector), generator=saved.generator)
    saved.save()
    again = State.begin(TINY, tmp_path, Process.join("cpu"))
    assert (again.step, again.seconds, again.loss) == (saved.step, saved.seconds, saved.loss)
    assert again.recent == saved.recent
    now, then = (again.weights, *again.moments), (saved.weights, *saved.moments)
    for vector, before in zip(now, then, strict=True):
        assert torch.equal(vector, before)
    assert torch.equal(again.generator.get_state(), saved.generator.get_state())


def test_a_state_before_the_first_step_has_no_moments(tmp_path):
    saved = State.begin(TINY, tmp_path, Process.join("cpu"))
    saved.weights += 1
    saved.save()
    again = State.begin(TINY, tmp_path, Process.join("cpu"))
    assert again.step == 0
    assert torch.equal(again.weights, saved.weights)
    assert not any(moment.any() for moment in again.moments)


def test_a_state_with_weights_that_are_no_numbers(finished):
    (finished / "model.safetensors").unlink()
    change_state(finished, {"weights": lambda W: W * float("nan")})
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


def test_weights_that_are_no_numbers_are_not_saved(whole, tmp_path, monkeypatch):
    """The gradient of the last step of the second block is NaN, the losses are not."""
    clip, calls = Group.clip, []

    def broken(group, size):
        calls.append(size)
        clip(group, size)
        if len(calls) == 2 * AT_ONCE:
            group.weights.grad.fill_(float("nan"))

    monkeypatch.setattr(Group, "clip", broken)
    with rejects(str(2 * AT_ONCE), error=Diverged):
        train(TINY, tmp_path, save_every=0, keep=(2 * AT_ONCE - 1, 2 * AT_ONCE))
    assert {*kept(tmp_path)} == {f"model-step{2 * AT_ONCE - 1}.safetensors"}
    monkeypatch.undo()
    assert weights(train(TINY, tmp_path)) == weights(whole / "model.safetensors")


def test_the_last_good_state_is_not_overwritten(whole, tmp_path, monkeypatch):
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
    """What differs is named, also of the task and of the shape."""
    with rejects("seed"):
        train(replace(TINY, seed=1), finished)
    with rejects("steps", "70", "71", "noise", "0.25"):
        train(replace(TINY, steps=71, task=replace(TINY.task, noise=0.25)), finished)
    with rejects("n_layers"):
        train(replace(TINY, shape=replace(TINY.shape, n_layers=TINY.shape.n_layers + 1)), finished)


def test_a_folder_in_which_another_process_trains(tmp_path):
    with (tmp_path / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with rejects("process"):
            train(TINY, tmp_path)
    train(TINY, tmp_path)


def test_a_rejected_run_keeps_a_lock_that_it_did_not_make(tmp_path):
    (tmp_path / "lock").touch()
    (tmp_path / "model.json").write_text("mine")
    with rejects("model.json", "another folder"):
        train(TINY, tmp_path)
    assert {each.name for each in tmp_path.iterdir()} == {"lock", "model.json"}


@pytest.mark.parametrize("name", ["model.safetensors", "model.json"])
def test_weights_that_are_not_of_a_run_are_not_replaced(name, tmp_path):
    (tmp_path / name).write_text("mine")
    with rejects(name, "another folder"):
        train(TINY, tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize("content", [b"", b"not a state", b"\x08\0\0\0\0\0\0\0{}      "])
def test_a_state_that_is_none(content, tmp_path):
    (tmp_path / "state.safetensors").write_bytes(content)
    with rejects("state.safetensors"):
        train(TINY, tmp_path)
