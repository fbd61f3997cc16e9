"""The plain solvers against rational arithmetic, their theorems, and what they reject."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from exact import (
    chebyshev_inverse,
    chebyshev_polynomial,
    gradient_descent_weights,
    hyperpower_inverse,
    identity,
    newton_inverse,
    online_weights,
    read,
)
from flint import fmpq, fmpq_mat
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from refusals import rejects

from theory import regression as r
from theory.regression.by_definition import least_squares
from verify.domains import Rational

Q = Rational()
EPS = np.finfo(np.float64).eps


@st.composite
def integer_examples(draw, n=4, d=3, size=3):
    """Small integer examples, with zero rows, repeated rows and every rank among them."""
    shape = (draw(st.integers(1, n)), draw(st.integers(1, d)))
    entries = st.integers(-size, size).map(float)
    x = draw(npst.arrays(np.float64, shape, elements=entries))
    return x, draw(npst.arrays(np.float64, shape[:1], elements=entries))


def exact_problem(x, y):
    """x, y, S and b over Q."""
    x, y = read(Q, x), read(Q, y)
    return x, y, x.T @ x, x.T @ y


def as_float(weights):
    return weights.astype(np.float64)


def solution(S, b):
    """Of S w = b with a regular S."""
    return np.array(fmpq_mat(S.tolist()).solve(fmpq_mat(b[:, None].tolist())).tolist())[:, 0]


def minimum_norm(x, y):
    """X⁺y over Q."""
    return np.array(least_squares(Q, *(Q.weights(part) for part in (x, y[:, None]))).tolist())[:, 0]


def least_squares_error(x, y):
    """Wedin's bound for a backward stable solution: n·d·eps·(κ‖w‖ + κ²‖r‖/‖X‖), times 32."""
    sigma = np.linalg.svd(x, compute_uv=False)
    nonzero = sigma[sigma > 1e-9]
    if not len(nonzero):
        return 0.0
    kappa = nonzero[0] / nonzero[-1]
    size = np.linalg.norm(y) / nonzero[-1]
    return 32 * x.size * EPS * (kappa * size + kappa**2 * np.linalg.norm(y) / nonzero[0])


@given(integer_examples())
def test_ols_is_the_exact_pseudo_inverse(problem):
    x, y = problem
    error = r.ols(x, y) - as_float(minimum_norm(x, y))
    assert np.linalg.norm(error) <= least_squares_error(x, y)


@pytest.mark.parametrize(
    ("of_x", "of_y"), [(-1060, -1000), (-1060, -1060), (-600, 300), (1000, 1000), (1015, 0)]
)
def test_ols_at_any_scale(of_x, of_y):
    """Powers of two, but for what subnormal numbers cannot represent."""
    x, y = np.array([[3.0, 1.0], [2.0, 0.0], [1.0, 7.0]]), np.array([1.0, -2.0, 4.0])
    found = r.ols(np.ldexp(np.stack([x, 8 * x]), of_x), np.ldexp(np.stack([y, y]), of_y))
    w = np.ldexp(r.ols(x, y), of_y - of_x)
    assert found == pytest.approx(np.stack([w, w / 8]), rel=1e-13, abs=0)


def test_ols_whose_weights_overflow_is_rejected():
    with rejects("x", "y", "rescale"):
        r.ols([[1e-200]], [1e200])


def test_ols_resolves_what_is_above_rounding_and_nothing_below():
    """diag(1, s): 1/s is found up to condition numbers of 10¹⁵, and 0 where s is rounding."""
    for s, wanted in ((2.0**-40, 2.0**40), (2.0**-50, 2.0**50), (2.0**-53, 0.0)):
        np.testing.assert_allclose(r.ols(np.diag([1.0, s]), [1.0, 1.0]), [1.0, wanted])


