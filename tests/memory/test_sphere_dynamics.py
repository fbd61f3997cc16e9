"""The transformer of the sphere against its formula, the flow, and its own balls."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.memory.sphere_dynamics import sphere_dynamics
from theory.memory.sphere import sphere_velocity, step_rounding, uniform_tokens


def uniform(seed, *shape):
    return uniform_tokens(np.random.default_rng(seed), *shape)


def step(x, beta, h):
    """One layer, token by token."""
    moved = []
    for a in x:
        weights = [math.exp(beta * (float(a @ b) - 1)) for b in x]
        new = a + h * sum(w * b for w, b in zip(weights, x, strict=True)) / sum(weights)
        moved.append(new / math.sqrt(math.fsum(new * new)))
    return np.array(moved)


@settings(max_examples=15)
@given(
    n=st.integers(1, 6),
    d=st.integers(1, 4),
    beta=st.sampled_from([1e-6, 1.0, 9.0]),
    seed=st.integers(0, 999),
)
def test_layers_are_the_formula(n, d, beta, seed):
    X = uniform(seed, 2, n, d)
    states = list(sphere_dynamics(d, beta, 0.25, 3).streams(X))
    assert torch.equal(states[0], torch.as_tensor(X))
    for before, after in pairwise(H.numpy() for H in states):
        for x, found in zip(before, after, strict=True):
            assert abs(found - step(x, beta, 0.25)).max() <= 2 * step_rounding(n, d, beta, 0.25)


def test_many_layers_of_many_tokens():
    n, d, beta = 24, 9, 3.0
    states = [H[0].numpy() for H in sphere_dynamics(d, beta, 0.5, 30).streams(uniform(0, 1, n, d))]
    assert len(states) == 31
    for before, after in pairwise(states):
        assert abs(after - step(before, beta, 0.5)).max() <= 2 * step_rounding(n, d, beta, 0.5)


@settings(max_examples=15)
@given(h=st.sampled_from([0.5, 0.125, 2.0**-10]), beta=st.floats(0.1, 5), seed=st.integers(0, 999))
def test_a_layer_is_an_euler_step_up_to_the_proved_error(h, beta, seed):
    """‖layer − (x + hv)‖ ≤ h²(|s|·‖v‖/(1 + hs) + ‖v‖²/(2(1 + hs)²)), s = ⟨x, u⟩, v = P u."""
    X = uniform(seed, 5, 3)
    scores = beta * (X @ X.T)
    A = np.exp(scores - scores.max(-1, keepdims=True))
    s = np.vecdot(X, (A / A.sum(-1, keepdims=True)) @ X)
    v = sphere_velocity(X, beta)
    length = np.linalg.norm(v, axis=-1)
    assert (1 + h * s > 0).all()
    bound = h * h * (abs(s) * length / (1 + h * s) + length**2 / (2 * (1 + h * s) ** 2))
    layer = sphere_dynamics(3, beta, h, 1)(X).numpy()
    off = np.linalg.norm(layer - (X + h * v), axis=-1)
    assert (off <= bound + 4 * step_rounding(5, 3, beta, 0.25)).all()


def test_all_layers_are_one_block():
    one, many = (sphere_dynamics(3, 1.0, 0.5, layers) for layers in (1, 7))
    assert one.n_parameters == many.n_parameters == 6 * 9 + 2 * 3
    assert (many.n_layers, many.n_heads, many.d_model, many.interface.d) == (7, 1, 3, 3)
    assert all(block is many.blocks[0] for block in many.blocks)
    assert "2^−1·x" in str(one)


def test_special_tokens():
    X = uniform(4, 3, 2)
    assert torch.equal(sphere_dynamics(2, 1.0, 0.5, 0)(X), torch.as_tensor(X))
    model = sphere_dynamics(2, 1.0, 1.0, 3)
    for still in ([[0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [-1.0, 0.0]]):
        assert torch.equal(model(still), torch.tensor(still, dtype=torch.float64))
    assert model(np.zeros((0, 3, 2))).shape == (0, 3, 2)
    assert model(np.broadcast_to(X, (2, 3, 2))).shape == (2, 3, 2)
    assert torch.equal(model(X[::-1]), model(X[::-1].copy()))
    assert torch.equal(sphere_dynamics(2, 1e6, 0.5, 2)(np.eye(2)), torch.eye(2).double())
    assert sphere_dynamics(2, 1.0, 0.5, 2).float()(X.astype(np.float32)).dtype == torch.float32
    assert torch.equal(
        sphere_dynamics(1, 1.0, 1.0, 2)([[1.0], [-1.0]])[:, 0], torch.tensor([1, -1])
    )


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_unit_length_up_to_rounding(dtype):
    """An error of (d + 4)·eps, of a row divided by its length, is accepted, and 1e3·eps is not."""
    model, eps = sphere_dynamics(2, 1.0, 0.5, 1).to(dtype), torch.finfo(dtype).eps
    for error, accepted in ((-4, True), (4, True), (-1e3, False), (1e3, False)):
        X = torch.tensor([[1 + error * eps, 0.0], [0.0, 1.0]], dtype=dtype)
        if accepted:
            assert torch.isfinite(model(X)).all()
        else:
            with rejects("X"):
                model(X)


@pytest.mark.parametrize(
    "X", [2 * np.eye(2), np.eye(3), np.array([1.0, 0.0]), np.zeros((0, 2)), [[math.nan, 0.0]]]
)
def test_bad_tokens(X, unchecked):
    model = sphere_dynamics(2, 1.0, 0.5, 1)
    for run in (model, model.streams):
        with rejects("X"):
            run(np.array(X))
