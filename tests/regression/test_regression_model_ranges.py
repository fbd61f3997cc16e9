"""Models of `constructions.regression` at many sizes, compared with definitions."""

import math

import mpmath
import numpy as np
import pytest
from refusals import rejects
from regression_by_definition import (
    STARTS,
    chebyshev,
    near,
    one_minus,
    power,
    predicted,
    problem,
)

import constructions as c
from constructions.regression import newton_with_pauses
from theory import regression as r
from theory.regression.depth import ceil_log3


@pytest.mark.parametrize(
    ("n", "d"),
    [
        (300, 17),
        *(
            pytest.param(*size, marks=pytest.mark.slow)
            for size in [(1, 1), (2, 3), (1000, 3), (40, 33)]
        ),
    ],
)
def test_models(n, d):
    x, y, queries, values, components = problem(n, d)

    def check(model, R, layers=None, tolerance=1e-8):
        near(model(x, y, queries), predicted(values, components, R), tolerance)
        assert layers is None or len(model.blocks) == layers

    for k in (1, 2, 33, 130):
        check(c.gradient_descent(d, k, 0.9), lambda z, k=k: one_minus(0.9 * z, k), k)
    for k in (1, 4, 5, 14, 41, 1000, 3**9):
        model = c.gradient_descent(d, k, 0.9, "ladder")
        check(model, lambda z, k=k: one_minus(0.9 * z, k), ceil_log3(2 * k + 1))
    for k, a in [
        (1, 0.01),
        (13, 0.01),
        (14, 0.01),
        (41, 0.1),
        (130, 0.01),
        (300, 1.0),
        (1000, 1e-4),
    ]:
        model = c.chebyshev(d, k, a, 1.0)
        check(model, lambda z, k=k, a=a: chebyshev(z, k, a, 1.0), ceil_log3(2 * k + 1), 1e-6)
    for start in STARTS:
        p = power(start)
        for k in (0, 1, 2, 7, 13):
            R = lambda z, k=k, p=p: one_minus(0.9 * z**p, 2**k)  # noqa: E731
            check(c.newton(d, k, 0.9, start=start), R, k + p, 1e-7)
            model = c.newton(d, k, 0.9, "ladder", start=start)
            check(model, R, ceil_log3(2 ** (k + p) + 1))
        for k, order in [(0, 7), (1, 3), (2, 5), (3, 7), (1, 33), (2, 130)]:
            R = lambda z, k=k, o=order, p=p: one_minus(0.9 * z**p, o**k)  # noqa: E731
            model = c.hyperpower(d, k, order, 0.9, start=start)
            check(model, R, ceil_log3(2 * p * order**k + 1))
    for k in (0, 1, 5):
        check(c.newton(d, k, 0.9, "paper", n=n), lambda z, k=k: one_minus(0.9 * z**2, 2**k), k + 8)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (3, 2), (33, 5), (65, 17)])
def test_models_for_some_numbers_of_examples(n, d):
    """The last number of examples that the weights fit, and the next one."""
    x, y, queries, *_ = problem(n, d)
    model = c.online_gradient_descent(d, n)
    near(model(x, y, queries), queries @ r.online_gradient_descent(x, y))
    fewer = max(1, n - 1)
    near(
        model(x[:fewer], y[:fewer], queries),
        queries @ r.online_gradient_descent(x[:fewer], y[:fewer]),
    )
    paper = c.newton(d, 1, 0.9, "paper", n=n)
    more = np.vstack([x, x[:1]]), np.append(y, 1.0), queries
    for built in (model, paper):
        with rejects("n"):
            built(*more)
    if n > 1:
        with rejects("n"):
            paper(x[:fewer], y[:fewer], queries)