@given(integer_examples(), st.sampled_from([2.0**-30, 0.25, 3.0, 1e6]))
def test_ridge_solves_its_normal_equations(problem, penalty):
    x, y = problem
    _, _, S, b = exact_problem(x, y)
    w = solution(S + fmpq(*penalty.as_integer_ratio()) * identity(len(b)), b)
    # Ridge is least squares on [X; √penalty I], for which the same bound holds.
    stacked = np.vstack([x, np.sqrt(penalty) * np.eye(x.shape[1])])
    bound = least_squares_error(stacked, np.concatenate([y, np.zeros(x.shape[1])]))
    assert np.linalg.norm(r.ridge(x, y, penalty) - as_float(w)) <= bound


@pytest.mark.parametrize("penalty", [1.0, 1e-20, 1e-40, 1e-300])
def test_ridge_with_a_tiny_penalty_is_the_least_norm_solution_at_any_rank(penalty):
    """Although the rounding error of a singular value 0 can exceed the penalty."""
    for x, y in (([[1, 1], [1, 1]], [1, 1]), ([[1, 2], [2, 4], [-1, -2]], [1, 0, 2])):
        S, b = np.transpose(x) @ x, np.transpose(x) @ y
        w = b / (np.trace(S) + penalty)  # S has rank 1, and b is an eigenvector
        np.testing.assert_allclose(r.ridge(x, y, penalty), w, atol=1e-14)


# With integers in −2…2 and dyadic parameters every operation below is exact in float64.
@given(integer_examples(n=3, d=2, size=2), st.integers(0, 4))
def test_gradient_descent_recursion_is_exact(problem, k):
    x, y = problem
    w = gradient_descent_weights(read(Q, x), read(Q, y), k, fmpq(1, 16))
    np.testing.assert_array_equal(r.gradient_descent(x, y, k, 1 / 16), as_float(w))


@pytest.mark.parametrize("start", ["gram", "identity"])
@given(problem=integer_examples(n=3, d=2, size=2), k=st.integers(0, 2))
def test_newton_recursion_is_exact(start, problem, k):
    x, y = problem
    X, _, _, b = exact_problem(x, y)
    w = newton_inverse(X, k, fmpq(1, 64), start) @ b
    np.testing.assert_array_equal(r.newton(x, y, k, 1 / 64, start), as_float(w))


@pytest.mark.parametrize("start", ["gram", "identity"])
@pytest.mark.parametrize("order", [2, 3, 4])
@given(problem=integer_examples(n=3, d=2, size=2), k=st.integers(0, 1))
def test_hyperpower_recursion_is_exact(start, order, problem, k):
    x, y = problem
    X, _, _, b = exact_problem(x, y)
    w = hyperpower_inverse(X, k, order, fmpq(1, 64), start) @ b
    np.testing.assert_array_equal(r.hyperpower(x, y, k, order, 1 / 64, start), as_float(w))


def test_newton_expansions():
    """M₁ = 2αS − α²S³ and M₂ = 4αS − 6α²S³ + 4α³S⁵ − α⁴S⁷, exactly."""
    S = np.array([[3.0, 1.0], [1.0, 2.0]])
    power = [np.linalg.matrix_power(S, i) for i in range(8)]
    a = 1 / 32
    _, first, second = islice(r.newton_inverses(S, a), 3)
    np.testing.assert_array_equal(first, 2 * a * S - a**2 * power[3])
    expansion = 4 * a * S - 6 * a**2 * power[3] + 4 * a**3 * power[5] - a**4 * power[7]
    np.testing.assert_array_equal(second, expansion)


@pytest.mark.parametrize("step_size", [None, 1 / 16])
@given(problem=integer_examples())
def test_online_gradient_descent(step_size, problem):
    """Each step is nonexpansive up to its own rounding: d·eps·(size of w and of the step)."""
    x, y = problem
    n, d = x.shape
    growth = (1 + (np.vecdot(x, x).max() / 16 if step_size else 0)) ** n
    bound = 16 * n * d * EPS * (1 + np.linalg.norm(y, 1) * np.abs(x).sum()) * growth
    w = r.online_gradient_descent(x, y, step_size)
    exact = online_weights(read(Q, x), read(Q, y), step_size and fmpq(1, 16))
    assert np.linalg.norm(w - as_float(exact)) <= bound


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e150])
def test_each_online_step_fits_its_example(scale):
    p = r.gaussian_prompts(7, 5, 3, seed=0)
    w = list(r.online_gradient_descent_iterates(scale * p.x, p.y))
    assert len(w) == 6
    for i in range(5):
        size = np.vecdot(np.abs(scale * p.x[:, i]), np.abs(w[i]) + np.abs(w[i + 1]))
        error = np.vecdot(w[i + 1], scale * p.x[:, i]) - p.y[:, i]
        assert (np.abs(error) <= 16 * 3 * EPS * (np.abs(p.y[:, i]) + size)).all()


