"""Evidence for all inputs: the printed error probability, registers, one bound at two lengths."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from constructions.computation import semiautomaton
from theory.computation.benchmark_automata import cyclic
from verify.claim import Run
from verify.evidence import identity, restoring
from verify.evidence.identity import WANTED_ERROR, chance_of_error, modulo_primes
from verify.evidence.registers import invariants_hold, point, sides
from verify.evidence.restoring import sharpness_at_two_lengths
from verify.finding import Verdict
from verify.regression.statements import newton_statement


def test_the_error_probability_is_that_of_all_points_together():
    case = newton_statement(Run(), "direct", "gram", 2.0**-6).at(3, 4, 2)
    finding = modulo_primes(Run(), case)
    (points, missed) = re.findall(r"[\d.]+(?:e-\d+)?", finding.words)
    assert float(missed) == pytest.approx(chance_of_error(case) ** int(points), rel=0.05, abs=0)
    assert float(missed) <= WANTED_ERROR < chance_of_error(case) ** (int(points) - 1)


def test_no_registers_are_no_evidence():
    case = newton_statement(Run(), "direct", "gram", 2.0**-6).at(2, 3, 1)
    given = point(Run(), case)
    found = [invariants_hold(case, given, "id", "name", each) for each in (sides, lambda *_: [])]
    assert [each.verdict for each in found] == [Verdict.HOLDS, Verdict.UNDECIDED]


@pytest.mark.parametrize(
    ("sharpness", "verdict"),
    [((1.0, 1.5), Verdict.HOLDS), ((1.0, 2.0), Verdict.FAILS), ((2.0, 1.0), Verdict.FAILS)],
)
def test_the_sharpness_is_below_the_bound_at_both_lengths(sharpness, verdict):
    needed = dict(zip((5, 40), sharpness, strict=True))
    finding = sharpness_at_two_lengths(
        "id", lambda T: SimpleNamespace(least_sharpness=lambda: needed[T]), 5, 1.5, "ln 4.5"
    )
    assert finding.verdict is verdict


def test_one_point_at_which_values_differ_is_enough(monkeypatch):
    case = newton_statement(Run(), "direct", "gram", 2.0**-6).at(3, 4, 2)
    agree = iter([True, False, True, True])
    monkeypatch.setattr(type(case), "agrees", lambda *_: next(agree))
    monkeypatch.setattr(identity, "chance_of_error", lambda case: 0.25)
    monkeypatch.setattr(identity, "smallest_failure", lambda *_: "it differs")
    assert modulo_primes(Run(), case).verdict is Verdict.FAILS
    assert next(agree)  # no point is tried after it


@pytest.mark.parametrize("exact", [(True, True), (True, False), (False, True)])
def test_every_restored_register_must_be_traced_exactly(exact, monkeypatch):
    traced = iter([(np.zeros(2, dtype=bool), each) for each in exact])
    monkeypatch.setattr(restoring, "traces", lambda *_: next(traced))
    model = semiautomaton(cyclic(2), 2)
    layer = next(i for i, block in enumerate(model.blocks, 1) if block.mlp is not None)
    model.blocks[layer - 1].restores = ("one", "another")
    register, width = next(iter(model.stream.widths.items()))
    finding = restoring.restored("id", "name", model, layer, {register: np.zeros((2, width))})
    assert finding.verdict is (Verdict.HOLDS if all(exact) else Verdict.UNDECIDED)
    assert finding.evidence == ("proved" if all(exact) else "float")
