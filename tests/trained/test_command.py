"""The command line that trains models and measures them."""

import os
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest
import torch
from refusals import check_line

from constructions.trained import __main__ as command_line
from constructions.trained import (
    configuration_of,
    load,
    preset,
    shipped,
    sidecar,
    train,
)
from constructions.trained.__main__ import main
from constructions.trained.checkpoint import run_of
from theory.regression import gaussian_prompts, ridge
from theory.retrieval import induction


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
        ("hop --n-layers 1000000000", "layers"),
        ("regression --model lstm --n-layers 1000000000", "layers"),
    ],
)
def test_sizes_beyond_memory_are_rejected_before_they_are_built(words, parameter, tmp_path, capsys):
    rejected(capsys, ["train", *words.split(), "--out", str(tmp_path / "run")], parameter)


@pytest.mark.parametrize("name", [name for name in shipped() if "-seed0" in name])
def test_the_command_of_a_sidecar_gives_the_configuration_in_it(name, monkeypatch):
    """So the presets are those with which the shipped models were trained."""
    made = []

    def trained(configurations, folders, **options):
        made.extend(zip(configurations, [folder.name for folder in folders], strict=True))
        return [name]

    monkeypatch.setattr("constructions.trained.__main__.train_together", trained)
    assert main(shlex.split(sidecar(name)["command"])[3:]) == 0
    assert made == [(configuration_of(name), run_of(name))]


def test_models_along_the_way(tmp_path, capsys):
    """A snapshot for each --keep, a checkpoint with the command in its sidecar."""
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


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_evaluate(noise, run, capsys):
    """Beside the Bayes predictor, which with noise 0.5 is ridge regression with 0.25."""
    name = "regression-small-noise0.5-seed0" if noise else str(run / "model.safetensors")
    assert main(["evaluate", name, "--prompts", "600"]) == 0
    _, *rows = capsys.readouterr().out.splitlines()
    assert [int(row.split()[0]) for row in rows] == list(range(11))
    p, row = gaussian_prompts(600, 10, 5, noise=noise, seed=1_000_000), rows[-1].split()
    best = ridge(p.x, p.y, noise**2) * p.x_query if noise else p.y_query[:, None]
    squares = (best.sum(-1) - p.y_query) ** 2 / 5
    assert float(row[4]) == pytest.approx(squares.mean(), abs=1e-4)
    said = load(name)(p.x, p.y, p.x_query).double().numpy()
    assert float(row[1]) == pytest.approx(((said[:, -1] - p.y_query) ** 2 / 5).mean(), abs=1e-4)


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
        (f"train regression --seed {2**32}", "--seed"),
        (f"evaluate regression-small-seed0 --seed {2**32}", "--seed"),
        ("train regression --seed 3 --seed 1 --seed 3", "--seed"),
        ("evaluate regression-small-seed0 --seed -1", "--seed"),
        ("evaluate induction-small-1-layer-seed0 --prompts 1", "--prompts"),
        ("train regression --k 7", "k"),
        ("train induction --noise 3", "noise"),
        ("train hop --covariance ill-conditioned", "covariance"),
        ("train regression --noise 1e200", "noise"),
        ("train regression --noise 1e-200", "noise"),
        ("train automata --automaton S3 --stay 0.5", "S3"),
        ("train regression --automaton parity", "automaton"),  # a default, of another task
        ("train automata --noise 0", "noise"),
        ("train hop --covariance isotropic", "covariance"),
        ("train hop --stay 0.5", "stay"),
        ("train", "task"),
        ("evaluate text-small-lstm-2-layers-last-seed0 --prompts 5", "--prompts"),
        ("evaluate facts-tiny-2-layers-seed0 --seed 1000000", "--seed"),
        ("evaluate facts-tiny-2-layers-seed0 --seed 0", "--seed"),
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
    (loop := tmp_path / "loop").symlink_to(loop)
    for seeds in ([], ["--seed", "0", "--seed", "1"]):
        rejected(capsys, [*train_there[:-1], str(loop), *seeds], str(loop))


def test_a_rejected_run_leaves_no_file(tmp_path, capsys):
    folder = tmp_path / "run"
    train_there = ["train", "regression", "--device", "cpu", "--out", str(folder)]
    rejected(capsys, [*train_there, "--n-layers", "1000000000"])
    assert not folder.exists()
    folder.mkdir()
    (folder / "state.safetensors").write_text("")
    rejected(capsys, train_there, "state.safetensors")
    assert [each.name for each in folder.iterdir()] == ["state.safetensors"]


