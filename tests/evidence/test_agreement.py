"""When float64 predictions agree with an algorithm: the verdict at the edges of its bounds."""

import numpy as np
import pytest

from verify.evidence.agreement import WIDEST, float_agreement
from verify.finding import Verdict


def agreement(error, bound, radius=0.0, value=1.0):
    """One prediction, off by so much."""
    predictions = np.array([value + error]), np.array([bound])
    return float_agreement("it", predictions, (np.array([value]), np.array([radius])))


@pytest.mark.parametrize(
    ("error", "bound", "radius", "verdict"),
    [
        (0.9e-6, 1e-6, 0.0, Verdict.HOLDS),
        (1.1e-6, 1e-6, 0.0, Verdict.FAILS),
        (5e-6, 1e-6, 0.0, Verdict.FAILS),
        (0.0, 0.0, 0.0, Verdict.HOLDS),
        (0.9e-6, 1e-6, 0.2e-6, Verdict.UNDECIDED),  # the ball reaches beyond the bound
        (1.1e-6, 1e-6, 0.2e-6, Verdict.UNDECIDED),  # and into it
        (1.1e-6, 1e-6, 0.01e-6, Verdict.FAILS),
        (0.0, 2 * WIDEST, 0.0, Verdict.UNDECIDED),
        (3 * WIDEST, 2 * WIDEST, 0.0, Verdict.FAILS),
    ],
)
def test_verdicts_at_the_edges(error, bound, radius, verdict):
    assert agreement(error, bound, radius).verdict is verdict


def test_errors_are_relative_to_the_prediction():
    found = agreement(1e-3, 2e-3, value=1e3)
    assert found.verdict is Verdict.HOLDS
    assert (found.measured, found.bound) == (pytest.approx(1e-6), pytest.approx(2e-6))
    assert agreement(1e-3, 2e-3).verdict is Verdict.UNDECIDED
