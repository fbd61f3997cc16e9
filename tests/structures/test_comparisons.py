"""What comparisons can find, and what the values of the hard distribution reveal besides."""

from functools import cache
from itertools import permutations

import numpy as np

from theory.structures import (
    decision_trees,
    found_at,
    hard_points,
    most_by_branches,
    most_found,
    parting,
)


def test_a_tree_by_hand():
    """2, then 0 or 3: 2 is found first, 0 and 3 next, 1 never."""
    assert found_at(np.array([2, 0, 3]), 4).tolist() == [2, 0, 1, 2]
    assert found_at(np.array([1]), 3).tolist() == [0, 1, 0]


def test_cells_in_another_order_change_nothing():
    """With the points in any known order, the best of all trees finds as many."""
    for order in permutations(range(3)):
        trees = decision_trees(3, 2)
        assert (found_at(np.array(order)[trees], 3) > 0).sum(-1).max() == 3


def test_where_branches_part():
    assert parting(0, 2, 2) == (1, 0)
    assert parting(0, 1, 2) == (1, 0)
    assert parting(4, 6, 3) == (1, 1)
    assert parting(6, 5, 3) == (-1, 1)
    assert parting(5, 5, 3) == (0, 1)


def test_what_branches_tell():
    assert [most_by_branches(4, M) for M in range(5)] == [0, 1, 5, 12, 15]
    assert [most_by_branches(3, M) for M in range(4)] == [0, 1, 4, 7]
    assert all(most_by_branches(L, M) >= most_found(2**L - 1, M) for L in (2, 3) for M in (1, 2, 3))


def test_distances_on_hard_points_tell_where_branches_part():
    """For a = 10⁶ the power of a next to |q − v|/2 is that of the level below the ancestor."""
    rng, L, a = np.random.default_rng(0), 3, 1e6
    depth = [rng.uniform(0, a**L, (300, 1))]
    for k in range(1, L):
        step = rng.uniform(0, a ** (L - k), (300, 2**k)) * np.tile([-1.0, 1.0], 2 ** (k - 1))
        depth.append(np.repeat(depth[-1], 2, axis=1) + step)
    x = np.sort(np.concatenate(depth, axis=1), axis=-1)
    right = []
    for c in range(7):
        for t in set(range(7)) - {c}:
            side, k = parting(c, t, L)
            away = x[:, t] - x[:, c]
            outcomes = L - 1 - np.floor(np.log(abs(away) / 2) / np.log(a)).astype(int)
            right.append((np.sign(away) == side) & (outcomes == k + 1))
    assert np.mean(right) > 0.999


def test_the_best_strategy_finds_as_many_of_hard_points():
    """For a = 10³ it reads off |q − v| where branches part, and finds 1, 5, 12 and 15 of 15."""
    L, a = 4, 1e3
    cells = range(2**L - 1)
    outcomes = {(c, t): parting(c, t, L) for c in cells for t in cells}

    @cache
    def best(left, more):
        """The most targets of those left, and the first cell to look at."""
        if not more or not left:
            return 0, 0
        ways = []
        for c in cells:
            parts = {outcomes[c, t] for t in left - {c}}
            after = (frozenset(t for t in left - {c} if outcomes[c, t] == part) for part in parts)
            ways.append(((c in left) + sum(best(part, more - 1)[0] for part in after), c))
        return max(ways)

    x, _ = hard_points(40, L, 1, np.random.default_rng(0), a)
    q = x + np.random.default_rng(1).normal(size=x.shape)
    for M, most in enumerate((1, 5, 12, 15), start=1):
        found = np.zeros(x.shape, dtype=bool)
        for s, t in np.ndindex(*x.shape):
            left = frozenset(cells)
            for more in range(M, 0, -1):
                c = best(left, more)[1]
                away = q[s, t] - x[s, c]
                found[s, t] |= c == t
                level = L - 2 - np.floor(np.log(abs(away) / 2) / np.log(a))
                left = frozenset(
                    r for r in left - {c} if outcomes[c, r] == (int(np.sign(away)), level)
                )
        assert abs(found.sum(1).mean() - most) < 0.3
