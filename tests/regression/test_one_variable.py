"""Bounds on polynomials in one variable, and long primes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import fmpq, fmpz
from formula_by_definition import RATIONALS, S
from hypothesis import given
from hypothesis import strategies as st

from theory.regression.polynomial_sizes import VARIABLE, Sizes
from verify.domains.one_variable import Residues, long_prime, missed, passes_miller_rabin


@given(st.lists(st.tuples(st.sampled_from("+-*"), RATIONALS), min_size=1, max_size=8))
def test_sizes_bound_polynomials(steps):
    sizes = Sizes()
    p, size = S, VARIABLE
    for sign, value in steps:
        number = fmpq(value.numerator, value.denominator)
        q, other = S + number, VARIABLE + sizes.number(value.numerator, value.denominator)
        p = p + q if sign == "+" else p - q if sign == "-" else p * q
        size = size + other if sign == "+" else size - other if sign == "-" else size * other
    integral = p * fmpq(sizes.base**size.power)
    assert p.degree() <= size.degree
    assert integral.denom() == 1
    assert sum(abs(int(c.p)) for c in integral.coeffs()) <= 2 ** sizes.coefficient_bits(size)


@pytest.mark.parametrize("bits", [61, 64, 89, 300])
def test_long_primes_are_primes_of_their_length(bits):
    drawn = {long_prime(np.random.default_rng(seed), bits) for seed in range(5)}
    assert max(drawn) - min(drawn) > 2 ** (bits - 4)  # they are spread over all such primes
    assert len(drawn) == 5
    assert all(fmpz(p).is_prime() and p.bit_length() == bits for p in drawn)


def test_random_points_are_spread_over_all_residues():
    p = 2**127 - 1
    points = [int(Residues(p, np.random.default_rng(seed)).x) for seed in range(5)]
    assert max(points) - min(points) > p / 8


def test_the_test_of_miller_and_rabin():
    """Also products that pass Fermat's test, and that pass its own to the bases 2, 3, 5 and 7."""
    rng = np.random.default_rng(0)
    found = [p for p in range(5, 2000, 2) if passes_miller_rabin(p, rng)]
    assert found == [p for p in range(5, 2000, 2) if fmpz(p).is_prime()]
    assert not any(passes_miller_rabin(n, rng) for n in (561, 211 * 421 * 631, 3215031751))
    assert passes_miller_rabin(2**127 - 1, rng)


def test_the_error_probability_adds_three_bounds():
    root, divides = 1000 / 2**99, -(-(10**6) // 99) * 100 / 2**99
    assert math.isclose(missed(1000, 10**6, 100), root + divides + 10**6 / 4**50)
    assert missed(2**1001, 2**1010, 1100) < 1e-20
