"""What the functions of structures refuse in one line: wrong kinds, and sizes without an end."""

import numpy as np
import pytest
from refusals import rejects

from theory import structures as S

NAN = float("nan")
PROJECT = S.simhash([[1.0, 2.0]])


def rows(x):
    return S.row_order(x, 2)


def ends(q, N):
    yield np.zeros(q.shape, dtype=np.int64)


def words(q, N):
    yield "x"


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        # lookups
        (lambda: S.looked_at("x", [1, 2], [1], 1), "strategy"),
        (lambda: S.looked_at(words, [1, 2], [1], 1), "strategy"),
        (lambda: S.looked_at(ends, [1, 2], [1], 2), "strategy"),
        (lambda: S.looked_at(S.binary_search, [1, 2], [1], 10**9), "lookups"),
        (lambda: S.binary_accuracy(7, 10**9), "lookups"),
        (lambda: S.best_fixed(5, 10**10), "lookups"),
        (lambda: S.interpolated([0.5, 0.1], [0, 0, 0], [5], [0], [1]), "q"),
        (lambda: S.likeliest([3]), "N"),
        # points
        (lambda: S.uniform_points(1, 3, 1, None), "rng"),
        (lambda: S.uniform_points(10**6, 10**9, 1, 0), "sets"),
        (lambda: S.hard_points(1, 3, 1, 0, 1e200), "a"),
        (lambda: S.hard_points(10**9, 20, 1, 0), "sets"),
        (lambda: S.uniform_cloud(10**6, 10**9, 2, 1, 0), "sets"),
        (lambda: S.hard_cloud(1, 3, 2, 1, "x"), "rng"),
        (lambda: S.sphere_cloud(1, 3, 3, 1, -1), "rng"),
        (lambda: S.nearest_in_cloud(np.zeros((10**6, 3)), np.zeros((10**6, 3))), "points"),
        (lambda: S.kd_search([[1, 2]], [[1, 2]], 10**9), "lookups"),
        # orders
        (lambda: S.found_at_once("x", 4, 2, 5, 0), "order"),
        (lambda: S.found_at_once(lambda x: "x", 4, 2, 5, 0), "order"),
        (lambda: S.found_at_once(lambda x: [0, 0], 4, 2, 5, 0), "order"),
        (lambda: S.found_at_once(rows, 4, 2, 10**12, 0), "sets"),
        # tables
        (lambda: S.bucket_of([0.5], 10**30, 0, 1), "cells"),
        (lambda: S.table_of(np.arange(1000), 10**9, 0, 999), "cells"),
        (lambda: S.table_accuracy([4], 4), "N"),
        # comparisons
        (lambda: S.best_trees(5, 10**12), "lookups"),
        (lambda: S.best_trees(10**9, 28), "cells"),
        (lambda: S.decision_trees(3, 10**9), "lookups"),
        (lambda: S.decision_trees(300, 1), "N"),
        (lambda: S.found_at([0, 1, 2], 10**12), "targets"),
        (lambda: S.perfect_trees([5], 1), "N"),
        (lambda: S.perfect_trees(200, 10**6), "lookups"),
        (lambda: S.most_by_roots(201, 2), "N"),
        (lambda: S.parting(0, 1, 10**12), "levels"),
        # hashing
        (lambda: S.normal_directions(10**7, 10**7, 0), "dimension"),
        (lambda: S.orthogonal_directions(2, 3, None), "rng"),
        (lambda: S.k_means([[1.0], [2.0]], 2, "x"), "rng"),
        (lambda: S.found_in_buckets("x", [[1, 2]], [[1, 2]], 1), "hashed"),
        (lambda: S.found_in_buckets(lambda z: 3, [[1, 2]], [[1, 2]], 1), "buckets"),
        (lambda: S.found_in_buckets(PROJECT, [[1, 2]], [[1, 2]], 10**12), "lookups"),
        # cells and sketches
        (lambda: S.unpacked(1, 10**10, 2), "base"),
        (lambda: S.unpacked(2**80, 2, 2**70), "base"),
        (lambda: S.cell_bits(10**10, 2), "base"),
        (lambda: S.zipf(10**12, 1), "V"),
        (lambda: S.random_hashes(10**6, 10**3, 10**6, 2, 0), "sets"),
        (lambda: S.random_hashes(1, 1, 5, 10**30, 0), "w"),
        (lambda: S.balanced_hashes(1, 5, 2, "x"), "rng"),
        (lambda: S.counts_of([0], 10**12), "items"),
        (lambda: S.count_min([1, 2], [[0, 1]], 10**12), "cells"),
        (lambda: S.conservative([0], [[0, 1]], 10**12), "cells"),
        (lambda: S.one_row_error([0.5, 0.5], 5, 10**10, balanced=True), "k"),
        (lambda: S.best_answers([10**12], [1], [1]), "numbers"),
        (lambda: S.found_by_depth([1], [1], 10**10), "lookups"),
        (lambda: S.most_by_weight([1, 2], 10**10), "lookups"),
    ],
)
def test_what_is_refused(call, parameter, unchecked):
    with rejects(*parameter.split()):
        call()


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
