"""Ranks, sorting, binary and interpolation search by weights, beside definitions."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.structures import binary_search, interpolation_search, sort
from theory import structures
from verify.evidence.invariants import wrong_in_float64

POINTS = st.lists(st.integers(1, 999), min_size=7, max_size=7, unique=True)
QUERIES = st.lists(st.integers(0, 1000), min_size=1, max_size=3)
BINARY, INTERPOLATION, SORT = binary_search(3), interpolation_search(7, 4), sort(7)


@settings(max_examples=15)
@given(points=POINTS, queries=QUERIES)
def test_random_points(points, queries):
    ordered = sorted(points)
    assert SORT(points).tolist() == ordered
    strategy = structures.interpolation_search(0, 1024)
    for model, answers in (
        (BINARY, np.searchsorted(ordered, queries, side="right")),
        (INTERPOLATION, structures.looked_at(strategy, ordered, queries, 4)[:, -1]),
    ):
        given_ones = np.array([points]), np.array([queries])
        assert not [*wrong_in_float64(model, answers[None], *given_ones)]


def test_few_points_and_numbers_below_0():
    assert sort(3)([-5, 7, -6]).tolist() == [-6, -5, 7]
    assert binary_search(1)([4], [3, 4]).tolist() == [0, 1]
