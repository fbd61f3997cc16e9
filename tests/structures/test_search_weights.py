"""Ranks, sorting, binary and interpolation search by weights, beside definitions."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.structures import binary_search, interpolation_search, sort
from theory import structures

POINTS = st.lists(st.integers(1, 999), min_size=7, max_size=7, unique=True)
QUERIES = st.lists(st.integers(0, 1000), min_size=1, max_size=3)


BINARY, INTERPOLATION, SORT = binary_search(3), interpolation_search(7, 4), sort(7)


def cells_of(model, points, queries):
    """The cells looked at, (…, m, M): `m` holds the first at its own count."""
    passed = list(model.streams(points, queries))
    offset = int(model.construction == "interpolation_search")
    held = [passed[s.after][..., len(points[0]) :, model.stream["m"]] for s in model.stages]
    return torch.cat(held, dim=-1).numpy() - offset


@settings(max_examples=15)
@given(points=POINTS, queries=QUERIES)
def test_random_points(points, queries):
    ordered = sorted(points)
    assert SORT(points).tolist() == ordered
    found = BINARY(points, queries)
    assert found.tolist() == np.searchsorted(ordered, queries, side="right").tolist()
    for model, strategy, M in (
        (BINARY, structures.binary_search, 3),
        (INTERPOLATION, structures.interpolation_search(0, 1024), 4),
    ):
        wanted = structures.looked_at(strategy, [ordered], [queries], M)
        assert (cells_of(model, [points], [queries]) == wanted).all()


def test_few_points_and_numbers_below_0():
    assert sort(3)([-5, 7, -6]).tolist() == [-6, -5, 7]
    assert binary_search(1)([4], [3, 4]).tolist() == [0, 1]
