"""The command line, in-process: exit codes, messages of one line, JSON, and repeatable failures."""

import importlib.metadata
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from points import Point

from theory.checks import InputError
from verify.claim import Run, claim, option
from verify.cli import main as cli
from verify.finding import Finding, Verdict
from verify.ledger.theorems import ledger
from verify.selftest import commands as selftesting

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
CLAIMS = tomllib.loads(PROJECT.read_text())["project"]["entry-points"]["verify.claims"]
TOPICS = {entry.topic for entry in ledger().values()}


def found(verdict: Verdict, name: str = "a", **more) -> Finding:
    return Finding(name.replace(" ", "-"), name, "exact", 1, 2, verdict, **more)


@claim(source="[Nobody2024]", faults_seen=[{"k": 1}])
def good(run: Run, *, k: Annotated[int, option("how many", min=0)] = 3) -> Iterator[Finding]:
    """All is well.

    A second paragraph.
    """
    for i in range(k + 1):
        yield found(Verdict.HOLDS, f"finding {i}", detail="why it holds")


@claim(source="[Nobody2024]")
def bad(
    run: Run,
    *,
    big_k: Annotated[int, option("how many")] = 3,
    loud: Annotated[bool, option("a flag")] = False,
    word: Annotated[Literal["yes", "no"], option("a word")] = "yes",
    path: Annotated[Path | None, option("a path")] = None,
) -> Iterator[Finding]:
    """Fails from four on, or if asked loudly for a path."""
    drawn = int(run.rng.integers(1000))
    yield found(
        Verdict.of(big_k < 4 and path is None), detail=f"{big_k} {loud} {word} {path} {drawn}"
    )


@claim(source="")
def unsure(run: Run) -> Iterator[Finding]:
    """Cannot say."""
    yield found(Verdict.HOLDS)
    yield Finding("b", "b", "float", float("inf"), float("nan"), Verdict.UNDECIDED, "too wide")


@claim(source="")
def silent(run: Run) -> Iterator[Finding]:
    """Has no evidence at all."""
    yield from ()


@claim(source="")
def broken(run: Run) -> Iterator[Finding]:
    """Stops with an error of its own."""
    yield found(Verdict.HOLDS)
    raise ZeroDivisionError("by nothing")


@claim(source="")
def stopped(run: Run) -> Iterator[Finding]:
    """Is interrupted."""
    yield found(Verdict.HOLDS)
    raise KeyboardInterrupt


@pytest.fixture
def claims(monkeypatch):
    def install(**made):
        points = {name: Point(c) for name, c in made.items()}
        for module in (cli, selftesting):
            monkeypatch.setattr(module, "installed", lambda: points)

    return install


def run(*words: str) -> int:
    return cli.main(list(words))


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


def test_an_internal_error_exits_with_4_and_never_passes(claims, capsys, tmp_path):
    claims(it=broken)
    file = tmp_path / "out.json"
    assert run("it", "--json", str(file)) == 4
    shown = capsys.readouterr()
    expected = "internal error: ZeroDivisionError: by nothing (run again with -v to see where)\n"
    assert shown.err == expected
    assert "it holds" not in shown.out
    written = json.loads(file.read_text())
    assert written["verdict"] == "undecided"
    assert written["findings"][-1]["words"] == "ZeroDivisionError: by nothing"
    assert run("it", "-v") == 4
    assert "Traceback" in capsys.readouterr().err


def test_bad_input_found_on_the_way_is_not_written_as_holding(claims, tmp_path, capsys):
    @claim(source="")
    def late(run: Run) -> Iterator[Finding]:
        """Refuses after a finding."""
        yield found(Verdict.HOLDS)
        raise InputError("too large")

    claims(it=late)
    file = tmp_path / "out.json"
    assert run("it", "--json", str(file)) == 2
    assert json.loads(file.read_text())["verdict"] == "undecided"


SCHEMA = [
    "schema", "claim", "statement", "source", "parameters", "verdict", "findings", "environment",
    "seconds",
]  # fmt: skip
FINDING = [
    "id", "name", "evidence", "measured", "bound", "verdict", "words", "wanted", "detail",
    "seconds",
]  # fmt: skip


