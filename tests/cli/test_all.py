"""All claims at once: as strong as the weakest, and news only where it is not as recorded."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import pytest
from refusals import rejects
from report_schema import RUNS, violations
from toys import found, good, run, silent, stopped, strict, unsure

from verify.claim import Run, claim, option
from verify.cli import main as cli
from verify.cli import parallel
from verify.cli.running import Checked, Output, news, summary
from verify.finding import Finding, Verdict

ROOT = Path(__file__).parents[2]


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
    assert [*violations(document, RUNS)] == []
    assert document["complete"] is True
    assert [part["claim"] for part in document["claims"]] == ["a", "b"]


@pytest.mark.parametrize("wrong", [["--seed", "-1"], ["-q", "-v"]])
def test_all_writes_no_file_if_it_is_rejected(wrong, claims, tmp_path):
    claims(a=good)
    assert run("all", "--json", str(tmp_path / "all.json"), *wrong) == 2
    assert not any(tmp_path.iterdir())


def test_all_fails_if_one_fails_and_prints_json_alone(claims, capsys):
    failing = claim()(lambda run: iter([found(Verdict.FAILS)]))
    claims(a=failing, b=unsure)
    assert run("all", "--json") == 1
    document = strict(capsys.readouterr().out)
    assert [part["verdict"] for part in document["claims"]] == ["fails", "undecided"]


@pytest.mark.parametrize("later", [{"c": good}, {}])
def test_all_keeps_what_it_found_when_interrupted(later, claims, tmp_path):
    claims(a=good, b=stopped, **later)
    file = tmp_path / "all.json"
    assert run("all", "--json", str(file)) == 130
    document = strict(file.read_text())
    assert document["complete"] is False
    assert [(part["claim"], part["verdict"]) for part in document["claims"]] == [
        ("a", "holds"),
        ("b", "undecided"),
    ]


@pytest.mark.slow
def test_claims_in_processes_of_their_own_say_the_same(monkeypatch, capsys, tmp_path):
    few = {
        name: point for name, point in cli.installed().items() if name in ("ols", "facts", "hop")
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


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system lists no children")
def test_an_interrupt_while_processes_start_is_no_error_of_theirs():
    program = """
import sys
from verify.cli.parallel import Task, at_once
from verify.cli.running import Output
try:
    print(len([*at_once(2, [Task("facts", {}, True, 0, Output(quiet=True))] * 4)]))
except KeyboardInterrupt:
    sys.exit(130)
