import numpy as np
import pytest
from exact import close_to_exact, fractions, online_weights, predict, prompt, read
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions import online_gradient_descent
from theory.regression import online_gradient_descent as solve
from theory.regression import online_gradient_descent_iterates
from verify.claim import Run
from verify.domains import Rational
from verify.finding import Verdict
from verify.regression.online_gradient_descent import _last_example_fitted, online_statement

Q = Rational()


@settings(max_examples=30)
@given(
    d=st.integers(1, 3),
    n=st.integers(1, 6),
    spare=st.integers(0, 2),
    zeros=st.sets(st.integers(0, 5)),
    seed=st.integers(0, 99),
)
def test_equal_to_one_pass_over_q(d, n, spare, zeros, seed):
    """With rows of zeros anywhere, and fewer examples than the model has layers."""
    x, y, q = prompt(np.random.default_rng(seed), n, d, 2)
    for row in zeros & set(range(n)):
        x[row] = x[row] * 0
    model = online_gradient_descent(d, n + spare)
    assert predict(model, Q, x, y, q) == (q @ online_weights(x, y)).tolist()


def test_each_step_fits_its_example():
    rng = np.random.default_rng(0)
    x, y = fractions(rng, 5, 2), fractions(rng, 5)
    model = online_gradient_descent(2, 5)
    for i in range(1, 6):
        if any(x[i - 1]):
            assert predict(model, Q, x[:i], y[:i], x[i - 1 : i]) == [y[i - 1]]


def test_the_last_example_is_fitted_also_if_its_input_would_be_0():
    """One input in 19 is 0: it is replaced by 1, since no prediction at 0 is a label."""
    zeros = 0
    for seed in range(60):
        case = online_statement(Run(seed=seed)).at(1, 1, 0)
        zeros += not case.rational(Run(seed=seed).rng).X[0][0]
        assert _last_example_fitted(Run(seed=seed), case).verdict is Verdict.HOLDS
    assert zeros


@pytest.mark.parametrize("n", [1, 2, 3])
def test_float64_is_within_its_rounding_bound(n):
    rng = np.random.default_rng(n)
    x, y, q = rng.normal(size=(n, 3)), rng.normal(size=n), rng.normal(size=3)
    model = online_gradient_descent(3, n)
    rows = read(Q, x), read(Q, y), read(Q, q)[None]
    close_to_exact(model, x, y, q, lambda: predict(model, Q, *rows))


def test_stays_right_where_the_powers_of_the_triangle_are_huge():
    """With x_i = 1 for all i, (−L)^l y has entries near 2^60; the iteration corrects itself."""
    model = online_gradient_descent(1, 60)
    assert abs(model([[1.0]] * 60, list(range(60)), [1.0]).item() - 59) < 1e-12


@pytest.mark.parametrize(("d", "n"), [(1, 60), (3, 150), (1, 300), (2, 600)])
def test_rounding_errors_do_not_grow_with_the_number_of_layers(d, n):
    """Relative to the labels, of standard deviation 1; powers of L have huge entries."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, y, q = rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=d)
        error = abs(float(online_gradient_descent(d, n)(x, y, q) - solve(x, y) @ q))
        assert error < 1e-11


@pytest.mark.slow
def test_residuals_that_overflow_are_rejected():
    """The first 1000 examples are not: the prediction from them is right."""
    rng = np.random.default_rng(0)
    x, y, q = rng.normal(size=(1500, 1)), rng.normal(size=1500), rng.normal(size=1)
    model = online_gradient_descent(1, 1500)
    assert abs(model(x[:1000], y[:1000], q).item() - solve(x[:1000], y[:1000]) @ q) < 1e-11
    with rejects("overflows float64"):
        model(x, y, q)


@pytest.mark.parametrize("n", [2, 5, 6, 300])
def test_each_layer_completes_one_residual_which_never_changes_again(n):
    rng = np.random.default_rng(n)
    x, y, q = rng.normal(size=(n, 2)), rng.normal(size=n), rng.normal(size=2)
    model = online_gradient_descent(2, n)
    streams = [*model.residual_stream(model.prompt(x, y, q))]
    label, *written = (model.stream[name] for name in ("y", "even", "odd"))
    residuals = np.array(
        [(H[1 : n + 1, label] + H[1 : n + 1, written[k % 2]])[:, 0] for k, H in enumerate(streams)]
    )
    for t in range(n):
        assert (residuals[t:n, t] == residuals[n - 1, t]).all()
    w = [*online_gradient_descent_iterates(x, y)][:n]
    assert residuals[n - 1] == pytest.approx(y - np.vecdot(w, x), rel=1e-9, abs=1e-11)


def test_a_zero_row_changes_nothing():
    """Its key would be 0/0; without it the answer is the same, and so is the recursion's."""
    x = np.array([[1.0, 2.0], [0.0, 0.0], [-1.0, 0.5]])
    y, query = np.array([1.0, 5.0, -2.0]), np.array([0.5, 4.0])
    answer = online_gradient_descent(2, 3)(x, y, query).item()
    kept = [0, 2]
    assert answer == online_gradient_descent(2, 3)(x[kept], y[kept], query).item()
    assert answer == pytest.approx(query @ solve(x, y), rel=1e-14)
