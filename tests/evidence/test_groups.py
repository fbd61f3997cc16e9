"""Groups of trained models: what is above, what is not, and what errors leave open."""

from itertools import combinations

import numpy as np
import pytest

from verify.evidence.groups import all_below, apart, paired, separated
from verify.evidence.statistics import Mean
from verify.finding import Verdict

HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED


def judged(low, high, error=0.0):
    groups = ([Mean(value, error) for value in group] for group in (low, high))
    return all_below("x", "y", *groups, apart, words="more")


def test_groups_are_separated_or_not():
    assert judged([1, 2], [3, 4]).verdict is HOLDS
    assert judged([3, 4], [1, 2]).verdict is FAILS
    assert judged([1, 3], [2, 4]).verdict is UNDECIDED
    assert judged([1, 2], [2, 4]).verdict is UNDECIDED
    assert judged([1, np.nan], [2, 4]).verdict is UNDECIDED
    words = judged([1, 2], [3, 4]).words
    assert all(each in words for each in ("1, 2", "3, 4", "1 ± 0", "more"))


def test_errors_of_both_decide():
    assert judged([1.0], [2.0], error=0.23).verdict is HOLDS
    assert judged([1.0], [2.0], error=0.24).verdict is UNDECIDED
    assert judged([2.0], [1.0], error=0.23).verdict is FAILS


def test_of_few_values_more_errors_are_asked_for():
    assert separated([apart(Mean(0.0, 1.0, 3), Mean(5.0, 0.0))]) is UNDECIDED
    assert separated([apart(Mean(0.0, 1.0, 300), Mean(5.0, 0.0))]) is HOLDS


def test_what_inputs_have_in_common_cancels():
    """Two models whose inputs differ much and which differ little, on every input alike."""
    rng = np.random.default_rng(0)
    one = rng.normal(size=200)
    other = one + 0.1 + 0.01 * rng.normal(size=200)
    assert all_below("", "", [one], [other], paired).verdict is HOLDS
    assert all_below("", "", [other], [one], paired).verdict is FAILS
    shuffled = rng.permutation(other)
    assert all_below("", "", [one], [shuffled], paired).verdict is UNDECIDED


@pytest.mark.parametrize("verdict", [HOLDS, FAILS])
def test_if_there_is_no_difference_one_case_of_twenty_comes_out(verdict):
    values = [0.1 * i for i in range(6)]
    verdicts = [
        judged(low, [v for v in values if v not in low], 0.001).verdict
        for low in combinations(values, 3)
    ]
    assert (len(verdicts), verdicts.count(verdict)) == (20, 1)
