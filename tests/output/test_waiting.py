"""Long runs are announced."""

import io
import sys
import time
from collections.abc import Iterator

import numpy as np
import pytest
from points import Point

from constructions.computation import parity, to_circuit
from constructions.memory import retrieve
from constructions.trained import __main__ as training
from theory import computation, memory, retrieval, waiting
from theory.arithmetic import permutation_maxima
from theory.computation import flip_flop
from theory.computation.cascade import cascade
from theory.computation.turing import Step
from theory.programs import library as programs
from theory.regression import polynomial_errors
from theory.waiting import Pace, announced, foretold
from verify.claim import Run, claim
from verify.cli import main as cli
from verify.domains.one_variable import long_prime
from verify.evidence.certificates import for_every_length
from verify.finding import Finding, same
from verify.output import waiting as of_runs
from verify.output.options import progress_bar
from verify.output.waiting import watched


def test_the_statement_of_a_slow_claim_is_printed_before_its_first_finding(monkeypatch):
    monkeypatch.setattr(of_runs, "FIRST", 0.01)
    calls = []
    with watched(lambda: calls.append("begin"), quiet=True) as found:
        time.sleep(0.3)
        calls.append("finding")
        found()
    assert calls == ["begin", "finding"]


def test_wrong_options_print_no_statement():
    calls = []
    with pytest.raises(ValueError, match="wrong"), watched(lambda: calls.append(1), quiet=True):
        raise ValueError("wrong")
    assert calls == []


def test_a_bar_is_drawn_on_standard_error(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as a terminal
    assert [*progress_bar(quiet=False)(range(3), "sizes")] == [0, 1, 2]
    out, errors = capsys.readouterr()
    assert out == ""
    assert "sizes" in errors


def test_a_wait_is_announced_once_it_is_long(monkeypatch, capsys):
    with waiting.waiting("for nothing"):
        pass
    monkeypatch.setattr(waiting, "SHORT", 0.01)
    with waiting.waiting("for something"):
        time.sleep(0.3)
    assert capsys.readouterr().err == "for something\n"


@pytest.mark.parametrize("quiet", [True, False])
def test_slow_findings_are_announced_unless_the_run_is_quiet(quiet, monkeypatch, capsys):
    monkeypatch.setattr(of_runs, "LONG", 0.01)
    with watched(lambda: None, quiet) as found:
        for _ in range(2):
            found()
            time.sleep(0.2)
    out, errors = capsys.readouterr()
    assert out == ""
    assert errors.count("Ctrl-C") == (0 if quiet else 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: programs.induction(9),
        lambda: computation.adder(9),
        lambda: computation.tree_sum(2, 9),
        lambda: computation.transpose(9),
        lambda: computation.TuringMachine(((Step(0, 1, 1), None),)).run(9),
        lambda: memory.modern_hopfield_step([[1.0, 2.0]], [1.0, 2.0], 1.0, 9),
        lambda: retrieve([[1.0, 2.0]], [1.0, 2.0], 1.0, 9),
        lambda: retrieval.find_by_definition(range(9)),
        lambda: long_prime(np.random.default_rng(0), 61),
    ],
)
def test_functions_whose_parameter_can_be_large_announce_long_work(call, monkeypatch, capsys):
    call()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(waiting, "MEASURED", 0.0)
    monkeypatch.setattr(waiting, "LONG", 0.0)
    call()
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_hops_are_announced_after_the_first_one(monkeypatch, capsys):
    monkeypatch.setattr(waiting, "MEASURED", 0.0)
    monkeypatch.setattr(waiting, "LONG", 0.0)
    retrieval.hop_positions_by_definition([0], 9)
    first, hops = capsys.readouterr().err.splitlines()
    assert "find_by_definition" in first
    assert "2 of 9" in hops


def test_predictions_by_definition_are_announced(monkeypatch, capsys):
    monkeypatch.setattr(waiting, "MEASURED", 0.0)
    monkeypatch.setattr(waiting, "LONG", 0.0)
    retrieval.dirichlet_predictor_by_definition([0, 1], 3, 2, 1)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("dirichlet_predictor_by_definition: ")


def test_without_a_standard_error_no_notice_is_written(monkeypatch, capsys):
    """As of `2>&-`, for which Python has no stream."""
    with monkeypatch.context() as without:
        without.setattr(sys, "stderr", None)
        foretold("work", 2 * waiting.LONG)
    assert capsys.readouterr() == ("", "")


def test_a_notice_is_written_at_once(monkeypatch):
    """Also to a standard error that keeps lines back."""
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(written, encoding="utf-8"))
    foretold("work", 2 * waiting.LONG)
    assert written.getvalue().startswith(b"work")


