"""Examples check their arguments before they compute anything."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
DRAWING = sorted(
    path.stem
    for path in EXAMPLES.glob("*.py")
    if "picture_argument(" in path.read_text() and path.stem != "induction_in_lens"
)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs an example in an empty folder: its exit code, what it printed, and what it wrote."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr("theory.terminal._prepare", lambda: None)

    def run(name, argument):
        script = str(EXAMPLES / f"{name}.py")
        monkeypatch.setattr(sys, "argv", [script, argument])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(script, run_name="__main__")
        return ended.value.code, *capsys.readouterr(), list(tmp_path.iterdir())

    return run


@pytest.mark.parametrize("name", DRAWING)
def test_bad_pictures_are_refused_before_anything_is_computed(name, run):
    for argument in ("x.txt", "no/x.png", "/dev/full"):
        code, out, err, written = run(name, argument)
        assert (code, out, written) == (2, "", [])
        assert Path(argument).name in err.splitlines()[-1]


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_unknown_options_are_refused_before_anything_is_computed(name, run):
    if name == "induction_in_lens":
        pytest.importorskip("transformer_lens", reason="this example needs it")
    code, out, err, written = run(name, "--nonsense")
    assert (code, out, written) == (2, "", [])
    assert "--nonsense" in err.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["busy_beaver", "recall_digits"])
def test_where_a_picture_finds_no_room_a_line_says_so(name, tmp_path):
    resource = pytest.importorskip("resource", reason="there are no such limits here")

    def no_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # bytes in a file

    command = [sys.executable, str(EXAMPLES / f"{name}.py"), "x.png"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, preexec_fn=no_room, check=False
    )
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: cannot write x.png (File too large): ")


def test_every_picture_of_an_example_is_saved_by_the_floor():
    """Which writes it whole or not at all, and says in a line why not."""
    drawing = [path for path in EXAMPLES.glob("*.py") if ".figure" in path.read_text()]
    for path in drawing:
        assert "with saving(" in path.read_text(), path.name


@pytest.mark.parametrize("name", DRAWING)
def test_help_says_what_it_is(name, run):
    code, out, err, written = run(name, "--help")
    assert (code, err, written) == (0, "", [])
    assert re.search(r"usage: .*\[picture\]", out)


@pytest.mark.parametrize("steps", [1, 50])
def test_a_run_can_be_short(steps, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["long_run.py", str(steps)])
    runpy.run_path(str(EXAMPLES / "long_run.py"), run_name="__main__")
    assert f"{steps + 1} tokens" in capsys.readouterr().out


def test_a_run_that_no_memory_holds_is_refused(run):
    code, out, err, written = run("long_run", "1" + "0" * 21)
    assert (code, out, written) == (2, "", [])
    assert "memory" in err.splitlines()[-1]


def test_the_output_of_every_example_is_handled_like_that_of_a_command():
    for path in EXAMPLES.glob("*.py"):
        text = path.read_text()
        assert re.search(r"script\(|(picture|folder)_argument\(", text), path.name
        assert ".parse_args(" not in text, path.name


def test_there_are_such_examples():
    assert len(DRAWING) == 7
