"""Capacities: exact tails, stated thresholds, the critical load, intervals that cover."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from theory.memory.capacity import (
    clopper_pearson,
    critical_load,
    dense_patterns,
    exponential_load,
    large_deviation_rate,
    load_at,
    mceliece_patterns,
    median_interval,
    retrieval_overlap,
    unstable_bit_limit,
    unstable_bit_probability,
)
from theory.memory.capacity_curve import capacity_curve, mean_interval

# Printed in the literature and recomputed to these digits by two routes in the claim `hopfield`.
ALPHA_C, M_C, Y = "0.137905566494931737843636", "0.967417115685291591984080", "1.51121855"


def exact_tail(P, d):
    """P(C < −(d − 1)) for C a sum of (P − 1)(d − 1) signs, term by term."""
    n = (P - 1) * (d - 1)
    return Fraction(sum(math.comb(n, B) for B in range(n + 1) if 2 * B - n < -(d - 1)), 2**n)


@given(P=st.integers(1, 40), d=st.integers(1, 40))
def test_unstable_bits_by_the_sum_of_binomials(P, d):
    wanted = float(exact_tail(P, d))
    # An incomplete beta function in double precision.
    assert abs(unstable_bit_probability(P, d) - wanted) <= 1e-12 * wanted


@pytest.mark.parametrize(
    ("P", "d"),
    [(10**3, 10**5), (9000, 14000), (10**4, 14000), (12000, 12000), (800, 10**6), (10**4, 10**6)],
)
def test_unstable_bits_of_large_networks_by_ratios_of_binomials(P, d):
    """On both sides of 2^27 signs, from the centre to probabilities of 10^-274."""
    n, most = (P - 1) * (d - 1), ((P - 2) * (d - 1) - 1) // 2
    with mpmath.workdps(40):
        factorials = [mpmath.loggamma(k + 1) for k in (n, most, n - most)]
        term = mpmath.exp(factorials[0] - factorials[1] - factorials[2] - n * mpmath.log(2))
        wanted, k = mpmath.mpf(0), most
        while term > 1e-18 * wanted:
            wanted, term, k = wanted + term, term * k / (n - k + 1), k - 1
        assert abs(unstable_bit_probability(P, d) - wanted) <= 1e-9 * wanted


@pytest.mark.parametrize("load", [0.1, 0.3, 1.0])
def test_the_limit_is_approached_up_to_the_largest_networks(load):
    """Berry–Esseen for a sum of signs, with a constant of at most 1/2."""
    for d in (10**5, 10**8, 10**12, 2**50 - 1):
        P = round(load * d)
        exactly = stats.norm.cdf(-math.sqrt((d - 1) / (P - 1)))
        assert abs(unstable_bit_probability(P, d) - exactly) <= 0.5 / math.sqrt((P - 1) * (d - 1))


@pytest.mark.parametrize("load", [0.1, 0.3, 1.0])
def test_the_limit_is_approached(load):
    """De Moivre–Laplace: the error falls, and by d = 10^6 is small."""
    limit = unstable_bit_limit(load)
    assert math.isclose(limit, stats.norm.cdf(-1 / math.sqrt(load)), rel_tol=1e-14)
    errors = [abs(unstable_bit_probability(round(load * d), d) - limit) for d in (10**3, 10**5)]
    assert errors[1] < errors[0] / 10
    assert errors[1] < 1e-3 * limit


def test_thresholds():
    assert mceliece_patterns(1000) == pytest.approx(1000 / (2 * math.log(1000)), rel=1e-13, abs=0)
    assert mceliece_patterns(1000, every=True) == pytest.approx(
        250 / math.log(1000), rel=1e-13, abs=0
    )
    for n, double_factorial in ((2, 1), (3, 3), (4, 15), (5, 105), (6, 945)):
        stated = 60 ** (n - 1) / (2 * double_factorial * math.log(60))
        assert dense_patterns(60, n) == pytest.approx(stated, rel=1e-12, abs=0)
        assert dense_patterns(60, n, every=True) == pytest.approx(stated / n, rel=1e-12, abs=0)


def test_the_exponential_load():
    assert exponential_load(0.0) == pytest.approx(math.log(2) / 2, rel=1e-15, abs=0)
    assert large_deviation_rate(1.0) == large_deviation_rate(-1.0) == math.log(2)
    assert large_deviation_rate(0.0) == 0
    loads = [exponential_load(rho) for rho in (0.0, 0.1, 0.2, 0.4, 0.499)]
    assert loads == sorted(loads, reverse=True)
    # Cramér: I(a) is the Legendre transform of ln cosh.
    for a in (-0.9, -0.2, 0.3, 0.8):
        t = math.atanh(a)
        assert large_deviation_rate(a) == pytest.approx(
            a * t - math.log(math.cosh(t)), rel=1e-13, abs=0
        )


@pytest.mark.parametrize("digits", [1, 5, 15, 24])
def test_the_critical_load_to_any_digits(digits):
    found = critical_load(digits)
    for value, printed in ((found.load, ALPHA_C), (found.overlap, M_C), (found.y, Y)):
        with mpmath.workdps(40):
            reach = mpmath.mpf(10) ** -min(digits, len(printed) - 3)
            assert abs(value - mpmath.mpf(printed)) <= 2 * reach
    assert abs(found.wrong_bits - 0.0162914421573542) <= 2 * 10.0 ** -min(digits, 15)


def test_more_digits_agree_with_fewer():
    few, many = critical_load(30), critical_load(120)
    with mpmath.workdps(130):
        assert abs(few.load - many.load) < mpmath.mpf(10) ** -30
        assert abs(few.overlap - many.overlap) < mpmath.mpf(10) ** -29
        for step in ("1e-20", "-1e-20"):
            assert load_at(many.y + mpmath.mpf(step)) < many.load


@pytest.mark.parametrize("load", [1e-6, 0.01, 0.05, 0.1, 0.137, 0.1379])
def test_the_overlap_solves_the_mean_field_equations(load):
    with mpmath.workdps(100):
        m = retrieval_overlap(load, 80)
        if load < 0.001:
            assert m == 1  # 1 − m is about e^{−1/(2α)}, far below 80 digits
            return
        y = mpmath.erfinv(m)
        assert y >= critical_load(80).y
        # 1 − m is at least 10^−23 here, so y has 50 digits and more.
        assert abs(load_at(y) - mpmath.mpf(load)) < mpmath.mpf(10) ** -50


def test_the_overlap_does_not_depend_on_the_precision_of_the_caller():
    wanted = retrieval_overlap(0.1)
    with mpmath.workdps(3):
        found = retrieval_overlap(0.1)
    assert found == wanted


def test_the_overlap_at_the_end_of_the_branch():
    assert float(retrieval_overlap(float(critical_load().load))) == pytest.approx(float(M_C), 1e-7)
    overlaps = [retrieval_overlap(load) for load in (0.02, 0.06, 0.1, 0.13, 0.1379)]
    assert overlaps == sorted(overlaps, reverse=True)


@settings(max_examples=25)
@given(n=st.integers(1, 60), level=st.sampled_from([0.5, 0.95, 1 - 1e-7]), data=st.data())
def test_clopper_pearson_ends_are_where_the_tails_are(n, level, data):
    k, tail = data.draw(st.integers(0, n)), (1 - level) / 2
    low, high = clopper_pearson(k, n, level)
    assert 0 <= low <= k / n <= high <= 1
    if k:
        assert stats.binom.sf(k - 1, n, low) == pytest.approx(tail, rel=1e-6, abs=0)
    else:
        assert low == 0
    if k < n:
        assert stats.binom.cdf(k, n, high) == pytest.approx(tail, rel=1e-6, abs=0)
    else:
        assert high == 1


@pytest.mark.parametrize("n", [1, 5, 6, 40, 101])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_the_median_interval_covers_by_the_binomial_and_no_shorter_one_does(n, level):
    """For ranks 0 … n − 1, [k−1, n−k] misses the median with probability 2·P(Bin(n, ½) < k)."""
    low, high = median_interval(np.random.default_rng(n).permutation(n).astype(float), level)
    tail = (1 - level) / 2
    if low == -math.inf:
        assert stats.binom.cdf(0, n, 0.5) > tail or 2.0**-n >= tail
        return
    k = int(low) + 1
    assert high == n - k
    assert stats.binom.cdf(k - 1, n, 0.5) <= tail
    assert stats.binom.cdf(k, n, 0.5) > tail


def test_the_mean_interval():
    shares = np.array([0.1, 0.2, 0.4, 0.1])
    low, high = mean_interval(shares, 0.9)
    wanted = stats.t.interval(0.9, 3, shares.mean(), stats.sem(shares))
    assert (low, high) == pytest.approx(wanted, rel=1e-10, abs=0)
    assert mean_interval(np.zeros(20), 0.95) == clopper_pearson(0, 20, 0.95)
    assert mean_interval(np.ones(20), 0.95) == clopper_pearson(20, 20, 0.95)
    assert mean_interval(np.array([0.3]), 0.95) == mean_interval(np.full(4, 0.5), 0.95) == (0, 1)


def test_a_measured_curve():
    curve = capacity_curve(60, [0.02, 0.1, 1.5], 12, np.random.default_rng(0))
    assert curve.n_patterns.tolist() == [1, 6, 90]
    assert np.array_equal(curve.loads, curve.n_patterns / 60)
    for measured in (curve.unstable_bits, curve.stable_patterns, curve.overlap):
        assert measured.value.shape == (3,)
        assert (measured.low <= measured.value).all()
        assert (measured.value <= measured.high).all()
    # One pattern is stored for certain; 1.5·d of them are not, in 12 of 12 networks.
    assert (curve.unstable_bits.value[0], curve.stable_patterns.value[0]) == (0, 1)
    assert curve.overlap.value[0] == 1
    assert curve.stable_patterns.value[2] == 0
    again = capacity_curve(60, [0.02, 0.1, 1.5], 12, np.random.default_rng(0))
    assert np.array_equal(again.overlap.value, curve.overlap.value)


def test_a_curve_from_flipped_bits_measures_the_basin():
    """One pattern: fewer than half of the bits flipped come back, more than half go to −ξ."""
    for flips, wanted in ((0, 1.0), (9, 1.0), (11, -1.0)):
        curve = capacity_curve(20, [0.05], 5, np.random.default_rng(1), flips=flips)
        assert curve.overlap.value.tolist() == [wanted]
    assert capacity_curve(1, [0.5], 3, np.random.default_rng(0)).overlap.value.tolist() == [1.0]
