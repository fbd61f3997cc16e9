"""Solvers, residuals and counts of steps at many sizes, compared with definitions."""

import math

import mpmath
import numpy as np
import pytest
from refusals import rejects
from regression_by_definition import (
    SOLVERS,
    STARTS,
    chebyshev,
    near,
    one_minus,
    power,
    predicted,
    problem,
)

from theory import regression as r
from theory.regression.depth import ceil_log3

SOLVERS["ols"] = r.ols, lambda z: 0


SIZES = [(1, 1), (2, 3), (33, 5), (7, 130), (300, 17), (1000, 3), (70, 65)]


@pytest.mark.parametrize(("n", "d"), SIZES)
def test_solvers(n, d):
    x, y, queries, values, components = problem(n, d)
    for solve, R in SOLVERS.values():
        near(queries @ solve(x, y), predicted(values, components, R))


@pytest.mark.parametrize(("n", "d"), SIZES)
def test_one_pass(n, d):
    x, y, *_ = problem(n, d)
    for step_size in (None, 0.7):
        w = np.zeros(d)
        for row, label in zip(x, y, strict=True):
            w = w + (label - w @ row) * row / (row @ row if step_size is None else 1 / step_size)
        near(r.online_gradient_descent(x, y, step_size), w)
        assert len([*r.online_gradient_descent_iterates(x, y, step_size)]) == n + 1


@pytest.mark.parametrize(("n", "d"), SIZES)
def test_conjugate_gradients_minimise_over_the_krylov_space(n, d):
    x, y, *_ = problem(n, d)
    S, b = x.T @ x, x.T @ y
    krylov = b[:, None] / np.linalg.norm(b)
    for k in range(1, min(n, d, 6) + 1):
        best = krylov @ np.linalg.lstsq(x @ krylov, y, rcond=None)[0]
        near(r.conjugate_gradient(x, y, k), best, 1e-7)
        krylov, _ = np.linalg.qr(np.column_stack([krylov, S @ krylov[:, -1]]))
    near(r.conjugate_gradient(x, y, 300), np.linalg.pinv(x) @ y, 1e-6)


def of_prefixes(step):
    """The residuals of the methods of `PrefixSpectrum` below, for the step size `step`."""
    return {
        "ols": lambda z: 0,
        "ridge": lambda z: 0.5 / (z + 0.5),
        "descent": lambda z: one_minus(step * z, 1000),
        "newton gram": lambda z: one_minus((step * z) ** 2, 2**12),
        "newton identity": lambda z: one_minus(step * z, 2**12),
        "order 7 gram": lambda z: one_minus((step * z) ** 2, 7**4),
        "order 130 identity": lambda z: one_minus(step * z, 130**2),
        "chebyshev": lambda z: chebyshev(z, 130, 0.1 / step, 1 / step),
    }


