"""Entropies as rational combinations of logarithms, and their comparisons."""

from fractions import Fraction as F
from math import log as ln
from math import log1p

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import rejects

from theory.language import Log, at_most_rational, binary_kl, cross_entropy, entropy, kl, log

small = st.integers(1, 40)
laws = st.lists(small, min_size=3, max_size=3).map(lambda w: [F(each, sum(w)) for each in w])


@given(laws, laws)
def test_they_are_the_floats_and_more(p, q):
    assert float(entropy(p)) == pytest.approx(-sum(float(a) * ln(a) for a in p), abs=1e-12)
    assert cross_entropy(p, q) == entropy(p) + kl(p, q)
    assert kl(p, q) >= Log()
    assert (kl(p, q) == 0) == (p == q)


@given(small, small, small)
def test_sums_differences_and_multiples_are_those_of_logarithms(a, b, c):
    assert log(a) + log(b) == log(a * b)
    assert log(a) - log(b) == log(F(a, b))
    assert F(c, 2) * log(a**2) == c * log(a)
    assert (log(a) < log(b)) == (a < b)
    assert sum([log(a), log(b)]) == log(a * b)
    assert hash(log(a) + log(b)) == hash(log(a * b))


def test_coefficients_of_primes_are_taken():
    assert Log({3: 1, 2: F(1, 2)}) == F(1, 2) * log(2) + log(3)
    assert Log({2: 0}) == 0


def test_close_numbers_are_separated_by_more_bits():
    small = log(F(10**9 + 1, 10**9)) - F(1, 10**9) * log(3)
    assert small.sign == -1
    assert log(F(2**63, 2**63 - 1)).sign == 1
    assert Log().sign == 0
    assert at_most_rational(log(2), F(693147181, 10**9))
    assert not at_most_rational(log(2), F(693147180, 10**9))
    assert at_most_rational(Log(), F(0))


@given(st.integers(2, 2**63), st.integers(1, 1000), st.integers(1, 1000))
@example(2**63 - 1, 1, 1)
def test_floats_of_small_differences_are_accurate(n, a, b):
    found = float(F(a, b) * log(F(n + 1, n)))
    assert found == pytest.approx(a / b * log1p(1 / n), rel=1e-15)


def test_only_the_number_0_is_false():
    assert [bool(each) for each in (log(1), log(2), log(2) - log(2))] == [False, True, False]


def test_logarithms_do_not_change():
    value = log(F(2))
    with pytest.raises(AttributeError):
        value.coefficients = {}
    with pytest.raises(TypeError):
        value.coefficients[2] = F(5)
    assert value == log(F(2))
    assert hash(value) == hash(log(F(2)))


def test_they_print_as_they_are_written():
    assert repr(entropy([F(1, 2), F(1, 4), F(1, 4)])) == "3/2·ln 2"
    assert repr(log(F(3, 2))) == "−ln 2 + ln 3"
    assert repr(Log()) == "0"


def test_a_coin_is_a_distribution_of_two():
    assert binary_kl(F(1, 3), F(1, 2)) == kl([F(1, 3), F(2, 3)], [F(1, 2), F(1, 2)])


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: Log({4: 1}), "4"),
        (lambda: Log({1: 1}), "1"),
        (lambda: Log({2.0: 1}), "2.0"),
        (lambda: Log({2: 0.5}), "coefficients"),
        (lambda: Log([2]), "coefficients"),
        (lambda: log(2**80 + 1), "value"),
        (lambda: log(2) * 0.5, "factor"),
        (lambda: kl([1], [F(1, 2), F(1, 2)]), "p"),
        (lambda: kl([F(1, 2), F(1, 2)], [1, 0]), "q"),
    ],
)
def test_numbers_without_an_exact_logarithm_are_rejected(call, parameter, unchecked):
    with rejects(*parameter.split()):
        call()


def test_a_logarithm_is_not_a_number():
    with pytest.raises(TypeError):
        log(2) + 1
    assert log(2) != 1


@pytest.mark.parametrize("bits", [1, True, 1.5, None, 10**8])
def test_bits_of_precision_are_an_integer_from_2_on(bits):
    with rejects("bits"):
        log(3).ball(bits)
