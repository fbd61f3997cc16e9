"""Degrees, denominators and heights of what models compute, and how likely a prime misses it."""

import math

import numpy as np
import pytest
from exact import predict
from flint import arb, fmpz
from hypothesis import given
from hypothesis import strategies as st
from plain import plain
from prompts import entered, filled, symbols

from constructions import newton
from constructions.assembly import Head, block, embed, signed_pair, unembed
from constructions.primitives import Move
from constructions.stream import Stream
from verify.domains import (
    Ball,
    Degrees,
    Denominators,
    Heights,
    Modular,
    Symbolic,
    error_probability,
    outputs,
    random_prime,
)
from verify.domains.sizes import LARGEST, bits, miss_probability


@given(seed=st.integers(0, 2**32))
def test_primes_have_61_bits(seed):
    prime = random_prime(np.random.default_rng(seed))
    assert 2**60 < prime < 2**61
    assert fmpz(prime).is_prime()


def test_primes_are_drawn_from_the_generator():
    drawn = {random_prime(np.random.default_rng(seed)) for seed in range(20)}
    assert len(drawn) == 20
    assert random_prime(np.random.default_rng(3)) in drawn


@pytest.mark.parametrize("layout", ["direct", "ladder"])
@pytest.mark.parametrize("k", [0, 1, 2, 5, 10])
def test_degrees_of_newton(k, layout):
    """2^{k+2} + 1 from αS and 2^{k+1} + 1 from αI: M_k has degree 2^{k+2} − 2, resp. …"""
    for start, degree in (("gram", 2 ** (k + 2) + 1), ("identity", 2 ** (k + 1) + 1)):
        model = newton(2, k, 0.5, layout, start=start)
        assert predict(model, Degrees(), *filled(1, 3, 2)) == [degree]


@pytest.mark.parametrize(
    ("n", "d", "k", "start"),
    [
        (2, 1, 0, "gram"),
        (2, 1, 1, "gram"),
        (1, 1, 2, "gram"),
        (2, 2, 1, "identity"),
        (2, 1, 2, "identity"),
    ],
)
@pytest.mark.parametrize("layout", ["direct", "ladder"])
def test_sizes_bound_the_polynomial_itself(n, d, k, start, layout):
    model = newton(d, k, 0.375, layout, start=start)
    domain, x, y, q = symbols(n, d)
    (polynomial,) = predict(model, domain, x, y, q)
    assert predict(model, Degrees(), *filled(1, n, d)) == [polynomial.total_degree()]
    assert_bounded(model, polynomial, n, d)


@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_sizes_bound_polynomials_divided_by_n(n, mask):
    """One ReLU head divides by n; with n = 3 or 6 the denominator is no power of two."""
    stream = Stream(x=1, y=1, out=1)
    x, y = stream.read("x"), stream.read("y")
    heads = signed_pair(Head(x, x, 0.75 * y, "out"))
    layer = block(stream, heads, [Move(0.5 * y, "y")], mask=mask, normalise="relu")
    model = plain(
        embed(stream, x={"x": 1.0}, y={"y": 1.0}),
        [layer, layer],
        unembed(stream, stream.read("out")),
        stream,
    )
    names = [f"v{i}" for i in range(2 * n)]
    domain = Symbolic(names)
    pairs = zip(domain.variables[::2], domain.variables[1::2], strict=True)
    written = entered([[a, b] for a, b in pairs])
    denominators, heights, degrees = Denominators(), Heights(), Degrees()
    sizes = [
        outputs(model, entered([[entry] * 2] * n), of).tolist()
        for entry, of in ((0, denominators), (arb(1), heights), (1, degrees))
    ]
    for (polynomial,), (exponent,), (height,), (degree,) in zip(
        outputs(model, written, domain).tolist(), *sizes, strict=True
    ):
        assert polynomial.total_degree() <= degree
        assert clears(denominators.base**exponent, polynomial)
        assert denominators.bits(exponent) == pytest.approx(exponent * math.log2(denominators.base))
        assert total(polynomial) <= 2 ** math.ceil(bits(height))


def test_an_odd_denominator_counts_as_one_power_of_a_larger_base():
    for numbers, base, exponent in (
        ([(1, 8)], 2, 3),
        ([(1, 3)], 6, 1),
        ([(1, 12), (1, 5)], 30, 2),
    ):
        domain = Denominators()
        assert max(domain.number(*ratio) for ratio in numbers) == exponent
        assert domain.base == base
        assert domain.bits(exponent) == exponent * math.log2(base)
        assert all(base**exponent % bottom == 0 for _, bottom in numbers)


def clears(factor, polynomial):
    return all((factor * c).q == 1 for c in polynomial.coeffs())


def total(polynomial):
    return sum(abs(c) for c in polynomial.coeffs())


def assert_bounded(model, polynomial, n, d):
    denominators = Denominators()
    (exponent,) = predict(model, denominators, *filled(0, n, d))
    assert denominators.base == 2
    assert clears(2**exponent, polynomial)
    (height,) = predict(model, Heights(), *filled(arb(1), n, d))
    assert height.bound.upper() >= arb(total(polynomial))
    assert total(polynomial) <= 2 ** math.ceil(bits(height))


