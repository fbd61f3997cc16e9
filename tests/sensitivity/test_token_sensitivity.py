"""Sensitivity over tokens: both conventions, the Efron–Stein parts, and bad input."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from theory import sensitivity as s
from theory.retrieval import hop, hop_by_definition
from theory.sequences import all_sequences


@st.composite
def functions(draw):
    V, T = draw(st.sampled_from([(2, 1), (2, 4), (3, 1), (3, 3), (4, 2)]))
    count = V**T
    values = draw(st.lists(st.integers(-1, 3), min_size=count, max_size=count))
    return np.array(values), V, T


@given(functions())
def test_the_parts_add_up_to_the_counts(function):
    values, V, T = function
    weights, profile = s.efron_stein_weights(values, V), s.redrawn_profile(values, V)
    assert sum(weights) == 1
    assert min(weights) >= 0
    assert sum(k * weight for k, weight in enumerate(weights)) == sum(profile)
    forced = s.forced_profile(values, V)
    assert forced == [Fraction(V, V - 1) * each for each in profile]
    assert len(profile) == T


@given(functions(), st.fractions(0, 1, max_denominator=9))
def test_the_hybrid_bound_and_the_chance_by_definition(function, delta):
    values, V, _ = function
    probability = s.change_when_redrawn(values, V, delta)
    assert probability == s.change_when_redrawn_by_definition(values, V, delta)
    assert probability <= s.hybrid_bound(values, V, delta)


@given(st.lists(st.sampled_from([0, 1]), min_size=8, max_size=8))
def test_two_symbols_forced_are_boolean(values):
    assert s.forced_profile(values, 2) == s.influences(values)


def test_a_profile_is_that_of_the_definition():
    values = hop(all_sequences(4, 3), 1)[:, -1]
    wanted = s.forced_profile_by_definition(lambda row: hop_by_definition(row, 1)[-1], 3, 4)
    assert s.forced_profile(values, 3) == wanted
    assert s.forced_profile_by_definition(lambda row: row[1] > 1, 3, 3) == [0, Fraction(2, 3), 0]


@pytest.mark.parametrize(("values", "V"), [([0, 1, 1], 2), ([0], 2), ([0, 1, 0, 1], 3)])
def test_other_answers_are_rejected(values, V):
    for function in (s.redrawn_profile, s.forced_profile, s.efron_stein_weights):
        with rejects("values"):
            function(values, V)


def test_truth_values_are_answers():
    assert s.forced_profile([False, True], 2) == s.forced_profile([0, 1], 2) == [1]


def test_fractions_give_fractions_and_floats_floats():
    for function in (s.change_when_redrawn, s.hybrid_bound):
        assert isinstance(function([0, 1], 2, Fraction(1, 3)), Fraction)
        assert isinstance(function([0, 1], 2, 1 / 3), float)


@pytest.mark.parametrize("value", [math.nan, 0.5, "a", None, np.zeros(1)], ids=str)
def test_values_of_a_function_that_are_no_integers_are_refused(value):
    with rejects("function"):
        s.forced_profile_by_definition(lambda row: value, 3, 2)


def test_too_many_sets_and_pairs_are_refused():
    many = np.zeros(2**15, dtype=np.int8)
    with rejects():
        s.efron_stein_weights(many, 2)
    with rejects():
        s.change_when_redrawn_by_definition(many, 2, 0.5)
    with rejects():
        s.forced_profile_by_definition(sum, 2, 24)