def test_a_zero_row_makes_no_step():
    w = list(r.online_gradient_descent_iterates([[1.0, 1.0], [0.0, 0.0]], [2.0, 5.0]))
    np.testing.assert_array_equal(w[1], [1, 1])
    np.testing.assert_array_equal(w[2], [1, 1])


def exact_conjugate_gradient(S, b, k):
    w, residual, direction = 0 * b, b, b
    for _ in range(k):
        size = residual @ residual
        if size == 0:
            break
        image = S @ direction
        step = size / (direction @ image)
        w, residual = w + step * direction, residual - step * image
        direction = residual + residual @ residual / size * direction
    return w


@given(integer_examples(d=3, size=2), st.integers(0, 5))
def test_conjugate_gradient(problem, k):
    """CG is backward stable over so few steps: eps·κ(S)² times the size, and at rank it is OLS."""
    x, y = problem
    _, _, S, b = exact_problem(x, y)
    w, expected = (as_float(v) for v in (minimum_norm(x, y), exact_conjugate_gradient(S, b, k)))
    eigenvalues = np.linalg.eigvalsh(as_float(S))
    nonzero = eigenvalues[eigenvalues > 1e-9]
    kappa = nonzero.max() / nonzero.min() if len(nonzero) else 1
    bound = 32 * x.size * EPS * kappa**2 * (np.linalg.norm(w) + np.linalg.norm(y))
    assert np.linalg.norm(r.conjugate_gradient(x, y, k) - expected) <= bound
    if k >= fmpq_mat(S.tolist()).rank():
        assert np.linalg.norm(expected - w) == 0


def test_conjugate_gradient_stands_still_once_solved():
    """A rank-one problem in five dimensions is solved in one step, and stays solved."""
    x, y = np.outer(np.arange(1.0, 7), np.arange(1, 6)), np.arange(6) + 0.5
    first, last = r.conjugate_gradient(x, y, 1), r.conjugate_gradient(x, y, 1000)
    assert np.linalg.norm(last - r.ols(x, y)) <= least_squares_error(x, y)
    assert np.linalg.norm(first - last) <= least_squares_error(x, y)
    np.testing.assert_array_equal(r.conjugate_gradient(x, np.zeros(6), 3), np.zeros(5))


@given(
    st.integers(0, 8), st.integers(1, 8), st.integers(1, 12), st.integers(0, 20), st.integers(-5, 5)
)
def test_chebyshev_residual_polynomial(k, x, low, width, label):
    """In one dimension w_k = (1 − R(x²))·y/x with R in rational arithmetic."""
    high, eigenvalue = low + width, Fraction(x * x)
    if width:
        R = chebyshev_polynomial(k, (high + low - 2 * eigenvalue) / width)
        R /= chebyshev_polynomial(k, Fraction(high + low, width))
    else:
        R = (1 - eigenvalue / low) ** k
    expected = (1 - R) * label / x
    w = r.chebyshev([[float(x)]], [float(label)], k, float(low), float(high))
    # A rounding error in one step is multiplied by at most k·max(1, |R|) in k of them, and one
    # step multiplies by at most 1 + 4·λ/(a + c).
    growth = (1 + 4 * x * x / (high + low)) * k**2 * max(1, abs(R))
    assert abs(w[0] - float(expected)) <= 16 * EPS * (1 + growth) * (1 + abs(label) * 2)


