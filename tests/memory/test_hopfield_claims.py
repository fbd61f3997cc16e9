"""The claims `hopfield` and `dense-memory`: other sizes, what a failure shows, counts."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest

from verify.claim import Run
from verify.finding import Verdict
from verify.memory import hopfield_capacity
from verify.memory.hopfield import hopfield
from verify.memory.probabilities import covers, mostly
from verify.selftest.tensor_mutations import TensorFault

SMALL = {"d": 24, "samples": 4}


def not_holding(findings):
    return [(f.id, f.measured, f.detail) for f in findings if f.verdict is not Verdict.HOLDS]


@pytest.mark.parametrize("d", [1, 2, 600])
def test_other_numbers_of_neurons(d):
    assert not_holding(hopfield.findings(Run(quick=True), d=d, samples=20)) == []


def test_a_failing_claim_shows_the_state():
    run = Run(quick=True, fault=TensorFault("layer 1, head 1", "wrong sign"))
    found = {f.id: f for f in hopfield.findings(run, **SMALL)}
    failing = [id for id, f in found.items() if f.verdict is Verdict.FAILS]
    assert failing == ["transformer/attention", "transformer/float"]
    assert "hebbian_attention(" in found["transformer/attention"].detail
    assert "instead of" in found["transformer/attention"].detail


def test_counts_decide_what_they_can():
    verdicts = [mostly("a", "b", k, 60, 0.5, words="").verdict for k in (60, 31, 30, 20, 0)]
    assert verdicts == [Verdict.HOLDS] * 2 + [Verdict.UNDECIDED] * 2 + [Verdict.FAILS]
    stated = (0.1, 0.2, 0.3, 0.35, np.nan)
    verdicts = [covers("a", "b", (0.2, 0.3), value).verdict for value in stated]
    assert verdicts == [
        *(Verdict.FAILS, Verdict.HOLDS, Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED)
    ]


def test_a_wrong_probability_is_noticed(monkeypatch):
    """A fifth off is seen by counting and by measuring."""
    right = hopfield_capacity.unstable_bit_probability
    monkeypatch.setattr(
        hopfield_capacity, "unstable_bit_probability", lambda P, d: right(P, d) * 0.8
    )
    assert hopfield_capacity.every_set_of_patterns(quick=True).verdict is Verdict.FAILS
    measured = hopfield_capacity.unstable_bits(Run(), 0.4, 200, 200)
    assert measured.verdict is Verdict.FAILS


def test_a_wrong_critical_load_is_noticed(monkeypatch):
    right = hopfield_capacity.critical_load

    def off(digits):
        found = right(digits)
        with mpmath.workdps(digits):
            return replace(found, y=found.y + mpmath.mpf("1e-30"))

    monkeypatch.setattr(hopfield_capacity, "critical_load", off)
    assert hopfield_capacity.critical_load_enclosed().verdict is Verdict.FAILS
