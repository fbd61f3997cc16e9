"""Ranks, sorting, binary and interpolation search by weights, beside definitions."""

from itertools import combinations, permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.structures import binary_search, interpolation_search, sort
from theory import structures
from verify.domains import Rational, outputs

POINTS = st.lists(st.integers(1, 999), min_size=7, max_size=7, unique=True)
QUERIES = st.lists(st.integers(0, 1000), min_size=1, max_size=3)


SMALL = binary_search(2), interpolation_search(3, 2)
BINARY, INTERPOLATION, SORT = binary_search(3), interpolation_search(7, 4), sort(7)


def cells_of(model, points, queries):
    """The cells looked at, (…, m, M): `m` holds the first at its own count."""
    passed = list(model.streams(points, queries))
    offset = int(model.call.construction == "interpolation_search")
    held = [passed[s.after][..., len(points[0]) :, model.stream["m"]] for s in model.stages]
    return torch.cat(held, dim=-1).numpy() - offset


def test_every_order_of_three_points():
    orders = 2 * np.array(list(permutations(range(1, 4))))
    queries = np.tile(np.arange(9), (len(orders), 1))
    model = binary_search(2, largest=8)
    assert (model(orders, queries) == np.minimum(queries // 2, 3)).all()
    wanted = structures.looked_at(structures.binary_search, np.sort(orders), queries, 2)
    assert (cells_of(model, orders, queries) == wanted).all()


@pytest.mark.slow
def test_every_order_of_seven_points():
    orders = 2 * np.array(list(permutations(range(1, 8))))
    queries = np.tile(np.arange(16), (len(orders), 1))
    model = binary_search(3, largest=16)
    wanted = structures.looked_at(structures.binary_search, np.sort(orders), queries, 3)
    assert (cells_of(model, orders, queries) == wanted).all()
    assert (sort(7)(orders) == 2 * np.arange(1, 8)).all()


def test_every_set_of_three_points_by_interpolation():
    sets = np.array(list(combinations(range(1, 8), 3)))[:, ::-1].copy()
    queries = np.tile(np.arange(9), (len(sets), 1))
    model = interpolation_search(3, 3, largest=8)
    strategy = structures.interpolation_search(0, 8)
    wanted = structures.looked_at(strategy, np.sort(sets), queries, 3)
    assert (cells_of(model, sets, queries) == wanted).all()
    assert (model(sets, queries) == wanted[..., -1]).all()


@settings(max_examples=15)
@given(points=POINTS, queries=QUERIES)
def test_random_points(points, queries):
    ordered = sorted(points)
    assert SORT(points).tolist() == ordered
    found = BINARY(points, queries)
    assert found.tolist() == np.searchsorted(ordered, queries, side="right").tolist()
    strategy = structures.interpolation_search(0, 1024)
    wanted = structures.looked_at(strategy, [ordered], [queries], 4)
    assert (cells_of(INTERPOLATION, [points], [queries]) == wanted).all()


@settings(max_examples=10)
@given(
    points=st.lists(st.integers(1, 99), min_size=3, max_size=3, unique=True),
    query=st.integers(0, 1000),
)
def test_cells_not_looked_at_do_not_matter(points, query):
    """Other values in them, in the same order, change nothing that the query holds."""
    cells, first = np.argsort(np.argsort(points)), 10 * np.sort(points)
    for model in SMALL:
        (looked,) = cells_of(model, [first[cells]], [[query]])[0]
        moved = first + np.where(np.isin(range(3), looked), 0, 7)
        assert (moved != first).any()
        pairs = zip(
            model.streams(first[cells], [query]), model.streams(moved[cells], [query]), strict=True
        )
        assert all(torch.equal(a[-1], b[-1]) for a, b in pairs)


def test_sizes_and_exact_numbers():
    model = binary_search(3)
    assert (model.n_layers, model.n_heads, model.d_model) == (4, 3, 6)
    model = interpolation_search(5, 2)
    assert (model.n_layers, model.n_heads, model.d_model) == (6, 3, 13)
    points, queries = [9, 700, 30, 2, 811], [5, 31, 900]
    exact = outputs(model, model.prompt(points, queries), Rational()).tolist()
    assert [int(row[0].p) for row in exact] == model(points, queries).tolist()
    assert sort(3)([-5, 7, -6]).tolist() == [-6, -5, 7]
    assert binary_search(1)([4], [3, 4]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: binary_search(3, largest=2**60), "largest"),
        (lambda: binary_search(2)([1, 2], [1]), "points"),
        (lambda: binary_search(2)([1, 2, 2], [1]), "points"),
        (lambda: binary_search(2)([1, 2, 2.5], [1]), "points"),
        (lambda: binary_search(2)([0, 2, 3], [1]), "points"),
        (lambda: binary_search(2)([1, 2, 3], [1025]), "queries"),
        (lambda: binary_search(2)([1, 2, 3], [[1]]), "queries"),
        (lambda: binary_search(2)([1, 2, np.nan], [1]), "points"),
        (lambda: binary_search(2)([1, 2, 3]), "points queries"),
        (lambda: sort(2)([1, 1]), "points"),
        (lambda: sort(2)([1, 2**20]), "points"),
        (lambda: binary_search(3).half()(range(1, 8), [1]), "largest"),
    ],
)
def test_what_is_refused(call, parameter):
    with rejects(*parameter.split()):
        call()
