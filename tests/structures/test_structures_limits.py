"""Limits of parameters of structures: the last value is accepted, and the next one is refused."""

import numpy as np
import pytest
from limits import limited
from refusals import rejects

from constructions.structures import (
    binary_search,
    bucket_table,
    count_min,
    interpolation_search,
    kd_descent,
    kd_layout,
    sort,
)
from theory import structures

LIMITS = [
    (structures.looked_at, "lookups", 1, 10**5),
    (structures.kd_search, "lookups", 1, 10**5),
    (structures.in_equal_buckets, "lookups", 1, 10**5),
    (structures.depths, "n_points", 1, 10**6),
    (structures.binary_accuracy, "n_points", 1, 10**6),
    (structures.binary_accuracy, "lookups", 1, 10**5),
    (structures.binary_search, "n_points", 1, 10**9),
    (structures.parting, "levels", 1, 60),
    (structures.most_by_branches, "levels", 1, 4),
    (structures.bucket_of, "n_cells", 1, 10**9),
    (structures.table_of, "n_cells", 1, 10**9),
    (structures.table_accuracy, "n_points", 1, 1024),
    (structures.table_accuracy, "n_cells", 1, 1024),
    (structures.same_neighbour_probability, "n_points", 1, 1024),
    (structures.best_trees, "lookups", 1, 64),
    (structures.decision_trees, "n_points", 1, 127),
    (structures.decision_trees, "lookups", 1, 64),
    (structures.perfect_trees, "n_points", 0, 200),
    (structures.perfect_trees, "lookups", 0, 200),
    (structures.most_by_roots, "n_points", 0, 200),
    (structures.most_by_roots, "lookups", 0, 200),
    (structures.count_min_error, "n_cells", 2, 10**9),
    (structures.count_min_error, "n_rows", 1, 10**9),
    (structures.nearest_probabilities, "n_points", 1, 128),
    (structures.best_fixed, "n_points", 1, 128),
    (structures.first_interpolated, "n_points", 1, 128),
    (structures.likeliest, "n_points", 1, 128),
    (structures.hard_points, "levels", 1, 20),
    (structures.hard_cloud, "levels", 1, 20),
    (structures.sphere_cloud, "d", 2, 10**9),
    (structures.sphere_cloud, "rho", -1, 1),
    (structures.found_at_once, "n_sets", 1, 10**7),
    (structures.zipf, "vocabulary_size", 1, 10**8),
    (structures.random_hashes, "n_cells", 1, 10**8),
    (structures.one_row_error, "n_cells", 1, 10**8),
    (structures.most_by_weight, "lookups", 1, 256),
    (structures.unpacked, "base", 2, 2**63),
    (binary_search, "lookups", 1, 20),
    (kd_descent, "lookups", 1, 20),
    (bucket_table, "n_points", 1, 10**6),
    (bucket_table, "n_cells", 1, 10**6),
    (interpolation_search, "lookups", 1, 10**5),
    (count_min, "max_length", 1, 2**50),
    (sort, "largest", 2, None),
]


@pytest.mark.parametrize(("function", "name", "least", "most"), LIMITS)
def test_limits_of_arguments(function, name, least, most):
    limited(function, name, least, most)


def test_limits_of_bits():
    assert structures.cell_bits(1_000_000, 2) == 1_000_000
    for call in (structures.cell_bits, lambda n, base: structures.unpacked(1, n, base)):
        with rejects("n_digits"):
            call(1_000_001, 2)
    assert structures.one_bit([0.0, np.pi]).tolist() == [1.0, 0.0]
    for angle in (-1e-9, np.pi + 1e-9):
        with rejects("angles"):
            structures.one_bit([angle])


def first_lookups(strategy):
    return structures.looked_at(strategy, [1, 2], [0, 3], 1)[:, 0].tolist()


def test_limits_of_lookups():
    """Queries at the ends of the range, brackets without a cell between, and the largest trees."""
    for strategy in (structures.greedy_bayes, structures.interpolation_search):
        assert first_lookups(strategy(0, 3)) == [0, 1]
        assert structures.looked_at(strategy(0, 3), [1, 2], [0, 3], 4)[:, -1].tolist() == [0, 1]
        for low, high in ((1, 3), (0, 2)):
            with rejects("queries"):
                first_lookups(strategy(low, high))
    with rejects("strategy", "list_iterator"):
        first_lookups(lambda queries, _: iter([np.zeros(2, dtype=int)]))
    assert structures.interpolated(0.5, 4, 4, 0.0, 1.0) == 4
    with rejects("lo"):
        structures.interpolated(0.5, 5, 4, 0.0, 1.0)
    assert structures.most_by_weight(np.ones(256), 1).tolist() == [1.0]
    with rejects("257"):
        structures.most_by_weight(np.ones(257), 1)
    structures.hard_points(1, 1, 1, 0, np.nextafter(1e300, 0))
    with rejects("a"):
        structures.hard_points(1, 1, 1, 0, 1e300)
    nodes = 2**17 - 1
    assert structures.best_trees(nodes + 10**5, 17) % 2 == 0
    with rejects("n_points", str(nodes)):
        structures.best_trees(nodes + 10**5 + 1, 17)


def test_limits_of_models():
    """The largest sizes at which sums are exact: half-integers of float64 end at 2^52."""
    kd_layout(2**15 - 1, 1, largest=8)
    for n, largest, name in ((2**15 - 1, 9, "largest"), (2**16 - 1, 2, "n_points")):
        with rejects(name):
            kd_layout(n, 1, largest=largest)
    with rejects("largest", "3"):
        sort(2**24, largest=3)
    bucket_table(1, 10**6 - 1, largest=2)
    with rejects("n_points", "n_cells"):
        bucket_table(1, 10**6, largest=2)
    bucket_table(1, 10**6 - 1, largest=70)  # 32·10^12·70 < 2^51 < 32·10^12·71
    with rejects("largest", "70"):
        bucket_table(1, 10**6 - 1, largest=71)


@pytest.mark.parametrize("largest", [1 + 7 // 2, 50])
def test_random_points_are_below_the_largest(largest):
    model = kd_layout(7, 1, largest=largest)
    rng = np.random.default_rng(0)
    for _ in range(20):
        model(*model.interface.random_inputs(lambda rows, columns: np.zeros(0), rng))
