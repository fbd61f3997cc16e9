"""Accuracies by lookup: how they are compared, and those that were published."""

from __future__ import annotations

import pytest

from verify.evidence.statistics import Mean
from verify.finding import Verdict
from verify.structures.accuracies import ahead, below, beside
from verify.structures.search import published


def test_who_is_ahead_is_undecided_where_errors_reach_over_0():
    one, near, two = [Mean(50.0, 1.0)], [Mean(53.0, 1.0)], [Mean(60.0, 1.0)]
    pairs = (two, one), (one, two), (one, one), (near, one), (one, near)
    verdicts = [ahead("", "", a, b).verdict for a, b in pairs]
    assert verdicts == [Verdict.HOLDS, Verdict.FAILS, *3 * [Verdict.UNDECIDED]]


@pytest.mark.parametrize(("error", "verdict"), [(0.99, "HOLDS"), (1.01, "UNDECIDED")])
def test_five_errors_above_five_points_decide_nothing(error, verdict):
    found = [Mean(50.0, error)]
    assert beside("", "", found, [50.0]).verdict is Verdict[verdict]
    assert below("", "", found, [50.0], "").verdict is Verdict[verdict]


@pytest.mark.parametrize(
    ("error", "drawn", "off", "verdict"),
    [
        (0.2, 0.0, 0.9, Verdict.HOLDS),
        (0.2, 0.0, 1.1, Verdict.FAILS),
        (0.2, 0.0, -1.1, Verdict.FAILS),
        (0.3, 0.4, 2.5, Verdict.HOLDS),  # √(0.3² + 0.4²) = 0.5, and what was rounded
        (0.3, 0.4, 2.6, Verdict.FAILS),
        (1.1, 0.0, 0.0, Verdict.UNDECIDED),  # too few decide nothing, even at the figure itself
    ],
)
def test_figures_are_compared_by_the_errors_of_both(error, drawn, off, verdict):
    figures = [30.0, 40.0]
    measured = [Mean(30.0 + off, error), Mean(40.0, 0.1)]
    assert beside("", "", measured, figures, drawn).verdict is verdict


def test_a_bound_is_passed_by_more_than_errors():
    for error, over, verdict in (
        (0.2, 0.9, Verdict.HOLDS),
        (0.2, 1.1, Verdict.FAILS),
        (1.1, -20.0, Verdict.UNDECIDED),
    ):
        assert below("", "", [Mean(30.0 + over, error)], [30.0], "").verdict is verdict


def test_figures_of_the_table():
    assert published("interpolation", 16) == [32.6, 71.2, 93.8, 98.9]