@pytest.mark.parametrize(("items", "lines"), [(100, 1), (10, 0), (4, 0)])
def test_a_loop_of_more_than_a_minute_is_announced_with_an_estimate(
    items, lines, monkeypatch, capsys
):
    now = iter([0, 1000, *range(1006, 10**6, 6)])  # seconds before each item; the start is slow
    monkeypatch.setattr(waiting.time, "monotonic", lambda: next(now))
    assert list(announced(range(items), "loop")) == list(range(items))
    errors = capsys.readouterr().err
    assert len(errors.splitlines()) == lines
    assert ("2 of 100" in errors) == bool(lines)
    assert ("10 min" in errors) == bool(lines)


def test_a_loop_that_becomes_slow_is_announced(monkeypatch, capsys):
    now = iter([0, 0, 4, 604, *range(605, 700)])  # after 4 seconds there is no estimate yet
    monkeypatch.setattr(waiting.time, "monotonic", lambda: next(now))
    assert list(announced(range(10), "loop")) == list(range(10))
    (line,) = capsys.readouterr().err.splitlines()
    assert "3 of 10" in line


def test_a_slow_certificate_is_announced(monkeypatch, tmp_path, capsys):
    @claim(certifies=True)
    def it(run: Run) -> Iterator[Finding]:
        """Every automaton is its cascade."""
        for _ in range(4):
            run.certify(lambda: for_every_length(cascade(flip_flop())))
        yield same("a", "a", 1, 1)

    for name in ("MEASURED", "LONG"):
        monkeypatch.setattr(waiting, name, 1e-9)
    monkeypatch.setattr(cli, "installed", lambda: {"it": Point(it)})
    assert cli.main(["it", "--certificate", str(tmp_path / "c.json")]) == 0
    assert "certificate" in capsys.readouterr().err


@pytest.mark.parametrize(("seconds", "lines"), [(59, 0), (60, 0), (61, 1)])
def test_a_computation_of_more_than_a_minute_is_announced_before_it_starts(seconds, lines, capsys):
    foretold("it", seconds)
    assert len(capsys.readouterr().err.splitlines()) == lines


@pytest.mark.parametrize(("total", "lines"), [(100, 1), (10, 0), (5, 0)])
def test_work_at_a_slow_pace_is_announced_once(total, lines, monkeypatch, capsys):
    now = iter(range(0, 10**6, 6))
    monkeypatch.setattr(waiting.time, "monotonic", lambda: next(now))
    pace = Pace("work", total)
    for _ in range(3):
        pace.done(1)
    errors = capsys.readouterr().err
    assert len(errors.splitlines()) == lines
    assert ("10 min" in errors) == bool(lines)


def _at_a_pace():
    pace = Pace("it", 20)
    for _ in range(20):
        pace.done(1)


@pytest.mark.parametrize("work", [_at_a_pace, lambda: list(announced(range(20), "it"))])
def test_work_that_becomes_slow_is_announced_then(work, monkeypatch, capsys):
    now = iter([0, *range(8), *range(20, 2000, 20)])  # one second each, and later twenty
    monkeypatch.setattr(waiting.time, "monotonic", lambda: next(now))
    work()
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_slow_first_piece_of_work_is_no_estimate_yet(monkeypatch, capsys):
    """By the first four seconds, all would take 400; it takes eight."""
    now = iter((0, 4, 8))
    monkeypatch.setattr(waiting.time, "monotonic", lambda: next(now))
    pace = Pace("work", 100)
    for amount in (1, 99):
        pace.done(amount)
    assert not capsys.readouterr().err


@pytest.mark.parametrize(("left", "lines"), [(100, 1), (9, 0)])
def test_a_long_training_is_announced_from_where_it_goes_on(left, lines, monkeypatch, capsys):
    now = iter(range(0, 10**4, 6))
    monkeypatch.setattr(waiting.time, "monotonic", lambda: next(now))
    with training._bar("it", 1000 + left) as show:
        for step in range(1000, 1004):
            show(step, 0.5)
    assert len(capsys.readouterr().err.splitlines()) == lines


@pytest.mark.parametrize(
    ("of", "call"),
    [
        ("polynomial_errors", lambda: polynomial_errors(3, 2, 4)),
        ("permutation_maxima", lambda: permutation_maxima(np.eye(5), 1, 4, 0)),
        ("circuit", lambda: to_circuit(parity(3), 3)),
        ("integration", lambda: memory.euclidean_flow(np.eye(2), [0.0, 1.0])),
        ("integration", lambda: memory.sphere_flow(np.eye(2), 1.0, [0.0, 1.0])),
    ],
)
def test_long_loops_of_functions_are_announced(of, call, monkeypatch, capsys):
    for name in ("MEASURED", "LONG"):
        monkeypatch.setattr(waiting, name, 0.0)
    call()
    assert of in capsys.readouterr().err
