"""Models of `constructions.memory` at many sizes, compared with definitions."""

import math

import numpy as np
import pytest
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