def strict(text):
    """JSON without the NaN and Infinity that Python's own reader lets through."""

    def refuse(constant):
        raise ValueError(constant)

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("words", [["--json"], ["--json", "-"], ["--json=-"], ["--json", "-v"]])
def test_json_on_the_screen_is_json_and_nothing_else(words, claims, capsys):
    claims(it=good)
    assert run("it", "--k", "2", *words) == 0
    document = strict(capsys.readouterr().out)
    assert list(document) == SCHEMA
    assert document["schema"] == 2
    assert document["claim"] == "it"
    assert document["statement"] == "All is well."
    assert document["source"] == "[Nobody2024]"
    assert document["parameters"] == {"k": 2, "seed": 0}
    assert document["verdict"] == "holds"
    assert [list(finding) for finding in document["findings"]] == [FINDING] * 3
    assert {"weightwright", "python", "machine", "torch", "python-flint"} <= set(
        document["environment"]
    )
    assert document["seconds"] >= 0


@pytest.mark.parametrize("words", [["--json", "{}"], ["--json={}"]])
def test_json_to_a_file_beside_the_lines_for_people(words, claims, capsys, tmp_path):
    claims(it=unsure)
    file = tmp_path / "out.json"
    assert run("it", "--seed", "7", *(word.format(file) for word in words)) == 3
    document = strict(file.read_text())
    assert list(document) == SCHEMA
    assert document["parameters"] == {"seed": 7}
    assert [document["findings"][1][key] for key in ("measured", "bound")] == ["inf", "nan"]
    assert "it undecided: 2 findings" in capsys.readouterr().out
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.json"]


def test_json_is_written_even_without_findings(claims, tmp_path):
    claims(it=silent)
    assert run("it", "--json", str(tmp_path / "out.json")) == 3
    assert strict((tmp_path / "out.json").read_text())["findings"] == []


def test_json_is_whole_when_the_run_is_interrupted(claims, tmp_path):
    claims(it=stopped)
    file = tmp_path / "out.json"
    file.write_text("what was there before")
    assert run("it", "--json", str(file)) == 130
    document = strict(file.read_text())
    assert document["verdict"] == "undecided"
    assert [finding["name"] for finding in document["findings"]] == ["a", "interrupted"]


def test_quiet_prints_the_verdict_alone(claims, capsys):
    claims(it=good)
    assert run("it", "-q") == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"it holds: 4 findings in \d+\.\d s", line)


def test_verbose_prints_times_and_details(claims, capsys):
    claims(it=good)
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
    named = [line.split(maxsplit=2) for line in lines if line.startswith(" ")]
    assert [words[0] for words in named] == list(ledger())
    assert all(words[2] == ledger()[words[0]].statement for words in named)
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
    assert run("show", "gd") == 0  # a claim: all that it shows
    assert capsys.readouterr().out.count("(theorem, regression)") == 3


def test_env_names_what_computes(capsys):
    assert run("env") == 0
    assert f"numpy          {np.__version__}" in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("words", [["--help"], ["newton", "--help"], ["all", "--help"]])
def test_help(words, capsys):
    assert run(*words) == 0
    assert "Usage: verify" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("made", "code"),
    [
        ({"a": good, "b": good}, 0),
        ({"a": good, "b": unsure}, 3),
        ({"a": good, "b": silent}, 3),
    ],
    ids=["holds", "undecided", "no evidence"],
)
def test_all_is_as_strong_as_its_weakest_claim(made, code, claims, capsys, tmp_path):
    claims(**made)
    file = tmp_path / "all.json"
    assert run("all", "--quick", "--json", str(file)) == code
    assert f"all: {['holds', '', '', 'undecided'][code]}, 2 claims" in capsys.readouterr().out
    document = strict(file.read_text())
    assert [part["claim"] for part in document["claims"]] == ["a", "b"]


def test_all_fails_if_one_fails_and_prints_json_alone(claims, capsys):
    failing = claim(source="")(lambda run: iter([found(Verdict.FAILS)]))
    claims(a=failing, b=unsure)
    assert run("all", "--json") == 1
    document = strict(capsys.readouterr().out)
    assert [part["verdict"] for part in document["claims"]] == ["fails", "undecided"]


def test_all_keeps_what_it_found_when_interrupted(claims, tmp_path):
    claims(a=good, b=stopped, c=good)
    file = tmp_path / "all.json"
    assert run("all", "--json", str(file)) == 130
    document = strict(file.read_text())
    assert [(part["claim"], part["verdict"]) for part in document["claims"]] == [
        ("a", "holds"),
        ("b", "undecided"),
    ]


