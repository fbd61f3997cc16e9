"""The four checkers as files alone: what they verify, what they reject, and their exit codes."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from refusals import check_line

from tests.evidence.test_certificates import SMALL, certificate, induction, steps_of_newton
from tests.evidence.test_formula_checker import stated
from tests.evidence.test_gap_checker import hops_said, induction_said
from tests.evidence.test_program_checker import program_said
from verify import checker, formula_checker, gap_checker, program_checker
from verify.cli.main import main
from verify.evidence.certificates import write_certificate

CHECKERS = {
    "certificates": checker,
    "gaps": gap_checker,
    "formulas": formula_checker,
    "programs": program_checker,
}
STATED = {
    "certificates": lambda: [make() for make in SMALL.values()],
    "gaps": lambda: [hops_said(2, 2, 3), induction_said(2, 3)],
    "formulas": lambda: [stated("direct"), stated("ladder")],
    "programs": lambda: [program_said("reverse"), program_said("depth")],
}
each = pytest.mark.parametrize("kind", CHECKERS)


def run(kind: str, path: Path, text: str = "", times: int = 1) -> subprocess.CompletedProcess[str]:
    """The file alone, without anything that is installed."""
    if text:
        path.write_text(text)
    command = [sys.executable, "-I", "-S", str(CHECKERS[kind].__file__), *[str(path)] * times]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@each
def test_the_file_alone_verifies(kind: str, tmp_path: Path) -> None:
    path, statements = tmp_path / "c.json", STATED[kind]()
    write_certificate(path, "some", statements)
    done = run(kind, path)
    verified = done.stdout.count("verified: ")
    assert (done.returncode, done.stderr, verified) == (0, "", len(statements))
    changed = json.loads(path.read_text())
    evidence = changed[kind][-1]["evidence"]
    field = next(each for each in ("states", "margin", "degree") if each in evidence)
    evidence[field] = type(evidence[field])(7)
    done = run(kind, path, json.dumps(changed))
    assert (done.returncode, done.stderr, done.stdout.splitlines()[-1][:6]) == (1, "", "wrong:")


@each
@pytest.mark.parametrize(
    ("text", "code"),
    [
        *(("no json", 2), ("[]", 2), ("{}", 2), ("null", 2), ('{"KIND": [{}]}', 2)),
        *(('{"KIND": []}', 1), ('{"KIND": {}}', 1), ('{"KIND": ""}', 1), ('{"KIND": null}', 1)),
    ],
)
def test_what_is_no_certificate_gets_one_line(
    kind: str, text: str, code: int, tmp_path: Path
) -> None:
    done = run(kind, tmp_path / "c.json", text.replace("KIND", kind))
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (code, "", 1)


@each
@pytest.mark.parametrize("text", ["1", "null", '["KIND"]', '"KIND"', "{}"])
def test_a_file_without_the_field_has_no_statements(kind: str, text: str) -> None:
    with pytest.raises(ValueError, match=kind):
        next(CHECKERS[kind].verified(text.replace("KIND", kind).encode()))


@each
def test_a_file_for_another_checker_names_this_checker(kind: str, tmp_path: Path) -> None:
    for other in CHECKERS.keys() - {kind}:
        write_certificate(tmp_path / "c.json", "some", STATED[other]())
        done = run(kind, tmp_path / "c.json")
        assert (done.returncode, done.stderr) == (2, "")
        check_line(done.stdout, kind, other, Path(str(CHECKERS[other].__file__)).name)


def test_the_commands_that_are_printed_check_the_file(tmp_path: Path) -> None:
    """One command for each field of the file."""
    statements = [made for made_of in STATED.values() for made in made_of()]
    *names, command = write_certificate(tmp_path / "a file.json", "some", statements)
    assert all(any(each["name"] in line for line in names) for each in statements)
    _, commands = command.split(": ")
    assert [Path(line.split()[1]).name for line in commands.split("&&")] == [
        Path(str(checker.__file__)).name for checker in CHECKERS.values()
    ]
    python = shlex.quote(sys.executable)
    line = commands.replace("python ", f"{python} ")
    root = Path(__file__).parents[2]
    done = subprocess.run(line, shell=True, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.count("verified: ")) == (0, len(statements))


@pytest.mark.parametrize("quiet", [[], ["--quiet"], ["--json", "-"]])
def test_the_claim_prints_what_it_certifies_unless_it_is_quiet(
    quiet: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["newton", "--layout", "direct", "--domain", "formula", "--k", "2"]
    path = tmp_path / "c.json"
    assert main([*options, "--certificate", str(path), *quiet]) == 0
    statements = [one["statement"]["name"] for one in json.loads(path.read_text())["formulas"]]
    out = capsys.readouterr().out
    assert ("formula_checker.py" in out and statements[0] in out) == (not quiet)


def test_a_statement_of_no_kind_is_wrong(tmp_path: Path) -> None:
    text = '{"certificates": [{"statement": {"kind": "x"}, "evidence": {}}]}'
    done = run("certificates", tmp_path / "c.json", text)
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (1, "", 1)


def test_what_is_printed_was_verified(tmp_path: Path) -> None:
    statement = steps_of_newton() | {"name": "Fermat\nverified: everything"}
    text = json.dumps({"certificates": [certificate(statement)]})
    done = run("certificates", tmp_path / "c.json", text)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1)
    assert "M_1 X^T y for all X (1 x 1)" in done.stdout
    path = tmp_path / "gaps.json"
    write_certificate(path, "one", [hops_said(2, 2, 3)])
    assert "up to 3 tokens of 2 symbols, the outputs are hop_2" in run("gaps", path).stdout
    write_certificate(path, "one", [stated("direct from I")])
    assert "(n x 3), y and x, the prediction is x^T M_3 b" in run("formulas", path).stdout


@pytest.mark.parametrize(
    ("field", "word"),
    [("rule", "softmax"), ("rule", "causal"), ("rule", 1), ("mask", "later"), ("mask", None)],
)
def test_words_without_a_meaning_are_wrong_and_named(tmp_path: Path, field: str, word: Any) -> None:
    """In one line each, as all that is not so: what follows is a certificate, and a false one."""
    for statement in (steps_of_newton(), induction()):
        statement["model"]["blocks"][0]["heads"][0][field] = word
        text = json.dumps({"certificates": [{"statement": statement, "evidence": {}}]})
        done = run("certificates", tmp_path / "c.json", text)
        assert (done.returncode, done.stdout) == (1, f"wrong: {field} is {word!r}\n")


@each
def test_a_missing_file_or_several_get_one_line(kind: str, tmp_path: Path) -> None:
    done = run(kind, tmp_path / "none.json")
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (2, "", 1)
    write_certificate(tmp_path / "c.json", "x", STATED[kind]())
    done = run(kind, tmp_path / "c.json", times=2)
    assert (done.returncode, len(done.stdout.splitlines())) == (2, 1)
    assert "checker.py FILE" in done.stdout
    assert "No such file" not in done.stdout


@each
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_named_pipe_is_not_waited_for(kind: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = run(kind, tmp_path / "pipe")
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (2, "", 1)


@each
@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="the system has no such signal")
def test_a_closed_pipe_ends_the_checker_silently(kind: str, tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-I", "-S", str(CHECKERS[kind].__file__), str(tmp_path)]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, b"")


@each
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_what_cannot_be_printed_is_neither_verified_nor_wrong(kind: str, tmp_path: Path) -> None:
    write_certificate(tmp_path / "right", "some", STATED[kind]()[:1])
    (tmp_path / "wrong").write_text(f'{{"{kind}": []}}')
    for name in ("right", "wrong", "none"):
        command = [sys.executable, "-I", "-S", str(CHECKERS[kind].__file__), str(tmp_path / name)]
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                command, stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


@each
def test_a_file_that_is_too_large_is_no_certificate(kind: str, tmp_path: Path) -> None:
    done = run(kind, tmp_path / "c.json", " " * (CHECKERS[kind].MOST_BYTES + 1))
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (2, "", 1)


@each
def test_it_is_short_and_needs_the_standard_library_alone(kind: str) -> None:
    lines = Path(str(CHECKERS[kind].__file__)).read_text().splitlines()
    imported = {
        line.split()[1].split(".")[0] for line in lines if line.startswith(("import", "from"))
    }
    assert len(lines) <= (499 if kind == "programs" else 299)
    assert imported <= sys.stdlib_module_names
