"""Models of `constructions.memory` at many sizes, compared with definitions."""

import math

import numpy as np
import pytest
import scipy.linalg
from memory_by_definition import signs, steps

import constructions as c
from theory import memory as m


@pytest.mark.parametrize(
    ("P", "d"), [(1, 1), (2, 3), (33, 5), (5, 33), (65, 130), (130, 300), (300, 7)]
)
def test_hopfield_networks(P, d):
    patterns, states = signs(P, d), signs(4, d, seed=1)
    W = np.zeros((d, d), dtype=int)
    for row in patterns:
        W += np.outer(row, row)
    W -= np.diag(W.diagonal())
    b = np.random.default_rng(d).integers(-3, 4, d)
    assert (m.hebb(patterns) == W).all()
    for bias in (None, b):
        used = np.zeros(d, dtype=int) if bias is None else b
        h = states @ W + used
        assert (m.hopfield_fields(W, states, bias) == h).all()
        energy = [-(s @ W @ s) // 2 - used @ s for s in states]
        assert m.hopfield_energy(W, states, bias).tolist() == energy
        found = m.synchronous_run(W, states, bias)
        assert (m.synchronous_update(W, states, bias) == np.where(h == 0, states, np.sign(h))).all()
        for i, s in enumerate(states):
            path = steps(W, used, s, 60)
            first = next(t for t in range(58) if (path[t] == path[t + 2]).all())
            period = 1 if (path[first] == path[first + 1]).all() else 2
            assert (found.period[i], found.steps[i]) == (period, first)
            assert (found.states[i] == path[first]).all()
            for count in (0, 1, 5, *((40, 41) if d <= 33 else ())) if d <= 130 else ():
                said = c.hopfield_update(W, bias, count)(s)
                assert (said.numpy() == path[count]).all()
            order = np.random.default_rng(i).permutation(d)
            settled = m.asynchronous_update(W, s, order, bias)
            now, flips, sweeps, moved = s.copy(), 0, 0, True
            while moved:
                moved, sweeps = False, sweeps + 1
                for j in order:
                    field = W[j] @ now + used[j]
                    if field * now[j] < 0:
                        now[j], flips, moved = -now[j], flips + 1, True
            assert (settled.states == now).all()
            assert (settled.flips, settled.sweeps) == (flips, sweeps)
    assert (m.hebb_fields(patterns, states) == states @ W).all()
    by_patterns, by_weights = m.hebb_synchronous_run(patterns, states), m.synchronous_run(W, states)
    assert (by_patterns.states == by_weights.states).all()
    assert (by_patterns.period == by_weights.period).all()
    if d <= 130:
        for count in (0, 1, 3, *((40, 41) if d <= 33 else ())):
            said = c.hebbian_attention(patterns, count)(states).numpy()
            assert (said == [steps(W, 0, s, count)[-1] for s in states]).all()


@pytest.mark.parametrize(
    ("N", "d"),
    [(1, 2), (2, 3), (33, 5), (130, 17), pytest.param(300, 130, marks=pytest.mark.slow), (300, 2)],
)
def test_modern_networks(N, d):
    rng = np.random.default_rng(N)
    X, states = rng.normal(size=(N, d)) / d**0.5, rng.normal(size=(3, d))
    for beta in (0.1, 1.0, 50.0):
        weights = m.pattern_weights(X, states, beta)
        step = m.modern_hopfield_step(X, states, beta)
        model = c.modern_hopfield_update(X, beta, 2)
        for i, s in enumerate(states):
            scores = [beta * math.fsum(row * s) for row in X]
            e = np.array([math.exp(v - max(scores)) for v in scores])
            p = e / math.fsum(e)
            assert weights[i] == pytest.approx(p, rel=1e-10, abs=1e-300)
            assert step[i] == pytest.approx(p @ X, rel=1e-9, abs=1e-12)
            J = beta * (X.T * p) @ X - beta * np.outer(p @ X, p @ X)
            assert m.jacobian(X, s, beta) == pytest.approx(J, rel=1e-8, abs=1e-9 * beta)
            longest = max(np.linalg.norm(row) for row in X)
            energy = -(max(scores) + math.log(math.fsum(e))) / beta + s @ s / 2
            energy += math.log(N) / beta + longest**2 / 2
            assert m.modern_hopfield_energy(X, s, beta) == pytest.approx(
                energy, rel=1e-9, abs=1e-12
            )
            following = m.modern_hopfield_step(X, step[i], beta)
            assert model(s).numpy() == pytest.approx(following, rel=1e-8, abs=1e-10)
            assert c.retrieve(X, s, beta, steps=2).numpy() == pytest.approx(following, abs=1e-5)
    if N > 1:
        found = m.separation(X)
        wanted = [
            min(row @ (row - X[j]) for j in range(N) if j != i) for i, row in enumerate(X[:40])
        ]
        assert found[:40] == pytest.approx(np.array(wanted), abs=1e-12)


@pytest.mark.parametrize(("P", "d"), [(9, 33), (40, 65)])
@pytest.mark.parametrize("sweeps", [0, 1, 2, 3, 7])
def test_numbers_of_sweeps(P, d, sweeps):
    """Updates of a Hopfield network and of dense memories, one neuron after another."""
    patterns, states = signs(P, d), signs(3, d, seed=1)
    W = patterns.T @ patterns - P * np.eye(d, dtype=int)
    order = np.random.default_rng(d).permutation(d)
    memories = {
        "hopfield": (
            lambda s, i: int(W[i] @ s),
            m.asynchronous_update(W, states, order, sweeps=sweeps),
        ),
        **{
            degree: (
                lambda s, i, degree=degree: sum(
                    (x + y) ** degree - (x - y) ** degree
                    for x, y in (
                        (int(row @ s) - int(row[i] * s[i]), int(row[i])) for row in patterns
                    )
                ),
                m.dense_update(patterns, states, degree, order, sweeps=sweeps),
            )
            for degree in (3, 20)
        },
    }
    for field, found in memories.values():
        for k, start in enumerate(states):
            s, flips, made, converged = start.copy(), 0, 0, False
            while made < sweeps and not converged:
                before = s.copy()
                for i in order:
                    if (gain := field(s, i)) and s[i] != np.sign(gain):
                        s[i], flips = -s[i], flips + 1
                made, converged = made + 1, bool((s == before).all())
            assert (found.states[k] == s).all()
            assert (found.flips[k], found.sweeps[k], found.converged[k]) == (flips, made, converged)


@pytest.mark.parametrize("most", [0, 1, 3, 4, 9])
def test_runs_that_are_stopped(most):
    patterns, states = signs(30, 65), signs(5, 65, seed=2)
    W = patterns.T @ patterns - 30 * np.eye(65, dtype=int)
    found = m.hebb_synchronous_run(patterns, states, max_steps=most)
    for i, s in enumerate(states):
        path = steps(W, 0, s, 60)
        first = next(t for t in range(58) if (path[t] == path[t + 2]).all())
        assert (found.states[i] == path[min(first, most)]).all()


@pytest.mark.parametrize(("n", "d", "count"), [(12, 5, 9), (33, 12, 13)])
def test_flows_of_many_tokens(n, d, count):
    """The flow of the tokens themselves, by Runge and Kutta's method of order 4."""
    rng = np.random.default_rng(n)
    X, V, QK = rng.normal(size=(n, d)), rng.normal(size=(d, d)) / d, rng.normal(size=(d, d)) / d
    times = np.linspace(0, 1.2, count)

    def attention(x):
        scores = x @ QK @ x.T
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True)

    def velocity(x):
        return attention(x) @ x @ V.T

    found, x, h = m.euclidean_flow(X, times, V, QK), X, 1.2 / (count - 1) / 30
    for k, end in enumerate(times):
        for _ in range(30 if k else 0):
            a = velocity(x)
            b = velocity(x + h / 2 * a)
            e = velocity(x + h / 2 * b)
            x = x + h / 6 * (a + 2 * b + 2 * e + velocity(x + h * e))
        assert np.allclose(found.rescaled[k], x @ scipy.linalg.expm(-end * V).T, atol=1e-7)
        assert np.allclose(found.attention[k], attention(x), atol=1e-7)


