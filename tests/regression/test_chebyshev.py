from fractions import Fraction

import numpy as np
import pytest
import torch
from exact import array, chebyshev_inverse, predict, prompt
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions import chebyshev, gradient_descent
from constructions.regression.chebyshev import Combinations, chebyshev_plan
from verify.domains import Rational

Q = Rational()
EPS = fmpq(1, 2**53)


@settings(max_examples=30)
@given(
    d=st.integers(1, 3),
    n=st.integers(1, 4),
    k=st.integers(0, 12),
    bounds=st.sampled_from([(1, 2), (1, 9), (fmpq(1, 8), 64), (3, fmpq(25, 8))]),
    seed=st.integers(0, 99),
)
def test_close_to_the_three_term_recurrence(d, n, k, bounds, seed):
    """Exact but for the coefficients, each off by at most 40 roundings of c₃.

    (A logarithm, at most four exponentials and ten products and sums.)  With all numbers in
    absolute value the network bounds the sum of the prediction's terms, each a product of at most
    3 + 9 + 27 + … < 3^{L+1} such coefficients.
    """
    smallest, largest = map(fmpq, bounds)
    x, y, q = prompt(np.random.default_rng(seed), n, d)
    model = chebyshev(d, k, *(int(b.p) / int(b.q) for b in (smallest, largest)))
    wanted = (q @ chebyshev_inverse(x, k, smallest, largest) @ (x.T @ y))[0]
    got = predict(model, Q, x, y, q)[0]
    sizes = [array((abs(e) for e in a.ravel()), *a.shape) for a in (x, y, q)]
    for weights in model.parameters():
        weights.abs_()
    size = predict(model, Q, *sizes)[0]
    assert abs(got - wanted) <= 40 * 3 ** (model.n_layers + 1) * EPS * size


@pytest.mark.parametrize("k", [1, 2, 3, 5, 10, 27, 40])
@pytest.mark.parametrize("kappa", [1 + 2.0**-40, 1.5, 100.0, 1e12])
def test_the_residual_is_the_best_on_the_interval(k, kappa):
    """One example x = √λ makes S = λ, and the model a residual polynomial: at most 1/τ_k there.

    1/τ_k ≤ 2 ρ^k with ρ = (√κ − 1)/(√κ + 1), and equality of the two ends: |R(a)| = |R(b)| = 1/τ_k.
    """
    model = chebyshev(1, k, 1.0, kappa)
    root = np.sqrt(kappa)
    theta = np.log1p(2 * (root + 1) / (kappa - 1))
    lowest = 2 * np.exp(-k * theta) / (1 + np.exp(-2 * k * theta))
    for eigenvalue in np.linspace(1, kappa, 50):
        residual = 1 - model([[np.sqrt(eigenvalue)]], [1.0], [np.sqrt(eigenvalue)]).item()
        # |R'| ≤ 2k²/(κ − 1)/τ_k, so rounding λ moves R by at most 2k²κ/(κ − 1)/τ_k roundings; the
        # coefficients add at most 40 a layer, and the slopes of 8l T_q³ − 4T_q²T_{q−1} − 4l T_q +
        # T_{q−1} along T_q and T_{q−1} add up to at most 15 (of the other formulas to 9).
        slope = 4 * k * k * kappa / (kappa - 1) * lowest
        slack = 2.0**-53 * (slope + 40 * 15**model.n_layers)
        assert abs(residual) <= lowest + slack
        if eigenvalue in (1.0, kappa):
            assert abs(residual) >= lowest - slack
    assert lowest <= 2 * ((root - 1) / (root + 1)) ** k * (1 + 1e-9) or kappa < 1.1


def test_equal_bounds_are_gradient_descent():
    model, descent = chebyshev(2, 5, 0.25, 0.25), gradient_descent(2, 5, 4.0, "ladder")
    for ours, theirs in zip(model.parameters(), descent.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_bounds_a_rounding_apart_are_accepted():
    largest = np.nextafter(1.0, 2.0)
    answer = chebyshev(1, 7, 1.0, float(largest))([[1.0]], [3.0], [2.0])
    assert abs(answer.item() - 6) < 1e-14


@pytest.mark.parametrize("k", [1, 60, 200])
def test_weights_are_finite(k):
    model = chebyshev(2, k, 1.0, 10.0)
    assert all(torch.isfinite(weights).all() for weights in model.parameters())


def test_bounds_in_the_other_order_are_rejected():
    with rejects("smallest", "largest"):
        chebyshev(2, 1, 3.0, 2.0)


@pytest.mark.parametrize("bounds", [(1.0, 32.0), (1.0, 1000.0), (0.5, 8.0), (3.0, 7.0), (0.1, 4.0)])
def test_the_rounded_formulas_are_computed_exactly(bounds):
    """Over Q at every number of steps: S·G = I − R along the whole plan, as weights add exactly."""
    x, y, q = prompt(np.random.default_rng(0), 1, 1)
    for k in (*range(1, 42), 100, 121):
        residuals = Combinations(tuple(chebyshev_plan(k, *bounds)))
        G = residuals.inverse(Q, Q.matrix((x.T @ x).tolist()), k)
        wanted = q[0, 0] * G.tolist()[0][0] * x[0, 0] * y[0]
        assert predict(chebyshev(1, k, *bounds), Q, x, y, q) == [wanted], k


@pytest.mark.parametrize("bounds", [(1.0, 32.0), (1.0, 1000.0), (3.0, 7.0)])
def test_factors_and_their_sums_are_floats(bounds):
    for k in range(1, 400):
        for rungs in chebyshev_plan(k, *bounds):
            for rung in rungs:
                assert sum(map(Fraction, (*rung.products.values(), *rung.unchanged.values()))) == 1
                local = [*rung.once.values(), *rung.cubed.values()]
                assert sum(map(Fraction, local)) == Fraction(sum(local))
