"""Where output goes: files whole or not at all, devices and pipes written and never replaced."""

import argparse
import errno
import io
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from points import Point
from refusals import check_line, rejected, rejects
from toys import good

from theory.terminal import script, spelled
from verify.cli import main as cli
from verify.output import files as output

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def it(monkeypatch):
    monkeypatch.setattr(cli, "installed", lambda: {"it": Point(good)})


def run(*words: str) -> int:
    return cli.main(["it", "--k", "1", "-q", *words])


# Targets


def test_a_device_is_written_and_not_replaced(tmp_path):
    """As root, a rename would put a file into the place of /dev/null."""
    assert run("--json", os.devnull) == 0
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    link = tmp_path / "nothing.json"
    link.symlink_to(os.devnull)
    assert run("--json", str(link)) == 0
    assert link.is_symlink()
    assert stat.S_ISCHR(link.stat().st_mode)


@pytest.mark.parametrize(
    ("before", "within", "lines"),
    [
        ("sys.stderr = None", "print('lost', file=sys.stderr)", 0),
        ("sys.stdout = None", "print('told', file=sys.stderr)", 1),
        ("", "sys.stdout.close()", 0),
    ],
    ids=["no standard error", "no standard output", "a standard output that is closed"],
)
def test_a_command_without_a_standard_stream_keeps_its_exit_code(before, within, lines):
    """What is for a standard error that is lacking is lost, and not in the standard output."""
    code = f"import sys; from theory.terminal import run; {before or 'pass'}\n"
    code += f"sys.exit(run(lambda: {within} or 3))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", lines)


def test_a_link_is_followed_and_stays_one(tmp_path):
    real, link, dangling = tmp_path / "real.json", tmp_path / "link.json", tmp_path / "new.json"
    real.write_text("before")
    real.chmod(0o640)
    link.symlink_to("real.json")
    dangling.symlink_to("made.json")
    for target, file in ((link, real), (dangling, tmp_path / "made.json")):
        assert run("--json", str(target)) == 0
        assert target.is_symlink()
        assert json.loads(file.read_text())["verdict"] == "holds"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_the_standard_output_as_a_file_is_added_to(tmp_path):
    """`--json /dev/stdout > file`: the lines before it are in the same file."""
    code = (
        "from pathlib import Path; from verify.output.files import deliver; print('before');"
        "deliver(Path('/dev/stdout'), b'content\\n'); print('after')"
    )
    file = tmp_path / "all"
    with file.open("w") as standard:
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=standard, check=True)
    assert file.read_text() == "before\ncontent\nafter\n"


TARGETS = ("nowhere/file.png", "folder.png", "circle.png", "long" * 100 + ".png")


@pytest.mark.parametrize("option", ["--json", "--plot"])
def test_targets_are_checked_before_the_work(option, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        "verify.cli.main.check", lambda *_, **__: pytest.fail("it has begun to work")
    )
    drawing = type(good)(good.check, "a_module:a_picture", ())
    monkeypatch.setattr(cli, "installed", lambda: {"it": Point(drawing)})
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "circle.png").symlink_to("circle.png")
    for target in TARGETS:
        rejected(capsys, ["it", option, str(tmp_path / target)])
    if option != "--json":
        rejected(capsys, ["it", option, "-"], "--json")


def test_an_unknown_backend_of_pictures_is_refused_before_the_work(tmp_path):
    code = "from verify.output import files; files.picture_argument('', 'x.png')"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "x.png")],
        cwd=ROOT,
        env=os.environ | {"MPLBACKEND": "nope"},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    check_line(done.stderr.splitlines()[-1], "MPLBACKEND", "nope")


def test_what_draws_into_its_file_takes_no_device(tmp_path, monkeypatch):
    assert output.picture_file(tmp_path / "x.png") == tmp_path / "x.png"
    with rejects("/dev/full"):
        output.picture_file(Path("/dev/full"))
    monkeypatch.setattr("sys.argv", ["example", "/dev/full"])
    with pytest.raises(SystemExit) as ended:
        output.picture_argument("What it is.", "x.png")
    assert ended.value.code == 2


