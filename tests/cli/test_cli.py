"""The command line, in-process: exit codes, messages of one line, JSON, and repeatable failures."""

import importlib.metadata
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from refusals import check_line
from report_schema import RUN, violations
from toys import bad, broken, found, good, late, run, silent, stopped, strict, unsure

from theory.kinds import InputError
from verify.claim import Run, claim
from verify.cli import main as cli
from verify.finding import Finding, Verdict
from verify.ledger.theorems import ledger

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
CLAIMS = tomllib.loads(PROJECT.read_text())["project"]["entry-points"]["verify.claims"]
TOPICS = {entry.topic for entry in ledger().values()}


@pytest.mark.parametrize(
    ("made", "code", "verdict"),
    [(good, 0, "holds"), (bad, 0, "holds"), (unsure, 3, "undecided"), (silent, 3, "undecided")],
    ids=lambda value: getattr(getattr(value, "check", None), "__name__", ""),
)
def test_exit_codes(made, code, verdict, claims, capsys):
    claims(it=made)
    assert run("it") == code
    assert f"it {verdict}: " in capsys.readouterr().out


def test_a_failure_exits_with_1_and_says_what_it_saw(claims, capsys):
    claims(it=bad)
    assert run("it", "--big-k", "5") == 1
    out = capsys.readouterr().out
    assert "5 False yes None 850" in out
    assert "it fails: 1 finding in" in out


def test_an_internal_error_exits_with_4_and_never_passes(claims, capsys):
    claims(it=broken)
    assert run("it") == 4
    shown = capsys.readouterr()
    check_line(shown.err, "ZeroDivisionError", "by nothing", "-v")
    assert "it holds" not in shown.out
    assert run("it", "-v") == 4
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--json"], ["--json", "-"], ["--json=-"], ["--json", "-v"]])
def test_json_on_the_screen_is_json_and_nothing_else(words, claims, capsys):
    claims(it=good)
    assert run("it", "--k", "2", *words) == 0
    document = strict(capsys.readouterr().out)
    assert [*violations(document, RUN)] == []
    assert (document["claim"], document["verdict"]) == ("it", "holds")
    assert (document["statement"], document["source"]) == ("All is well.", "")  # in no index
    assert document["parameters"] == {"k": 2, "seed": 0}
    assert len(document["findings"]) == 3
    assert {"weightwright", "python", "machine", "torch"} <= set(document["environment"])


@pytest.mark.parametrize("words", [["--json", "{}"], ["--json={}"]])
def test_json_to_a_file_beside_the_lines_for_people(words, claims, capsys, tmp_path):
    claims(it=unsure)
    file = tmp_path / "out.json"
    assert run("it", "--seed", "7", *(word.format(file) for word in words)) == 3
    document = strict(file.read_text())
    assert [*violations(document, RUN)] == []
    assert document["parameters"] == {"seed": 7}
    assert [document["findings"][1][key] for key in ("measured", "bound")] == ["inf", "nan"]
    assert "it undecided: 2 findings" in capsys.readouterr().out
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.json"]


@pytest.mark.parametrize(
    ("made", "code", "names"),
    [(silent, 3, []), (stopped, 130, ["a", "interrupted"]), (late, 4, ["a"]), (broken, 4, None)],
)
def test_json_is_whole_however_the_run_ends(made, code, names, claims, tmp_path):
    claims(it=made)
    file = tmp_path / "out.json"
    file.write_text("what was there before")
    assert run("it", "--json", str(file)) == code
    document = strict(file.read_text())
    assert document["verdict"] == "undecided"
    if names is None:
        assert document["findings"][-1]["words"] == "ZeroDivisionError: by nothing"
    else:
        assert [finding["name"] for finding in document["findings"][: len(names)]] == names


def test_an_interrupt_is_one_line(claims, capsys):
    claims(it=stopped)
    assert run("it", "-q") == 130
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_an_input_error_is_of_the_user_if_the_user_gave_an_option(claims, capsys):
    """Otherwise the claim's own work raised it."""

    @claim()
    def sized(run: Run, *, k: int = 1) -> Iterator[Finding]:
        """Raises InputError after a finding."""
        yield found(Verdict.HOLDS)
        raise InputError("k is too large")

    claims(it=sized)
    assert run("it", "--k", "2") == 2
    assert capsys.readouterr().err == "error: k is too large\n"
    assert run("it") == 4
    assert "k is too large" in capsys.readouterr().err


def test_quiet_prints_the_verdict_alone_and_verbose_times_and_details(claims, capsys):
    claims(it=good)
    assert run("it", "-q") == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"it holds: 4 findings in \d+\.\d s", line)
    run("it")
    assert "why it holds" not in capsys.readouterr().out
    run("it", "-v")
    out = capsys.readouterr().out
    assert "why it holds" in out
    assert "0.000 s" in out


