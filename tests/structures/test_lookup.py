"""Strategies and their accuracy by lookup, beside definitions."""

from bisect import bisect_right
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.structures import (
    accuracy_by_lookup,
    best_fixed,
    binary_accuracy,
    binary_search,
    depths,
    first_interpolated,
    found,
    greedy_bayes,
    hard_points,
    interpolation_search,
    likeliest,
    looked_at,
    nearest,
    nearest_probabilities,
    uniform_points,
)

LOW, HIGH = -50, 50
SETS = st.tuples(
    st.lists(st.integers(LOW + 1, HIGH - 1), min_size=1, max_size=20, unique=True).map(sorted),
    st.integers(LOW, HIGH),
)
STRATEGIES = {
    "binary": binary_search,
    "interpolation": interpolation_search(LOW, HIGH),
    "greedy": greedy_bayes(LOW, HIGH),
}


@pytest.mark.parametrize("name", STRATEGIES)
@given(drawn=SETS)
def test_every_strategy_finds_the_nearest_neighbour_in_the_end(name, drawn):
    points, q = drawn
    cells = looked_at(STRATEGIES[name], points, [q], len(points))
    away = [abs(x - q) for x in points]
    assert nearest(points, [q]).tolist() == [away.index(min(away))]
    # Of two as near, either is right: the path of a bracket may end at the other.
    assert min(away[c] for c in cells[0]) == min(away)


@given(drawn=SETS)
def test_interpolation_by_fractions(drawn):
    """The formula with divisions, on one query, lookup by lookup."""
    points, q = drawn
    N, lo, hi = len(points), 0, len(points) + 1
    for cell in looked_at(interpolation_search(LOW, HIGH), points, [q], N)[0]:
        if hi - lo == 1:
            assert cell + 1 in (max(lo, 1), min(hi, N))
            break
        ends = {0: LOW, N + 1: HIGH, **dict(enumerate(points, start=1))}
        place = lo + Fraction(q - ends[lo], ends[hi] - ends[lo]) * (hi - lo)
        m = min(max((2 * place + 1) // 2, lo + 1), hi - 1)
        assert cell == m - 1
        lo, hi = (m, hi) if points[cell] <= q else (lo, m)
    assert lo == bisect_right(points, q) or hi - lo > 1


@given(drawn=SETS)
def test_binary_search_by_a_loop(drawn):
    points, q = drawn
    lo, hi = -1, len(points)
    for cell in looked_at(binary_search, points, [q], 8)[0]:
        if hi - lo > 1:
            assert cell == (lo + hi) // 2
            lo, hi = (cell, hi) if points[cell] <= q else (lo, cell)
    assert lo + 1 == bisect_right(points, q)


def test_the_depth_of_a_cell_is_when_it_is_looked_at():
    for N in (1, 2, 6, 7, 16):
        cells = looked_at(binary_search, range(N), range(N), 6)
        assert (depths(N) == (cells == np.arange(N)[:, None]).argmax(-1) + 1).all()
    assert depths(7).tolist() == [3, 2, 3, 1, 3, 2, 3]


def test_binary_search_on_uniform_points():
    """16 points: cells 1, 2, 4, 8 on the way, of which the end that is deepest is missing."""
    assert binary_accuracy(16, 5) == [Fraction(k, 34) for k in (2, 6, 14, 31, 34)]
    assert binary_accuracy(1, 2) == [1, 1]


def test_chances_of_the_ranks():
    u = np.linspace(0, 1, 9)
    for n in (1, 2, 5, 16):
        assert np.allclose(nearest_probabilities(n, u).sum(-1), 1)
        mirrored = nearest_probabilities(n, 1 - u, left=True)[:, ::-1]
        assert np.allclose(nearest_probabilities(n, u, right=True), mirrored)
    # Two points beside a query in the middle: each is nearest with probability 1/2.
    assert np.allclose(nearest_probabilities(2, 0.5), [0.5, 0.5])
    # One point in a bracket of points: nearest unless an end at distance s = min(u, 1 − u) is.
    assert np.allclose(
        nearest_probabilities(1, u, left=True, right=True)[:, 0], 2 * np.minimum(u, 1 - u)
    )


def test_chances_are_those_of_drawn_points():
    rng, count = np.random.default_rng(1), 40_000
    x = np.sort(rng.uniform(size=(count, 4)), axis=-1)
    for left in (False, True):
        ends = np.concatenate([np.zeros((count, 1)) if left else np.full((count, 1), -9.0), x], 1)
        first = abs(ends - 0.3).argmin(1)
        drawn = np.array([(first == j).mean() for j in range(1, 5)])
        assert abs(drawn - nearest_probabilities(4, 0.3, left=left)).max() < 4 * 0.5 / count**0.5


def test_what_is_chosen_at_once_and_first():
    """N = 1: one cell; all cells find everything; the first lookup is the best of the two."""
    assert np.allclose(best_fixed(1, 3), 1)
    assert np.allclose(best_fixed(5, 5)[-1], 1)
    assert 0.99 * best_fixed(16, 1)[0] < first_interpolated(16) <= best_fixed(16, 1)[0]
    table = likeliest(8)
    assert table[0].max() == 0
    assert all(set(np.unique(table[n])) <= set(range(1, n + 1)) for n in range(1, 9))


def test_a_table_of_the_likeliest_can_be_changed():
    table, kept = likeliest(3), likeliest(3)
    table[...] = 77
    np.testing.assert_array_equal(likeliest(3), kept)


def test_greedy_bayes_looks_first_at_the_likeliest():
    x, q = uniform_points(500, 16, 1, np.random.default_rng(2), low=0, high=1)
    (first,) = looked_at(greedy_bayes(0, 1), x, q, 1).T.reshape(1, -1)
    rounded = (np.floor(q[:, 0] * 2**11) + 0.5) / 2**11
    assert (first == nearest_probabilities(16, rounded).argmax(-1)).all()


def test_hard_points_are_a_tree():
    x, q = hard_points(2000, 3, 2, np.random.default_rng(0))
    assert x.shape == (2000, 7)
    assert q.shape == (2000, 2)
    assert (np.diff(x) > 0).all()
    near = abs(x[:, None] - q[..., None]).min(-1)
    assert 0.2 < near.mean() < 0.9  # at most |N(0, 1)|, whose mean is 0.8
    assert abs(x[:, 3].mean() - 343 / 2) < 25  # the root or a node near it


def test_steps_of_the_hard_line():
    """Below the root 7² and 7 at most to either side, and much of it is used; noise N(0, 1)."""
    x, q = hard_points(2000, 3, 1, np.random.default_rng(1))
    width = x[:, -1] - x[:, 0]
    assert 0.8 * 2 * (49 + 7) < width.max() <= 2 * (49 + 7)
    x, q = hard_points(4000, 1, 1, np.random.default_rng(2), a=1000)
    noise = (q - x)[:, 0]
    assert abs(noise.mean()) < 5 / 4000**0.5
    assert abs(noise.var() - 1) < 5 * (2 / 4000) ** 0.5


def test_found_means_the_cell():
    assert found([[2, 0, 1]], [0]).tolist() == [[False, True, True]]
    assert accuracy_by_lookup([[[2, 0]], [[1, 1]]], [[0], [1]]).tolist() == [0.5, 1.0]
