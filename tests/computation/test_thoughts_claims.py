"""The claims on what is decoded step by step, their pictures, and the example."""

import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from constructions.computation import circuit_evaluator, scratchpad, turing_machine
from theory.checks import InputError
from theory.computation import A5, MACHINES, machine_of, random_circuit
from verify.claim import Run
from verify.computation.boolean_circuits import circuits_by_thoughts, runs
from verify.computation.decoding import decoded
from verify.computation.scratchpad import scratchpad as scratchpad_claim
from verify.computation.scratchpad import touched
from verify.computation.space_time import draw, space_time
from verify.computation.turing import chosen, head_states, turing
from verify.evidence.gaps import gap_finding
from verify.evidence.restoring import makes
from verify.finding import Verdict

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS
EXAMPLE = Path(__file__).parents[2] / "examples" / "busy_beaver.py"


def verdicts(claim, run=None, **options):
    return {f.id: f.verdict for f in claim.findings(run or Run(quick=True), **options)}


def test_circuits_hold():
    found = verdicts(circuits_by_thoughts, inputs=2, gates=5, samples=2)
    assert {*found.values()} == {HOLDS}
    assert len(found) == 16


def test_circuits_of_nand_hold():
    found = verdicts(circuits_by_thoughts, inputs=2, gates=4, samples=1, nand=True)
    assert {*found.values()} == {HOLDS}
    assert len(found) == 14


@pytest.mark.parametrize("name", ["A5", "parity"])
def test_scratchpads_hold(name):
    assert {*verdicts(scratchpad_claim, automaton=name, length=5, samples=2).values()} == {HOLDS}


def test_a_scratchpad_of_an_automaton_of_ones_own(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text("[[0], [0]]", encoding="utf-8")  # one state: nothing moves
    assert FAILS not in verdicts(scratchpad_claim, file=path, length=3, samples=1).values()


def test_machines_hold():
    found = verdicts(turing, machine="busy-beaver-2", steps=9, samples=2)
    assert {*found.values()} == {HOLDS}
    assert {id.split("/")[1] for id in found} == {"steps", "addressed"}


def test_a_machine_of_ones_own(tmp_path):
    path, picture = tmp_path / "mine.json", tmp_path / "mine.png"
    path.write_text(json.dumps({"rules": {"A": ["1RB"], "B": [None]}}), encoding="utf-8")
    with pytest.raises(InputError, match="it writes symbol 1"):
        verdicts(turing, machine=str(path))
    path.write_text(json.dumps({"rules": {"A": ["1RA", None]}}), encoding="utf-8")
    run = Run(quick=True, plot=picture)
    assert {*verdicts(turing, run, machine=str(path), steps=6, samples=1).values()} == {HOLDS}
    assert picture.stat().st_size > 5000


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("claim", "options", "message"),
    [
        (turing, {"machine": "busy-beaver-9"}, "no machine busy-beaver-9: give busy-beaver-2, "),
        (turing, {"machine": "nowhere.json"}, "cannot read nowhere.json: No such file"),
        (turing, {"steps": 0}, "steps is 0: give a number at least 1"),
        (turing, {"steps": 10**8}, "steps is 100000000: .* give ≤ 10000"),
        (turing, {"samples": 0}, "samples is 0"),
        (circuits_by_thoughts, {"inputs": 13}, "13 inputs have 2.13 values, which are all run"),
        (circuits_by_thoughts, {"inputs": 0}, "inputs is 0"),
        (circuits_by_thoughts, {"gates": 0}, "gates is 0"),
        (scratchpad_claim, {"automaton": "S9"}, "automaton is 'S9'"),
        (scratchpad_claim, {"length": 1}, "length is 1"),
    ],
)
def test_bad_options_are_refused(claim, options, message):
    with pytest.raises(InputError, match=message):
        list(claim.findings(Run(quick=True), **options))


def test_what_is_decoded_wrongly_is_told():
    model, circuit = circuit_evaluator(2, 3), random_circuit(2, 3, 0)
    of_model, prompts, wanted = runs(model, [circuit])
    assert decoded("id", "name", [(of_model, prompts, wanted)]).verdict is HOLDS
    wanted[1, 2] ^= 1
    found = decoded("id", "name", [(of_model, prompts, wanted)])
    assert found.verdict is FAILS
    assert "token 3 is" in found.detail


def test_a_table_that_leads_elsewhere_fails():
    model = scratchpad(A5, 3)
    before = {"state": np.eye(5)[[0, 1]], "letter": np.eye(2)[[0, 0]]}
    after = {"state": np.eye(5)[[A5.transitions[0][q] for q in (0, 1)]]}
    assert makes("id", "name", model, {1: (before, after)}).verdict is HOLDS
    wrong = {"state": np.eye(5)[[0, 1]]}
    assert makes("id", "name", model, {1: (before, wrong)}).verdict is FAILS


@pytest.mark.parametrize("addressed", [False, True])
def test_gaps_are_those_declared_whatever_the_length(addressed):
    for T in (1, 2, 9):
        model = turing_machine(MACHINES["wolfram-2-3"], T, addressed=addressed)
        for states in head_states(model, addressed):
            assert gap_finding("label", model, states).verdict is HOLDS


def test_units_that_change_a_state():
    assert touched(A5) == 4  # state 0 leaves by two letters, and is come to by two


def test_space_time():
    machine = MACHINES["busy-beaver-2"]
    tape, heads, states, first = space_time(machine, machine.run(9))
    assert tape.tolist()[0] == [0] * 6
    assert tape.tolist()[-1] == [0, 1, 1, 1, 1, 0]
    assert heads == [0, 1, 0, -1, -2, -1, 0]
    assert [machine.names[q] for q in states] == ["A", "B", "A", "B", "A", "B", "H"]
    assert first == -3


def test_pictures_of_many_states_and_symbols(tmp_path):
    rows = {f"q{q}": [f"{(s + 1) % 9}Rq{(q + 1) % 12}" for s in range(9)] for q in range(12)}
    machine = machine_of(rows, "many")
    draw(tmp_path / "many.png", [(machine, machine.run(30))])
    draw(tmp_path / "none.svg", [(machine, [])])
    assert {path.name for path in tmp_path.iterdir()} == {"many.png", "none.svg"}


def test_machines_are_chosen_by_name():
    assert [M.name for M in chosen(Run(), None)] == list(MACHINES)
    assert [M.name for M in chosen(Run(quick=True), None)] == ["busy-beaver-2", "busy-beaver-3"]


def test_the_example(monkeypatch, capsys, tmp_path):
    picture = tmp_path / "beaver.png"
    monkeypatch.setattr(sys, "argv", ["busy_beaver.py", str(picture)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    for text in (
        "3 layers, 4 heads, width 24",
        "107 tokens, then ⊥: it halts with 13 ones on the tape.",
        "state H",
        "wolfram-2-3     1  1  15  4812   200",
    ):
        assert text in printed
    assert len(printed.splitlines()) < 60
    assert picture.stat().st_size > 5000
