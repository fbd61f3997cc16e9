"""Probes are least squares for streams of any scale and origin."""

from dataclasses import replace

import numpy as np
import pytest

from theory.regression import gaussian_prompts
from verify.interpret import induced_weights, probe

FITTED, MEASURED = (gaussian_prompts(m, 6, 3, seed=m) for m in (300, 40))
LABELS = np.concatenate([FITTED.y, FITTED.y_query[:, None]], -1)


def stream(x, y, x_query):
    """A random coordinate of the inputs, and one gradient step."""
    rows = np.concatenate([x, x_query[:, None]], 1)
    before = np.pad((y[..., None] * x).cumsum(1), ((0, 0), (1, 0), (0, 0)))
    return np.stack([rows[..., 0], (before * rows).sum(-1)], -1)


def wanted():
    X, Z = (stream(p.x, p.y, p.x_query) for p in (FITTED, MEASURED))
    X, Z = (np.concatenate([M, np.ones((*M.shape[:-1], 1))], -1) for M in (X, Z))
    w = np.linalg.lstsq(X.reshape(-1, 3), LABELS.ravel(), rcond=None)[0]
    return Z @ w


@pytest.mark.parametrize(
    ("scales", "origin"),
    [
        ((1.0, 1.0), (0.0, 0.0)),
        ((1.0, 1e-6), (0.0, 0.0)),
        ((1e8, 1.0), (0.0, 0.0)),
        ((1.0, 1.0), (0.0, 1e4)),
        ((1e-4, 1e-4), (1.0, -1.0)),
        ((1e30, 1e30), (1e30, 0.0)),
    ],
)
def test_scales_and_origins_change_no_prediction(scales, origin):
    def moved(model, *given):
        return [stream(*given) * scales + origin]

    found = probe(None, FITTED, moved).on(MEASURED).predictions[0]
    np.testing.assert_allclose(found, wanted(), rtol=1e-6, atol=1e-6)


def test_constant_and_repeated_coordinates_change_no_prediction():
    def more(model, *given):
        H = stream(*given)
        noise = 1e-8 * np.sin(1e9 * H[..., :1])  # as of float32
        return [np.concatenate([H, 0 * noise + 7.0, 0 * noise, 3.0 + noise, 2 * H], -1)]

    probes = probe(None, FITTED, more)
    np.testing.assert_allclose(probes.on(MEASURED).predictions[0], wanted(), rtol=1e-6, atol=1e-6)
    assert abs(probes.weights[0][0][[2, 3]]).max() < 1e-10


def test_correlated_coordinates_are_read():
    """The signal is a thousandth of the difference between two coordinates."""

    def mixed(model, *given):
        H = stream(*given)
        return [np.stack([H[..., 0] + 1e-3 * H[..., 1], H[..., 0]], -1)]

    found = probe(None, FITTED, mixed).on(MEASURED).predictions[0]
    np.testing.assert_allclose(found, wanted(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-160, 1e160, 1e200])
def test_prompts_of_any_scale_have_probes(scale):
    """Squares of the stream, or of the labels, leave float64."""

    def inputs(model, x, y, x_query):
        return [np.concatenate([x, x_query[:, None]], 1)]

    near = probe(None, FITTED, inputs).weights[0][0]
    scaled = replace(FITTED, x=FITTED.x * scale, x_query=FITTED.x_query * scale)
    found = probe(None, scaled, inputs).weights[0][0]
    np.testing.assert_allclose(found * np.r_[scale, scale, scale, 1], near, rtol=1e-9)
    larger = replace(FITTED, y=FITTED.y * scale, y_query=FITTED.y_query * scale)
    np.testing.assert_allclose(probe(None, larger, inputs).weights[0][0] / scale, near, rtol=1e-9)


def squared(model, x, y, x_query):
    """Predictions that are no linear functions of the query."""
    return [np.concatenate([x, x_query[:, None]], 1) ** 2]


@pytest.mark.parametrize("scale", [1e-200, 1e-170, 1e-100, 1e100])
def test_the_fit_of_induced_weights_does_not_depend_on_the_scale_of_labels(scale):
    queries = np.random.default_rng(3).standard_normal((40, 9, 3))
    near = induced_weights(probe(None, FITTED, squared), MEASURED, queries)
    larger = replace(FITTED, y=FITTED.y * scale, y_query=FITTED.y_query * scale)
    found = induced_weights(probe(None, larger, squared), MEASURED, queries)
    np.testing.assert_allclose(found.explained, near.explained, rtol=1e-9)
    assert found.explained.mean() < 0.9


def test_squares_that_leave_float64_are_refused():
    queries = np.random.default_rng(3).standard_normal((40, 9, 3))
    probes = probe(None, FITTED, squared)
    for scale in (1e-170, 1e-155, 1e155, 1e170):
        with pytest.raises(ValueError, match="closer to 1"):
            induced_weights(probes, replace(MEASURED, w=MEASURED.w * scale), queries)
    assert induced_weights(probes, replace(MEASURED, w=0 * MEASURED.w), queries).silent.max() == 0
    larger = replace(FITTED, y=FITTED.y * 1e170, y_query=FITTED.y_query * 1e170)
    with pytest.raises(ValueError, match="closer to 1"):
        induced_weights(probe(None, larger, squared), MEASURED, queries)