def test_the_recorded_command_has_all_options(monkeypatch, capsys):
    """Also a 0 that is not the default; quoted for a shell."""
    found = []

    def recorded(made, folders, *, commands, **_):
        found.extend(commands)
        return folders

    monkeypatch.setattr(command_line, "train_together", recorded)
    monkeypatch.setattr(command_line, "sidecar", lambda path: {"steps": 0})
    seeds, kept = ["--seed", "0", "--seed", "5"], ["--keep", "3", "--keep", "7"]
    options = ["--stay", "0.0", *seeds, "--steps", "7", *kept, "--device", "cpu"]
    words = ["train", "automata", "--layers", "3", "--automaton", "flip-flop", *options]
    assert main(words) == 0
    assert main(["train", "chomsky", "--problem", "bucket sort", "--device", "cpu"]) == 0
    start = "python -m constructions.trained train"
    of_both = f"{start} automata --n-layers 3 --automaton flip-flop --stay 0.0"
    assert found == [
        f"{of_both} --steps 7 --keep 3 --keep 7",
        f"{of_both} --seed 5 --steps 7 --keep 3 --keep 7",
        f"{start} chomsky --problem 'bucket sort'",
    ]
    assert capsys.readouterr().out.count(": 0 steps; runs/") == 3


def test_paper_wants_a_gpu(capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.Tensor, "backward", None)  # no step is measured
    rejected(capsys, ["train", "regression", "--preset", "paper"], "preset", "GPU")
    rejected(capsys, ["train", "search", "--preset", "paper-plane"], "preset", "GPU")
    rejected(capsys, ["train", "regression", "--device", "cuda"], "GPU")


def test_divergence_and_interruption_have_exit_codes(tmp_path, capsys, monkeypatch):
    from constructions.trained import Diverged

    for error, code in ((Diverged("the loss of step 7 is nan"), 1), (KeyboardInterrupt(), 130)):

        def stop(*_, error=error, **__):
            raise error

        monkeypatch.setattr("constructions.trained.__main__.train_together", stop)
        assert main(["train", "regression", "--device", "cpu", "--out", str(tmp_path)]) == code
        check_line(capsys.readouterr().err)


def test_an_error_of_the_system_without_a_path_names_none(capsys, monkeypatch):
    def fail(**_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(command_line, "app", fail)
    assert main(["list"]) == 2
    error = capsys.readouterr().err
    check_line(error)
    assert error.startswith("error: Input/output error")


def test_only_training_resumes_after_an_interrupt(tmp_path, capsys, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("constructions.trained.__main__.train_together", stop)
    monkeypatch.setattr("constructions.trained.__main__.load", stop)
    training = ["train", "regression", "--device", "cpu", "--out", str(tmp_path)]
    for words in (training, ["evaluate", "induction-small-2-layers-seed0"]):
        assert main(words) == 130
        error = capsys.readouterr().err
        check_line(error, "interrupted")
        assert bool(re.search(r"\d", error)) == (words == training)  # how often a state is saved


def test_evaluate_counts_right_answers(capsys):
    name = "induction-small-2-layers-seed0"
    assert main(["evaluate", name, "--prompts", "30", "--seed", "5"]) == 0
    said = capsys.readouterr().out.split(": ")[1].split("%")[0]
    tokens, _ = configuration_of(name).task.sequences(30, torch.Generator().manual_seed(5))
    wanted = induction(tokens.numpy())
    right = (load(name)(tokens).numpy() == wanted)[wanted >= 0].mean()
    assert float(said) == pytest.approx(100 * right, abs=0.01)


def test_only_the_first_process_complains(capsys, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert main(["evaluate", "nothing"]) == 2
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", ["list", "train --help"])
def test_an_output_that_cannot_be_written(words, capfd):
    with Path("/dev/full").open("w") as full, redirect_stdout(full):
        assert main(words.split()) == 4
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())  # what is left, when it closes
    check_line(capfd.readouterr().err, "output", "No space left on device")


def test_list(capsys):
    assert main(["list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(shipped())


def test_train_is_the_function_that_the_command_calls(run, tmp_path):
    again = train(configuration_of(run / "model.safetensors"), tmp_path)
    assert again.read_bytes() == (run / "model.safetensors").read_bytes()
