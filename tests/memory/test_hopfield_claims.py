"""The claims `hopfield` and `dense-memory`: other sizes, what a failure shows, counts."""

import numpy as np
import pytest

from verify.claim import Run
from verify.finding import Verdict
from verify.memory.hopfield import hopfield
from verify.memory.probabilities import covers, mostly


def not_holding(findings):
    return [(f.id, f.measured, f.detail) for f in findings if f.verdict is not Verdict.HOLDS]


@pytest.mark.parametrize("d", [1, 2, 600])
def test_other_numbers_of_neurons(d):
    assert not_holding(hopfield.findings(Run(quick=True), d=d, samples=20)) == []


def test_counts_decide_what_they_can():
    verdicts = [mostly("a", "b", k, 60, 0.5, words="").verdict for k in (60, 31, 30, 20, 0)]
    assert verdicts == [Verdict.HOLDS] * 2 + [Verdict.UNDECIDED] * 2 + [Verdict.FAILS]
    stated = (0.1, 0.2, 0.3, 0.35, np.nan)
    verdicts = [covers("a", "b", (0.2, 0.3), value).verdict for value in stated]
    assert verdicts == [
        *(Verdict.FAILS, Verdict.HOLDS, Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED)
    ]
