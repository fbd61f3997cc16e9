"""Probes of torch modules from elsewhere, and all that they reject."""

import numpy as np
import pytest
import torch
from descent import Alternating, Descent
from refusals import rejects
from torch import nn

from constructions import gradient_descent, newton, online_gradient_descent
from theory.kinds import InputError
from theory.regression import Prompts, gaussian_prompts
from verify.interpret import (
    algorithms,
    induced_weights,
    outputs,
    predictions_of,
    probe,
    residual_filters,
)

D, N, STEP = 3, 6, 0.05
FITTED, MEASURED = (gaussian_prompts(m, N, D, seed=m) for m in (80, 20))
LABELS = np.concatenate([FITTED.y, FITTED.y_query[:, None]], -1)


def streams(p, steps):
    """The weights of each prefix after gradient steps, and their predictions, in numpy."""
    rows = np.concatenate([p.x, p.x_query[:, None]], 1)
    w = np.zeros_like(rows)
    for t in range(1, N + 1):
        x, y = p.x[:, :t], p.y[:, :t]
        for _ in range(steps):
            left = y - (x @ w[:, t, :, None])[..., 0]
            w[:, t] += STEP * (left[..., None] * x).sum(1)
    return np.concatenate([w, (w * rows).sum(-1, keepdims=True)], -1)


@pytest.mark.parametrize(("dtype", "off"), [(torch.float64, 1e-8), (torch.float32, 1e-4)])
def test_a_torch_module_is_read_by_hooks(dtype, off):
    """Predictions of the probes, against least squares on the streams computed by numpy."""
    model = Descent([STEP] * 4).to(dtype).eval()
    names = ["blocks.0", "blocks.3"]
    found = probe(model, FITTED, names).on(MEASURED)
    assert found.names == tuple(names)
    for steps, predictions in zip((1, 4), found.predictions, strict=True):
        X, Z = (streams(p, steps) for p in (FITTED, MEASURED))
        X, Z = (np.concatenate([M, np.ones((*M.shape[:-1], 1))], -1) for M in (X, Z))
        w = np.linalg.lstsq(X.reshape(-1, D + 2), LABELS.ravel(), rcond=None)[0]
        np.testing.assert_allclose(predictions, Z @ w, atol=off)
    assert not model.blocks[0]._forward_hooks  # hooks are removed
    assert model.blocks[0].step_size.grad is None
    shown = str(found)
    assert "blocks.3" in shown
    assert f"{found.errors[1].mean():.4f}" in shown


def test_errors_of_predictions_of_another_shape_are_refused():
    found = probe(Descent([STEP]).eval(), FITTED, ["blocks.0"]).on(MEASURED)
    assert found.error(found.predictions).shape == (1, len(MEASURED.x))
    for wrong in ("x", np.ones(3), found.predictions[..., 1:]):
        with rejects("predictions"):
            found.error(wrong)


def test_a_module_of_half_precision_is_called_in_it():
    model = Descent([STEP] * 3).eval()
    exact = predictions_of(model, MEASURED)
    half = predictions_of(model.to(torch.bfloat16), MEASURED)
    assert 0 < abs(half - exact).max() < 0.1 * abs(exact).max()


def test_tokens_of_predictions_are_selected():
    model = Alternating([STEP] * 2).eval()
    found = probe(model, FITTED, ["spread"], slice(None, None, 2)).on(MEASURED)
    w = np.linalg.lstsq(
        np.stack([streams(FITTED, 2)[..., -1].ravel(), np.ones(LABELS.size)], -1),
        LABELS.ravel(),
        rcond=None,
    )[0]
    np.testing.assert_allclose(
        found.predictions[0], streams(MEASURED, 2)[..., -1] * w[0] + w[1], atol=1e-4
    )
    with rejects("tokens"):
        probe(model, FITTED, ["spread"])


def test_layers_may_be_a_function_of_the_model():
    def given(model, x, y, x_query):
        assert (model, type(x)) == ("a model", np.ndarray)
        before = np.pad(y, ((0, 0), (1, 0)))
        return [before[..., None], np.stack([before, before], -1)]

    found = probe("a model", FITTED, given).on(MEASURED)
    assert found.names == ("stream 0", "stream 1")
    np.testing.assert_allclose(*found.predictions)


class Twice(nn.Module):
    """One block that runs twice."""

    def __init__(self):
        super().__init__()
        self.block, self.other = nn.Linear(D, D), nn.Linear(1, 1)

    def forward(self, x, y, x_query):
        return self.block(self.block(x_query))[:, 0]


def constant(shape):
    return lambda model, x, y, x_query: [np.zeros((len(x), *shape))]