@pytest.mark.parametrize(
    ("n", "d"),
    [
        (130, 2),
        *(pytest.param(*size, marks=pytest.mark.slow) for size in [(1, 1), (3, 2), (33, 3)]),
    ],
)
def test_causal_models(n, d):
    x, y, queries, *_ = problem(n, d)

    def check(model, R, layers):
        said = model(x, y, queries[0])
        assert len(model.blocks) == layers
        assert said.shape == (n + 1,)
        for t in {0, 1, 2, n // 2, n - 1, n} & {*range(n + 1)}:
            _, sigma, Vt = (
                np.linalg.svd(x[:t], full_matrices=False) if t else (0, np.ones(0), x[:0])
            )
            pulled = (Vt @ (queries[0] if t == n else x[t])) * (Vt @ (x[:t].T @ y[:t])) / sigma**2
            scale = max(np.abs(pulled).sum(), 1e-3)
            assert abs(said[t].item() - predicted(sigma**2, pulled, R)) <= 1e-8 * scale

    for k in (1, 2, 33):
        check(c.gradient_descent(d, k, 0.9, causal=True), lambda z, k=k: one_minus(0.9 * z, k), k)
    for start in STARTS:
        p = power(start)
        for k in (0, 1, 2, 7, 12):
            R = lambda z, k=k, p=p: one_minus(0.9 * z**p, 2**k)  # noqa: E731
            check(c.newton(d, k, 0.9, start=start, causal=True), R, k + 2)
            layers = math.ceil(k * math.log(2, 3)) + 1 + p
            check(c.newton(d, k, 0.9, "ladder", start=start, causal=True), R, layers)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("n", [1, 2, 33, 300])
def test_interleaved_models(n, start):
    x, y, queries, values, components = problem(n, 2)
    for k in (0, 1, 7):
        model = c.newton(2, k, 0.9, start=start, interleaved=True)
        R = lambda z, k=k: one_minus(0.9 * z ** power(start), 2**k)  # noqa: E731
        for query, each in zip(queries, components, strict=True):
            near(model(x, y, query), predicted(values, each, R), 1e-7)


@pytest.mark.parametrize(("d", "k", "n"), [(1, 1, 300), (33, 1, 5), (2, 13, 33), (1, 33, 1)])
def test_models_with_pauses(d, k, n):
    x, y, queries, values, components = problem(n, d)
    R = lambda z: one_minus(0.9 * z, 2**k)  # noqa: E731
    near(newton_with_pauses(d, k, 0.9)(x, y, queries), predicted(values, components, R), 1e-7)


def test_a_ladder_of_a_million_steps():
    """At an eigenvalue where the residual is neither 0 nor 1."""
    model = c.gradient_descent(1, 10**6, 1e-6, "ladder")
    assert len(model.blocks) == ceil_log3(2 * 10**6 + 1)
    assert 1 - model([[1.0]], [1.0], [1.0]).item() == pytest.approx(math.exp(-1), rel=1e-5)


@pytest.mark.parametrize("k", [65, 129, 257, 4000])
def test_chebyshev_residuals_of_many_steps(k):
    """The largest residual on the interval is the least that a polynomial can have."""
    kappa = (k / 3.0) ** 2
    model = c.chebyshev(1, k, 1.0, kappa)
    points = np.linspace(1, kappa, 40)
    roots = np.sqrt(points)[:, None]
    found = 1 - model(roots[..., None], np.ones((40, 1)), roots).numpy()
    with mpmath.workdps(40):
        near(found, [float(chebyshev(z, k, 1.0, kappa)) for z in points], 1e-4)


@pytest.mark.slow
def test_the_longest_ladder():
    model = c.chebyshev(1, 10**100, 1.0, 2.0)
    assert len(model.blocks) == 211  # the smallest L with 3^L ≥ 2·10¹⁰⁰ + 1
    assert model([[1.0]], [1.0], [1.0]).item() == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "build",
    [
        lambda: c.newton(1, 1000, 0.5),
        lambda: c.newton(1, 1000, 0.5, start="identity"),
        lambda: c.newton(1, 1000, 0.5, causal=True),
        lambda: c.newton(1, 1001, 0.5, "ladder"),
        lambda: newton_with_pauses(1, 130, 0.5),
    ],
)
def test_the_most_steps(build):
    assert build()([[1.0]], [1.0], [1.0]).numpy().ravel()[-1] == pytest.approx(1)