@pytest.mark.slow
def test_claims_in_processes_of_their_own_say_the_same(monkeypatch, capsys, tmp_path):
    few = {
        name: point for name, point in cli.installed().items() if name in ("ogd", "facts", "hop")
    }
    monkeypatch.setattr(cli, "installed", lambda: few)
    shown, documents = list[str](), list[Any]()
    for jobs in ("1", "2"):
        file = tmp_path / f"{jobs}.json"
        assert run("all", "--quick", "--jobs", jobs, "--json", str(file)) == 0
        shown.append(re.sub(r"[\d.]+ s\b", "", capsys.readouterr().out))
        documents.append([part["findings"] for part in strict(file.read_text())["claims"]])
    assert shown[0] == shown[1]
    assert [[f["id"] for f in part] for part in documents[0]] == [
        [f["id"] for f in part] for part in documents[1]
    ]
    assert run("all", "--jobs", "0") == 2
    assert "jobs is 0" in capsys.readouterr().err


def test_quick_reaches_the_claims(claims):
    seen = []

    @claim(source="")
    def asks(run: Run) -> Iterator[Finding]:
        """Notes how it was run."""
        seen.append((run.quick, run.seed))
        yield found(Verdict.HOLDS)

    claims(it=asks)
    run("all", "--quick", "--seed", "5")
    run("all")
    assert seen == [(True, 5), (False, 0)]


@pytest.mark.parametrize(
    ("record", "verdict", "words", "code"),
    [
        ({"a": "fails"}, Verdict.FAILS, [], 0),
        ({}, Verdict.HOLDS, [], 0),
        ({"a": "fails"}, Verdict.HOLDS, [], 1),
        ({}, Verdict.FAILS, [], 1),
        ({"a": "undecided"}, Verdict.HOLDS, [], 1),
        ({"a": "undecided"}, Verdict.HOLDS, ["--quick"], 0),
        ({"a": "undecided"}, Verdict.FAILS, ["--seed", "1"], 0),
        ({"a": "fails"}, Verdict.HOLDS, ["--quick"], 1),
        ({"gone": "fails"}, Verdict.HOLDS, [], 1),
        ({"gone": "fails"}, Verdict.HOLDS, ["--quick"], 0),
    ],
    ids=str,
)
def test_a_replication_is_news_only_if_it_is_not_as_recorded(
    record, verdict, words, code, claims, capsys, monkeypatch
):
    monkeypatch.setattr("verify.cli.running.must_hold", lambda name: name != "it")
    monkeypatch.setattr("verify.cli.running.recorded", lambda name: dict(record))
    claims(it=claim(source="")(lambda run: iter([found(verdict)])), good=good)
    assert run("all", "-q", *words) == code
    shown = capsys.readouterr().out
    assert ("differs: it" in shown) == (code == 1)
    # By itself a claim says what it found, whatever is on record.
    assert run("it", "-q") == cli.EXIT[verdict]


@pytest.mark.parametrize(
    ("record", "verdict", "line"),
    [
        ({"a": "fails"}, Verdict.FAILS, "as on record: see python -m verify show it"),
        ({}, Verdict.FAILS, "not as on record: a: fails, on record: holds"),
        ({"a": "undecided"}, Verdict.UNDECIDED, "as on record: see python -m verify show it"),
    ],
)
def test_a_replication_by_itself_says_what_is_on_record(
    record, verdict, line, claims, capsys, monkeypatch
):
    monkeypatch.setattr("verify.cli.running.must_hold", lambda name: name != "it")
    monkeypatch.setattr("verify.cli.running.recorded", lambda name: dict(record))
    claims(it=claim(source="")(lambda run: iter([found(verdict)])), good=good)
    run("it")
    assert line in capsys.readouterr().out.splitlines()
    run("good")
    assert "on record" not in capsys.readouterr().out


def test_a_picture_that_was_asked_for_and_not_drawn_is_an_error(claims, capsys, tmp_path):
    claims(
        it=claim(source="", picture="no_module:of_a_picture")(
            lambda run: iter([found(Verdict.HOLDS)])
        )
    )
    assert run("it", "--plot", str(tmp_path / "p.png")) == 2
    assert "nothing was drawn" in capsys.readouterr().err


