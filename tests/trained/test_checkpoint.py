"""Checkpoints on the disk, and the command line that makes and reads them."""

import hashlib
import itertools
import json
import shutil
from functools import cache

import numpy as np
import pytest
import safetensors.torch
import torch
from refusals import check_line, rejects

from constructions.trained import (
    checkpoint,
    configuration_of,
    load,
    log_of,
    preset,
    shipped,
    sidecar,
    train,
    untrained,
)
from constructions.trained.__main__ import _seconds_of_a_step, main
from theory.regression import gaussian_prompts, ridge
from theory.retrieval import induction


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of a few steps, made by the command."""
    folder = tmp_path_factory.mktemp("run")
    words = ["regression", "--steps", "40", "--model", "lstm", "--seed", "2", "--device", "cpu"]
    assert main(["train", *words, "--out", str(folder)]) == 0
    return folder


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
def test_weights_of_another_format_are_refused(copy, kind):
    """Torch would convert them without a word."""
    path = copy / "model.safetensors"
    tensors = {name: W.to(kind) for name, W in load(path).state_dict().items()}
    content = safetensors.torch.save(tensors)
    path.write_bytes(content)
    record = json.loads(path.with_suffix(".json").read_text())
    record["sha256"] = hashlib.sha256(content).hexdigest()
    path.with_suffix(".json").write_text(json.dumps(record))
    with rejects("model.safetensors", str(kind).removeprefix("torch.")):
        load(path)


def rejected(capsys, words, *names):
    """Requires that the command exits with 2 and one line on standard error with these names."""
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    check_line(err, *names)


@pytest.mark.parametrize(
    ("words", "parameter"),
    [
        ("hop --k 1000000", "k"),
        ("hop --layers 1000000000", "layers"),
        ("regression --model lstm --layers 1000000000", "layers"),
    ],
)
def test_sizes_beyond_memory_are_rejected_before_they_are_built(words, parameter, tmp_path, capsys):
    rejected(capsys, ["train", *words.split(), "--out", str(tmp_path / "run")], parameter)


def test_the_sidecar_says_how_it_was_made(run):
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


def test_models_along_the_way(tmp_path, capsys):
    """As many as were asked for, each a checkpoint with the command in its sidecar."""
    words = ["train", "induction", "--steps", "20", "--keep", "3", "--keep", "20"]
    assert main([*words, "--device", "cpu", "--out", str(tmp_path)]) == 0
    for step in (3, 20):
        path = tmp_path / f"model-step{step}.safetensors"
        record = sidecar(path)
        assert record["steps"] == step
        assert record["command"].endswith("train induction --steps 20 --keep 3 --keep 20")
        assert main(["evaluate", str(path), "--prompts", "2"]) == 0
    assert path.read_bytes() == (tmp_path / "model.safetensors").read_bytes()
    capsys.readouterr()
    rejected(capsys, [*words, "--keep", "21", "--device", "cpu", "--out", str(tmp_path)], "keep")


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


def test_a_model_on_the_way_ships_under_its_step(run, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SHIPPED", tmp_path)
    for end in ("safetensors", "json"):
        shutil.copy(run / f"model.{end}", tmp_path / f"model-step7.{end}")
    path = checkpoint.ship(tmp_path / "model-step7.safetensors")
    assert path.name == f"{tmp_path.name}-step7.safetensors"
    assert log_of(path) == []


def test_weights_beyond_float16_do_not_ship(copy, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "SHIPPED", tmp_path)
    path = copy / "model.safetensors"
    model = load(path)
    next(model.parameters()).view(-1)[0] = 65600.0
    checkpoint.save(model, path, sidecar(path))
    with rejects("6.56e+04", "float16"):
        checkpoint.ship(path)


def test_changed_weights_are_refused(copy):
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
    "a noise that is a truth": ({"task": {**NOISY, "noise": True}}, "noise"),
    "rates": ({"learning_rate": [0.001]}, "learning_rate"),
    "seed": ({"seed": 2**70}, "seed"),
    "a version that is a truth": ({"version": True}, "version"),
    "a shape as task": ({"task": {"kind": "lstm", "n_layers": 1, "width": 2}}, "task"),
    "a task as shape": ({"shape": {"kind": "bigrams", "vocabulary_size": 2, "length": 2}}, "shape"),
    "curriculum": ({"curriculum": {"d": 0, "points": 2, "every": 3}}, "d"),
    "decay": ({"weight_decay": -1}, "weight_decay"),
    "warmup": ({"warmup": 0.5}, "warmup"),
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


def test_weights_that_are_none(copy):
    path = copy / "model.safetensors"
    whole = path.read_bytes()
    for content in (b"", b"garbage", whole[:100]):
        replace_weights(copy, content)
        with rejects("model.safetensors"):
            load(path)
    tensors = safetensors.torch.load(whole)
    tensors["unembed.bias"].fill_(float("nan"))
    replace_weights(copy, safetensors.torch.save(tensors))
    with rejects("model.safetensors"):
        load(path)


def test_a_log_that_is_none(copy):
    for content in (b"\xff\n", b"{}\n", b"[3]\n", b"{\n", b"[" * 100_000):
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


def test_evaluate(run, capsys):
    assert main(["evaluate", str(run / "model.safetensors"), "--prompts", "50"]) == 0
    _, *rows = capsys.readouterr().out.splitlines()
    assert [int(row.split()[0]) for row in rows] == list(range(11))
    p = gaussian_prompts(50, 10, 5, seed=1_000_000)
    said = load(run / "model.safetensors")(p.x, p.y, p.x_query).double().numpy()
    error = ((said[:, -1] - p.y_query) ** 2).mean() / 5
    assert float(rows[-1].split()[1]) == pytest.approx(error, abs=1e-4)
    assert float(rows[-1].split()[4]) == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("task", ["induction", "bigrams"])
def test_evaluate_tokens(task, tmp_path, capsys):
    assert main(["train", task, "--steps", "20", "--out", str(tmp_path), "--device", "cpu"]) == 0
    assert main(["evaluate", str(tmp_path / "model.safetensors"), "--prompts", "20"]) == 0
    _, said, best = capsys.readouterr().out.splitlines()
    assert "20" in said.split()
    nats = float(best.split()[-4 if task == "bigrams" else -2])
    # Chains of 8 symbols with uniform rows: about Σ_{i=2}^8 1/i = 1.72 nats, and more to be learnt.
    assert nats == 0 if task == "induction" else 1.7 < nats < np.log(8)


def test_train_and_evaluate_automata(tmp_path, capsys):
    words = ["--automaton", "flip-flop", "--stay", "0.8", "--steps", "20", "--seed", "1"]
    assert main(["train", "automata", *words, "--out", str(tmp_path), "--device", "cpu"]) == 0
    path = tmp_path / "model.safetensors"
    made = configuration_of(path)
    assert made == preset("automata", automaton="flip-flop", stay=0.8, steps=20, seed=1)
    assert sidecar(path)["command"].endswith("--automaton flip-flop --stay 0.8 --seed 1 --steps 20")
    assert main(["evaluate", str(path), "--prompts", "20"]) == 0
    name, said, best, later, longer = capsys.readouterr().out.splitlines()
    assert name.startswith("automata-small-4-layers-flip-flop-stay0.8-seed1")
    assert "20" in said.split()
    assert {"21", "40"} <= set(later.split())
    for line in (best, longer):  # of two states, which come as often
        assert 50 <= float(line.split()[-1].removesuffix("%")) < 80


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("train chess", "task"),
        ("train regression --preset huge", "preset"),
        ("train regression --device tpu", "device"),
        ("train regression --seed x", "--seed"),
        ("train regression --seed -1", "--seed"),
        (f"train regression --seed {2**64}", "--seed"),
        ("evaluate regression-small-seed0 --seed -1", "--seed"),
        ("evaluate induction-small-1-layer-seed0 --prompts 1", "--prompts"),
        ("train regression --layers 0", "layers"),
        ("train regression --k 7", "k"),
        ("train induction --noise 3", "noise"),
        ("train hop --covariance ill-conditioned", "covariance"),
        ("train regression --noise 1e200", "noise"),
        ("train regression --noise 1e-200", "noise"),
        ("train automata --automaton chess", "automaton"),
        ("train automata --automaton S3 --stay 0.5", "S3"),
        ("train automata --stay nan", "stay"),
        ("train hop --stay 0.5", "stay"),
        ("train", "task"),
        ("evaluate nothing", "nothing"),
        ("evaluate nothing --prompts 0", "--prompts"),
        ("melt", "melt"),
    ],
)
def test_bad_input_is_one_line(words, named, capsys):
    rejected(capsys, words.split(), named)


def test_places_that_are_no_folders(tmp_path, capsys):
    rejected(capsys, ["train", "regression", "--out", ""], "--out")
    taken = tmp_path / "taken"
    taken.write_text("")
    train_there = ["train", "induction", "--device", "cpu", "--out", str(taken)]
    rejected(capsys, train_there, str(taken))


def test_paper_wants_a_gpu(capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr("constructions.trained.__main__._seconds_of_a_step", lambda _: 2.0)
    rejected(capsys, ["train", "regression", "--preset", "paper"], "GPU", "12 days")
    rejected(capsys, ["train", "regression", "--device", "cuda"], "GPU")


def test_divergence_and_interruption_have_exit_codes(tmp_path, capsys, monkeypatch):
    from constructions.trained import Diverged

    for error, code in ((Diverged("the loss of step 7 is nan"), 1), (KeyboardInterrupt(), 130)):

        def stop(*_, error=error, **__):
            raise error

        monkeypatch.setattr("constructions.trained.__main__.train", stop)
        assert main(["train", "regression", "--device", "cpu", "--out", str(tmp_path)]) == code
        check_line(capsys.readouterr().err)


def test_evaluate_beside_the_bayes_predictor(capsys):
    """With noise 0.5 that is ridge regression with 0.25."""
    assert main(["evaluate", "regression-small-noise0.5-seed0", "--prompts", "600"]) == 0
    row = capsys.readouterr().out.splitlines()[-1].split()
    p = gaussian_prompts(600, 10, 5, noise=0.5, seed=1_000_000)
    w = ridge(p.x, p.y, 0.25)
    squares = ((w * p.x_query).sum(-1) - p.y_query) ** 2 / 5
    assert float(row[4]) == pytest.approx(squares.mean(), abs=1e-4)
    said = load("regression-small-noise0.5-seed0")(p.x, p.y, p.x_query).double().numpy()
    assert float(row[1]) == pytest.approx(((said[:, -1] - p.y_query) ** 2 / 5).mean(), abs=1e-4)


def test_evaluate_counts_right_answers(capsys):
    name = "induction-small-2-layers-seed0"
    assert main(["evaluate", name, "--prompts", "30", "--seed", "5"]) == 0
    said = capsys.readouterr().out.split(": ")[1].split("%")[0]
    tokens, _ = configuration_of(name).task.sequences(30, torch.Generator().manual_seed(5))
    wanted = induction(tokens.numpy())
    right = (load(name)(tokens).numpy() == wanted)[wanted >= 0].mean()
    assert float(said) == pytest.approx(100 * right, abs=0.01)


def test_the_time_of_a_step_is_that_of_a_whole_batch(monkeypatch):
    """Each forward and backward pass takes a second by this clock, for an eighth of the batch."""
    clock = itertools.count()
    monkeypatch.setattr("constructions.trained.__main__.time.perf_counter", lambda: next(clock))
    assert _seconds_of_a_step(preset("regression")) == 8


def test_only_the_first_process_complains(capsys, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert main(["evaluate", "nothing"]) == 2
    assert capsys.readouterr().err == ""


def test_list(capsys):
    assert main(["list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(shipped())


def test_train_is_the_function_that_the_command_calls(run, tmp_path):
    again = train(configuration_of(run / "model.safetensors"), tmp_path)
    assert again.read_bytes() == (run / "model.safetensors").read_bytes()


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
