"""The least errors of polynomials and of gradient descent, against closed forms and quadrature."""

from math import comb

import numpy as np
import pytest
from flint import ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from theory.regression import (
    best_step_size,
    gaussian_prompts,
    gradient_descent,
    gradient_descent_error,
    least_errors,
    polynomial_errors,
)


def encloses(ball, value):
    with ctx.workprec(4096):
        return (ball - value).contains(0) and ball.rel_accuracy_bits() > 3000


@given(st.integers(1, 8), st.integers(1, 9))
def test_for_one_dimension_there_is_a_closed_form(half, terms):
    """Of the Christoffel function of Laguerre's weight at 0."""
    for t, found in enumerate(polynomial_errors(2 * half, 1, terms), 1):
        assert encloses(found, fmpq(1, comb(t + half, t)))


@given(st.integers(1, 5), st.integers(0, 5))
def test_one_term_is_one_step_of_the_best_size(d, more):
    """min over η of E tr (I − ηS)² = d − (E tr S)²/E tr S², at η = 1/(n + d + 1)."""
    n = d + 2 * more + 1
    (least,) = polynomial_errors(n, d, 1)
    assert encloses(least, d - fmpq(n * d, n + d + 1))
    size = best_step_size(n, d, 1)
    assert size == pytest.approx(1 / (n + d + 1), rel=1e-12)
    assert float(gradient_descent_error(n, d, 1, size)) == pytest.approx(float(least), rel=1e-12)


@pytest.mark.parametrize("largest", [4.0, 15.0])
def test_one_eigenvalue_up_to_a_bound_by_quadrature(largest):
    """Least squares on nodes, weighted by the density of chi-squared with n degrees."""
    n = 8
    nodes, weights = np.polynomial.legendre.leggauss(200)
    s = largest * (nodes + 1) / 2
    chances = weights * s ** (n / 2 - 1) * np.exp(-s / 2)
    root = np.sqrt(chances / chances.sum())
    for t, found in enumerate(polynomial_errors(n, 1, 6, largest), 1):
        powers = (s[:, None] / largest) ** np.arange(1, t + 1)
        left = np.linalg.lstsq(root[:, None] * powers, -root, rcond=None)[0]
        assert float(found) == pytest.approx((root**2 * (1 + powers @ left) ** 2).sum(), rel=1e-8)
    for k in (0, 1, 5):
        wanted = (root**2 * (1 - 0.2 * s) ** (2 * k)).sum()
        assert float(gradient_descent_error(n, 1, k, 0.2, largest)) == pytest.approx(
            wanted, rel=1e-9
        )


def test_the_error_is_that_of_gradient_descent():
    """On sampled prompts, within five standard errors."""
    n, d, k = 10, 3, 4
    p = gaussian_prompts(40_000, n, d, seed=0)
    size = best_step_size(n, d, k)
    w = gradient_descent(p.x, p.y, k, size)
    squares = (np.vecdot(w, p.x_query) - p.y_query) ** 2
    error = squares.std() / np.sqrt(len(squares))
    assert abs(float(gradient_descent_error(n, d, k, size)) - squares.mean()) <= 5 * error


@pytest.mark.parametrize("largest", [None, 30.0])
def test_no_step_size_is_better_and_more_terms_are(largest):
    n, d = 10, 3
    least = [float(error) for error in polynomial_errors(n, d, 12, largest)]
    assert (np.diff([d, *least]) < 0).all()
    for k in (1, 3, 9):
        size = best_step_size(n, d, k, largest)
        own, *others = (
            float(gradient_descent_error(n, d, k, factor * size, largest))
            for factor in (1, 0.99, 1.01)
        )
        assert own < min(others)
        assert own >= least[k - 1] * (1 - 1e-12)


def test_more_terms_than_the_precision_serves_are_rejected(monkeypatch):
    monkeypatch.setattr("theory.regression.wishart.BITS", 100)
    monkeypatch.setattr(least_errors, "BITS", 100)
    with rejects("n_terms", "is 30", "100"):
        polynomial_errors(10, 3, 30)
    for call in (best_step_size, lambda *sizes: gradient_descent_error(*sizes, 0.012)):
        with rejects("k", "is 60", "100"):
            call(10, 3, 60)
