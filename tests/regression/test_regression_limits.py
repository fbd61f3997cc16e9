"""Limits of parameters of regression: the last value is accepted, and the next one is refused."""

from fractions import Fraction
from math import isqrt

import mpmath
import numpy as np
import pytest
from refusals import rejects

import constructions as c
from constructions.regression import newton_with_pauses
from theory import regression as r
from theory.regression.precision import newton_digits


def test_growth_at_its_limits():
    assert r.growth_of([1, 10**5, 10**10, 10**15]) == "exponential"
    with rejects("steps"):
        r.growth_of([1, 10**5, 10**10, 10**15 + 1])


def test_limits_of_moments_and_errors():
    for call, name in [
        (lambda: r.wishart_moments(10**4 + 1, 10**4, 1), "n"),
        (lambda: r.wishart_moments(4, 1, 10**4 + 1), "n_moments"),
        (lambda: r.wishart_moments(5, 3, 1), "n"),
        (lambda: r.wishart_moments(3, 3, 1), "n"),
        (lambda: r.wishart_moments(3, 4, 1), "n"),
        (lambda: r.polynomial_errors(4, 1, 2001), "n_terms"),
        (lambda: r.gradient_descent_error(4, 1, 2001, 0.1), "k"),
        (lambda: r.best_step_size(4, 1, 2001), "k"),
    ]:
        with rejects(name):
            call()
    assert float(r.gradient_descent_error(4, 1, 130, 1e-6)) > 0


def test_limits_of_digits():
    for start, bound in (("gram", Fraction(1, 8)), ("identity", Fraction(1, 2))):
        assert newton_digits([[2]], bound * Fraction(999, 1000), start, 10)[-1] >= 10
        with rejects("alpha"):
            newton_digits([[2]], bound, start, 10)
    with rejects():
        newton_digits([[1, 0], [0, Fraction(1, 10**25)]], 1, "gram", 5)
    with rejects("digits"):
        newton_digits([[1]], 1, "gram", 10**6 + 1)


@pytest.mark.parametrize("start", ["gram", "identity"])
@pytest.mark.parametrize("side", ["small", "large"])
def test_digits_of_step_sizes_at_which_the_iteration_is_slow(start, side):
    """For S = 1 the residuals are squares: e, e², e⁴, … with e = 1 − alpha."""
    for distance in (Fraction(1, 10**30), Fraction(3, 10**49)):
        alpha = distance if side == "small" else 2 - distance
        found = newton_digits([[1]], alpha, start, digits=9)
        with mpmath.workdps(200):
            first = -mpmath.log10(1 - mpmath.mpf(distance.numerator) / distance.denominator)
            wanted = [float(first * 2**j) for j in range(len(found))]
        assert found[:-1] == pytest.approx(wanted[:-1], rel=1e-12)
        assert wanted[-2] < 9 <= wanted[-1]


def test_step_sizes_at_the_limits_of_digits():
    for start, power in (("gram", 2), ("identity", 1)):
        for S in (1, 4):
            least, bound = Fraction(1, 10**300 * S**power), Fraction(2, S**power)
            x = [[isqrt(S)]]
            for alpha in (least * Fraction(9, 10), 0.9 * 1e-307, bound * (1 - Fraction(1, 10**51))):
                with rejects("alpha"):
                    newton_digits(x, alpha, start, 5)
            assert newton_digits(x, bound * (1 - Fraction(11, 10**50)), start, 5)[-1] >= 5
    assert newton_digits([[1]], Fraction(11, 10**301), "gram", 5)[-1] >= 5


def test_limits_of_models():
    for rejected, name in [
        (lambda: c.newton(1, 1001, 0.5), "k"),
        (lambda: c.newton(1, 1001, 0.5, causal=True), "k"),
        (lambda: c.newton(1, 1001, 0.5, interleaved=True), "k"),
        (lambda: newton_with_pauses(1, 1001, 0.5), "k"),
        (lambda: c.chebyshev(1, 10**100 + 1, 1.0, 2.0), "k"),
        (lambda: c.hyperpower(1, 1, 10**9 + 1, 0.5), "order"),
        (lambda: c.chebyshev(1, 2, 2.0 + 1e-15, 2.0), "smallest"),
        (lambda: c.chebyshev(1, 2, 2.0**-962, 2.0**-961), "smallest"),
        (lambda: c.chebyshev(1, 2, 2.0**958, 2.0**960), "smallest"),
        (lambda: c.gradient_descent(1, 0, 0.5, "ladder"), "k"),
    ]:
        with rejects(name):
            rejected()
    assert c.hyperpower(1, 1, 10**9, 0.5)([[1.0]], [1.0], [1.0]).item() == pytest.approx(1)


def test_errors_without_a_fit():
    """Errors that are all 0, and squares of errors or of components that overflow."""
    ones = np.ones((9, 2))
    for size, components in ((0.0, ones), (1e200, ones), (1.0, 1e200 * ones)):
        errors = np.full(9, size)
        for fit in (
            lambda *given: r.fitted_ridge(*given),
            lambda *given: r.unexplained_fraction(*given, 3),
        ):
            with rejects("errors"):
                fit(errors, components, ones / 2)


def test_residuals_of_a_fit_that_overflow():
    """The squares are float64, but the coefficients of the fit, about 10^311, are not."""
    errors, components = np.full(9, 1e150), np.full((9, 2), 1e-161)
    with rejects("errors", "components"):
        r.unexplained_fraction(errors, components, np.full((9, 2), 0.5), 3)


def test_weights_of_ridge_regression_that_overflow():
    assert np.isfinite(r.ridge([[1e-160]], [1e100], 1e-300))
    with rejects("x", "y"):
        r.ridge([[1e-160]], [1e200], 1e-300)


def test_cosines_of_predictions_whose_products_overflow():
    large, labels = np.full((1, 2, 3), 1e200), np.zeros((2, 3))
    assert r.error_cosines(1e100 * large, large, labels) == pytest.approx(np.ones((1, 1, 2)))
    assert r.error_cosines(1e100 * large, -large, labels) == pytest.approx(-np.ones((1, 1, 2)))


def test_multiples_of_alpha_are_finite():
    for build in (lambda x: c.newton(1, 1, x, "ladder"), lambda x: c.hyperpower(1, 1, 3, x)):
        with rejects("alpha"):
            build(1e308)


def test_step_sizes_within_float64():
    """λmax is s² for one example s, and 2s² for two; the step size is a power of two ≤ 1/λmax."""
    for examples, exponent, step in ((1, 511, -1022), (2, -512, 1023)):
        x = np.full((examples, 1), 2.0**exponent)
        assert r.safe_step_size(x, "gradient_descent") == 2.0**step
    for examples, exponent in ((2, 511), (1, -512)):
        with rejects("x"):
            r.safe_step_size(np.full((examples, 1), 2.0**exponent), "gradient_descent")


def test_the_smallest_normal_number_is_a_product():
    assert r.normal_equations([[2.0**-511]], [2.0**-511])[0] == 2.0**-1022
    for x, y in ((-512, 0), (0, -1023)):
        with rejects("underflows"):
            r.normal_equations([[2.0**x]], [2.0**y])


@pytest.mark.parametrize(("end", "inside"), [(2.0**-961, 1.0), (2.0**959, 0.0)])
def test_sums_of_bounds_within_float64(end, inside):
    within = np.nextafter(end, inside)
    c.chebyshev(1, 2, within, within)
    with rejects("smallest", "largest"):
        c.chebyshev(1, 2, end, end)