@pytest.mark.parametrize(
    "words",
    [
        ["--big-k", "5"],
        ["--big-k", "7", "--seed", "3"],
        ["--big-k", "5", "--loud", "--word", "no"],
        ["--big-k", "5", "--quick"],
        ["--path", "a file; with 'signs'"],
    ],
    ids=" ".join,
)
def test_the_printed_command_repeats_the_failure(words, claims, capsys):
    claims(it=bad)
    assert run("it", *words) == 1
    first = capsys.readouterr().out
    command = next(s for s in first.splitlines() if s.startswith("repeat with: "))
    python, *repeated = shlex.split(command.removeprefix("repeat with: "))
    assert [python, *repeated[:3]] == ["python", "-m", "verify", "it"]
    assert ("--quick" in repeated) == ("--quick" in words)
    assert run(*repeated[2:]) == 1

    def without_times(text):
        return [line for line in text.splitlines() if not line.startswith("it fails")]

    assert without_times(capsys.readouterr().out) == without_times(first)


def test_a_true_failure_is_repeated_by_its_command(capsys):
    assert run("newton", "--domain", "float", "--alpha", "1.0", "--layout", "direct") == 1
    command = capsys.readouterr().out.splitlines()[-1].removeprefix("repeat with: ")
    assert command == (
        "python -m verify newton --layout direct --alpha 1.0 --domain float --seed 0"
    )
    assert run(*shlex.split(command)[3:], "-q") == 1


def test_list_names_every_entry_of_the_ledger_and_its_statement(capsys):
    assert run("list") == 0
    lines = capsys.readouterr().out.splitlines()
    named = {line.split()[0]: line for line in lines if line.startswith(" ")}
    assert [*named] == [*ledger()]
    for name, line in named.items():
        entry = ledger()[name]
        assert line.split(maxsplit=1)[1].startswith(f"{entry.kind:12} {entry.standing}")
        assert line.endswith(f" {entry.statement}")
    assert {line for line in lines if not line.startswith(" ")} == TOPICS


@pytest.mark.parametrize("topic", sorted(TOPICS))
def test_list_of_a_topic(topic, capsys):
    assert run("list", topic) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == topic
    assert [line.split()[0] for line in lines[1:]] == [
        entry.name for entry in ledger().values() if entry.topic == topic
    ]


def test_show_says_where_everything_stands(capsys):
    assert run("show", "newton-ladder") == 0
    shown = capsys.readouterr().out
    for part in (
        "theory/regression/newton.py",
        "constructions/regression/",
        "⌈log₃(2^(k + 2) + 1)⌉",
    ):
        assert part in shown
    assert run("show", "attention-patterns") == 0  # a claim: all that it shows
    assert capsys.readouterr().out.count("(theorem, retrieval;") == 3
    assert run("show", "composition") == 0  # a statement and a claim: the statement
    assert capsys.readouterr().out.count("(theorem, ") == 1


def test_env_names_what_computes(capsys):
    assert run("env") == 0
    assert f"numpy          {np.__version__}" in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("words", [["--help"], ["newton", "--help"], ["all", "--help"]])
def test_help(words, capsys):
    assert run(*words) == 0
    assert "Usage: verify" in capsys.readouterr().out


def test_a_picture_that_was_asked_for_and_not_drawn_is_an_error(claims, capsys, tmp_path):
    claims(it=claim(picture="no_module:of_a_picture")(lambda run: iter([found(Verdict.HOLDS)])))
    assert run("it", "--plot", str(tmp_path / "p.png")) == 2
    assert "nothing was drawn" in capsys.readouterr().err


def test_claims_of_another_package_are_found(monkeypatch, capsys):
    own = importlib.metadata.entry_points(group="verify.claims")
    theirs = EntryPoint("another", "toys:good", "verify.claims")
    monkeypatch.setattr("verify.ledger.claims.entry_points", lambda group: (theirs, *own))
    assert run("another", "--k", "1") == 0
    assert "another holds: 2 findings" in capsys.readouterr().out
    assert list(cli.installed()) == sorted(["another", *CLAIMS])
    assert run("anothr") == 2
    assert "did you mean 'another'?" in capsys.readouterr().err


def test_no_claims_at_all_says_how_to_install_them(monkeypatch, capsys):
    monkeypatch.setattr("verify.ledger.claims.entry_points", lambda group: ())
    assert run("newton") == 2
    assert "pip install -e ." in capsys.readouterr().err


def test_listing_the_claims_imports_no_torch():
    code = (
        "import sys; from verify.cli.main import main; main(['list']); "
        "heavy = {'torch', 'sympy', 'matplotlib'} & sys.modules.keys(); sys.exit(str(heavy) if "
        "heavy else 0)"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == len(ledger()) + len(TOPICS)
