"""Probes, algorithms and constructions, by their predictions."""

from dataclasses import fields, replace

import numpy as np
import pytest

import theory.regression as r
from constructions import gradient_descent, newton, online_gradient_descent
from constructions.trained import preset, untrained
from theory.regression import gaussian_prompts
from verify.interpret import Algorithms, predictions_of, probe
from verify.interpret.algorithms import labels_of
from verify.regression.trained.prompts import prompts_of


@pytest.fixture(scope="module")
def model():
    return untrained(preset("regression", "small")).double().requires_grad_(False)


def test_prompts_are_drawn_by_the_generator_that_is_given():
    """Fresh prompts at every call: probes are not fitted to the prompts of the measurement."""
    task = preset("regression", "small").task
    rng = np.random.default_rng(0)
    first, second = (prompts_of(task, 5, rng).x for _ in range(2))
    again = prompts_of(task, 5, np.random.default_rng(0)).x
    assert np.array_equal(first, again)
    assert not np.isin(second, first).any()


def test_a_read_out_is_the_least_squares_solution(model):
    """Against lstsq, on the rows of a small model; and the best, so that no other does better."""
    fitted, p = (gaussian_prompts(m, 10, 5, seed=m) for m in (30, 7))
    found, *halves = probe(model, fitted).read(p.x, p.y, p.x_query)
    assert found.shape == (7, 7, 11)
    for half, said in enumerate(halves):
        part = replace(fitted, **{f.name: getattr(fitted, f.name)[half::2] for f in fields(fitted)})
        np.testing.assert_allclose(
            said, probe(model, part).read(p.x, p.y, p.x_query, [0])[0], atol=1e-9
        )
    streams = (model.representations(each.x, each.y, each.x_query) for each in (fitted, p))
    for layer, (H, K) in enumerate(zip(*streams, strict=True)):
        X, Z = (
            np.concatenate([M.double().numpy(), np.ones((*M.shape[:-1], 1))], axis=-1)
            for M in (H, K)
        )
        rows = X.reshape(-1, X.shape[-1])
        w = np.linalg.lstsq(rows, labels_of(fitted).ravel(), rcond=1e-5)[0]
        np.testing.assert_allclose(found[layer], Z @ w, atol=2e-2)


def test_predictions_are_in_chunks(model, monkeypatch):
    p = gaussian_prompts(5, 4, 5, seed=0)
    whole = predictions_of(model, p)
    monkeypatch.setattr("verify.interpret.models.CHUNK", 2)
    np.testing.assert_allclose(predictions_of(model, p), whole, atol=1e-12)
    assert whole.shape == (5, 5)


def test_constructions_predict_what_the_algorithms_do():
    """All prefixes at once, or query by query; without examples the prediction is 0."""
    p = gaussian_prompts(5, 6, 3, seed=0)
    a = Algorithms(p)
    online = predictions_of(online_gradient_descent(3, 6), p)
    largest = a.spectrum.largest.max()
    steps = predictions_of(newton(3, 4, 1 / largest**2), p)
    causal = predictions_of(gradient_descent(3, 4, 1 / largest, causal=True), p)
    assert online.shape == steps.shape == causal.shape == (5, 7)
    i, t = 2, 4
    x, y, query = p.x[i, :t], p.y[i, :t], p.x[i, t]
    for said, w in (
        (online, r.online_gradient_descent(x, y, None)),
        (steps, r.newton(x, y, 4, 1 / largest**2)),
        (causal, r.gradient_descent(x, y, 4, 1 / largest)),
    ):
        assert said[i, t] == pytest.approx(w @ query)
        assert (said[:, 0] == 0).all()


def test_algorithms_against_their_definitions():
    p = gaussian_prompts(4, 6, 3, seed=2)
    a = Algorithms(p)
    online, step_size = a.online_gradient_descent()
    w = r.online_gradient_descent(p.x, p.y, step_size)
    np.testing.assert_allclose(online[0, :, -1], (w * p.x_query).sum(-1))
    assert online.shape == (1, 4, 7)
    assert (online[..., 0] == 0).all()
    t, i = 4, 1
    x, y, query = p.x[i, :t], p.y[i, :t], p.x[i, t]
    largest = np.linalg.eigvalsh(x.T @ x)[-1]
    w = r.gradient_descent(x, y, 4, 1.25 / largest)
    assert a.gradient_descent([1, 4], 1.25)[1, i, t] == pytest.approx(w @ query)
    w = r.newton(x, y, 3, 1 / largest**2)
    assert a.newton([3])[0, i, t] == pytest.approx(w @ query)
    w = r.chebyshev(x, y, 5, largest / 30, largest)
    assert a.momentum([5], 30)[0, i, t] == pytest.approx(w @ query)
    np.testing.assert_allclose(a.filtered(2, 3), a.newton([3])[0], atol=1e-12)
    np.testing.assert_allclose(a.filtered(1, 3), a.gradient_descent([8], 1.0)[0], atol=1e-12)
