"""The claims on autoregressive decoding, and the space-time diagram."""

import json

import numpy as np
import pytest
from refusals import rejects

from constructions.computation import circuit_evaluator, turing_machine
from theory.computation import A5, MACHINES, machine_of, random_circuit
from verify.claim import Run
from verify.computation.circuits_by_chain_of_thought import circuits_by_chain_of_thought, runs
from verify.computation.decoding import decoded
from verify.computation.scratchpad import scratchpad as scratchpad_claim
from verify.computation.scratchpad import touched
from verify.computation.turing import chosen, head_states, turing
from verify.computation.turing_picture import draw
from verify.evidence.gaps import gap_finding
from verify.evidence.picture import save
from verify.finding import Verdict

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS


def verdicts(claim, **options):
    return {f.id: f.verdict for f in claim.findings(Run(quick=True), **options)}


def test_a_scratchpad_of_an_automaton_of_ones_own(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text("[[0], [0]]", encoding="utf-8")  # one state: nothing moves
    assert FAILS not in verdicts(scratchpad_claim, file=path, length=3, samples=1).values()


def test_a_machine_of_ones_own(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"rules": {"A": ["1RB"], "B": [None]}}), encoding="utf-8")
    with rejects("1"):
        verdicts(turing, machine=str(path))
    path.write_text(json.dumps({"rules": {"A": ["1RA", None]}}), encoding="utf-8")
    assert {*verdicts(turing, machine=str(path), steps=6, samples=1).values()} == {HOLDS}


@pytest.mark.parametrize(
    ("claim", "options", "names"),
    [
        (turing, {"machine": "busy-beaver-9"}, "busy-beaver-9"),
        (turing, {"machine": "nowhere.json"}, "nowhere.json"),
        (turing, {"steps": 10**8}, "steps 10000"),
        (circuits_by_chain_of_thought, {"n_inputs": 13}, "n_inputs 13"),
    ],
)
def test_bad_options_are_rejected(claim, options, names):
    with rejects(*names.split()):
        list(claim.findings(Run(quick=True), **options))


def test_a_token_decoded_wrongly_is_named():
    model, circuit = circuit_evaluator(2, 3), random_circuit(2, 3, 0)
    of_model, prompts, wanted = runs(model, [circuit])
    assert decoded("id", "name", [(of_model, prompts, wanted)]).verdict is HOLDS
    wanted[1, 2] ^= 1
    found = decoded("id", "name", [(of_model, prompts, wanted)])
    assert found.verdict is FAILS
    assert "token 3 is" in found.detail


@pytest.mark.parametrize("addressed", [False, True])
def test_gaps_are_those_declared_whatever_the_length(addressed):
    for T in (1, 2, 9):
        model = turing_machine(MACHINES["wolfram-2-3"], T, addressed=addressed)
        for states in head_states(model):
            assert gap_finding("label", model, states).verdict is HOLDS


def test_units_that_change_a_state():
    assert touched(A5) == 4  # two symbols lead from state 0, and two to it


def test_pictures_of_many_states_and_symbols(tmp_path):
    rows = {f"q{q}": [f"{(s + 1) % 9}Rq{(q + 1) % 12}" for s in range(9)] for q in range(12)}
    machine = machine_of(rows, "many")
    save(tmp_path / "many.png", draw, [(machine, machine.run(30))])
    save(tmp_path / "none.svg", draw, [(machine, [])])
    assert {path.name for path in tmp_path.iterdir()} == {"many.png", "none.svg"}


def test_machines_are_chosen_by_name():
    assert [M.name for M in chosen(Run(), None)] == list(MACHINES)
    assert [M.name for M in chosen(Run(quick=True), None)] == ["busy-beaver-2", "busy-beaver-3"]


@pytest.mark.parametrize("row", [0, 600, 1023, 1024, 1600, 2047, 2048])
def test_one_wrong_token_among_thousands_of_prompts_fails(row):
    """Prompts are decoded in chunks of 1024."""
    model, prompts, wanted = runs(circuit_evaluator(2, 1), [random_circuit(2, 1, 0)])
    many = np.tile(prompts, (2049 // len(prompts) + 1, 1))[:2049]
    right = np.tile(wanted, (2049 // len(wanted) + 1, 1))[:2049]
    right[row, -1] ^= 1
    assert decoded("id", "name", [(model, many, right)]).verdict is FAILS
