"""Files of users: only regular files of a stated size are read."""

import os

import pytest
from refusals import rejected, rejects

from constructions import newton, save
from constructions.files import load
from theory.reading import content_of


def test_the_content_of_a_file(tmp_path):
    (tmp_path / "four").write_bytes(b"abcd")
    assert content_of(tmp_path / "four", 4) == b"abcd"
    with rejects("four", "3 bytes"):
        content_of(tmp_path / "four", 3)


def test_what_has_no_content(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "pipe", tmp_path, tmp_path / "missing", tmp_path / "a\0b"):
        with rejects("read"):
            content_of(name, 10**9)


@pytest.fixture
def endless(tmp_path):
    """Paths that never end: a device, a pipe that nobody writes to, and a link to itself."""
    os.mkfifo(tmp_path / "pipe.json")
    os.symlink("/dev/zero", tmp_path / "zero.json")
    os.symlink("loop.json", tmp_path / "loop.json")
    return [tmp_path / name for name in ("zero.json", "pipe.json", "loop.json")]


@pytest.mark.parametrize(
    "command",
    [
        ["newton-on-data", "--target=x", "--data"],
        ["automata", "--file"],
        ["shortcut", "--file"],
        ["turing", "--machine"],
        ["graph-search", "--edges"],
        ["sensitivity", "--table"],
        ["report", "--out=nowhere"],
    ],
    ids=lambda command: command[0],
)
def test_commands_do_not_wait_for_the_end_of_a_file(command, endless, capsys):
    for path in endless:
        rejected(capsys, [*command, str(path)], path.name)


def test_models_and_sweeps_are_regular_files(endless, tmp_path, capsys):
    save(newton(2, 1, alpha=0.1), tmp_path / "model.safetensors")
    for path in endless:
        (tmp_path / "plan.json").unlink(missing_ok=True)
        (tmp_path / "plan.json").symlink_to(path)
        rejected(capsys, ["summary", str(tmp_path)], "plan.json")
        (tmp_path / "model.json").unlink(missing_ok=True)
        (tmp_path / "model.json").symlink_to(path)
        with rejects("model.json"):
            load(tmp_path / "model.safetensors")


def test_outputs_never_replace_the_files_that_are_read(tmp_path, capsys):
    table, program, predicted = (tmp_path / name for name in ("t.csv", "p.py", "q.csv"))
    table.write_text("a,y\n1,2\n2,1\n3,5\n4,1\n", encoding="utf-8")
    program.write_text("from theory.programs import tokens as x\n", encoding="utf-8")
    before = table.read_bytes(), program.read_bytes()
    on_data = ["newton-on-data", "--data", str(table)]
    rejected(capsys, [*on_data, "--json", str(table)], "--json", "--data")
    rejected(capsys, [*on_data, "--predictions", str(predicted), "--json", str(predicted)], "q.csv")
    given = ["program", "--program", f"{program}:x", "--vocabulary=ab", "--max-length=2"]
    rejected(capsys, [*given, "--json", str(program)], "--json", "--program")
    assert (table.read_bytes(), program.read_bytes()) == before
    assert not predicted.exists()
    machine, weights = tmp_path / "m.json", tmp_path / "w.safetensors"
    for file in (machine, weights, sidecar := weights.with_suffix(".json")):
        file.write_text("{}", encoding="utf-8")
    rejected(capsys, ["turing", "--machine", str(machine), "--json", str(machine)], "--machine")
    for output in (weights, sidecar):
        given = ["layers", "--checkpoint", str(weights), "--json", str(output)]
        rejected(capsys, given, "--json", "--checkpoint")
        assert output.read_text(encoding="utf-8") == "{}"
