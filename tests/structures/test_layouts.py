"""Orders of points in d dimensions, searches of them, and trees of known weights."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from structures_by_definition import laid_out, one_search

from theory.structures import (
    band_order,
    binary_search,
    decision_trees,
    found_at,
    found_at_once,
    found_by_depth,
    hard_cloud,
    in_order,
    kd_order,
    kd_search,
    looked_at,
    most_by_weight,
    most_found,
    nearest_in_cloud,
    row_order,
    sphere_cloud,
    treap_depths,
    treap_found,
    uniform_cloud,
)

COORDINATE = st.integers(-3, 3)
CLOUDS = st.integers(1, 3).flatmap(
    lambda d: st.lists(st.tuples(*[COORDINATE] * d), min_size=1, max_size=12)
)


@given(points=CLOUDS)
def test_the_layout_by_recursion(points):
    assert kd_order(np.array(points)).tolist() == laid_out(points, list(range(len(points))), 0)


@given(points=CLOUDS, data=st.data())
def test_the_search_by_a_list(points, data):
    q = data.draw(st.lists(st.integers(-4, 4), min_size=len(points[0]), max_size=len(points[0])))
    x = np.array(points)
    x = in_order(x, kd_order(x))
    cells = kd_search(x, [q], len(x) + 1)[0]
    assert cells.tolist() == one_search(x.tolist(), q, len(x) + 1)
    assert set(cells) == set(range(len(x)))  # all of them in the end
    assert ((x - q) ** 2).sum(-1).min() == ((x[nearest_in_cloud(x, [q])] - q) ** 2).sum()


def test_distances_beyond_int64():
    x = np.array([[-(2**63)], [0], [2**63 - 1]])
    assert kd_search(x, x, 4).tolist() == [[1, 0, 2, 2], [1, 2, 0, 0], [1, 2, 0, 0]]
    far = np.array([[-7], [-6], [-5]]) * 10**18
    assert kd_search(far, [[6 * 10**18]], 3).tolist() == [[1, 2, 0]]


def test_tiny_coordinates_in_a_row_from_right_to_left():
    points = np.array([[1e-20, 0.1], [2e-20, 0.8], [3e-20, 0.9], [5e-20, 0.2]])
    assert band_order(points, 2).tolist() == row_order(points, 2).tolist() == [0, 3, 2, 1]


def test_in_one_dimension_the_descent_is_binary_search():
    x, q = np.arange(1, 8), np.arange(9)
    assert (kd_search(x[:, None], q[:, None], 3) == looked_at(binary_search, x, q, 3)).all()


def test_rows_by_hand():
    """Two bands, the second one backwards; with rows of two points (0.3, 0.4) is in the second."""
    points = [[0.1, 0.2], [0.9, 0.1], [0.3, 0.4], [0.8, 0.9]]
    assert band_order(points, 2).tolist() == [0, 2, 1, 3]
    assert row_order(points, 2).tolist() == [0, 1, 3, 2]
    assert row_order(points, 1).tolist() == [0, 2, 3, 1]


def test_what_is_found_at_once():
    rng = np.random.default_rng(0)
    right = found_at_once(lambda x: row_order(x, 2), 4, 4, 200, rng, grid=4)
    assert right[:, 3].all()
    assert (np.diff(right.astype(int), axis=1) >= 0).all()
    # In a random order all places are equally likely.
    mixed = found_at_once(lambda x: rng.permuted(row_order(x, 2), axis=1), 4, 2, 2000, rng, grid=2)
    assert abs(mixed.mean(0) - [0.25, 0.5]).max() < 5 * 0.5 / 2000**0.5


def test_clouds():
    rng = np.random.default_rng(1)
    x, q = sphere_cloud(3, 5, 30, 4, rng, rho=0.8)
    assert np.allclose((q**2).sum(-1), 1)
    assert np.isclose(q @ x.swapaxes(1, 2), 0.8).any(-1).all()
    x, q = hard_cloud(50, 3, 2, 2, rng)
    assert x.shape == (50, 7, 2)
    assert (abs(x[:, None] - q[:, :, None]).max(-1).min(-1) < 6).all()
    assert not (x.argsort(1)[..., 0] == x.argsort(1)[..., 1]).all(-1).any()
    x, q = hard_cloud(2000, 1, 2, 1, rng)
    assert abs((q - x).mean((0, 1))).max() < 5 / 2000**0.5
    assert abs((q - x).var((0, 1)) - 1).max() < 5 * (2 / 2000) ** 0.5
    x, q = uniform_cloud(2, 3, 4, 5, rng)
    assert (x.shape, q.shape) == ((2, 3, 4), (2, 5, 4))
    assert nearest_in_cloud([[0, 0], [2, 0], [0, 0]], [[1, 0], [0, 1]]).tolist() == [0, 0]


def test_treaps():
    assert treap_depths([1, 5, 2, 4, 3]).tolist() == [2, 1, 3, 2, 3]
    assert treap_depths([1, 1, 1]).tolist() == [1, 2, 3]
    weights = [1, 5, 2, 4, 3]
    assert found_by_depth(treap_depths(weights), weights, 3).tolist() == [5, 10, 15]


@pytest.mark.parametrize(("N", "M"), [(3, 1), (4, 2), (6, 2)])
def test_the_best_tree_by_all_trees(N, M):
    weights = np.random.default_rng(N).integers(1, 9, N)
    at = found_at(decision_trees(N, M), N)
    for i in range(1, M + 1):
        most = ((at > 0) & (at <= i)) @ weights
        assert most_by_weight(weights, M)[i - 1] == most.max()
    assert np.allclose(most_by_weight(np.ones(N), 4), [most_found(N, i) for i in range(1, 5)])


def test_the_treap_of_a_random_order_by_all_orders():
    weights = [0.5, 0.25, 0.125, 0.0625, 0.03125]
    orders = [list(order) for order in permutations(weights)]
    found = [found_by_depth(treap_depths(order), order, 5) for order in orders]
    assert np.allclose(treap_found(weights[::-1], 5), np.mean(found, axis=0), rtol=1e-14)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 7, 9])
def test_a_search_first_descends_by_one_coordinate_after_another(d):
    """Without a lookup to resume, the path halves the bracket by coordinate depth mod d."""
    rng = np.random.default_rng(d)
    points, queries = rng.random((127, d)), rng.random((20, d))
    cloud = in_order(points, kd_order(points))
    for query, cells in zip(queries, kd_search(cloud, queries, 7).tolist(), strict=True):
        lo, hi, path = 0, 127, []
        for depth in range(7):
            path.append((lo + hi) // 2)
            right = query[depth % d] >= cloud[path[-1], depth % d]
            lo, hi = (path[-1] + 1, hi) if right else (lo, path[-1])
        assert cells == path
