"""Bad input that kinds of parameters do not express: orders, strategies, and large sizes."""

import numpy as np
import pytest
from refusals import rejects

from theory import structures as S


def rows(x):
    return S.row_order(x, 2)


def ends(q, N):
    yield np.zeros(q.shape, dtype=np.int64)


def words(q, N):
    yield "x"


NO_QUERIES = np.zeros((0, 2, 3), dtype=int), np.zeros((0, 2), dtype=int)


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        # lookups
        (lambda: S.looked_at(words, [1, 2], [1], 1), "strategy"),
        (lambda: S.looked_at(ends, [1, 2], [1], 2), "strategy"),
        (lambda: S.looked_at(lambda q, N: iter([q + N]), [0, 1], [0], 1), "strategy"),
        (lambda: S.looked_at(S.interpolation_search(0, 1), [0, 1], [2], 1), "queries"),
        (lambda: S.looked_at(S.greedy_bayes(0, 1), [0, 1], [2], 1), "queries"),
        (lambda: S.looked_at(S.greedy_bayes(0, 200), range(200), [2], 1), "N"),
        (lambda: S.interpolation_search(1, 1), "low"),
        (lambda: S.greedy_bayes(1, 0), "low"),
        (lambda: S.interpolated(0, 0, 2, 1, 1), "v_lo"),
        (lambda: S.interpolated(0.5, 10, 4, 0.0, 1.0), "lo"),
        (lambda: S.interpolated(0.5, [0, 3], [1, 2], 0.0, 1.0), "lo"),
        (lambda: S.interpolated(0.5, 0.5, 2, 0.0, 1.0), "lo"),
        (lambda: S.accuracy_by_lookup(*NO_QUERIES), "nearest"),
        # points
        (lambda: S.looked_at(S.binary_search, [2, 1], [1], 1), "points"),
        (lambda: S.uniform_points(1, 2, 1, 0, 1, 0), "low"),
        (lambda: S.uniform_points(10**6, 10**9, 1, 0), "sets"),
        (lambda: S.hard_points(1, 3, 1, 0, 1e200), "a"),
        (lambda: S.hard_points(10**9, 20, 1, 0), "sets"),
        (lambda: S.uniform_cloud(10**6, 10**9, 2, 1, 0), "sets"),
        (lambda: S.nearest_in_cloud(np.zeros((10**6, 3)), np.zeros((10**6, 3))), "points"),
        (lambda: S.nearest_in_cloud([[0, 0]], [[2**31, 2**31]]), "points 2147483648"),
        # orders and trees
        (lambda: S.in_order([[1], [2]], [0, 0]), "order"),
        (lambda: S.treap_found([1, 1], 1), "weights"),
        (lambda: S.most_by_weight(np.ones(300), 1), "weights"),
        (lambda: S.found_at_once(lambda x: "x", 4, 2, 5, 0), "order"),
        (lambda: S.found_at_once(lambda x: [0, 0], 4, 2, 5, 0), "order"),
        # tables
        (lambda: S.table_of([1, 2], 1, 3, 3), "low"),
        (lambda: S.bucket_of([4], 2, 0, 3), "queries"),
        (lambda: S.bucket_of([1], 2, 3, 0), "low"),
        (lambda: S.same_neighbour_probability(2, np.array(0.5), np.array(0.4)), "u"),
        (lambda: S.table_of(np.arange(1000), 10**9, 0, 999), "cells"),
        # comparisons
        (lambda: S.best_trees(2, 2), "n_points"),
        (lambda: S.decision_trees(7, 9), "lookups"),
        (lambda: S.found_at(np.zeros((2, 2), int), 3), "trees"),
        (lambda: S.found_at(np.array([3]), 3), "trees"),
        (lambda: S.found_at(np.zeros((2, 0), int), 3), "trees"),
        (lambda: S.found_at(np.array(0), 3), "trees"),
        (lambda: S.parting(3, 0, 2), "cells"),
        (lambda: S.best_trees(10**9, 28), "n_points"),
        # hashing
        (lambda: S.simhash(np.ones((2, 3)))(np.ones(2)), "vectors"),
        (lambda: S.normal_directions(10**7, 10**7, 0), "dimension"),
        (lambda: S.found_in_buckets(lambda z: 3, [[1, 2]], [[1, 2]], 1), "buckets"),
        # cells and sketches
        (lambda: S.unpacked(1000, 2, 10), "cell"),
        (lambda: S.one_row_error([0.5, 0.4], 1, 1), "p"),
        (lambda: S.unpacked(1, 10**10, 2), "base"),
        (lambda: S.cell_bits(10**10, 2), "base"),
        (lambda: S.random_hashes(10**6, 10**3, 10**6, 2, 0), "sets"),
        (lambda: S.count_min([2**63 - 1, 1], [[0, 0]], 1), "counts"),
        (lambda: S.count_sketch([2**62] * 3, [[0] * 3], [[1] * 3], 1), "counts"),
        (lambda: S.best_answers([10**12], [1], [1]), "numbers"),
    ],
)
def test_bad_input_is_rejected(call, parameter):
    with rejects(*parameter.split()):
        call()


@pytest.mark.parametrize("strategy", [S.greedy_bayes(0, 1), S.interpolation_search(0, 1)])
def test_strategies_read_their_arguments(strategy):
    assert next(strategy([0.5], 3)) == [1]
    for wrong in (None, "a", [np.nan], [[1], [1, 2]]):
        with rejects("q"):
            strategy(wrong, 3)
    for wrong in (None, 0, 1.5, 10**12):
        with rejects("N"):
            strategy([0.5], wrong)


def test_more_lookups_than_there_are_cells_find_all_of_them():
    assert S.most_found(5, 10**12) == 5
    assert S.most_by_branches(2, 10**9) == 3


@pytest.mark.parametrize(("V", "cells"), [(5, 2), (6, 4), (3, 7), (1, 1)])
def test_pairs_in_balanced_cells_are_counted(V, cells):
    sizes = np.bincount(np.arange(V) % cells, minlength=cells)
    share = (sizes * (sizes - 1)).sum() / max(1, V * (V - 1))
    p = np.full(V, 1 / V)
    error = 10 * share * (p * (1 - p)).sum()
    assert S.one_row_error(p, 10, cells, balanced=True) == pytest.approx(error)