@pytest.mark.parametrize("k", [0, 1, 2, 5])
def test_chebyshev_in_several_dimensions(k):
    """Against the recurrence of G_k over Q; rounding as in one dimension, with λ ≤ λmax."""
    x = np.array([[1.0, 2.0], [0.0, 1.0], [-1.0, 1.0]])
    y, (low, high) = np.array([1.0, -2.0, 3.0]), (1, 9)
    X, _, _, b = exact_problem(x, y)
    w = chebyshev_inverse(X, k, fmpq(low), fmpq(high)) @ b
    found = r.chebyshev(x, y, k, float(low), float(high))
    assert np.linalg.norm(found - as_float(w)) <= 16 * EPS * (1 + 9 * k**2) * 10


def problems():
    return r.gaussian_prompts(6, 5, 3, noise=0.5, seed=3)


SOLVERS = {
    "ols": lambda x, y: r.ols(x, y),
    "ridge": lambda x, y: r.ridge(x, y, 0.5),
    "gradient_descent": lambda x, y: r.gradient_descent(x, y, 7, 0.02),
    "online": lambda x, y: r.online_gradient_descent(x, y),
    "newton": lambda x, y: r.newton(x, y, 3, 1e-3),
    "hyperpower": lambda x, y: r.hyperpower(x, y, 2, 3, 1e-3),
    "conjugate_gradient": lambda x, y: r.conjugate_gradient(x, y, 2),
    "chebyshev": lambda x, y: r.chebyshev(x, y, 4, 0.5, 15.0),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_batched_like_single(name):
    """Leading dimensions are independent prompts: equal up to the order of summation."""
    p, solve = problems(), SOLVERS[name]
    x, y = p.x.reshape(2, 3, 5, 3), p.y.reshape(2, 3, 5)
    batched = solve(x, y)
    assert batched.shape == (2, 3, 3)
    assert batched.dtype == np.float64
    single = np.array([solve(a, b) for a, b in zip(p.x, p.y, strict=True)]).reshape(2, 3, 3)
    kappa = np.linalg.cond(x).max() ** 2
    assert np.abs(batched - single).max() <= 64 * 15 * EPS * kappa * np.abs(single).max()


def test_parameters_per_prompt():
    p = problems()
    alpha = 1e-3 * np.arange(1, 7)
    together = r.newton(p.x, p.y, 2, alpha)
    for i in range(6):
        single = r.newton(p.x[i], p.y[i], 2, alpha[i])
        assert np.abs(together[i] - single).max() <= 1e3 * EPS * np.abs(single).max()


@pytest.mark.parametrize(
    "iterates",
    [
        lambda x, y: r.gradient_descent_iterates(x, y, 0.02),
        lambda x, y: r.conjugate_gradient_iterates(x, y),
        lambda x, y: r.chebyshev_iterates(x, y, 0.5, 15.0),
    ],
)
def test_iterates_start_at_zero(iterates):
    p = problems()
    np.testing.assert_array_equal(next(iterates(p.x, p.y)), np.zeros((6, 3)))


@pytest.mark.parametrize(
    "iterates",
    [
        lambda x, y: r.newton_inverses(x.mT @ x, 0.001),
        lambda x, y: r.hyperpower_inverses(x.mT @ x, 3, 0.001),
        lambda x, y: r.gradient_descent_iterates(x, y, 0.02),
        lambda x, y: r.online_gradient_descent_iterates(x, y),
        lambda x, y: r.conjugate_gradient_iterates(x, y),
        lambda x, y: r.chebyshev_iterates(x, y, 0.5, 15.0),
    ],
)
def test_an_iterate_that_is_changed_changes_no_other(iterates):
    p = problems()
    unchanged, changed = (islice(iterates(p.x, p.y), 4) for _ in range(2))
    for w, z in zip(unchanged, changed, strict=True):
        np.testing.assert_array_equal(w, z)
        z += 100


DIVERGENT = {
    "alpha": lambda p, k: r.newton(p.x, p.y, k, 1.0),
    "alpha, order 3": lambda p, k: r.hyperpower(p.x, p.y, k, 3, 1.0, "identity"),
    "step_size": lambda p, k: r.gradient_descent(p.x, p.y, 10 * k, 1.0),
    "largest": lambda p, k: r.chebyshev(p.x, p.y, 10 * k, 0.1, 0.2),
}


@pytest.mark.parametrize("name", DIVERGENT)
def test_divergence_is_computed_until_it_overflows(name):
    p, solve, names = problems(), DIVERGENT[name], name.split(",")
    assert np.abs(solve(p, 4)).max() > 1e6
    with rejects(names[0]):
        solve(p, 300)


EXTREME = {
    "newton": lambda x, y: r.newton(x, y, 1, 1e300),
    "hyperpower": lambda x, y: r.hyperpower(x, y, 1, 3, 1e300),
    "gradient_descent": lambda x, y: r.gradient_descent(x, y, 2, 1e300),
    "chebyshev": lambda x, y: r.chebyshev(x, y, 60, 1e-300, 2e-300),
    "online_gradient_descent": lambda x, y: r.online_gradient_descent(x, y, 1e300),
    "normalised": lambda x, y: r.online_gradient_descent(1e-300 * x, 1e20 * y),
    "conjugate_gradient": lambda x, y: r.conjugate_gradient(1e-300 * x, 1e20 * y, 3),
    "ols": lambda x, y: r.ols(1e-300 * x, 1e20 * y),
    "ridge": lambda x, y: r.ridge(1e200 * x, y, 1.0),
}


@pytest.mark.parametrize("name", EXTREME)
def test_weights_that_overflow_are_rejected(name):
    x, y = np.array([[1e5, 2e5], [3e5, 4e5]]), np.array([1.0, -1.0])
    with rejects("x"):
        EXTREME[name](x, y)


LONG = {
    "gradient_descent": lambda x, y: r.gradient_descent(x, y, 10**9, 0.5),
    "newton": lambda x, y: r.newton(x, y, 10**9, 0.5),
    "conjugate_gradient": lambda x, y: r.conjugate_gradient(x, y, 10**9),
    "chebyshev": lambda x, y: r.chebyshev(x, y, 10**9, 0.5, 1.0),
    "hyperpower": lambda x, y: r.hyperpower(x, y, 10**4, 10**4, 0.5),
}


@pytest.mark.parametrize("name", LONG)
def test_runs_of_many_minutes_are_rejected(name):
    with rejects("k"):
        LONG[name]([[1.0]], [1.0])


@pytest.mark.parametrize("solve", [lambda *a: r.chebyshev(*a[:2], 1, *a[2:]), r.chebyshev_iterates])
def test_bounds_in_the_other_order_are_rejected(solve):
    with rejects("smallest", "largest"):  # at once, not at the first iterate
        solve([[1.0, 2.0]], [1.0], 2.0, 1.0)


@pytest.mark.parametrize(("of_x", "of_y"), [(1e200, 1.0), (1e-200, 1e-3), (1e150, 1e-150)])
def test_conjugate_gradients_solve_at_any_length(of_x, of_y):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 7, 3)), rng.standard_normal((2, 7))
    wanted = r.conjugate_gradient(x, y, 3) * (of_y / of_x)
    np.testing.assert_allclose(r.conjugate_gradient(of_x * x, of_y * y, 3), wanted, rtol=1e-12)


@pytest.mark.parametrize(
    ("of_x", "of_y", "product"),
    [
        (1e160, 1.0, "XᵀX"),
        (1e100, 1e210, "Xᵀy"),
        (1e-160, 1.0, "XᵀX"),
        (1e-100, 1e-210, "Xᵀy"),
    ],
)
@pytest.mark.parametrize(
    "solve",
    [
        lambda x, y: r.newton(x, y, 1, 1.0),
        lambda x, y: r.hyperpower(x, y, 1, 3, 1.0),
        lambda x, y: r.gradient_descent(x, y, 1, 1.0),
        lambda x, y: r.chebyshev(x, y, 1, 1.0, 2.0),
    ],
)
def test_products_that_are_lost_are_rejected(of_x, of_y, product, solve):
    x, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, -1.0])
    with rejects(product):
        solve(of_x * x, of_y * y)
