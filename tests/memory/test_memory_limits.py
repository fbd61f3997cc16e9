"""Limits of parameters of memory: the last value is accepted, and the next one is refused."""

import math

import numpy as np
import pytest
from flint import arb
from memory_by_definition import signs
from refusals import rejects

from theory import memory as m
from theory.memory.hopfield_balls import spectral_bound


def test_limits_of_flows():
    """The norms in limits of times are spectral norms, also of matrices that are not normal."""
    V = np.array([[0.0, 100.0], [0.0, 0.0]])
    X = np.eye(2)
    m.euclidean_flow(X, [0.0, 0.2], V=V, QK=1e-9)
    for beyond in (np.nextafter(0.2, 1), 50.0):
        with rejects("times"):
            m.euclidean_flow(X, [0.0, beyond], V=V, QK=1e-9)
    with rejects("times"):
        m.sphere_flow(X, 1.0, [0.0, 1e6 * (1 + 1e-9)])
    with rejects("times"):
        m.sphere_flow(X, 1.0, [0.0, 1e6 * math.exp(-100) * 1.01], "USA", V)
    m.sphere_flow(X, 1.0, [0.0, 1e6 * math.exp(-100) * 0.99], "USA", V)
    m.hemisphere_probability(10_000, 2)
    with rejects("n"):
        m.hemisphere_probability(10_001, 2)
    with rejects("gamma"):
        m.escape_time(1.0, 2, 1.0)
    with rejects("beta"):
        m.orthogonal_gap(2, 710.0, [0.0], "USA")
    assert m.orthogonal_gap(2, 709.0, [0.0], "USA").tolist() == [1.0]
    patterns = signs(2, 3)
    with rejects("degree"):
        m.dense_energy(patterns, patterns, 10_001)
    assert m.dense_energy(patterns, patterns, 10_000)[0] < 0
    large = np.array([[0, 2**60], [2**60, 0]])
    m.hopfield_fields(large, [1, 1], [2**60, 2**60])
    with rejects("2"):
        m.hopfield_fields(large, [1, 1], [2**60 + 2**11, 2**60])


def test_limits_of_float64_and_of_rounding():
    """e^709 is a float64; in float32, γ_n is defined for n < 2^24, and n is d + 8 or 2N + 9."""
    point = np.array([[1.0, 0.0]])
    assert m.sphere_velocity(point, 709.0, "USA").tolist() == [[0.0, 0.0]]
    with rejects("beta"):
        m.sphere_velocity(point, np.nextafter(709.0, 710), "USA")
    m.sphere_flow(point, 1.0, [0.0, 1e6])
    for N, d, fits in (
        (1, 2**24 - 9, True),
        (1, 2**24 - 8, False),
        (2**23 - 5, 1, True),
        (2**23 - 4, 1, False),
    ):
        if fits:
            assert m.update_rounding(N, d, 1.0, 1.0, 1.0, 2**-23) > 0
        else:
            with rejects("n_patterns", "d"):
                m.update_rounding(N, d, 1.0, 1.0, 1.0, 2**-23)


def test_tokens_are_linked_at_the_threshold_itself():
    for threshold, clusters in ((0.0, 1), (1e-9, 2), (1.0, 2)):
        assert m.n_clusters(np.eye(2), threshold) == clusters
    assert m.n_clusters([[1.0, 0.0], [1.0, 0.0]], 1.0) == 1


@pytest.mark.parametrize("n", [1, 4, 16])
def test_the_spectral_bound_is_the_root_of_the_highest_power(n):
    """‖I‖_F = √n, so that ‖I^16‖_F^(1/16) = n^(1/32)."""
    bound = float(spectral_bound([[arb(i == j) for j in range(n)] for i in range(n)]))
    assert bound >= 1
    assert bound == pytest.approx(n ** (1 / 32), rel=1e-6)
