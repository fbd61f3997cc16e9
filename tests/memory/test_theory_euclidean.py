"""Attention in R^d: the rescaled equation, and leaders in one dimension."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from theory.memory.euclidean import euclidean_flow
from theory.memory.sphere import sphere_flow


def test_it_is_the_equation_of_x_itself():
    """x' = Σ_j A_ij V x_j integrated as it stands, for a V and a QᵀK that do not commute."""
    rng = np.random.default_rng(0)
    X, V, QK = rng.uniform(-1, 1, (4, 2)), rng.uniform(-1, 1, (2, 2)), rng.uniform(-1, 1, (2, 2))

    def velocity(_, state):
        x = state.reshape(4, 2)
        weights = [[math.exp(a @ QK @ b) for b in x] for a in x]
        return np.concatenate(
            [sum(w * (V @ b) for w, b in zip(row, x, strict=True)) / sum(row) for row in weights]
        )

    times = [0.0, 0.5, 1.5]
    direct = solve_ivp(
        velocity, (0, 1.5), X.ravel(), "DOP853", t_eval=times, rtol=1e-12, atol=1e-12
    )
    flow = euclidean_flow(X, times, V, QK)
    assert abs(flow.rescaled[0] - X).max() == 0
    for t, z, A, wanted in zip(times, flow.rescaled, flow.attention, direct.y.T, strict=True):
        x = z @ expm(t * V).T
        assert abs(x - wanted.reshape(4, 2)).max() <= 1e-8
        weights = np.exp(x @ QK @ x.T)
        assert abs(A - weights / weights.sum(-1, keepdims=True)).max() <= 1e-13


@settings(max_examples=10)
@given(n=st.integers(1, 8), seed=st.integers(0, 999))
def test_leaders_and_a_boolean_matrix_in_one_dimension(n, seed):
    rng = np.random.default_rng(seed)
    x = np.sort(np.arange(n) + rng.uniform(-0.25, 0.25, n)) * (2 / n) - rng.uniform(0, 2)
    V, QK = rng.uniform(0.5, 2, 2)
    flow = euclidean_flow(x[:, None], [0.0, 7 / V, 14 / V], V, QK)
    A = flow.attention[-1]
    assert abs(A.sum(-1) - 1).max() <= (n + 4) * 2.0**-53
    # The order of tokens stays, so the leaders are the first and the last.
    assert (1 - A[:, [0, -1]].max(-1) > 1e-9).sum() <= 1
    grown = flow.rescaled[..., 0] * np.exp(V * flow.times)[:, None]
    assert (np.diff(grown, axis=-1) >= (1 - 1e-6) * np.diff(x)).all()


def test_one_token_grows_alone_and_a_batch_is_separate_systems():
    assert euclidean_flow([[2.0]], [0.0, 3.0]).rescaled.tolist() == [[[2.0]], [[2.0]]]
    X = np.random.default_rng(1).uniform(-1, 1, (2, 3, 2))
    both = euclidean_flow(X, [2.0], 0.5, 1.5)
    for place in range(2):
        one = euclidean_flow(X[place], [2.0], 0.5, 1.5)
        assert abs(both.rescaled[0, place] - one.rescaled[0]).max() <= 1e-9
    assert euclidean_flow(np.zeros((0, 2, 1)), [0.0, 1.0]).attention.shape == (2, 0, 2, 2)


def test_the_times_of_a_flow_are_its_own():
    times = np.array([0.5, 1.0])
    flows = euclidean_flow(np.eye(2), times), sphere_flow(np.eye(2), 1.0, times)
    times[:] = 9.0
    assert [flow.times.tolist() for flow in flows] == [[0.5, 1.0]] * 2
