"""Generation and validity by definition, and bad input."""

from fractions import Fraction as F

import numpy as np
import pytest
from refusals import rejects

from theory.language import IsItValid, is_it_valid, rescaling_gain
from verify.claim import Run
from verify.finding import Verdict
from verify.language.is_it_valid import _calibrated, instance

ONE = is_it_valid([1], [[F(3, 4), F(1, 4), 0, 0]], [[F(1, 2), 0, F(1, 3), F(1, 6)]], [[0, 1]])


def test_errors_are_their_definitions():
    assert ONE.errors == F(1, 2)
    assert ONE.wrong == 2
    # At ½ nothing is above: p is rejected, errors are not called valid.
    assert ONE.misclassified(F(1, 2)) == F(1, 2)
    # At ¼ the first is, with ¾ of p, and one of two wrong ones.
    assert ONE.misclassified(F(1, 4)) == F(1, 2) * F(1, 4) + F(1, 2) * F(1, 2)
    assert ONE.over_confidence(F(1, 4)) == F(1, 12)
    assert ONE.over_confidence(F(2, 5)) == 0
    assert ONE.bound == 2 * F(1, 2) - F(2, 2) - 0


@pytest.mark.parametrize("seed", range(3))
def test_the_mean_over_thresholds_by_a_fine_grid(seed):
    each = instance(Run(seed=seed), choices=True)
    grid = (np.arange(4000) + 0.5) / 4000
    mean = np.mean([float(each.misclassified(F(t))) for t in grid[::20]])
    assert abs(mean - float(each.mean_misclassified)) < 0.02
    assert each.least_misclassified <= each.mean_misclassified


def test_over_confidence_is_lost_in_the_loss():
    """One prompt: 2δ² is at most what the best rescaling of what is above the threshold gains."""
    p, g = [F(3, 4), F(1, 4), 0], [F(1, 4), F(1, 4), F(1, 2)]
    each = is_it_valid([1], [p], [g], [[0, 1]])
    assert each.over_confidence(F(1, 3)) == F(1, 2)
    assert 2 * F(1, 2) ** 2 <= float(rescaling_gain(p, g, [2]))


@pytest.mark.parametrize(("more", "verdict"), [(F(0), Verdict.HOLDS), (F(1, 10), Verdict.FAILS)])
def test_a_bound_above_the_error_of_some_instance_fails(more, verdict, monkeypatch):
    right = IsItValid.bound.fget
    monkeypatch.setattr(IsItValid, "bound", property(lambda each: right(each) + more))
    assert _calibrated(Run(), 200).verdict is verdict


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: is_it_valid([1], [[1, 0]], [[1, 0, 0]], [[0]]), "p"),
        (lambda: is_it_valid([1], [[1, 0]], [[1, 0]], [[0, 1]]), "valid"),
        (lambda: is_it_valid([1], [[1, 0]], [[1, 0]], [[1]]), "p"),
        (lambda: is_it_valid([1], [[1, 0]], [[1, 0]], [[0], [0]]), "weights"),
        (lambda: is_it_valid([1], [[1, 0]], [[1, 0]], [[2]]), "valid"),
        (lambda: ONE.choice_bound, "prompts"),
    ],
)
def test_bad_input_is_rejected_in_one_line(call, parameter, unchecked):
    with rejects(*parameter.split()):
        call()