BUILT = gradient_descent(D, 2, STEP, causal=True)
OTHER = gaussian_prompts(20, N, D + 1, seed=0)
BAD = {
    "a hook of another shape": (lambda: probe(Twice().eval(), FITTED, ["other"]), ["other"]),
    "a module that runs twice": (lambda: probe(Twice().eval(), FITTED, ["block"]), ["block"]),
    "no module": (lambda: probe(Twice().eval(), FITTED, []), ["streams"]),
    "one name": (lambda: probe(Twice().eval(), FITTED, "block"), ["streams"]),
    "labels at their own tokens": (
        lambda: probe(
            None, FITTED, lambda m, x, y, q: [np.concatenate([y, q[:, :1]], -1)[..., None]]
        ),
        ["tokens", "causal"],
    ),
    "predictions of labels from themselves": (
        lambda: outputs(lambda x, y, q: np.concatenate([y, q[:, :1]], -1), FITTED),
        ["tokens", "causal"],
    ),
    "no such module": (lambda: probe(Twice().eval(), FITTED, ["blocks.7"]), ["blocks.7"]),
    "no torch module": (lambda: probe(lambda *_: 0, FITTED, ["a"]), ["streams"]),
    "no layers": (lambda: probe(Twice().eval(), FITTED), ["streams"]),
    "two dimensions": (lambda: probe(None, FITTED, constant((N + 1,))), ["stream 0"]),
    "too few tokens": (lambda: probe(None, FITTED, constant((N, 2))), ["stream 0"]),
    "no numbers": (lambda: probe(None, FITTED, lambda *_: ["a"]), ["stream 0"]),
    "not finite": (
        lambda: probe(None, FITTED, lambda m, x, y, q: [np.full((len(x), N + 1, 1), np.nan)]),
        ["stream 0"],
    ),
    "prompts of another size": (
        lambda: probe(Descent([STEP]).eval().requires_grad_(False), FITTED, ["blocks.0"]).on(OTHER),
        ["prompts"],
    ),
    "a module of another form": (lambda: predictions_of(nn.Linear(9, 1).eval(), FITTED), ["shape"]),
    "training": (lambda: predictions_of(Descent([STEP]), FITTED), ["training"]),
    "a block in training": (
        lambda: probe(in_training(), FITTED, ["blocks.0"]),
        ["training", "dropout"],
    ),
    "dropout": (lambda: predictions_of(always_dropping(), FITTED), ["deterministic"]),
    "a random function": (
        lambda: outputs(lambda x, y, q: np.random.default_rng().random(len(x)), FITTED),
        ["deterministic"],
    ),
    "random layers": (
        lambda: probe(
            None, FITTED, lambda m, *p: [np.random.default_rng().random((*LABELS[:4].shape, 1))]
        ),
        [],
    ),
    "the device meta": (
        lambda: predictions_of(Descent([STEP]).eval().to("meta"), FITTED),
        ["meta"],
    ),
    "a library model on the device meta": (
        lambda: probe(gradient_descent(D, 2, STEP, causal=True).to("meta"), FITTED),
        ["meta", "embed.W_E"],
    ),
    "a function whose predictions are on the device meta": (
        lambda: predictions_of(lambda x, y, q: torch.zeros(q.shape[0], device="meta"), FITTED),
        ["meta"],
    ),
    "a block on the device meta": (lambda: predictions_of(partly_meta(), FITTED), ["meta"]),
    "a library model without a mask": (
        lambda: probe(gradient_descent(D, 2, STEP), FITTED),
        ["query", "causal=True"],
    ),
    "a library model with predictions at queries": (
        lambda: probe(online_gradient_descent(D, N), FITTED),
        ["query", "outputs"],
    ),
    "one output": (lambda: predictions_of(lambda *_: 0, FITTED), ["outputs", "0"]),
    "one output without a probe": (lambda: outputs(lambda *_: 0, FITTED), ["outputs", "0"]),
    "an output of another shape": (
        lambda: predictions_of(lambda x, y, q: x[..., 0], FITTED),
        ["outputs"],
    ),
    "prompts that do not fit together": (
        lambda: algorithms(
            Prompts(FITTED.x, FITTED.y[:, 1:], FITTED.x_query, FITTED.y_query, FITTED.w)
        ),
        ["y"],
    ),
    "one prompt": (
        lambda: probe(None, gaussian_prompts(1, N, D, seed=0), constant((N + 1, 2))),
        ["fitted"],
    ),
    "few queries": (
        lambda: induced_weights(probe(BUILT, FITTED), MEASURED, MEASURED.x[:, :D]),
        ["queries"],
    ),
    "queries for other prompts": (
        lambda: induced_weights(probe(BUILT, FITTED), MEASURED, FITTED.x),
        ["queries"],
    ),
    "no such layer": (
        lambda: induced_weights(probe(BUILT, FITTED), MEASURED, MEASURED.x, 3),
        ["first"],
    ),
    "noise": (
        lambda: residual_filters(outputs(newton(D, 2, 1e-4), MEASURED, noise=0.5)),
        ["noise"],
    ),
    "a function that fails": (
        lambda: outputs(lambda x, y, q: [1 // 0], MEASURED),
        ["ZeroDivisionError"],
    ),
    "a function of two arrays": (lambda: outputs(lambda x, y: y, MEASURED), ["TypeError"]),
    "streams that fail": (
        lambda: probe(BUILT, FITTED, streams=lambda *given: {}["a"]),
        ["function", "KeyError"],
    ),
    "no streams": (lambda: probe(BUILT, FITTED, streams=lambda *given: None), ["streams", "None"]),
    "few prompts": (
        lambda: residual_filters(outputs(newton(D, 2, 1e-4), gaussian_prompts(9, N, D, seed=0))),
        ["probed"],
    ),
    "few examples": (
        lambda: residual_filters(outputs(newton(D, 2, 1e-4), gaussian_prompts(30, 2, D, seed=0))),
        ["probed"],
    ),
}


def in_training():
    model = Descent([STEP]).eval()
    model.dropout.train()
    return model


def partly_meta():
    model = Descent([STEP, STEP]).eval()
    model.blocks[1].to("meta")
    return model


class Dropping(Descent):
    """Dropout in evaluation mode, as for Monte Carlo estimates."""

    def forward(self, *given):
        return nn.functional.dropout(super().forward(*given), 0.5, training=True)


def always_dropping():
    return Dropping([STEP]).eval()


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_probed_is_one_line(name):
    call, names = BAD[name]
    with rejects(*names):
        call()


def test_iterates_have_their_filters():
    """After k Newton steps from αS, p = 2 and log₂ m = k."""
    p = gaussian_prompts(100, N, D, seed=3)
    known = algorithms(p)

    def iterates(model, x, y, x_query):
        q = Prompts(x, y, x_query, np.zeros(len(x)), x_query)
        return [0 * q.y @ np.zeros((N, N + 1)), *algorithms(q).newton([4, 7])]

    found = residual_filters(outputs(None, p, iterates))
    assert [*found.powers] == [1, 2]  # the error of the prediction 0 is that of a label
    for layer, steps in ((1, 4), (2, 7)):
        assert found.powers[layer].mean == pytest.approx(2, abs=1e-6)
        assert np.log2(found.filters[layer].steps) == pytest.approx(steps, abs=1e-6)
    assert "undecided" in str(found).splitlines()[1]
    assert found.to_json()["stream 2"]["unexplained"] < 1e-9
    assert known.newton([4]).shape == (1, 100, N + 1)


def test_a_layer_induces_the_weights_that_it_applies():
    """A layer that predicts ⟨w, x⟩, where w are the least-squares weights of the examples before.

    The slope of the probe is 1 up to the fit, and its constant 0.
    """

    def streams(model, x, y, x_query):
        q = Prompts(x, y, x_query, x_query[:, 0], x_query)
        read = algorithms(q).least_squares()
        return [read[..., None], 0 * read[..., None]]

    fitted = gaussian_prompts(2000, N, D, seed=4)
    found = induced_weights(probe(None, fitted, streams), MEASURED, OTHER.x[:, :, :D])
    assert found.weights.shape == (2, 20, N, D)
    last = np.linalg.lstsq(MEASURED.x[3], MEASURED.y[3], rcond=None)[0]
    np.testing.assert_allclose(found.weights[0, 3, -1], last, atol=0.05)
    assert found.explained[0, :, -1].mean() == pytest.approx(1, abs=0.02)
    assert found.newton([0, 30]).best[0] == 30
    assert found.names == ("stream 0", "stream 1")
    assert found.to_json()["stream 1"]["R2"] == pytest.approx(found.explained[1].mean())
    assert "stream 1" in str(found)


def test_a_module_that_gains_a_layer_is_refused():
    """After the probes were fitted; one that loses a layer too."""
    layers = [0, 1]
    same = lambda _, x, y, q: [np.concatenate([x, q[:, None]], 1) for _ in layers]  # noqa: E731
    found = probe(None, FITTED, same)
    for changed, says in (([0, 1, 2], "layer 2"), ([0], "1 layers")):
        layers[:] = changed
        with pytest.raises(InputError, match=says):
            found.on(MEASURED)


def test_the_fewest_prompts_of_residual_filters():
    few, fewer = (gaussian_prompts(m, D, D, seed=0) for m in (16, 15))
    assert residual_filters(outputs(newton(D, 2, 1e-4), few))
    with rejects("probed", "15", "16"):
        residual_filters(outputs(newton(D, 2, 1e-4), fewer))


def test_probes_read_arrays_only(unchecked):
    p = MEASURED
    found = probe(None, FITTED, lambda _, x, y, q: [np.concatenate([x, q[:, None]], 1)])
    lists = found.read(p.x.tolist(), p.y.tolist(), p.x_query.tolist())
    assert np.array_equal(lists, found.read(p.x, p.y, p.x_query))
    for call in (found.read, found.after):
        with rejects("x", "()"):
            call(1, 1, 1)
    with rejects("y", "n"):
        found.read(p.x, p.y[:, 1:], p.x_query)
    with rejects("sets", "7"):
        found.read(p.x, p.y, p.x_query, [7])