def test_sizes_that_do_not_fit_are_cut_upwards():
    """A degree beyond 2^61 must not come back small; the probability then exceeds 1."""
    (degree,) = predict(newton(1, 100, 0.5), Degrees(), *filled(1, 2, 1))
    assert degree == LARGEST
    assert error_probability(degree, 1.0) > 1


def test_sizes_of_numbers():
    """Of products, of differences, whose heights are added, and of negative numbers."""
    half, third = (1, 2), (1, 3)
    denominators = Denominators()
    a, b = denominators.number(*half), denominators.number(*third)
    assert [a * a, a * b, a + b, a - b, -b, a * a * a * b] == [2, 2, 1, 1, 1, 4]
    assert denominators.base == 6
    a, b = Heights().number(*half), Heights().number(-1, 4)
    found = [a * b, a + b, a - b, -a, (a - b) * a, 2 * a, a * -2, 1 - a]
    assert [float(each.bound) for each in found] == [0.125, 0.75, 0.75, 0.5, 0.375, 1, 1, 1.5]
    zero, one = Degrees().number(0), Degrees().number(-3)
    assert [one * one, one + zero, -one, zero * one, zero + zero] == [0, 0, 0, zero, zero]
    for domain, entry in ((Degrees(), 3), (denominators, 3), (Heights(), arb(3))):
        matrix, number = domain.matrix([[entry]]), domain.number(5, 2)
        assert (
            (matrix * number).tolist()
            == (number * matrix).tolist()
            == (-(number * matrix)).tolist()
        )
        assert ((number * number) * matrix).tolist() == (number * (number * matrix)).tolist()


def test_zero_polynomials_have_no_degree():
    for domain in (Degrees(), Denominators()):
        entry = domain.matrix([[1]]) * domain.weights(np.zeros((1, 1)))
        assert entry.tolist()[0][0] < -(2**60)
        assert (entry + domain.matrix([[3]])).tolist() == [[3]]


@pytest.mark.parametrize("exponent", [-30, -1, 0, 1, 7, 1000, 100_000])
def test_bits_bound_the_logarithm(exponent):
    for value in (arb(2) ** exponent, 3 * arb(2) ** exponent, arb(1) / 3 * arb(2) ** exponent):
        assert arb(2) ** arb(bits(value)) >= value
        assert bits(value) <= float((value.log() / arb(2).log()).upper()) + 2
    assert bits(arb(0)) == 0


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.floats(0, 1e9), st.floats(0, 1e9))
def test_error_probability_grows_with_both_sizes(degree, more_degree, size, more_size):
    larger = error_probability(degree + more_degree, size + more_size)
    assert degree / 2**60 <= error_probability(degree, size) <= larger


def test_there_are_more_than_2_to_the_54_primes_of_61_bits():
    """x/(ln x − 1) ≤ π(x) ≤ x/(ln x − 1.1) for x ≥ 60184 [Dusart1999], in ball arithmetic.

    The inequalities themselves are tried where π can be counted.
    """
    upper, lower = (lambda x: x / (x.log() - 1.1)), (lambda x: x / (x.log() - 1))
    with Ball.precision(200):
        assert lower(arb(2) ** 61) - upper(arb(2) ** 60) > arb(2) ** 54
    sieve = np.ones(2**20 + 1, dtype=bool)
    sieve[:2] = False
    for i in range(2, 2**10 + 1):
        if sieve[i]:
            sieve[i * i :: i] = False
    counts = np.cumsum(sieve)
    for x in (2**17, 2**20):
        assert lower(arb(x)) <= int(counts[x]) <= upper(arb(x))


def test_error_probability_at_known_sizes():
    assert error_probability(2**40, 0.0) == 2.0**-20
    assert error_probability(0, 60.0) == 2.0**-54
    assert error_probability(0, 61.0) == 2.0**-53


def test_random_residues_are_of_all_sizes():
    """The error probability that is printed is that of uniform ones."""
    domain = Modular(random_prime(np.random.default_rng(0)))
    rows = domain.random_entries(np.random.default_rng(1), 20, 20)
    shares = np.array([[int(entry) / domain.prime for entry in row] for row in rows])
    assert abs(shares.mean() - 0.5) < 5 * (1 / 12 / 400) ** 0.5
    assert shares.max() > 0.98


def test_primes_that_miss_a_difference_in_denominators_are_counted():
    """x and x/m differ by (m − 1)x/m, which is 0 modulo every prime factor of m − 1: ten of the
    fewer than 2.8·10^16 primes of 61 bits."""
    rng = np.random.default_rng(0)
    primes = {random_prime(rng) for _ in range(10)}
    m = math.prod(primes) + 1
    assert len(primes) == 10

    def values(domain, entry):
        x = domain.matrix([[entry]])
        return [entry, *(domain.number(1, m) * x).tolist()[0]]

    for prime in primes:
        x, divided = values(Modular(prime), Modular(prime).number(5))
        assert x == divided
    assert 10 / 2.8e16 <= miss_probability(values) <= 12 / 1.8e16