@pytest.mark.parametrize(
    ("n", "d"), [(1, 1), (2, 3), (33, 5), (7, 70), (300, 17), (1000, 3), (70, 65)]
)
def test_the_spectrum_of_prefixes(n, d):
    x, y, queries, _, _ = problem(n, d)
    x, query = x * n**0.5, queries[0]
    spectrum = r.PrefixSpectrum(x, y, query)
    top = spectrum.largest
    alpha = 1 / top
    found = {
        "ols": spectrum.ols(),
        "ridge": spectrum.ridge([0.5])[0],
        "descent": spectrum.gradient_descent([1000], alpha)[0],
        "newton gram": spectrum.newton([12], alpha**2)[0],
        "newton identity": spectrum.newton([12], alpha, "identity")[0],
        "order 7 gram": spectrum.hyperpower([4], 7, alpha**2)[0],
        "order 130 identity": spectrum.hyperpower([2], 130, alpha, "identity")[0],
        "chebyshev": spectrum.chebyshev([130], 0.1 * top, top)[0],
    }
    for t in sorted({0, 1, 2, d - 1, d, d + 1, n // 2, n - 1, n} & {*range(n + 1)}):
        following = query if t == n else x[t]
        _, sigma, Vt = np.linalg.svd(x[:t], full_matrices=False) if t else (0, np.ones(0), x[:0])
        values = sigma**2
        if t:
            near(spectrum.eigenvalues[t][::-1][: len(values)], values)
        pulled = (Vt @ following) * (Vt @ (x[:t].T @ y[:t])) / values
        scale = np.abs(pulled).sum() if t else 1.0
        step = 1 / values[0] if t else 1.0
        for name, R in of_prefixes(step).items():
            wanted = predicted(values, pulled, R) if t else 0.0
            assert abs(found[name][t] - wanted) <= 1e-7 * scale, (name, t)


EIGENVALUES = [0.0, 1e-15, 1e-6, 0.3, 0.99, 1.0, 1.7, 2.0, 2.5]


def agree(found, R, relative=1e-9):
    """R and 1 − R, where overflow of float64 counts as agreement."""
    residual, rest = (float(each) for each in found)
    for value, exact in ((residual, R), (rest, 1 - R)):
        if abs(exact) > 1e308:
            assert value == math.copysign(math.inf, exact)
        else:
            assert abs(value - exact) <= relative * abs(exact) + 1e-12 * abs(R) + 1e-300


@pytest.mark.parametrize("k", [0, 1, 2, 33, 64, 65, 130, 1001, 10**6])
def test_residuals_of_many_steps(k):
    with mpmath.workdps(60):
        for z in EIGENVALUES:
            agree(
                (r.gradient_descent_residual(z, k, 1.0), r.gradient_descent_fitted(z, k, 1.0)),
                one_minus(z, k),
                1e-8,
            )
            for a, b in [(0.1, 2.0), (1.0, 1.0), (1e-6, 1.7)]:
                found = r.chebyshev_residual(z, k, a, b), r.chebyshev_fitted(z, k, a, b)
                agree(found, chebyshev(z, k, a, b), 1e-7)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize(
    ("order", "k"),
    [(p, k) for p in (2, 3, 4, 5, 6, 7, 33, 130, 10**9) for k in (0, 1, 2)] + [(2, 30), (5, 13)],
)
def test_residuals_of_every_order(order, k, start):
    with mpmath.workdps(60):
        for z in EIGENVALUES:
            R = one_minus(mpmath.mpf(z) ** power(start), order**k)
            arguments = (z, k, order, 1.0, start)
            agree((r.hyperpower_residual(*arguments), r.hyperpower_fitted(*arguments)), R, 1e-6)
            if order == 2:
                arguments = (z, k, 1.0, start)
                agree((r.newton_residual(*arguments), r.newton_fitted(*arguments)), R, 1e-6)
    with rejects("order"):
        r.hyperpower_residual(0.5, 1, 10**9 + 1, 1.0)


CONDITIONS = [1.5, 2.0, 30.0, 1e3, 1e6, 1e12, 1e100, 1e153, 1e308]


EPS = mpmath.mpf(2) ** -46


EPSILONS = [0.9, 0.5, 1e-3, 1e-12, 1e-100, 1e-300]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_counts_are_the_smallest_or_one_more(condition):
    with mpmath.workdps(400):
        kappa, root = mpmath.mpf(condition), mpmath.sqrt(condition)
        for epsilon in EPSILONS:
            decay = mpmath.log(1 / mpmath.mpf(epsilon))
            linear = {
                r.gradient_descent_steps: decay / -mpmath.log(1 - 1 / kappa),
                r.optimal_gradient_descent_steps: decay / -mpmath.log((kappa - 1) / (kappa + 1)),
                r.chebyshev_steps: (decay + mpmath.log(2)) / -mpmath.log((root - 1) / (root + 1)),
                r.conjugate_gradient_steps: (decay + mpmath.log(2))
                / -mpmath.log((root - 1) / (root + 1)),
            }
            for count, wanted in linear.items():
                found = count(condition, epsilon)
                assert wanted <= found <= max(1, (wanted + 1) * (1 + EPS)), count
            for start in STARTS if condition < 1e154 else ["identity"]:
                exponent = decay / -mpmath.log(1 - 1 / kappa ** power(start))
                for order in (2, 3, 4, 5, 7, 33, 130, 10**9):
                    found = r.hyperpower_steps(condition, epsilon, order, start)
                    assert exponent <= mpmath.mpf(order) ** found
                    assert found == 0 or order ** (found - 1) < exponent * (1 + EPS)
                assert r.newton_steps(condition, epsilon, start) == r.hyperpower_steps(
                    condition, epsilon, 2, start
                )
                estimate = power(start) * mpmath.log(kappa, 2) + mpmath.log(decay, 2)
                assert r.newton_steps_estimate(condition, epsilon, start) == pytest.approx(
                    float(estimate), rel=1e-12, abs=1e-12
                )


@pytest.mark.parametrize("layers", [0, 1, 2, 3, 17, 33, 40, 65, 130, 300, 1000, 20_000])
def test_logarithms_at_powers_of_three(layers):
    value = 3**layers
    assert [ceil_log3(value), ceil_log3(value + 1)] == [layers, layers + 1]
    assert layers < 2 or ceil_log3(value - 1) == layers


@pytest.mark.parametrize("start", STARTS)
def test_layers_of_many_steps(start):
    for k in [0, 1, 2, 13, 33, 65, 130, 300, 1000, 10**6]:
        degree = 2 ** (k + 1 + (start == "gram")) + 1
        assert r.newton_degree(k, start) == degree
        layers = r.newton_lower_bound(k, start)
        if k <= 1000:
            assert 3 ** (layers - 1) < degree <= 3**layers
        else:
            assert layers == math.ceil((k + 1 + (start == "gram")) * math.log(2, 3))
    with rejects("k"):
        r.newton_degree(10**6 + 1, start)
    with rejects("k"):
        r.newton_lower_bound(10**6 + 1, start)


@pytest.mark.parametrize("start", ["gram", "identity"])
def test_each_prompt_has_the_alpha_that_is_given_for_it(start):
    """M₁ = 2M₀ − M₀ S M₀ on the line: numbers S and α of each prompt."""
    x, alpha = np.array([[[1.0]], [[2.0]], [[0.5]]]), np.array([0.5, 0.0625, 1.5])
    S = x[:, 0, 0] ** 2
    first = alpha * S if start == "gram" else alpha
    found = r.newton(x, x[..., 0], 1, alpha, start)
    assert found[:, 0] == pytest.approx((2 * first - first * S * first) * S, rel=1e-15)
