"""Verdicts on balls: what overlaps and is narrow, what is apart, and what is too wide."""

import numpy as np
import pytest
from flint import arb

from theory.balls import UNIT
from verify.evidence.enclosure import all_hold, apart, below, coincide, same
from verify.finding import Verdict


def test_a_wrong_answer_is_told_from_an_undecided_one():
    assert below(arb(1), arb(2)) is Verdict.HOLDS
    assert below(arb(2), arb(1)) is Verdict.FAILS
    assert below(UNIT, arb(0)) is Verdict.UNDECIDED
    assert same(arb(1), arb(2)) is Verdict.FAILS
    assert same(UNIT, arb(0)) is Verdict.UNDECIDED
    assert same(arb(1), arb(1)) is Verdict.HOLDS
    assert same(arb(1, 2.0**-60), arb(1)) is Verdict.UNDECIDED
    assert same(arb(1, 2.0**-60), arb(1), width=-50) is Verdict.HOLDS


def test_balls_coincide_entry_by_entry():
    narrow, wide = arb(2, 2.0**-120), arb(2, 0.5)
    found = coincide("a", "b", [[arb(1), narrow]], [[1.0, 2.0]], detail="of what")
    assert (found.verdict, found.detail) == (Verdict.HOLDS, "")
    assert 2.0**-120 <= found.measured <= found.bound == 2.0**-99
    assert coincide("a", "b", [arb(1), wide], [1.0, 2.0]).verdict is Verdict.UNDECIDED
    found = coincide("a", "b", [arb(1), arb(3), wide], [1.0, 2.0, 2.0], detail="of what")
    assert (found.verdict, found.detail) == (Verdict.FAILS, "of what: 3 instead of 2")
    assert found.measured == 1.0
    assert coincide("a", "b", [], []).verdict is Verdict.UNDECIDED
    with pytest.raises(ValueError, match="zip"):
        coincide("a", "b", [arb(1)], [1.0, 2.0])
    assert apart([[arb(1)], [wide]], [[0.0], [2.0]]) == 1.0
    assert np.isnan(apart([arb(1), arb("nan")], [1.0, 2.0]))
    assert np.isnan(apart([], []))


def test_comparisons_are_counted():
    found = all_hold("a", "b", [Verdict.HOLDS, Verdict.UNDECIDED])
    assert (found.measured, found.bound, found.verdict) == (1, 2, Verdict.UNDECIDED)
    assert all_hold("a", "b", [Verdict.HOLDS, Verdict.FAILS]).verdict is Verdict.FAILS
    assert all_hold("a", "b", []).verdict is Verdict.UNDECIDED
