"""An attention head in rounds: the same values, the rounds counted, no machine too busy."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from theory.computation import attention_in_rounds, rounds_of_a_layer
from theory.computation.attention_rounds import Cluster, attention_by_definition

ONE = [[1]]


@settings(max_examples=40)
@given(st.integers(1, 11), st.integers(2, 6), st.sampled_from([None, 2, 3]), st.integers(0, 99))
def test_rounds_give_what_attention_gives(N, fan_in, base, seed):
    rng = np.random.default_rng(seed)
    Q, K, V = (rng.integers(-3, 4, (N, 2)).tolist() for _ in range(3))
    seen = rng.random((N, N)) < 0.7
    np.fill_diagonal(seen, val=True)
    found, cluster = attention_in_rounds(Q, K, V, seen.tolist(), fan_in, base)
    assert found == attention_by_definition(Q, K, V, seen.tolist(), base)
    assert cluster.rounds == rounds_of_a_layer(N, fan_in)
    assert cluster.busiest <= fan_in


def test_rounds_at_many_tokens():
    Q, K, V = np.random.default_rng(0).integers(-3, 4, (3, 45, 1)).tolist()
    seen = [[True] * 45] * 45
    found, cluster = attention_in_rounds(Q, K, V, seen, 3)
    assert found == attention_by_definition(Q, K, V, seen)
    assert cluster.rounds == rounds_of_a_layer(45, 3)


def test_the_definition_by_hand():
    Q, K, V, seen = [[1]], [[0], [1], [1]], [[4], [2], [3]], [[True] * 3]
    assert attention_by_definition(Q * 3, K, V, seen * 3)[0] == [Fraction(5, 2)]
    assert attention_by_definition(Q * 3, K, V, seen * 3, 2)[0] == [Fraction(4 + 4 + 6, 5)]
    hidden = [[True, False, True]] * 3
    assert attention_by_definition(Q * 3, K, V, hidden, 2)[0] == [Fraction(4 + 6, 3)]


def test_scores_of_hard_attention_may_be_fractions():
    half, seen = [[Fraction(1, 2)], [Fraction(-1, 3)]], [[True, True]] * 2
    outputs, _ = attention_in_rounds(half, half, [[4], [2]], seen, 2)
    assert outputs == attention_by_definition(half, half, [[4], [2]], seen) == [[4], [2]]


def test_a_machine_that_is_too_busy_is_named():
    cluster = Cluster(2)
    with rejects("3", "2"):
        cluster.exchange([((0, 0), (0, k), "word") for k in range(3)])
    with rejects("3"):
        Cluster(2).exchange([((0, k), (0, 0), "word") for k in range(3)])


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: attention_in_rounds([], [], [], [], 2), "Q"),
        (lambda: attention_in_rounds(ONE, ONE, [], [[True]], 2), "V"),
        (lambda: attention_in_rounds(ONE, ONE, ONE, [[False]], 2), "seen"),
        (lambda: attention_in_rounds(ONE, [[1, 2]], ONE, [[True]], 2), "K 1"),
        (lambda: attention_in_rounds(ONE, ONE, ONE, [[True] * 2], 2), "seen 1"),
        (
            lambda: attention_in_rounds([[Fraction(1, 2)]], ONE, ONE, [[True]], 2, base=2),
            "score 1/2",
        ),
        (
            lambda: attention_in_rounds(ONE * 317, ONE * 317, ONE * 317, [[True] * 317] * 317, 2),
            "317 100489",
        ),
    ],
)
def test_what_cannot_be_run_is_rejected(call, names):
    with rejects(*names.split()):
        call()
