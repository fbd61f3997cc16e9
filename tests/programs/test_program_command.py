"""`verify program` with programs of the user's own: errors, options, and what a program prints."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from refusals import check_line, rejected

from constructions.programs import compiled
from theory.kinds import InputError
from theory.programs.library.examples import PROGRAMS
from verify.claim import Run
from verify.cli.main import main
from verify.programs.options import read_vocabulary
from verify.programs.program import CAUSAL, NAMES, TOGETHER, program

ROOT = Path(__file__).parents[2]
FILE = """
import sys

from theory.programs import Map, Select, tokens

def stops(token):
    sys.exit(0)

def says(token):
    print("said")
    return token

stops, says, none = Map(stops, tokens), Map(says, tokens), None
equal = Select(tokens, tokens, "==")
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(FILE)
    return path


def test_a_program_of_a_file_has_no_vocabulary_of_its_own(file, capsys):
    rejected(capsys, ["program", "--program", f"{file}:says"], "--vocabulary")


def test_a_file_that_is_too_large(tmp_path, capsys):
    path = tmp_path / "large.py"
    with path.open("wb") as file:
        file.truncate(10**7 + 1)
    given = ["program", "--program", f"{path}:x", "--vocabulary", "ab"]
    rejected(capsys, given, "10,000,000 bytes")
    path.write_text(FILE + "#" * (10**7 - len(FILE)))
    rejected(capsys, given, "x")


@pytest.mark.parametrize("name", ["stops", "none", "equal", "missing", ""])
def test_names_that_are_no_programs(file, name, capsys):
    """A function that ends the process is an error, not a claim that holds."""
    rejected(capsys, ["program", "--program", f"{file}:{name}", "--vocabulary", "ab"], name)


@pytest.mark.parametrize(("text", "line"), [("import sys\nsys.exit(0)", 2), ("1 / 0", 1)])
def test_files_that_raise_errors(tmp_path, text, line, capsys):
    (tmp_path / "own.py").write_text(text)
    given = ["program", "--program", f"{tmp_path}/own.py:x", "--vocabulary", "ab"]
    rejected(capsys, given, "own.py", f"{line}")


@pytest.mark.parametrize(
    ("given", "word"), [("srt", "sort"), (".:x", "folder"), ("a.py:x", "a.py")]
)
def test_programs_that_are_not_found(given, word, capsys):
    rejected(capsys, ["program", "--program", given, "--vocabulary", "ab"], word)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("from theory.programs import tokens as x\nimport sys\nsys.stdout.close()", 2),
        ("from theory.programs import Map, tokens\nimport sys\n"
         "x = Map(lambda token: sys.stdout.close() or token, tokens)", 4),
    ],
    ids=["by the file", "by a function"],
)  # fmt: skip
def test_a_standard_output_that_is_closed(text, code, tmp_path):
    """In a process of its own, as the standard output of a test cannot be closed."""
    (tmp_path / "own.py").write_text(text)
    words = [sys.executable, "-m", "verify", "program", "--program", f"{tmp_path}/own.py:x"]
    words += ["--vocabulary=ab", "--max-length=2", "-q"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (code, "")
    check_line(done.stderr)


def test_a_file_can_import_its_neighbours(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "neighbour_of_own.py").write_text("from theory.programs import tokens as same")
    (tmp_path / "own.py").write_text("from neighbour_of_own import same")
    given = ["program", "--program", f"{tmp_path}/own.py:same", "--vocabulary", "ab", "-q"]
    assert main([*given, "--max-length", "2"]) == 0


def test_what_a_program_prints_is_not_in_the_json(file, capsys):
    options = ["--vocabulary", "ab", "--max-length", "2", "--json", "-"]
    assert main(["program", "--program", f"{file}:says", *options]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["claim"] == "program"
    assert "said" in err


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("ab", ["a", "b"]), ("0,-1,cat", [0, -1, "cat"]), ("1.5, 1/2,2", [1.5, 0.5, 2])],
)
def test_vocabularies(text, tokens):
    assert read_vocabulary(text) == tokens


@pytest.mark.parametrize(("text", "told"), [("01", "0,1"), ("0,1", ""), ("a1", "")])
def test_digits_without_commas_are_characters_as_a_notice_says(text, told, capsys):
    assert [*map(str, read_vocabulary(text))] == [*text.replace(",", "")]
    said = capsys.readouterr().err
    assert (told in said) if told else said == ""


@pytest.mark.parametrize("text", ["a,b,", ",", "0,01", "1,1e3"])
def test_vocabularies_that_are_none(text):
    with pytest.raises(InputError):
        read_vocabulary(text)


def test_all_programs_together_have_a_limit_of_their_own():
    with pytest.raises(InputError, match="max_length is 21, more than 20, without a program"):
        next(program.findings(Run(), max_length=21))


@pytest.mark.slow
@pytest.mark.parametrize("causal", [False, True])
def test_all_programs_are_compiled_at_this_limit(causal):
    for name in CAUSAL if causal else NAMES:
        sop, vocabulary = PROGRAMS[name]
        assert compiled(sop, vocabulary, TOGETHER, causal=causal)


def test_causal_programs_of_the_library():
    assert all(
        f.verdict == "holds" for f in program.findings(Run(quick=True), causal=True, max_length=3)
    )


def test_samples_that_are_given_are_drawn_also_if_quick():
    findings = program.findings(Run(quick=True), program="reverse", samples=33, max_length=4)
    assert any("66 sequences" in f.words for f in findings if "random" in f.id)
