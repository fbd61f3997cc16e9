"""Residual factors against rational and multiprecision arithmetic, within their conditioning."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from exact import chebyshev_polynomial
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from theory import regression as r

EPS = np.finfo(np.float64).eps
# Of every magnitude: cancellation shows only where λ is small.
eigenvalues = st.one_of(
    st.just(0.0), st.builds(np.ldexp, st.floats(1.0, 2.0), st.integers(-40, 5)).map(float)
)
steps = st.integers(0, 40)


def power(z, exponent):
    """(1 − z)^m in multiprecision, m and z exact, and the bound on the float error of R and 1 − R.

    z has a relative error of 2 eps: by the mean value theorem this changes (1 − z)^m by at most
    2·eps·z·m·(|1 − z| + 2·eps·z)^(m−1). Forming m·ln|1 − z| with relative error 3 eps moves it by
    3·eps·m·|ln|1 − z||·|1 − z|^m.
    """
    with mpmath.workdps(60):
        base = 1 - mpmath.mpf(z.numerator) / z.denominator
        R = base**exponent
        size, shift = abs(base), 2 * EPS * (1 - base)
        moved = exponent * shift * (size + shift) ** (exponent - 1) if exponent else 0
        logged = exponent * abs(mpmath.log(size)) * abs(R) if size else 0
        return R, moved + 3 * EPS * logged


def close(actual, expected, error):
    """|actual − expected| ≤ error + 2 eps |expected|, where overflow counts as agreement."""
    with mpmath.workdps(60):
        if abs(expected) > np.finfo(np.float64).max:
            return bool(np.isinf(actual))
        allowed = error + 4 * EPS * abs(expected) + np.finfo(np.float64).tiny
        return bool(abs(mpmath.mpf(float(actual)) - expected) <= allowed)


def check_power(residual, fitted, z, exponent):
    R, error = power(z, exponent)
    with mpmath.workdps(60):
        assert close(residual, R, error)
        assert close(fitted, 1 - R, error)


@given(eigenvalues, steps, st.floats(2.0**-20, 1.0))
def test_gradient_descent(eigenvalue, k, step_size):
    arguments = (eigenvalue, k, step_size)
    z = Fraction(eigenvalue) * Fraction(step_size)
    check_power(
        r.gradient_descent_residual(*arguments), r.gradient_descent_fitted(*arguments), z, k
    )


@pytest.mark.parametrize("start", ["gram", "identity"])
@given(eigenvalue=eigenvalues, k=st.integers(0, 12), alpha=st.floats(2.0**-20, 1.0))
def test_newton(start, eigenvalue, k, alpha):
    arguments = (eigenvalue, k, alpha, start)
    z = Fraction(alpha) * Fraction(eigenvalue) ** (2 if start == "gram" else 1)
    check_power(r.newton_residual(*arguments), r.newton_fitted(*arguments), z, 2**k)


@given(eigenvalues, st.integers(0, 6), st.integers(2, 5), st.floats(2.0**-20, 1.0))
def test_hyperpower(eigenvalue, k, order, alpha):
    arguments = (eigenvalue, k, order, alpha)
    z = Fraction(alpha) * Fraction(eigenvalue) ** 2
    check_power(r.hyperpower_residual(*arguments), r.hyperpower_fitted(*arguments), z, order**k)


@given(eigenvalues, st.floats(2.0**-40, 2.0**40))
def test_ridge(eigenvalue, penalty):
    R = Fraction(penalty) / (Fraction(eigenvalue) + Fraction(penalty))
    assert abs(Fraction(float(r.ridge_residual(eigenvalue, penalty))) - R) <= 4 * EPS * R
    fitted = Fraction(float(r.ridge_fitted(eigenvalue, penalty)))
    assert abs(fitted - (1 - R)) <= 4 * EPS * (1 - R)


@given(
    st.one_of(eigenvalues, st.floats(1.0, 4.0)),
    st.integers(0, 16),
    st.floats(2.0**-10, 2.0),
    st.one_of(st.just(0.0), st.floats(2.0**-8, 8.0)),
)
def test_chebyshev(eigenvalue, k, smallest, width):
    """R = T_k(t)/T_k(t₀) exactly; and the error of 1 − R is relative as λ → 0."""
    largest = smallest + width
    value, a, c = Fraction(eigenvalue), Fraction(smallest), Fraction(largest)
    arguments = (eigenvalue, k, smallest, largest)
    residual, fitted = r.chebyshev_residual(*arguments), r.chebyshev_fitted(*arguments)
    if a == c:
        check_power(residual, fitted, value / a, k)
        return
    t, start = (c + a - 2 * value) / (c - a), (c + a) / (c - a)
    R = chebyshev_polynomial(k, t) / chebyshev_polynomial(k, start)
    # The angles (or their hyperbolic kin) are at most k(2 + arcosh|t|) + k·arcosh(t₀), each with
    # relative error of a few eps, and |T_k'| ≤ k² inside the interval.
    angle = k * (4 + np.arccosh(max(1.0, float(abs(t)))) + np.arccosh(float(start)))
    size = max(abs(R), 1 / chebyshev_polynomial(k, start))
    error = 16 * EPS * (1 + angle + k**2) * size
    assert abs(Fraction(float(residual)) - R) <= error
    if eigenvalue < smallest:
        assert abs(Fraction(float(fitted)) - (1 - R)) <= 64 * EPS * (1 - R)
    else:
        assert abs(Fraction(float(fitted)) - (1 - R)) <= error + 16 * EPS * abs(1 - R)


def test_extremes():
    """No NaN at the corners: z = 0, z = 1, z = 2, huge exponents, overflow."""
    assert r.newton_fitted(0.0, 10_000, 1.0) == 0
    assert r.newton_fitted(1e-9, 10_000, 1.0) == 1
    assert r.newton_residual(1.0, 0, 1.0) == 0
    assert r.gradient_descent_residual(1.0, 0, 1.0) == 1
    assert r.gradient_descent_residual(2.0, 10**15 + 1, 1.0) == -1
    assert r.newton_residual(2.0, 3, 0.5) == 1
    assert r.newton_fitted(3.0, 60, 1.0) == -np.inf
    assert r.gradient_descent_fitted(3.0, 10_001, 1.0) == np.inf
    assert r.hyperpower_residual(3.0, 2000, 3, 1.0, "identity") == -np.inf
    assert r.chebyshev_residual(1e9, 201, 1.0, 2.0) == -np.inf


def test_broadcasting():
    k = np.arange(3)[:, None]
    assert r.newton_residual([0.5, 1.0], k, 0.25).shape == (3, 2)
    assert r.chebyshev_residual(np.ones((4, 1, 2)), k, 0.5, [1.0, 2.0]).shape == (4, 3, 2)


def test_bounds_in_the_other_order_are_rejected():
    for function in (r.chebyshev_residual, r.chebyshev_fitted):
        with rejects("smallest", "largest"):
            function(1.0, 1, 2.0, 1.0)
    with rejects("smallest = 7", "largest = 6"):  # the first of two that differ
        r.chebyshev_residual(1.0, 1, [5.0, 7.0], [5.0, 6.0])


def test_the_residual_of_no_step_keeps_its_sign():
    """(1 − z)^1 is negative for z > 1; from the first step on the power is even."""
    for start, eigenvalue in (("identity", 3.0), ("gram", 2.0)):
        z = eigenvalue ** (1 if start == "identity" else 2)
        found = r.newton_residual(eigenvalue, np.array([0, 1]), 1.0, start)
        np.testing.assert_allclose(found, [1 - z, (1 - z) ** 2], rtol=1e-14)
        fitted = r.newton_fitted(eigenvalue, np.array([0, 1]), 1.0, start)
        np.testing.assert_allclose(fitted, [z, 1 - (1 - z) ** 2], rtol=1e-14)