def test_a_radius_around_the_mean_of_many_patterns():
    """The least r with g(r) ≤ r, on a fine grid, for a cluster of 30 of 60 patterns."""
    rng, beta = np.random.default_rng(0), 3.0
    X = rng.normal(size=(60, 3))
    X[:30] /= 9
    X[:, 0] += np.where(np.arange(60) < 30, 4, -4)
    X = X[rng.permutation(60)]
    C = np.flatnonzero(X[:, 0] > 1)
    O = np.setdiff1d(np.arange(60), C)  # noqa: E741
    mean = X[C].mean(0)
    rho, h = (np.linalg.norm(X[part] - mean, axis=1).max() for part in (C, O))
    gamma = (mean @ mean - X[O] @ mean).min()
    r = np.linspace(0, 20, 2_000_001)
    with np.errstate(over="ignore"):
        outside = np.minimum(1, len(O) / len(C) * np.exp(-beta * (gamma - r * h)))
    g = beta * rho**2 * (np.linalg.norm(mean) + r) + (h + rho) * outside
    wanted = r[np.flatnonzero(g <= r)[0]] if (g <= r).any() else np.inf
    assert m.cluster_radius(X, C.tolist(), beta) == pytest.approx(wanted, abs=1e-4)
    assert m.cluster_radius(X, C.tolist(), 0.05) < np.inf


def test_bounds_at_many_numbers():
    """Bounds on arrays are those on each number."""
    draw = np.random.default_rng(0)
    beta, M, delta, gap, distance = draw.uniform(0.1, 2, size=(5, 33))
    for N in (1, 2, 50):
        for function, given in (
            (m.gap_error_bound, (beta, M, gap)),
            (m.retrieval_error_bound, (beta, M, delta, distance)),
            (m.contraction_bound, (beta, M, delta, distance)),
            (m.required_separation, (beta, M)),
            (m.basin_radius, (beta, M)),
        ):
            each = [float(function(N, *(float(x[i]) for x in given))) for i in range(33)]
            assert np.allclose(function(N, *given), each, rtol=1e-13, atol=0)
            column = function(N, given[0][:, None], *given[1:])
            assert np.allclose(np.diagonal(column), each, rtol=1e-13, atol=0)
