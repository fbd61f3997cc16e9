"""Weights at the largest numbers for which a model is built, where every sum is still exact; and
the sizes of MLPs."""

import re
from itertools import permutations

import numpy as np
import pytest
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
from theory.kinds import InputError
from theory.structures import in_order, kd_order, kd_search, looked_at, table_lookup


def at_its_largest(build):
    """The model for the largest number, as the message on one that is larger states it."""
    with pytest.raises(InputError) as caught:
        build(2**50)
    limit = max(map(int, re.findall(r"\d+", str(caught.value).replace(str(2**50), ""))))
    with rejects("largest", str(limit)):
        build(limit + 1)
    return build(limit), limit


def crowded(L):
    """Three points at either end, and two beside one, in all orders; queries next to them."""
    rows = [[1, 2, 3], [L - 3, L - 2, L - 1], [1, L - 2, L - 1], [1, 2, L - 1]]
    points = np.array([order for row in rows for order in permutations(row)])
    queries = [0, 1, 2, 3, 4, L // 2, L - 4, L - 3, L - 2, L - 1, L]
    return points, np.tile(queries, (len(points), 1))


def test_binary_search():
    model, L = at_its_largest(lambda L: binary_search(2, largest=L))
    points, queries = crowded(L)
    assert (model(points, queries).numpy() == (points[:, None] <= queries[..., None]).sum(-1)).all()


def test_interpolation_search():
    model, L = at_its_largest(lambda L: interpolation_search(3, 3, largest=L))
    points, queries = crowded(L)
    strategy = structures.interpolation_search(0, L)
    wanted = looked_at(strategy, np.sort(points), queries, 3)[..., -1]
    assert (model(points, queries).numpy() == wanted).all()


def test_sort():
    model, L = at_its_largest(lambda L: sort(3, largest=L))
    points, _ = crowded(L)
    mirrored = np.concatenate([points, -points, points - points[:, ::-1]])
    mirrored = mirrored[[len(set(row)) == 3 for row in mirrored.tolist()]]
    assert (model(mirrored).numpy() == np.sort(mirrored)).all()


@pytest.mark.parametrize("d", [1, 2])
def test_kd_trees(d):
    layout, L = at_its_largest(lambda L: kd_layout(7, d, largest=L))
    rng = np.random.default_rng(d)
    ends = rng.choice([1 - L, 2 - L, -1, 0, 1, L - 2, L - 1], size=(60, 7, d))
    said = layout(ends).numpy()
    assert (np.take_along_axis(said, kd_order(ends), axis=-1) == np.arange(7)).all()
    descent, L = at_its_largest(lambda L: kd_descent(2, d, largest=L))
    points = rng.choice([1, 2, L // 2, L - 2, L - 1], size=(60, 3, d))
    points = in_order(points, kd_order(points))
    queries = rng.choice([0, 1, 2, 3, L // 2, L - 3, L - 2, L - 1, L], size=(60, 9, d))
    leaf = kd_search(points, queries, 2)[..., -1]
    axis = 1 % d
    beside = np.take_along_axis(points[..., axis], leaf, axis=-1) <= queries[..., axis]
    assert (descent(points, queries).numpy() == leaf + beside).all()


@pytest.mark.parametrize("T", [1, 2, 5])
def test_bucket_table(T):
    model, L = at_its_largest(lambda L: bucket_table(3, T, largest=L))
    points, queries = crowded(L)
    cells = table_lookup(np.sort(points), queries, T, 0, L)
    wanted = np.take_along_axis(np.sort(points), cells, axis=-1)
    assert (model(points, queries).numpy() == wanted).all()


def test_count_min():
    """A stream that is as long as it may be, of one item."""
    model = count_min([[0, 1], [1, 1]], 2, max_length=40)
    assert model([0] * 40, [0, 1]).tolist() == [40, 0]


@pytest.mark.parametrize(
    ("model", "units"),
    [
        (sort(3), [0, 0]),
        (binary_search(3), [0, 3, 3, 3]),
        (interpolation_search(5, 2), [0, 0, 3, 7, 4, 3]),
        (kd_layout(15, 2), [4, 4, 3]),
        (kd_descent(2, 3), [5, 5]),
        (bucket_table(3, 2), [0, 1, 0, 0]),
        (count_min([[0, 1], [1, 0]], 2, 100), [0, 2, 2]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_units_of_mlps(model, units):
    """As the docstrings have them: 3 a lookup, at most 4 a level, 2 + d and 2 a lookup."""
    mlps = [block.mlp for block in model.blocks]
    assert [0 if mlp is None else mlp.W_in.shape[-1] for mlp in mlps] == units
