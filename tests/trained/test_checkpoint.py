"""Checkpoints on the disk: what is loaded is what was saved, and nothing else is."""

import hashlib
import itertools
import json
import shutil
from functools import cache

import pytest
import safetensors.torch
import torch
from refusals import rejects

from constructions.trained import (
    checkpoint,
    configuration_of,
    load,
    log_of,
    preset,
    shipped,
    sidecar,
    untrained,
)
from constructions.trained.__main__ import main
from theory.regression import gaussian_prompts


@pytest.fixture
def copy(run, tmp_path):
    return shutil.copytree(run, tmp_path / "copy")


def test_what_is_loaded_is_what_was_saved(run):
    path = run / "model.safetensors"
    model, again = load(path), load(str(path))
    p = gaussian_prompts(3, 4, 5, seed=0)
    assert torch.equal(model(p.x, p.y, p.x_query), again(p.x, p.y, p.x_query))
    assert not any(W.requires_grad for W in model.parameters())


@pytest.mark.parametrize("kind", [torch.int32, torch.float64, torch.bfloat16])
def test_weights_of_another_format_are_rejected(copy, kind):
    """Torch would convert them without a word."""
    path = copy / "model.safetensors"
    tensors = {name: W.to(kind) for name, W in load(path).state_dict().items()}
    replace_weights(copy, safetensors.torch.save(tensors))
    with rejects("model.safetensors", str(kind).removeprefix("torch.")):
        load(path)


def test_the_sidecar_contains_command_and_configuration(run):
    record = sidecar(run / "model.safetensors")
    made = configuration_of(run / "model.safetensors")
    assert made == preset("regression", model="lstm", seed=2, steps=40)
    assert record["steps"] == 40
    command = "python -m constructions.trained train regression --model lstm --seed 2 --steps 40"
    assert record["command"] == command
    assert record["bytes"] == (run / "model.safetensors").stat().st_size
    log = log_of(run / "model.safetensors")
    assert [line["step"] for line in log] == [20, 40]
    assert record["loss"] == log[-1]["loss"]


