"""The command `selftest`: what it prints, what it writes and with what it exits."""

import json
import re
import time
from collections.abc import Iterator

import pytest
from refusals import rejected
from toys import bad, found, run

from verify.claim import Run, claim
from verify.finding import Finding, Verdict
from verify.output import waiting


def notices(answers: bool):
    """A claim that runs a model and looks at its answer, or does not."""

    @claim(faults_seen=[{}])
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


def test_one_claim_that_does_not_pass_is_enough(claims):
    claims(it=notices(True), other=notices(False))
    assert run("selftest", "-q") == 1
    claims(it=notices(False), other=notices(True))
    assert run("selftest", "-q") == 1


def test_a_self_test_without_tests_is_not_a_pass(claims):
    claims(it=bad)
    assert run("selftest") == 1


@pytest.mark.parametrize("more", [(), ("-q",)])
def test_a_self_test_without_a_report_for_a_minute_is_announced(more, claims, capsys, monkeypatch):
    @claim(faults_seen=[{}])
    def slow(run: Run) -> Iterator[Finding]:
        """Nothing, slowly."""
        time.sleep(0.3)
        yield found(Verdict.HOLDS)

    claims(it=slow)
    for name in ("FIRST", "LONG"):
        monkeypatch.setattr(waiting, name, 0.01)
    run("selftest", "it", *more)
    assert capsys.readouterr().err.count("no report for") == (0 if more else 1)


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


@pytest.mark.parametrize("more", [[], ["--random", "2"]], ids=["claims", "entries"])
def test_a_seed_below_zero_is_refused(more, claims, capsys):
    claims(it=notices(True))
    rejected(capsys, ["selftest", "--seed", "-1", *more], "seed", "-1")


@pytest.mark.parametrize("options", [["--random", "0"], ["--random", "3", "--trained"]])
def test_a_number_of_random_changes_that_says_nothing_is_refused(options, capsys):
    assert run("selftest", *options) == 2
    assert "--random is" in capsys.readouterr().err