"""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, cwd=ROOT, start_new_session=True, **pipes) as running:
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
        while len(children.read_text().split()) < 3:  # two, and the one that multiprocessing starts
            assert running.poll() is None
            time.sleep(0.01)
        os.killpg(running.pid, signal.SIGINT)
        assert running.communicate(timeout=60) == ("", "")
    assert running.returncode == 130


@pytest.mark.skipif(os.name != "posix", reason="the system has no such signals")
@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_run_that_is_terminated_writes_what_it_has(jobs, tmp_path):
    """Only the first process gets the signal."""
    out = tmp_path / "all.json"
    command = [sys.executable, "-m", "verify", "all", "--quick", "--jobs", jobs]
    command += ["--json", str(out)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=ROOT, start_new_session=True, **pipes) as running:
        running.stdout.readline()
        time.sleep(1)
        running.terminate()
        _, said = running.communicate(timeout=60)
    assert (running.returncode, said.splitlines()[-1:]) == (130, ["interrupted"])
    document = strict(out.read_text())
    assert document["complete"] is False
    assert document["claims"]


def test_an_interrupt_between_two_tasks_ends_the_later_ones(monkeypatch):
    monkeypatch.setattr(parallel._Process, "is_interrupted", True)
    with pytest.raises(KeyboardInterrupt):
        parallel._apart(parallel.Task("facts", {}, True, 0, Output(quiet=True)))
    assert not parallel._Process.is_busy


@pytest.mark.parametrize("busy", [True, False])
def test_an_interrupt_stops_a_process_at_once_only_within_a_task(busy, monkeypatch):
    monkeypatch.setattr(parallel._Process, "is_busy", busy)
    monkeypatch.setattr(parallel._Process, "is_interrupted", False)
    before = signal.getsignal(signal.SIGINT)
    try:
        parallel._take_signals()
        with pytest.raises(KeyboardInterrupt) if busy else nullcontext():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert parallel._Process.is_interrupted


def test_a_claim_without_its_package_is_not_counted_as_shown(claims, capsys):
    missing = claim()(lambda run: iter([found(Verdict.HOLDS, "package")]))
    claims(it=missing, good=good)
    assert run("all") == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line for line in shown if line.startswith("not run: it")]
    assert "claim of another package: 1 of 1 as stated" in shown
    assert run("all", "--jobs", "1025") == 2


def test_quick_reaches_the_claims(claims):
    seen = []

    @claim()
    def asks(run: Run) -> Iterator[Finding]:
        """Notes how it was run."""
        seen.append((run.quick, run.seed))
        yield found(Verdict.HOLDS)

    claims(it=asks)
    run("all", "--quick", "--seed", "5")
    run("all")
    run("it", "--quick")
    assert seen == [(True, 5), (False, 0), (True, 0)]


def test_quick_states_the_value_that_it_uses_instead_of_the_users(claims, capsys):
    @claim()
    def draws(
        run: Run,
        *,
        samples: Annotated[int, option("samples")] = 900,
        d: Annotated[int, option("d")] = 4,
    ) -> Iterator[Finding]:
        """Notes how many it drew."""
        for _ in range(2):
            used.append(
                (run.limited(20, samples=samples), run.limited(4, d=d), run.limited(3, k=21))
            )
        yield found(Verdict.HOLDS)

    claims(it=draws)
    for words, numbers, told in (
        ([], (20, 4, 3), ""),
        (["--samples", "19"], (19, 4, 3), ""),
        (["--samples", "901"], (20, 4, 3), "--quick: at most 20 instead of --samples 901\n"),
        (["--d", "5"], (20, 4, 3), "--quick: at most 4 instead of --d 5\n"),
        (["--samples", "4"], (4, 4, 3), ""),
        (
            ["--d", "21", "--samples", "21"],
            (20, 4, 3),
            "--quick: at most 20 instead of --samples 21\n--quick: at most 4 instead of --d 21\n",
        ),
    ):
        used = list[tuple[int, int, int]]()
        assert run("it", "--quick", *words) == 0
        assert used == [numbers] * 2
        assert capsys.readouterr().err == told


@pytest.fixture
def replication(claims, monkeypatch):
    """The claim `it` about what need not hold, with this on record, beside one that must."""

    def install(record: dict[str, str], verdict: Verdict) -> None:
        monkeypatch.setattr("verify.cli.running.must_hold", lambda name: name != "it")
        monkeypatch.setattr("verify.cli.running.recorded", lambda name: dict(record))
        claims(it=claim()(lambda run: iter([found(verdict)])), good=good)

    return install


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
    record, verdict, words, code, replication, capsys
):
    replication(record, verdict)
    assert run("all", "-q", *words) == code
    shown = capsys.readouterr().out
    assert ("differs: it" in shown) == (code == 1)
    # Run alone, a claim reports its own verdict, whatever is on record.
    assert run("it", "-q") == cli.EXIT[verdict]


@pytest.mark.parametrize(
    ("record", "verdict", "line"),
    [
        ({"a": "fails"}, Verdict.FAILS, "as on record: see python -m verify show it"),
        ({}, Verdict.FAILS, "differs from the record: a: fails, on record: holds"),
        ({"a": "undecided"}, Verdict.UNDECIDED, "as on record: see python -m verify show it"),
    ],
)
def test_a_replication_by_itself_says_what_is_on_record(record, verdict, line, replication, capsys):
    replication(record, verdict)
    run("it")
    assert line in capsys.readouterr().out.splitlines()
    run("good")
    assert "on record" not in capsys.readouterr().out


@claim()
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


def test_a_statement_is_as_stated_if_all_option_sets_of_its_claim_are():
    outcomes = [("shortcut", Verdict.HOLDS, []), ("shortcut", Verdict.FAILS, [])]
    assert summary(outcomes) == ["theorem: 0 of 4 as stated", "differs: shortcut fails"]


def test_a_replication_without_findings_is_undecided():
    none = Checked("learned-search", [], "")
    assert news(none, strictly=True) == (Verdict.UNDECIDED, ["no findings"])


@pytest.mark.parametrize("options", [{}, {"samples": 3, "d": 4}], ids=str)
def test_one_option_is_limited_at_a_time(options):
    with rejects("limited"):
        Run(quick=True).limited(2, **options)
