"""Bad input that kinds of parameters do not express: symmetric weights, orders, overflow."""

import numpy as np
import pytest
from refusals import rejects

from theory import memory as M

PAIR, SWAP, NETWORK = np.eye(2), [[0, 1], [1, 0]], np.ones((5, 3))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        # capacities
        (lambda: M.dense_patterns(10**6, 200), "degree"),
        (lambda: M.retrieval_overlap(0.2), "load"),
        (lambda: M.capacity_curve(5, [0.1], 10**12, 0), "runs"),
        # classical networks and dense ones
        (lambda: M.hopfield_fields([[0, 1], [2, 0]], [1, 1]), "weights"),
        (lambda: M.hopfield_fields([[0, 0], [0, 3]], [1, 1]), "weights"),
        (lambda: M.hopfield_fields([[0, 2**62], [2**62, 0]], [1, 1]), "weights"),
        (lambda: M.hopfield_fields([[0, -(2**63)], [-(2**63), 0]], [1, 1]), "weights"),
        (lambda: M.hopfield_energy([[0, 1e308], [1e308, 0]], [1, 1], [1e308, 0]), "weights"),
        (lambda: M.asynchronous_update(SWAP, [1, 1], [0, 0]), "order"),
        (lambda: M.asynchronous_update(SWAP, [1, 1], [0]), "order"),
        (lambda: M.asynchronous_update(SWAP, [1, 1], [0, 1, 1]), "order"),
        (lambda: M.asynchronous_update(SWAP, [1, 1], [[0, 1]]), "order"),
        (lambda: M.dense_update([[1, 1]], [1, 1], 2, [1, 1]), "order"),
        (lambda: M.random_patterns(10**9, 10**6, 0), "memory"),
        (lambda: M.mixture([[1, 1], [1, 1]]), "patterns"),
        (lambda: M.mixture(np.ones((130, 2))), "patterns 130"),
        # modern networks
        (lambda: M.cluster_radius(NETWORK, [0, 0], 1.0), "cluster"),
        (lambda: M.update_rounding(2**23 - 4, 5, 1.0, 1.0, 1.0, 2**-23), "8388603.5"),
        (lambda: M.update_rounding(5, 2**24 - 8, 1.0, 1.0, 1.0, 2**-23), "16777208"),
        (lambda: M.separation(1e200 * NETWORK), "patterns"),
        (lambda: M.cluster_radius(1e200 * NETWORK, [0], 1.0), "patterns"),
        (lambda: M.modern_hopfield_energy([[1e-3]], [1e160], 1.0), "energy states"),
        # tokens
        (lambda: M.euclidean_flow(PAIR, [30.0]), "times"),
        (lambda: M.euclidean_flow(1e200 * PAIR, [1.0]), "scores"),
        (lambda: M.euclidean_flow(PAIR, [1.0], V=np.eye(3)), "V"),
        (lambda: M.sphere_energy(PAIR, 0.0), "beta"),
        (lambda: M.sphere_energy(PAIR, 1000.0), "beta 1000"),
        (lambda: M.sphere_velocity(PAIR, 1e6, "USA"), "beta USA"),
        (lambda: M.sphere_flow(PAIR, 600.0, [1.0], "USA"), "times"),
        (lambda: M.sphere_flow(PAIR, 1.0, [2e6]), "times"),
        (lambda: M.orthogonal_gap(2, 700.0, [1.0], "USA"), "beta"),
        (lambda: M.hemisphere_rate(PAIR, 1.0, [1.0, 0.0]), "w"),
        (lambda: M.orthogonal_start(2, 800.0, [1.0], "USA"), "beta"),
        (lambda: M.escape_time(1e6), "beta"),
    ],
)
def test_bad_input(call, name, unchecked):
    with rejects(*name.split()):
        call()