@claim(source="")
def asks_for_a_file(run: Run, *, data: Annotated[Path, option("a file")]) -> Iterator[Finding]:
    """Is about a file."""
    yield found(Verdict.FAILS)


def test_all_leaves_out_what_cannot_be_run_without_an_option(claims, capsys):
    claims(good=good, it=asks_for_a_file)
    assert run("all", "-q") == 0
    assert "all: holds, 1 claims" in capsys.readouterr().out
    assert run("it") == 2
    assert "--data" in capsys.readouterr().err
    assert run("it", "--data", "x") == 1


def notices(answers: bool):
    """A claim that runs a model and looks at its answer, or does not."""

    @claim(source="", faults_seen=[{}])
    def check(run: Run) -> Iterator[Finding]:
        """One step of gradient descent."""
        from constructions import gradient_descent

        model = run.build(gradient_descent, 1, 1, 0.5)
        answer = float(model([[1.0]], [2.0], [3.0]))
        yield found(Verdict.of(answer == 3 or not answers))

    return check


def test_the_self_test_says_what_kills_each_finding(claims, capsys):
    claims(it=notices(True))
    assert run("selftest") == 0
    first, second, *_, last = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"seen    it: (\d+) faults noticed, \d+ change no .*; 1 of 1 .*", first)
    assert second.endswith("fails by: wrong sign in embedding")
    assert last.startswith("selftest: ")
    assert last.endswith("s of one core")
    assert run("selftest", "-q") == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("selftest: ")


def test_the_self_test_names_faults_missed_and_dead_findings(claims, capsys):
    claims(it=notices(False))
    assert run("selftest", "-q") == 1
    out = capsys.readouterr().out
    assert "missed: its defaults: wrong sign in layer 1, head 1" in out
    assert "DEAD: no fault makes" in out


def test_a_self_test_without_tests_is_not_a_pass(claims):
    claims(it=bad)
    assert run("selftest") == 1


def test_the_self_test_of_some_claims_as_json(claims, tmp_path, capsys):
    claims(it=notices(True), other=notices(False))
    assert run("selftest", "it", "--json", str(tmp_path / "a.json")) == 0
    (report,) = json.loads((tmp_path / "a.json").read_text())
    assert report["claim"] == "it"
    assert [*report["killed"].values()] == ["wrong sign in embedding"]
    assert run("selftest", "itt") == 2
    assert "no claim 'itt'" in capsys.readouterr().err


def test_random_changes_are_counted_and_missed_ones_can_be_repeated(claims, capsys):
    claims(it=notices(True))
    assert run("selftest", "--random", "8", "-q") == 0
    assert re.match(r"selftest: \d of 8 changed entries noticed, ", capsys.readouterr().out)
    claims(it=notices(False))
    assert run("selftest", "--random", "8", "--json", "-") == 1
    missed = next(e for e in json.loads(capsys.readouterr().out) if not e["outcome"])
    assert run("selftest", "--random", "1", "--seed", str(missed["seed"])) == 1
    out = capsys.readouterr().out
    assert missed["fault"] in out
    assert f"repeat with: python -m verify selftest --random 1 --seed {missed['seed']}" in out


@pytest.mark.parametrize("options", [["--random", "0"], ["--random", "3", "--trained"]])
def test_a_number_of_random_changes_that_says_nothing_is_refused(options, capsys):
    assert run("selftest", *options) == 2
    assert "--random is" in capsys.readouterr().err


def test_claims_of_another_package_are_found(monkeypatch, capsys):
    own = importlib.metadata.entry_points(group="verify.claims")
    theirs = EntryPoint("another", "test_cli:good", "verify.claims")
    monkeypatch.setattr("verify.claim.entry_points", lambda group: (theirs, *own))
    monkeypatch.setitem(sys.modules, "test_cli", sys.modules[__name__])
    assert run("another", "--k", "1") == 0
    assert "another holds: 2 findings" in capsys.readouterr().out
    assert list(cli.installed()) == sorted(["another", *CLAIMS])
    assert run("anothr") == 2
    assert "did you mean 'another'?" in capsys.readouterr().err


def test_no_claims_at_all_says_how_to_install_them(monkeypatch, capsys):
    monkeypatch.setattr("verify.claim.entry_points", lambda group: ())
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
