"""The uncertainty of comparisons: how often they decide where there is nothing to decide."""

import numpy as np
import pytest

from verify.evidence.statistics import estimated
from verify.finding import Verdict
from verify.interpret import nearer
from verify.interpret.comparison import Cell


def cell(values):
    return Cell("an algorithm, 1 steps", "a", np.atleast_2d(values))


@pytest.mark.parametrize(
    ("models", "of_prompts", "of_models", "of_both"),
    [
        (1, 1.0, 0.0, 0.0),
        (5, 1.0, 0.0, 0.1),
        (5, 1.0, 0.1, 0.3),
        (20, 1.0, 0.02, 0.3),
        (5, 0, 1, 1),
    ],
)
def test_nearer_rarely_decides_what_has_mean_0(models, of_prompts, of_models, of_both):
    """In fewer than 0.27 % of the draws, which is the probability of 3 standard errors."""
    rng, draws, decided = np.random.default_rng(0), 300, 0
    for _ in range(draws):
        apart = of_prompts * rng.standard_normal(100) + of_models * rng.standard_normal((models, 1))
        apart = apart + of_both * rng.standard_normal((models, 100))
        decided += nearer(cell(apart), cell(0 * apart)).verdict is not Verdict.UNDECIDED
    assert decided <= 4  # of a binomial variable of mean 0.8, exceeded with probability 0.001


def test_copies_of_a_model_are_no_more_evidence_than_one():
    values = np.random.default_rng(1).standard_normal(50)
    one, many = cell(values).similarity, cell(np.tile(values, (7, 1))).similarity
    assert many.error == pytest.approx(one.error, rel=1e-12)
    assert (one.freedom, many.freedom) == (49, 6)
    assert one[:2] == pytest.approx(estimated(values)[:2])


def test_models_that_differ_are_units_too():
    shifts = np.array([[-1.0], [0.0], [4.0]])
    found = cell(np.tile([0.5, -0.5] * 50, (3, 1)) + shifts).similarity
    wanted = np.hypot(np.std(shifts, ddof=1) / np.sqrt(3), np.std([0.5, -0.5] * 50, ddof=1) / 10)
    assert (found.mean, found.error) == pytest.approx((1.0, wanted))
