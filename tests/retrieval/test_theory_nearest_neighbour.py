"""Nearest neighbours exactly, the kernel smoother against 50 digits, and its limit."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from refusals import rejects

from theory import retrieval as r

EPS = np.finfo(np.float64).eps


@st.composite
def problems(draw, n=5, d=3, size=3):
    """Small integers, so that squared distances are exact and ties are frequent."""
    entries = st.integers(-size, size).map(float)
    n, d = draw(st.integers(1, n)), draw(st.integers(1, d))
    shapes = (n, d), (n,), (d,)
    return tuple(draw(npst.arrays(np.float64, shape, elements=entries)) for shape in shapes)


@given(problems())
def test_nearest_neighbour_is_exact(problem):
    """Sums of small integers are exact, and the quotient is rounded once, as in the definition."""
    assert r.nearest_neighbour(*problem) == float(r.nearest_neighbour_by_definition(*problem))


def test_by_hand():
    x, y = [[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]], [1.0, 2.0, 4.0]
    assert r.nearest_neighbour(x, y, [1.0, 1.0]) == 1
    assert r.nearest_neighbour(x, y, [5.0, 8.0]) == 4
    # The query (3, 4) ± 2.5·(0.6, 0.8) is as far from two of them.
    assert r.nearest_neighbour(x, y, [1.5, 2.0]) == 1.5
    assert r.nearest_neighbour(x, y, [4.5, 6.0]) == 3
    assert r.nearest_neighbour_by_definition(x, y, [4.5, 6.0]) == 3


@pytest.mark.parametrize("power", [-1070, -600, -530, 0, 500])
def test_distances_whose_squares_underflow(power):
    x = np.ldexp([[3.0, 4], [1, 2], [0, 2], [2, 0]], power)
    assert r.nearest_neighbour(x, [1.0, 2, 3, 4], [0.0, 0]) == 3.5
    assert r.nearest_neighbour(x, [1.0, 2, 3, 4], x[1]) == 2
    far = np.concatenate([x, [[2.0**510, 1]]])
    assert r.nearest_neighbour(far, [1.0, 2, 3, 4, 5], np.ldexp([0.0, 1], power)) == 3


def test_smoother_by_hand():
    """Squared distances 0 and 1: weights 1 and e^(−beta)."""
    value = r.kernel_smoother([[0.0], [1.0]], [0.0, 1.0], [0.0], math.log(3))
    assert abs(value - 0.25) <= 4 * EPS
    exact = r.kernel_smoother_by_definition([[0.0], [1.0]], [0.0, 1.0], [0.0], math.log(3))
    assert abs(exact - 0.25) <= 4 * EPS


@given(problems(), st.sampled_from([2.0**-20, 0.1, 1.0, 30.0, 1e4]))
def test_smoother(problem, beta):
    """Differences of squared distances are exact here, so that an exponent t has one rounding, and
    a weight the error (t·exp(−t)/2 + exp(−t))·eps < 1.2·eps. The weights sum to at least 1, and
    sums of n terms add n·eps, above and below.
    """
    x, y, x_query = problem
    exact = r.kernel_smoother_by_definition(x, y, x_query, beta)
    value = r.kernel_smoother(x, y, x_query, beta)
    bound = 4 * EPS * len(y) * (len(y) + 2) * np.abs(y).max()
    assert abs(value - exact) <= bound


@given(problems(), st.sampled_from([0.25, 1.0, 4.0]))
def test_smoother_tends_to_the_nearest_neighbour(problem, beta):
    """The stated bound (n − 1)·exp(−beta·gap)·(max y − min y)."""
    x, y, x_query = problem
    squared = np.unique(((x - x_query) ** 2).sum(axis=-1))
    gap = squared[1] - squared[0] if len(squared) > 1 else np.inf
    bound = (len(y) - 1) * np.exp(-beta * gap) * (y.max() - y.min())
    difference = r.kernel_smoother(x, y, x_query, beta) - r.nearest_neighbour(x, y, x_query)
    assert abs(difference) <= bound + 16 * EPS * len(y) * np.abs(y).max()


@pytest.mark.parametrize("digits", [1, 2, 5, 16])
def test_the_arithmetic_has_the_digits_given(digits):
    """Three equal weights: the mean of 1, 1 and 2 is 1.3…3, rounded to that many digits."""
    x, y = [[1.0], [-1.0], [1.0]], [1.0, 1.0, 2.0]
    found = r.kernel_smoother_by_definition(x, y, [0.0], math.log(2), digits)
    assert found == float("1." + (digits - 1) * "3" if digits > 1 else "1")


def test_far_from_all_examples():
    """Every weight exp(−beta·distance²) is below the smallest number; their ratio is not."""
    x, y, x_query = [[0.0], [1.0]], [1.0, 3.0], [100.5]
    exact = r.kernel_smoother_by_definition(x, y, x_query, 1.0)
    assert abs(r.kernel_smoother(x, y, x_query, 1.0) - exact) <= 4 * EPS * 2 * 4 * 3
    assert r.kernel_smoother(x, y, x_query, 1e306) == 3


FUNCTIONS = {
    "nearest neighbour": r.nearest_neighbour,
    "kernel smoother": lambda x, y, q: r.kernel_smoother(x, y, q, 0.5),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_batched_like_single(name):
    generator = np.random.default_rng(0)
    x, y = generator.standard_normal((2, 3, 6, 4)), generator.standard_normal((2, 3, 6))
    x_query = generator.standard_normal((5, 2, 3, 4))
    values = FUNCTIONS[name](x, y, x_query)
    assert values.shape == (5, 2, 3)
    single = [
        [[FUNCTIONS[name](x[i, j], y[i, j], q[i, j]) for j in range(3)] for i in range(2)]
        for q in x_query
    ]
    assert np.abs(values - single).max() <= 64 * EPS * np.abs(y).max()


def test_one_beta_per_prompt():
    x, y, x_query = np.zeros((2, 2, 1)), np.array([[1.0, 3.0]] * 2), np.ones((2, 1))
    x[:, 1] = 1
    beta = np.array([1e-9, 100.0])
    values = r.kernel_smoother(x, y, x_query, beta)
    assert abs(values[0] - 2) <= 1e-9
    assert abs(values[1] - 3) <= 2 * math.exp(-100) + 4 * EPS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_overflow_is_rejected(name):
    with rejects("1e+200"):
        FUNCTIONS[name]([[1e200]], [1.0], [0.0])


def test_ties_are_exact_in_the_definition():
    """0.1 + 0.2 is not 0.3: the two examples are not equally far from 0.3."""
    x, y = [[0.1 + 0.2], [0.3]], [1.0, 2.0]
    assert r.nearest_neighbour_by_definition(x, y, [0.3]) == Fraction(2)
