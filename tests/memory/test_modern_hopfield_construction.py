"""The transformers of modern Hopfield networks against the definition in numpy."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.memory.modern_hopfield import hopfield_attention, modern_hopfield_update
from theory import machine
from theory.memory.modern_hopfield import modern_hopfield_step
from theory.memory.retrieval_bounds import rounding_bound

patterns = np.random.default_rng(0).standard_normal((5, 3))
sizes = {"N": st.integers(1, 6), "d": st.integers(1, 4), "seed": st.integers(0, 999)}


@settings(max_examples=20)
@given(
    beta=st.sampled_from([1e-6, 0.3, 4.0, 1e6]),
    steps=st.sampled_from([0, 1, 2, 5, 30, 31]),
    batch=st.lists(st.integers(0, 3), max_size=2),
    **sizes,
)
def test_each_layer_is_one_update(beta, steps, batch, N, d, seed):
    rng = np.random.default_rng(seed)
    X, queries = rng.standard_normal((N, d)), rng.standard_normal((*batch, d))
    model = modern_hopfield_update(X, beta, steps)
    found = model(queries)
    assert found.shape == queries.shape
    size = float(np.linalg.norm(queries, axis=-1).max(initial=0.0))
    wanted = modern_hopfield_step(X, queries, beta, steps)
    errors = np.linalg.norm(found.numpy() - wanted, axis=-1)
    assert (errors <= 2 * rounding_bound(X, beta, steps, size)).all()
    assert (model.n_layers, model.n_heads, model.d_model) == (steps, min(steps, 1), 3 * d)


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16])
def test_queries_much_longer_than_patterns_cost_no_digits(steps, dtype):
    """The old state is subtracted from itself, not from the update, so that nothing is rounded."""
    X = np.eye(4)[:3] * [[1.0], [0.75], [0.5]] + 2.0**-10
    model = modern_hopfield_update(X, 2.0**12, steps).to(dtype)
    queries = np.array([[1e4, 0.0, 0.0, 3e4], [0.0, 1e4, -3e4, 0.0]])
    if dtype != torch.float16:
        queries *= 1e8
    else:
        queries /= 10
    assert torch.equal(model(queries), torch.tensor(X[:2], dtype=dtype))


def test_no_sharpness_overflows():
    """Scores are compared before they are multiplied."""
    X = 1e3 * patterns
    assert np.array_equal(modern_hopfield_update(X, 1e308)(X), X[(X @ X.T).argmax(1)])


def test_it_is_sharpened_like_any_other_model():
    queries = np.random.default_rng(2).standard_normal((4, 3))
    model = modern_hopfield_update(patterns, 1.0, 2)
    assert torch.equal(
        model.sharpened(3.0)(queries), modern_hopfield_update(patterns, 3.0, 2)(queries)
    )


def test_patterns_stay_on_the_model_and_are_its_own():
    X = patterns.copy()
    model = modern_hopfield_update(X, 2.0)
    X[:] = 0
    assert model.interface.patterns.dtype == torch.float64
    assert np.array_equal(model.interface.patterns, patterns)
    assert dict(model.named_parameters())["interface.patterns"] is model.interface.patterns
    assert model.float()(np.zeros(3)).dtype == torch.float32


def test_it_prints_its_registers_and_sizes():
    printed = str(modern_hopfield_update(patterns, 2.0))
    assert all(word in printed for word in ("state", "pattern", "found", "5×3 array", "beta=2.0"))


@pytest.mark.parametrize(
    "given_as",
    [lambda X: X, lambda X: X.tolist(), torch.tensor, lambda X: X[::-1][::-1], np.asfortranarray],
)
def test_patterns_in_any_form(given_as):
    found = modern_hopfield_update(given_as(patterns), 2.0)(given_as(patterns))
    wanted = modern_hopfield_step(patterns, patterns, 2.0)
    M = np.linalg.norm(patterns, axis=1).max()
    assert abs(found.numpy() - wanted).max() <= 2 * rounding_bound(patterns, 2.0, 1, M)


@settings(max_examples=20)
@given(
    d_r=st.sampled_from([1, 2, 3, 17]),
    d_k=st.sampled_from([1, 2, 3, 20]),
    N=st.sampled_from([1, 2, 5, 40]),
    m=st.integers(0, 3),
    beta=st.sampled_from([None, 1e-6, 0.7, 50.0]),
    batch=st.sampled_from([((), ()), ((2,), (2,)), ((2, 1), (3,)), ((), (2,))]),
    seed=st.integers(0, 99),
)
def test_attention_is_an_update_of_the_keys_then_its_values(d_r, d_k, N, m, beta, batch, seed):
    rng = np.random.default_rng(seed)
    W_Q, W_K, W_V = (
        rng.integers(-3, 4, shape).astype(float) for shape in ((d_r, d_k), (2, d_k), (d_k, 4))
    )
    Y = rng.integers(-4, 5, (*batch[0], N, 2)) / 4
    R = rng.integers(-4, 5, (*batch[1], m, d_r)) / 4
    found = hopfield_attention(W_Q, W_K, W_V, beta)(Y, R).numpy()
    leading = np.broadcast_shapes(*batch)
    assert found.shape == (*leading, m, 4)
    scale = d_k**-0.5 if beta is None else beta
    keys = np.broadcast_to(Y @ W_K, (*leading, N, d_k))
    states = np.broadcast_to(R @ W_Q, (*leading, m, d_k))
    for place in np.ndindex(leading):
        wanted = modern_hopfield_step(keys[place], states[place], scale) @ W_V
        size = float(np.linalg.norm(states[place], axis=-1).max(initial=0.0))
        M = float(np.linalg.norm(keys[place], axis=-1).max())
        bound = 2 * rounding_bound(keys[place], scale, 1, size) + 8 * (d_k + 3) * 2.0**-53 * M
        assert np.linalg.norm(found[place] - wanted) <= bound * np.linalg.norm(W_V) * max(m, 1)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: modern_hopfield_update([[1e200]], 1.0), "patterns"),
        (lambda: modern_hopfield_update(patterns, 1.0)(np.zeros(4)), "queries"),
        (lambda: modern_hopfield_update(patterns, 1.0)(0.0), "queries"),
        (lambda: modern_hopfield_update(patterns, 1.0)([0, 0, math.inf]), "queries"),
        (lambda: modern_hopfield_update(patterns, 1.0)([0, 0, 1e308]), "queries"),
        (lambda: modern_hopfield_update(patterns, 1.0).sharpened(0.0), "sharpness"),
        (lambda: layer()(np.zeros((0, 2)), np.zeros((1, 2))), "stored"),
        (lambda: layer()(np.zeros((3, 2)), np.zeros(2)), "state"),
        (lambda: layer()(np.zeros((3, 1)), np.zeros((1, 2))), "stored"),
        (lambda: layer()(np.zeros((3, 2)), np.full((1, 2), math.nan)), "state"),
        (lambda: layer()(np.full((3, 2), 1e200), np.full((1, 2), 1e200)), "stored"),
        (lambda: layer()(np.zeros((2, 3, 2)), np.zeros((3, 1, 2))), "state"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_bad_input(call, name, unchecked):
    with rejects(name):
        call()


def layer():
    return hopfield_attention(np.eye(2), np.eye(2), np.eye(2))


def test_more_scores_than_memory_raise_before_building(monkeypatch):
    model, attention = modern_hopfield_update(patterns, 1.0), layer()
    monkeypatch.setattr(machine, "available_memory", lambda: 700)
    with rejects("5", "1", "constructions.retrieve"):
        modern_hopfield_update(patterns, 1.0)
    with rejects("5", "2"):
        model(np.zeros((2, 3)))
    with rejects("9", "1"):
        attention(np.zeros((9, 2)), np.zeros((1, 2)))


def test_a_million_patterns_raise_at_once():
    with rejects("2.33e+04", "patterns"):
        modern_hopfield_update(np.zeros((10**6, 1)), 1.0)