def test_what_an_example_cannot_save_ends_it_in_a_line(tmp_path, capsys):
    def fails(target, draw):
        with pytest.raises(SystemExit) as ended, output.saving(target) as file:
            draw(file)
        assert ended.value.code == 2
        check_line(capsys.readouterr().err, target.name)

    def no_room_beside(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    fails(Path("/dev/full"), lambda file: file.write_bytes(b"x"))
    fails(tmp_path / "gone" / "x.png", lambda file: file.write_bytes(b"x"))
    fails(tmp_path / "x.png", no_room_beside)
    assert not list(tmp_path.iterdir())
    with output.saving(tmp_path / "x.csv") as file:
        file.write_text("1")
    assert (tmp_path / "x.csv").read_text() == "1"


def test_a_folder_that_cannot_be_made_ends_in_a_line(tmp_path, capsys, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr("sys.argv", ["example", str(tmp_path / "file" / "folder")])
    with pytest.raises(SystemExit) as ended:
        output.folder_argument("What it is.", "x")
    assert ended.value.code == 2
    assert "cannot make the folder" in capsys.readouterr().err.splitlines()[-1]
    monkeypatch.setattr("sys.argv", ["example", str(tmp_path / "a" / "b")])
    assert output.folder_argument("What it is.", "x").is_dir()


def test_what_may_not_be_written_is_refused(tmp_path, monkeypatch):
    """Also for root, who may write everywhere: only the result of os.access is changed."""
    file = tmp_path / "file.png"
    file.touch()
    for closed in (file, tmp_path):
        monkeypatch.setattr(os, "access", lambda path, _, closed=closed: Path(path) != closed)
        with rejects("file.png"):
            output.json_target(str(file))
        with rejects("file.png"):
            output.picture_target(file)


def test_a_folder_that_takes_no_files_is_refused(tmp_path, monkeypatch):
    """As /proc, whose permissions allow it."""

    def refuse(**_):
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")

    monkeypatch.setattr(output, "TemporaryFile", refuse)
    for file in (tmp_path / "new.png", tmp_path / "old.png"):
        for check, target in ((output.json_target, str(file)), (output.picture_target, file)):
            with rejects("No such file or directory"):
                check(target)
        (tmp_path / "old.png").touch()


# A disk that is full


def full(self, *_):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("what", ["write_bytes", "replace"])
def test_a_full_disk_leaves_what_was_there(what, tmp_path, monkeypatch, capsys):
    file = tmp_path / "out.json"
    file.write_text("before")
    monkeypatch.setattr(Path, what, full)
    assert run("--json", str(file)) == 2
    check_line(capsys.readouterr().err, str(file), "No space left on device")
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
    assert file.read_text() == "before"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_device_is_one_line(capsys):
    assert run("--json", "/dev/full") == 2
    assert capsys.readouterr().err.count("\n") == 1
    with Path("/dev/full").open("w") as device:
        done = command("list", stdout=device)
    assert (done.returncode, done.stderr.count("\n")) == (4, 1)
    assert "No space left on device" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_device_is_refused_before_a_run():
    for target in (output.json_target, lambda name: output.file_target(Path(name))):
        with rejects("/dev/full"):
            target("/dev/full")
        target(os.devnull)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("told", [True, False])
def test_a_full_device_at_the_end_is_told_once(told):
    """By the program, or else by the terminal."""
    told_by_program = "print('No space left on device', file=sys.stderr) or 4"
    words = "import sys; from theory.terminal import run; "
    words += f"sys.exit(run(lambda: print('output') or {told_by_program if told else 0}))"
    with Path("/dev/full").open("w") as device:
        done = subprocess.run(
            [sys.executable, "-c", words],
            cwd=ROOT,
            env=os.environ | {"PYTHONUNBUFFERED": ""},
            stdout=device,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr.count("\n")) == (4, 1)
    assert "No space left on device" in done.stderr


def test_a_picture_is_put_in_its_place_when_it_is_whole(tmp_path):
    target = tmp_path / "picture.png"
    with output.drawn(target) as picture:
        picture.write_bytes(b"whole")
        assert not target.exists()
    assert target.read_bytes() == b"whole"

    def stopped():
        with output.drawn(target) as picture:
            picture.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    with rejects("picture"), output.drawn(target):
        pass  # what is there stays
    with rejects("picture"), output.drawn(target):
        raise OSError(errno.EFBIG, "File too large")
    assert target.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [target]


# The terminal


def command(*words: str, **settings):
    words = (sys.executable, "-m", "verify", *words)
    standard = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | settings
    return subprocess.run(words, cwd=ROOT, check=False, **standard)


def test_a_reader_who_has_seen_enough_ends_it_quietly():
    words = [sys.executable, "-m", "verify", "list"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, cwd=ROOT, **pipes) as listing:
        listing.stdout.close()
        assert listing.stderr.read() == b""
    assert listing.returncode in (0, -13)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_the_exit_code_of_an_error_does_not_need_its_message():
    with Path("/dev/full").open("w") as full:
        assert command("show", "nothing", stderr=full).returncode == 2
        assert command("list", "regression", stderr=full).returncode == 0


@pytest.mark.skipif(os.name != "posix", reason="closes a stream in a POSIX shell")
@pytest.mark.parametrize(
    ("words", "code"), [("newton --k -1 --json - 2>&-", 2), ("show newton >&-", 0)]
)
def test_what_goes_to_a_closed_stream_is_lost(words, code):
    shell = ["sh", "-c", f'exec "$0" -m verify {words}', sys.executable]
    done = subprocess.run(shell, cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")


def test_json_for_a_closed_standard_output_is_refused(monkeypatch, capsys):
    """As of `>&-`, for which Python has no stream."""
    monkeypatch.setattr(sys, "stdout", None)
    for words in (("--json", "-"), ("--json",)):
        assert run(*words) == 2
        check_line(capsys.readouterr().err, "json")
    assert run() == 0


def test_an_interruption_while_modules_are_imported_is_one_line():
    words = """
import runpy, sys
class Interrupts:
    def find_spec(self, name, *_):
        if name == "verify.cli.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupts())
runpy.run_module("verify", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", words], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"interrupted\n")


def test_a_program_may_close_standard_output():
    words = "import sys; from theory.terminal import run; "
    words += "sys.exit(run(lambda: sys.stdout.close() or 3))"
    done = subprocess.run([sys.executable, "-c", words], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"", b"")


def test_a_standard_error_of_the_caller_is_used_and_its_own_stays_open():
    """Lines go to the stream that is in its place; the first one can be written to afterwards."""
    words = "import io, sys; from theory.terminal import run; "
    words += "first, sys.stderr = sys.stderr, io.TextIOWrapper(io.BytesIO()); "
    words += "run(lambda: print('kept', file=sys.stderr) or 0); sys.stderr.flush(); "
    words += "kept = sys.stderr.buffer.getvalue(); sys.stderr = first; run(lambda: 0); "
    words += "sys.stderr = first; print(kept.decode().split(), file=first)"
    done = subprocess.run([sys.executable, "-c", words], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, b"['kept']")


def test_lines_of_standard_error_are_written_at_once():
    """So that a notice is read while the work goes on, and also if the process is killed."""
    words = "import os, sys; from theory.terminal import run; "
    words += "run(lambda: print('a notice', file=sys.stderr) or os._exit(3))"
    done = subprocess.run([sys.executable, "-c", words], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.split()) == (3, b"", [b"a", b"notice"])


def test_a_terminal_of_ascii_reads_the_list():
    done = command("list", "regression", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert "ceil(log3(2^(k+2) + 1)) layers" in done.stdout


def test_letters_are_spelled():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="spelled")
    stream.write("α ≤ λ₀², Σ‖xᵀ‖ − 3·2⁻¹ → é, 猫")
    stream.flush()
    written = stream.buffer.getvalue().decode()
    assert written == "alpha <= lambda0^2, Sigma||x^T|| - 3*2^-1 -> e, ?"
    with pytest.raises(UnicodeDecodeError):
        spelled(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"))


def test_json_for_a_screen_of_ascii_is_still_the_same_json(monkeypatch):
    screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", screen)
    output.write(output.SCREEN, json.dumps({"words": 'α "≤" é 😀'}, ensure_ascii=False))
    screen.flush()
    assert json.loads(screen.buffer.getvalue()) == {"words": 'α "≤" é 😀'}


def test_no_columns_are_the_usual_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "0")
    assert cli.main(["it", "--k", "1"]) == 0
    assert "holds" in capsys.readouterr().out


def test_an_error_without_a_number_is_told_in_its_own_words(tmp_path, capsys):
    with pytest.raises(SystemExit), output.saving(tmp_path / "x.png"):
        raise OSError("the disk is gone")
    check_line(capsys.readouterr().err, "x.png", "the disk is gone")


SCRIPT = """
import argparse
from theory.terminal import script
options = argparse.ArgumentParser()
options.add_argument("lines", type=int)
options.add_argument("--ends", type=eval)
given = script(options)
print("α ≤ β\\n" * given.lines)
if given.ends:
    raise given.ends
"""


@pytest.fixture
def in_a_script(tmp_path):
    """Runs a script whose output is not that of `run`, such as an example."""
    (tmp_path / "a_script.py").write_text(SCRIPT, encoding="utf-8")

    def call(*words, **settings):
        command = [sys.executable, tmp_path / "a_script.py", *words]
        return subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, check=False, **settings)

    return call


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("lines", [1, 10_000])
def test_a_script_whose_output_cannot_be_written_tells_it(lines, in_a_script):
    with Path("/dev/full").open("w") as full:
        done = in_a_script(str(lines), stdout=full)
    assert (done.returncode, done.stderr.count(b"\n")) == (4, 1)
    assert b"No space left on device" in done.stderr


def test_a_script_spells_and_ends_in_one_line_or_with_an_unexpected_error(in_a_script):
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    spelled = in_a_script("1", stdout=subprocess.PIPE, env=ascii_only)
    assert (spelled.returncode, spelled.stdout.split()) == (0, [b"alpha", b"<=", b"beta"])
    interrupted = in_a_script("1", "--ends=KeyboardInterrupt", stdout=subprocess.DEVNULL)
    assert (interrupted.returncode, interrupted.stderr) == (130, b"interrupted\n")
    for wrong in ("ZeroDivisionError", "OSError(2, 'no', 'file')"):
        done = in_a_script("1", f"--ends={wrong}", stdout=subprocess.DEVNULL)
        assert (done.returncode, done.stderr.split()[0]) == (1, b"Traceback")


@pytest.mark.skipif(os.name != "posix", reason="closes a pipe of POSIX")
def test_a_script_ends_quietly_when_its_reader_has_seen_enough(in_a_script):
    read, write = os.pipe()
    os.close(read)
    done = in_a_script("10000", stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (-13, b"")


def test_a_script_leaves_the_program_that_runs_it_as_it_is(monkeypatch):
    class Kept:
        """An output such as that of the site's gallery, which is no stream of `io`."""

    hook, kept = sys.excepthook, [signal.getsignal(each) for each in signal.valid_signals()]
    monkeypatch.setattr(sys, "stdout", Kept())
    monkeypatch.setattr(sys, "argv", ["a_script.py"])
    assert vars(script(argparse.ArgumentParser())) == {}
    assert sys.excepthook is hook
    assert [signal.getsignal(each) for each in signal.valid_signals()] == kept