def test_what_ships_is_rounded_to_half_its_size(run, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(checkpoint, "SHIPPED", tmp_path)
    assert main(["ship", str(run / "model.safetensors")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / run.name}.safetensors\n"
    assert shipped() == [run.name]
    whole, rounded = load(run / "model.safetensors"), load(run.name)
    for name, W in whole.state_dict().items():
        V = rounded.state_dict()[name]
        assert V.dtype == W.dtype == torch.float32
        assert bool(((V - W).abs() <= 2.0**-11 * W.abs() + 2.0**-25).all())
        assert torch.equal(V, V.half().float())
    assert 2 * sum(W.numel() for W in whole.parameters()) < sidecar(run.name)["bytes"]
    assert sidecar(run.name)["bytes"] < 0.6 * sidecar(run / "model.safetensors")["bytes"]
    assert sidecar(run.name)["loss"] == sidecar(run / "model.safetensors")["loss"]
    assert log_of(run.name) == log_of(run / "model.safetensors")
    for again in (run.name, tmp_path / f"{run.name}.safetensors"):
        with rejects(run.name, "shipped"):
            checkpoint.ship(again)
    assert shipped() == [run.name]


@pytest.mark.parametrize(("task", "kept"), [("regression", 100), ("induction", 250)])
def test_a_long_log_ships_with_a_hundred_lines(task, kept, copy, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SHIPPED", tmp_path)
    lines = "".join(f'{{"step": {step}, "loss": 1.0}}\n' for step in range(1, 251))
    (copy / "model.jsonl").write_text(lines)
    made = preset(task)
    monkeypatch.setattr(checkpoint, "configuration_of", lambda name: made)
    steps = [line["step"] for line in log_of(checkpoint.ship(copy / "model.safetensors"))]
    assert (len(steps), steps[0], steps[-1]) == (kept, 1, 250)
    assert {b - a for a, b in itertools.pairwise(steps)} <= {1, 2, 3}


def test_a_model_on_the_way_ships_under_its_step(copy, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SHIPPED", tmp_path)
    for end in ("safetensors", "json"):
        shutil.copy(copy / f"model.{end}", copy / f"model-step7.{end}")
    path = checkpoint.ship(copy / "model-step7.safetensors")
    assert path.name == f"{copy.name}-step7.safetensors"
    assert log_of(path) == []


def test_weights_beyond_float16_do_not_ship(copy, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SHIPPED", tmp_path)
    path = copy / "model.safetensors"
    model = load(path)
    largest = next(model.parameters()).view(-1)
    for sign in (1, -1):
        largest[0] = sign * 65600.0
        checkpoint.save(model, path, sidecar(path))
        with rejects("6.56e+04", "float16"):
            checkpoint.ship(path)
        largest[0] = sign * 65504.0  # the largest number of float16
        checkpoint.save(model, path, sidecar(path))
        shipped_model = load(checkpoint.ship(path))
        assert next(shipped_model.parameters()).view(-1)[0] == sign * 65504.0


def test_changed_weights_are_rejected(copy):
    path = copy / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with rejects("model.safetensors", "model.json"):
        load(path)
    path.write_bytes(content[: len(content) // 2])
    with rejects("model.safetensors", "model.json"):
        load(path)


def test_sidecars_that_are_none(copy):
    path, beside = copy / "model.safetensors", copy / "model.json"
    record = json.loads(beside.read_text())
    left = [
        {name: value for name, value in record.items() if name != key}
        for key in ("steps", "loss", "bytes")
    ]
    left += [
        record | {key: value}
        for key, wrong in {
            "sha256": [None, 1], "steps": [None, 1.5, True, "1"], "loss": [None, True, "1.0"],
            "bytes": [None, 0.5],
        }.items()
        for value in wrong
    ]  # fmt: skip
    of_another_version = record | {"configuration": record["configuration"] | {"version": 99}}
    for content in (*map(json.dumps, [of_another_version, *left, {}]), "[" * 100_000):
        beside.write_text(content)
        with rejects("model.json"):
            load(path)
    beside.unlink()
    with rejects("model.safetensors", "model.json"):
        load(path)


SHAPES = {
    "another size": {"kind": "lstm", "n_layers": 2, "width": 8},
    "another model": {
        "kind": "transformer", "n_layers": 1, "n_heads": 1, "d_model": 8, "d_mlp": 0
    },
}  # fmt: skip


NOISY = {"kind": "regression", "d": 5, "points": 11}


BROKEN = {
    "missing": ({"configuration": ...}, "model.json"),
    "null": ({"configuration": None}, "None"),
    "a word": ({"configuration": "small"}, "'small'"),
    "task": ({"task": 3}, "model.json"),
    "kind": ({"task": {"kind": "chess"}}, "'chess'"),
    "noise": ({"task": {**NOISY, "noise": "x"}}, "noise"),
    "rates": ({"learning_rate": [0.001]}, "learning_rate"),
    "a version that is a truth": ({"version": True}, "version"),
    "a shape as task": ({"task": {"kind": "lstm", "n_layers": 1, "width": 2}}, "task"),
    "a task as shape": ({"shape": {"kind": "bigrams", "vocabulary_size": 2, "length": 2}}, "shape"),
    "curriculum": ({"curriculum": {"d": 0, "points": 2, "every": 3}}, "d"),
    **{name: ({"shape": shape}, "model.safetensors") for name, shape in SHAPES.items()},
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("change", BROKEN)
def test_sidecars_that_do_not_fit(change, copy):
    changes, named = BROKEN[change]
    beside = copy / "model.json"
    record = json.loads(beside.read_text())
    for name, value in changes.items():
        if value is ...:
            del record[name]
        elif name == "configuration":
            record[name] = value
        else:
            record["configuration"][name] = value
    beside.write_text(json.dumps(record))
    with rejects(named):
        load(copy / "model.safetensors")


def replace_weights(folder, content):
    """And the hash in the sidecar."""
    record = json.loads((folder / "model.json").read_text())
    record["sha256"] = hashlib.sha256(content).hexdigest()
    (folder / "model.json").write_text(json.dumps(record))
    (folder / "model.safetensors").write_bytes(content)


def test_the_sidecar_in_place_of_the_weights(copy):
    with rejects("model.json", "model.safetensors"):
        load(copy / "model.json")


def test_weights_that_are_none(copy):
    path = copy / "model.safetensors"
    whole = path.read_bytes()
    for content in (b"", b"garbage", whole[:100]):
        replace_weights(copy, content)
        with rejects("model.safetensors"):
            load(path)
    for value in (float("nan"), float("inf"), -float("inf")):
        tensors = safetensors.torch.load(whole)
        tensors["unembed.bias"][-1] = value
        replace_weights(copy, safetensors.torch.save(tensors))
        with rejects("model.safetensors"):
            load(path)


def test_a_log_that_is_none(copy):
    line = b'{"step": 1, "loss": 2.0}\n'
    lacking = (line + b'{"step": 2}\n', b'{"loss": 2.0}\n' + line)
    for content in (b"\xff\n", b"{}\n", b"[3]\n", b"{\n", b"[" * 100_000, *lacking):
        (copy / "model.jsonl").write_bytes(content)
        with rejects("model.jsonl"):
            log_of(copy / "model.safetensors")


def test_checkpoints_that_do_not_exist(tmp_path):
    (tmp_path / "x.safetensors").mkdir()
    for name, named in (
        ("x" * 300 + ".safetensors", "file"),
        (tmp_path / "x.safetensors", "file"),
        ("nothing", "nothing"),
        ("regression-small", "regression-small-seed0"),  # those that begin so are listed
    ):
        with rejects(named):
            load(name)


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "file"
    checkpoint.write(path, b"before")
    monkeypatch.setattr(checkpoint.os, "fsync", lambda _: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        checkpoint.write(path, b"after")
    assert path.read_bytes() == b"before"


loaded = cache(load)


@pytest.mark.slow
def test_shipped_checkpoints_are_whole_and_small():
    """Each loads, is described, and all together take less than 40 MB."""
    total = 0
    for name in shipped():
        record = sidecar(name)
        loaded(name)
        total += record["bytes"]
        assert record["command"].startswith("python -m constructions.trained train ")
        if (run := checkpoint.run_of(name)) != name:  # the log is beside the last one
            assert name == f"{run}-step{record['steps']}"
            assert not log_of(name)
        else:
            assert log_of(name)[-1]["step"] == record["steps"]
    assert total <= 40e6


@pytest.mark.parametrize("name", shipped())
def test_shipped_weights_are_those_of_the_model(name):
    """By name and shape, none besides, in a sidecar whose record is read and written alike."""
    held = safetensors.torch.load_file(checkpoint.path_of(name))
    made = configuration_of(name)
    wanted = untrained(made).state_dict()
    assert {key: W.shape for key, W in held.items()} == {key: W.shape for key, W in wanted.items()}
    model = loaded(name)
    assert all(torch.equal(W, held[key]) for key, W in model.state_dict().items())
    assert made.to_json() == sidecar(name)["configuration"]


def test_shipped_runs_are_those_that_their_names_say():
    """The seed in the name, and no two runs with the same weights."""
    names = shipped()
    for name in names:
        assert checkpoint.run_of(name).endswith(f"-seed{configuration_of(name).seed}")
    weights = {name: loaded(name).state_dict() for name in names}
    hashes = {
        name: hashlib.sha256(b"".join(w.numpy().tobytes() for w in each.values())).hexdigest()
        for name, each in weights.items()
    }
    assert len({*hashes.values()}) == len(names)
