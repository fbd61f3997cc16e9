"""One cycle or two, beyond distance 3^L: the signed model."""

from __future__ import annotations

import numpy as np
import pytest

from constructions.graphs import disentangled, tripling, two_cycles
from theory.graphs import connected, cycles, path, relabelled


@pytest.mark.parametrize("layers", [1, 2])
def test_all_pairs_of_both_are_right(layers):
    m = 4 * 3 ** (layers - 1)
    model = two_cycles(layers)
    for A in (cycles(2 * m), cycles(m, m)):
        for seed in range(3):
            graph = relabelled(A, np.random.default_rng(seed).permutation(2 * m))
            assert (model(graph).numpy() == connected(graph)).all()
    assert (tripling(2 * m, layers)(cycles(2 * m)) == 0).any()
    assert (disentangled(2 * m, layers)(cycles(2 * m)) == 0).any()


def test_the_threshold_is_below_the_outputs_of_connected_pairs():
    """3m + 3 for m = 4·3^(L − 1)."""
    assert [float(two_cycles(L).unembed.b_U[0]) for L in (1, 2, 3)] == [15, 39, 111]


def test_three_layers():
    A = np.stack([cycles(72), cycles(36, 36)])
    assert (two_cycles(3)(A).numpy() == connected(A)).all()


def test_outputs_are_those_of_the_proof():
    one, two = (two_cycles(1).logits(A).numpy() for A in (cycles(8), cycles(4, 4)))
    assert one[0].tolist() == [4, 4, 3, 1, 1, 1, 3, 4]
    assert two[0].tolist() == [3, 3, 3, 3, 0, 0, 0, 0]


def test_other_outputs_may_differ():
    """m = 5, L = 1: far pairs and pairs across have the same output, but the band of the outputs
    closes around C_5."""
    model = disentangled(10, 1, bias=-4.5)
    one, two = (model(A).numpy() for A in (cycles(10), cycles(5, 5)))
    assert (one[0, 2], two[0, 2]) == (0, 1)
    assert one[0, 5] == two[0, 5] == 0
    for m in (7, 8):  # from 2·3 + 1 on no band closes
        model = disentangled(2 * m, 1, bias=-4.5)
        rows = [np.sort(model.logits(A).numpy()[0]) for A in (cycles(2 * m), cycles(m, m))]
        assert (rows[0] == rows[1]).all()


def test_no_guarantee_on_other_graphs():
    assert (two_cycles(1)(path(8)).numpy() != connected(path(8))).any()
