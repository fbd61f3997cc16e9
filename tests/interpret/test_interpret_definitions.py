"""The numbers of `verify.interpret`, by their formulas, one prompt and one prefix at a time."""

import numpy as np
import pytest

from theory.regression import Prompts, gaussian_prompts
from verify.interpret import algorithms, compare, induced_weights, outputs, probe, residual_filters
from verify.interpret.algorithms import FACTORS
from verify.interpret.filters import GROUPS, jackknifed
from verify.interpret.probes import ProbedLayers
from verify.interpret.registers import of_others

M, N, D = 6, 5, 3
P = gaussian_prompts(M, N, D, seed=5)
KNOWN = algorithms(P)
ROWS = np.concatenate([P.x, P.x_query[:, None]], 1)
LABELS = np.concatenate([P.y, P.y_query[:, None]], 1)


def predicted(weights):
    """The predictions (m, n + 1) of weights(X, y) from the first t examples X with labels y."""
    return np.array(
        [[ROWS[i, t] @ weights(P.x[i, :t], P.y[i, :t]) for t in range(N + 1)] for i in range(M)]
    )


def spectral(fitted):
    """Weights V f(λ)/λ Vᵀ b for the eigenvalues λ > 0 of S = XᵀX, where f also sees the largest."""

    def weights(X, y):
        values, V = np.linalg.eigh(X.T @ X)
        kept = values > 1e-9
        if not kept.any():
            return np.zeros(D)
        values, V = values[kept], V[:, kept]
        return V @ (fitted(values, values[-1]) / values * (V.T @ X.T @ y))

    return weights


@pytest.mark.parametrize("start", ["gram", "identity"])
def test_newton(start):
    def weights(X, y, k=4):
        S = X.T @ X
        top = np.linalg.eigvalsh(S)[-1] or 1.0
        A = S / top**2 if start == "gram" else np.eye(D) / top
        for _ in range(k):
            A = 2 * A - A @ S @ A
        return A @ X.T @ y

    found = KNOWN.newton([4], start)[0]
    np.testing.assert_allclose(found, predicted(weights), atol=1e-9)


def test_gradient_descent():
    def weights(X, y):
        S, w = X.T @ X, np.zeros(D)
        for _ in range(7):
            w = w - 1.5 / (np.linalg.eigvalsh(S)[-1] or 1.0) * (S @ w - X.T @ y)
        return w

    np.testing.assert_allclose(KNOWN.gradient_descent([7], 1.5)[0], predicted(weights), atol=1e-9)


def test_momentum_is_chebyshevs_method_on_the_stated_interval():
    """The residual is T_k(l(λ))/T_k(l(0)), where l maps [λmax/9, λmax] to [−1, 1]."""

    def fitted(values, top):
        low = top / 9
        line = lambda z: (2 * z - top - low) / (top - low)  # noqa: E731
        T = np.polynomial.chebyshev.Chebyshev.basis(3)
        return 1 - T(line(values)) / T(line(0.0))

    np.testing.assert_allclose(KNOWN.momentum([3], 9.0)[0], predicted(spectral(fitted)), atol=1e-9)


def test_filtered():
    found = KNOWN.filtered(1.3, 2.5)
    wanted = predicted(spectral(lambda v, top: 1 - (1 - (v / top) ** 1.3) ** 2**2.5))
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_bayes():
    wanted = predicted(lambda X, y: np.linalg.solve(X.T @ X + 0.25 * np.eye(D), X.T @ y))
    np.testing.assert_allclose(KNOWN.bayes(0.5), wanted, atol=1e-9)
    wanted = predicted(lambda X, y: np.linalg.pinv(X) @ y)
    np.testing.assert_allclose(KNOWN.bayes(0.0), wanted, atol=1e-9)
    np.testing.assert_allclose(KNOWN.least_squares(), wanted, atol=1e-9)


def test_online_gradient_descent_has_the_best_step_size():
    size = (P.x**2).sum(-1).mean()

    def passed(step):
        def weights(X, y):
            w = np.zeros(D)
            for x, label in zip(X, y, strict=True):
                w = w + (1 / (x @ x) if step is None else step) * (label - x @ w) * x
            return w

        return predicted(weights)

    steps = (None, *(factor / size for factor in FACTORS))
    tried = [passed(step) for step in steps]
    best = int(np.argmin([((each - LABELS) ** 2).mean() for each in tried]))
    (found,), step = KNOWN.online_gradient_descent()
    np.testing.assert_allclose(found, tried[best], atol=1e-9)
    assert step == steps[best]


def test_online_gradient_descent_on_examples_that_are_all_zero():
    zeros = Prompts(0 * P.x, P.y, 0 * P.x_query, P.y_query, P.w)
    (found,), step = algorithms(zeros).online_gradient_descent()
    assert not found.any()
    assert step is None


def test_squares_are_relative_to_the_variance_of_a_label():
    noise = 0.5
    probed = outputs(lambda x, y, q: q[:, 0], P, noise=noise)
    variance = (P.x**2).sum(-1).mean() + noise**2
    assert probed.variance == pytest.approx(variance)
    iterates = KNOWN.newton([1, 2])
    (table,) = compare(probed, "Newton", [1, 2], iterates).tables
    apart = iterates[:, :, 1:] - probed.predictions[0][:, 1:]
    np.testing.assert_allclose(table.squares[:, 0], (apart**2).mean(-1) / variance, atol=1e-12)
    assert probed.best == pytest.approx(((KNOWN.bayes(noise) - LABELS) ** 2).mean() / variance)


