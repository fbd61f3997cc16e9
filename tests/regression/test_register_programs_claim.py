"""The claim register-programs: its random models, its faults, and what makes it fail."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
import torch

from constructions.formulas import register_program
from constructions.transformer import Transformer
from theory.regression.register_programs import ONE, NoFormula, Polynomials, RegisterProgram
from verify.claim import Run
from verify.evidence.random_programs import (
    KINDS,
    Entry,
    model_of,
    random_entry,
    random_program,
    with_entry,
    with_number,
)
from verify.finding import Verdict
from verify.regression.register_programs import register_programs

claim_module = sys.modules["verify.regression.register_programs"]


def verdicts(run: Run) -> dict[str, Verdict]:
    return {f.id: f.verdict for f in register_programs.findings(run, programs=1)}


def products(model: Transformer, entry: Entry) -> np.ndarray:
    """The product of weights of an entry, in float64; the last row and column are the biases."""
    layer, D = model.blocks[entry.layer], model.d_model
    if entry.head is None:
        if layer.mlp is None:
            return np.zeros((D + 1, D + 1))
        mlp = {name: W.numpy() for name, W in layer.mlp.named_parameters()}
        before = np.vstack([mlp["W_in"], mlp["b_in"]]) / 2  # relu(s) − relu(−s) = s/2 − (−s)/2
        return np.pad(before @ mlp["W_out"], [(0, 0), (0, 1)])
    W = {name: weights[entry.head].numpy() for name, weights in layer.attn.named_parameters()}
    if entry.product == "W_V W_O":
        return np.pad(W["W_V"] @ W["W_O"], [(0, 1), (0, 1)])
    return np.vstack([W["W_Q"], W["b_Q"]]) @ np.vstack([W["W_K"], W["b_K"]]).T


def test_a_fault_changes_one_entry_of_one_product():
    rng, kinds = np.random.default_rng(0), set()
    for _ in range(60):
        program = random_program(rng, 2)
        model, entry = model_of(program, 3, rng), random_entry(rng, program, 3)
        difference = products(with_entry(model, entry), entry) - products(model, entry)
        places = [
            -1 if name == ONE else model.stream[name].start + i
            for name, i in (entry.row, entry.column)
        ]
        assert difference[tuple(places)] == entry.change
        difference[tuple(places)] = 0
        assert not difference.any()
        kinds.add((entry.product, with_number(program, entry) is None))
    assert len(kinds) == 6


def test_heads_are_in_a_random_basis():
    """Most heads read no register in single columns, and the products are as in the program."""
    rng = np.random.default_rng(1)
    mixed = 0
    for _ in range(20):
        program = random_program(rng, 2)
        model = model_of(program, 3, rng)
        columns = (model.blocks[0].attn.W_V[0] != 0).sum(0)
        mixed += int(columns.max()) > 1
        assert register_program(model) == program
    assert mixed >= 15


def test_random_programs_differ_in_degree_and_in_their_parts():
    rng = np.random.default_rng(2)
    programs = [random_program(rng, 3) for _ in range(40)]
    degrees = {program.prediction(Polynomials()).degree() for program in programs}
    assert len(degrees) >= 4
    parts = [
        {(KINDS[name], part) for name, content in now.items() for part, p in content.items() if p}
        for program in programs
        for now in program.contents(Polynomials())
    ]
    assert set().union(*parts) == {
        *(("vector", part) for part in "xb"),
        *(("scalar", part) for part in ("y", "x b", "1")),
    }


@pytest.mark.parametrize("method", ["_vector", "_scalar"])
def test_a_wrong_theorem_is_noticed(monkeypatch, method):
    """What a head adds is twice as large in the formulas."""
    right = getattr(RegisterProgram, method)

    def wrong(self, ring, value, k, w, m):
        return {name: part + part for name, part in right(self, ring, value, k, w, m).items()}

    monkeypatch.setattr(RegisterProgram, method, wrong)
    found = verdicts(Run())
    assert found.pop("registers") is Verdict.FAILS
    found.pop("prediction")
    assert {*found.values()} == {Verdict.HOLDS}


def test_registers_of_models_outside_the_theorem_are_undecided():
    def fault(model):
        with torch.no_grad():
            model.blocks[1].attn.W_V[0, 0, 0] += 1
        return model

    found = verdicts(Run(fault=fault))
    assert found["numbers"] is Verdict.FAILS
    assert found["registers"] is found["prediction"] is Verdict.UNDECIDED


def test_a_changed_number_is_noticed_by_the_numbers_alone():
    """The theorem is true of the changed model as well."""

    def fault(model):
        with torch.no_grad():
            model.embed.W_E *= 2
        return model

    found = verdicts(Run(fault=fault))
    assert found.pop("numbers") is Verdict.FAILS
    assert {*found.values()} == {Verdict.HOLDS}


def test_no_fault_of_a_kind_leaves_the_finding_undecided(monkeypatch):
    monkeypatch.setattr("verify.regression.register_programs.with_number", lambda *_: None)
    found = verdicts(Run())
    assert found["faults/blocks"] is Verdict.FAILS
    assert found["faults/numbers"] is Verdict.UNDECIDED


def test_a_number_that_becomes_zero_is_absent():
    program, pair = random_program(np.random.default_rng(3), 2), ("s", "r")
    entry = Entry(0, 0, "W_V W_O", ("s", 0), ("r", 0), Fraction(3))
    there = with_number(program, entry)
    assert there is not None
    before = there.layers[0].heads[0].values[pair]
    gone = with_number(there, entry._replace(change=-before))
    assert gone is not None
    assert pair not in gone.layers[0].heads[0].values


def test_an_error_that_names_another_place_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def elsewhere(model: Transformer) -> RegisterProgram:
        raise NoFormula("layer 9 is outside")

    drawn = [(random_program(np.random.default_rng(0), 2), 2)]
    monkeypatch.setattr(claim_module, "register_program", elsewhere)
    found = [*claim_module._faults(Run(), drawn), claim_module._outside(Run())]
    assert {each.id: each.verdict for each in found} == dict.fromkeys(
        ("faults/blocks", "faults/numbers", "outside"), Verdict.FAILS
    )
