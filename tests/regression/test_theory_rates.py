"""Every stated step count reaches its ε, and not by luck: nearly as many steps do not."""

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from theory import regression as r

EPS = np.finfo(np.float64).eps
conditions = st.one_of(st.just(1.0), st.floats(1 + 2.0**-50, 1e8))
epsilons = st.floats(1e-300, 1 - 2.0**-20)

# The worst factor after k steps, as a function of κ and k, in multiprecision arithmetic.
WORST = {
    "gradient_descent": (r.gradient_descent_steps, lambda c, k: (1 - 1 / c) ** k),
    "optimal": (r.optimal_gradient_descent_steps, lambda c, k: ((c - 1) / (c + 1)) ** k),
    "chebyshev": (
        r.chebyshev_steps,
        lambda c, k: 2 * ((mpmath.sqrt(c) - 1) / (mpmath.sqrt(c) + 1)) ** k,
    ),
    "conjugate_gradient": (
        r.conjugate_gradient_steps,
        lambda c, k: 2 * ((mpmath.sqrt(c) - 1) / (mpmath.sqrt(c) + 1)) ** k,
    ),
    "newton": (r.newton_steps, lambda c, k: (1 - c**-2) ** (2**k)),
    "newton identity": (
        lambda c, e: r.newton_steps(c, e, "identity"),
        lambda c, k: (1 - 1 / c) ** (2**k),
    ),
    "cubic": (lambda c, e: r.hyperpower_steps(c, e, 3), lambda c, k: (1 - c**-2) ** (3**k)),
    "quintic identity": (
        lambda c, e: r.hyperpower_steps(c, e, 5, "identity"),
        lambda c, k: (1 - 1 / c) ** (5**k),
    ),
}


@pytest.mark.parametrize("name", WORST)
@given(condition=conditions, epsilon=epsilons)
def test_sufficient_and_tight(name, condition, epsilon):
    count, worst = WORST[name]
    k = count(condition, epsilon)
    with mpmath.workdps(80):
        exact = mpmath.mpf(condition)
        assert worst(exact, k) <= epsilon
        if k >= 3:
            # One too many is allowed, to cover rounding; two are not.
            assert worst(exact, k - 2) > epsilon


@pytest.mark.parametrize("start", ["gram", "identity"])
@given(condition=conditions, epsilon=epsilons)
def test_newton_estimate_suffices(start, condition, epsilon):
    k = max(0, math.ceil(r.newton_steps_estimate(condition, epsilon, start)))
    assert newton_factor(condition, k, start) <= epsilon


@pytest.mark.parametrize("start", ["gram", "identity"])
def test_newton_estimate_suffices_where_it_is_near_an_integer(start):
    for power, decay in product(range(24, 53), (0.5, 1, 2, 4)):
        epsilon = math.exp(-decay)
        for near in (math.nextafter(epsilon, 0), epsilon, math.nextafter(epsilon, 1)):
            k = math.ceil(r.newton_steps_estimate(2.0**power, near, start))
            assert newton_factor(2.0**power, k, start) <= near
            assert k <= r.newton_steps(2.0**power, near, start) + 1


def newton_factor(condition, k, start):
    """The largest factor that is left of the error after k steps, to 80 digits."""
    with mpmath.workdps(80):
        of_start = mpmath.mpf(condition) ** (2 if start == "gram" else 1)
        return (1 - 1 / of_start) ** (mpmath.mpf(2) ** k)


@given(st.floats(1.0, 1e4), st.floats(1e-12, 0.9))
def test_the_residual_factors_obey(condition, epsilon):
    """The engine's own R on a grid over [1, κ]; a factor R has error eps·(1 + |ln R|·…)."""
    grid = np.geomspace(1.0, condition, 50)
    slack = epsilon * (1 + 64 * EPS * condition**2 * (1 - np.log(epsilon)))
    k = r.gradient_descent_steps(condition, epsilon)
    assert np.abs(r.gradient_descent_residual(grid, k, 1 / condition)).max() <= slack
    k = r.optimal_gradient_descent_steps(condition, epsilon)
    assert np.abs(r.gradient_descent_residual(grid, k, 2 / (1 + condition))).max() <= slack
    k = r.chebyshev_steps(condition, epsilon)
    assert np.abs(r.chebyshev_residual(grid, k, 1.0, condition)).max() <= slack
    for start, alpha in (("gram", condition**-2), ("identity", 1 / condition)):
        k = r.newton_steps(condition, epsilon, start)
        assert np.abs(r.newton_residual(grid, k, alpha, start)).max() <= slack
        k = r.hyperpower_steps(condition, epsilon, 3, start)
        assert np.abs(r.hyperpower_residual(grid, k, 3, alpha, start)).max() <= slack


def test_the_solvers_obey_step_by_step():
    """‖e_k‖_S ≤ 2ρ^k ‖e_0‖_S for CG, |R| ≤ 2ρ^k for Chebyshev, at every k; ρ from κ."""
    p = r.ill_conditioned_prompts(10, 60, 6, noise=0.3, seed=5)
    S, _ = r.normal_equations(p.x, p.y)
    w = r.ols(p.x, p.y)
    spectrum = np.linalg.eigvalsh(S)
    root = np.sqrt(spectrum[:, -1] / spectrum[:, 0])
    rho = (root - 1) / (root + 1)

    def energy(e):
        return np.sqrt(np.vecdot(e, np.matvec(S, e)))

    runs = zip(
        range(40),
        r.conjugate_gradient_iterates(p.x, p.y),
        r.chebyshev_iterates(p.x, p.y, spectrum[:, 0], spectrum[:, -1]),
        strict=False,
    )
    rounding = 64 * 60 * 6 * EPS * root**2 * energy(w)
    previous = np.inf
    for k, conjugate, chebyshev in runs:
        bound = 2 * rho**k * energy(w) + rounding
        assert (energy(conjugate - w) <= bound).all()
        assert (energy(chebyshev - w) <= bound).all()
        assert (energy(conjugate - w) <= previous + rounding).all()
        previous = energy(conjugate - w)


def test_known_values():
    """κ = 100, ε = 10⁻⁶: worked by hand from the formulas."""
    assert r.gradient_descent_steps(100, 1e-6) == 1375
    assert r.newton_steps(100, 1e-6) == 18
    assert r.newton_steps(100, 1e-6, "identity") == 11
    assert r.newton_steps(1, 0.5) == 0
    assert r.gradient_descent_steps(1, 0.5) == 1


def test_a_condition_number_whose_square_overflows_is_rejected():
    with rejects("condition"):
        r.newton_steps(1e200, 0.1)
    assert r.newton_steps(1e200, 0.1, "identity") > 600