def test_errors_of_the_best_probe_are_extrapolated_from_halves():
    rng = np.random.default_rng(0)
    whole, halves = rng.random((2, M, N + 1)), rng.random((2, 2, M, N + 1))
    probed = ProbedLayers(P, whole, halves, 0.5, ("a", "b"))
    of = [((each - LABELS) ** 2).mean(-1) / probed.variance for each in (whole, *halves)]
    np.testing.assert_allclose(probed.errors, of[0] - ((of[1] + of[2]) / 2 - of[0]), atol=1e-12)


def stream(model, x, y, x_query):
    rows = np.concatenate([x, x_query[:, None]], 1)
    before = np.pad((y[..., None] * x).cumsum(1), ((0, 0), (1, 0), (0, 0)))
    linear = (before * rows).sum(-1, keepdims=True)
    return [rows, linear, np.sin(linear), np.concatenate([rows, linear], -1)]


def test_halves_of_probes_are_fitted_to_every_second_prompt():
    probes = probe(None, gaussian_prompts(40, N, D, seed=1), stream)
    fitted = gaussian_prompts(40, N, D, seed=1)
    for half in range(2):
        parts = (each[half::2] for each in (fitted.x, fitted.y, fitted.x_query, fitted.y_query))
        alone = probe(None, Prompts(*parts, fitted.w[half::2]), stream).weights[0]
        for found, wanted in zip(probes.weights[1 + half], alone, strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_the_jackknife_of_a_mean_is_its_standard_error():
    values = np.random.default_rng(2).random((GROUPS, 5))
    found = jackknifed(lambda g: np.delete(values, [] if g is None else g, axis=0).mean())
    groups = values.mean(1)
    assert found == pytest.approx(
        (values.mean(), groups.std(ddof=1) / np.sqrt(GROUPS), GROUPS - 1), rel=1e-12
    )


def test_a_layer_of_two_thirds_of_the_variance_has_no_filter():
    p = gaussian_prompts(40, 6, 3, seed=3)
    labels = np.concatenate([p.y, p.y_query[:, None]], 1)

    def scaled(model, x, y, x_query):
        known = algorithms(Prompts(x, y, x_query, np.zeros(len(x)), x_query)).least_squares()
        return [(1 - np.sqrt(error)) * known for error in (1 / 3, 2 / 3)]

    found = residual_filters(outputs(None, p, scaled))
    squares = (labels[:, 3:] ** 2).mean() / outputs(None, p, scaled).variance
    assert 0.34 * squares < 0.5 < 0.66 * squares
    assert [*found.powers] == [0]


def test_induced_weights_by_least_squares():
    fitted, T = gaussian_prompts(60, N, D, seed=1), 8
    queries = np.random.default_rng(3).standard_normal((M, T, D))
    probes = probe(None, fitted, stream)
    found = induced_weights(probes, P, queries)
    for layer, (i, t) in ((2, (1, 3)), (3, (4, 5))):
        x, y = (np.repeat(each[i : i + 1, :t], T, axis=0) for each in (P.x, P.y))
        H = np.pad(
            stream(None, x, y, queries[i])[layer][:, -1], ((0, 0), (0, 1)), constant_values=1
        )
        at_queries = H @ probes.weights[0][layer]
        w = np.linalg.lstsq(queries[i], at_queries, rcond=None)[0]
        left = ((at_queries - queries[i] @ w) ** 2).sum()
        np.testing.assert_allclose(found.weights[layer, i, t - 1], w, atol=1e-9)
        assert found.nonlinear[layer, i, t - 1] == pytest.approx(left / (T - D))
        r2 = 1 - left / (T - D) / (at_queries**2).mean()
        assert found.explained[layer, i, t - 1] == pytest.approx(r2)
        error = ((at_queries - queries[i] @ P.w[i]) ** 2).mean()
        assert found.error[layer, i, t - 1] == pytest.approx(error)
    assert found.silent[2, 0] == pytest.approx(((queries[2] @ P.w[2]) ** 2).mean())
    later = induced_weights(probes, P, queries, first=2)
    np.testing.assert_array_equal(later.weights, found.weights[2:])
    assert later.names == found.names[2:]


def test_gradient_descent_has_the_step_size_most_similar_to_the_last_layer():
    fitted = gaussian_prompts(60, N, D, seed=1)
    queries = np.random.default_rng(3).standard_normal((M, 8, D))
    found = induced_weights(probe(None, fitted, stream), P, queries)
    steps, similar = [1, 2, 4], {}
    for factor in FACTORS:
        cosines = np.empty((len(steps), M, N))
        for i in range(M):
            for t in range(1, N + 1):
                S, b = P.x[i, :t].T @ P.x[i, :t], P.x[i, :t].T @ P.y[i, :t]
                w, ours = np.zeros(D), found.weights[-1, i, t - 1]
                for k in range(1, max(steps) + 1):
                    w = w - factor / np.linalg.eigvalsh(S)[-1] * (S @ w - b)
                    if k in steps:
                        cosine = w @ ours / np.linalg.norm(w) / np.linalg.norm(ours)
                        cosines[steps.index(k), i, t - 1] = cosine
        similar[factor] = cosines.mean((1, 2)).max()
    likeness = found.gradient_descent(steps)
    best = max(similar, key=lambda each: similar[each])
    assert likeness.algorithm == f"gradient descent, step size {best:g}/λmax"
    assert likeness.last.mean() == pytest.approx(similar[best])
    assert max(similar.values()) > min(similar.values()) + 1e-3


def test_the_control_never_mixes_the_halves():
    values = np.arange(14).reshape(7, 2)
    assert of_others(values, 3).tolist() == values[[2, 0, 1, 6, 3, 4, 5]].tolist()
