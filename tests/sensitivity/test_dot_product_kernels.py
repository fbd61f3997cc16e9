"""Eigenvalues of inner-product kernels: the lemma, its proof step by step, and bad input."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory import sensitivity as s

SERIES = st.lists(st.fractions(0, 9, max_denominator=7), min_size=1, max_size=9)


@settings(max_examples=40)
@given(SERIES, st.integers(3, 6))
def test_the_lemma(coefficients, d):
    mu = s.eigenvalues(coefficients, d)
    assert min(mu) >= 0
    differences = [a - b for a, b in zip(mu, mu[2:], strict=False)]
    assert differences == s.eigenvalues(s.on_two_fewer_bits(coefficients, d), d - 2)
    assert min(differences) >= 0


@settings(max_examples=40)
@given(SERIES, st.integers(1, 4))
def test_eigenvalues_are_means_over_words(coefficients, d):
    assert s.eigenvalues(coefficients, d) == s.eigenvalues_by_definition(coefficients, d)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_monomials_count_walks(d):
    for m in range(6):
        power = [Fraction(0)] * m + [Fraction(1)]
        assert s.eigenvalues(power, d) == [Fraction(n, d**m) for n in s.walks(d, m)]


def test_degrees_of_different_parity_are_not_ordered():
    found = s.eigenvalues([Fraction(0), Fraction(0), Fraction(1)], 6)
    assert found == [Fraction(1, 6), 0, Fraction(1, 18), 0, 0, 0, 0]
    assert s.eigenvalues([Fraction(0), Fraction(0), Fraction(-1)], 6)[0] < 0, "a sign matters"


def test_shifts_are_the_sums_over_words():
    for d in range(1, 9):
        for k in range(d + 1):
            assert s.shift_polynomial(k, d - k) == s.by_minus_ones(d, k)


def test_power_series_are_evaluated():
    assert s.power_series([Fraction(1), Fraction(2), Fraction(3)], Fraction(1, 2)) == Fraction(
        11, 4
    )


def test_floats_are_the_fractions_that_they_are(unchecked):
    found = s.eigenvalues([0.0, 0.1, np.float64(0.3), 2], 5)
    assert found == s.eigenvalues([Fraction(0), Fraction(0.1), Fraction(0.3), Fraction(2)], 5)
    assert all(isinstance(mu, Fraction) and mu >= 0 for mu in found)
