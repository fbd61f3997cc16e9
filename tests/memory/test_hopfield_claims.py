"""The claims `hopfield` and `dense-memory`: other sizes, and counts."""

import numpy as np
import pytest

from verify.claim import Run
from verify.finding import Verdict
from verify.memory import hopfield_capacity
from verify.memory.hopfield import hopfield
from verify.memory.probabilities import covers, mostly


@pytest.mark.parametrize("d", [1, 2, 600])
def test_other_numbers_of_neurons(d):
    findings = hopfield.findings(Run(quick=True), d=d, samples=20)
    assert [(f.id, f.measured) for f in findings if f.verdict is not Verdict.HOLDS] == []


def test_the_most_networks_below_the_thresholds(monkeypatch):
    """The largest count whose probability is above the error, if all unstable bits are disjoint."""
    d, samples = 400, 200
    for count in (0, 3, 4, 40, 41):
        monkeypatch.setattr(hopfield_capacity, "_unstable_networks", lambda *given, c=count: c)
        found = list(hopfield_capacity._thresholds(Run(), d, samples))
        assert [f.bound for f in found] == [3, 40]
        assert [f.verdict is Verdict.HOLDS for f in found] == [count <= 3, count <= 40]


def test_counts_decide_what_they_can():
    verdicts = [mostly("a", "b", k, 60, 0.5, words="").verdict for k in (60, 31, 30, 20, 0)]
    assert verdicts == [Verdict.HOLDS] * 2 + [Verdict.UNDECIDED] * 2 + [Verdict.FAILS]
    stated = (0.1, 0.2, 0.3, 0.35, np.nan)
    verdicts = [covers("a", "b", (0.2, 0.3), value).verdict for value in stated]
    assert verdicts == [
        *(Verdict.FAILS, Verdict.HOLDS, Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED)
    ]
