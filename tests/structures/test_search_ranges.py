"""Searches and trees at many sizes, compared with definitions."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, floor

import numpy as np
import pytest
from refusals import rejects
from structures_by_definition import RNG, ascending, quadrature

from theory import structures
from theory.structures import looked_at

SIZES = (1, 2, 3, 5, 17, 33, 65, 130, 1000)


def binary(points, q, lookups):
    lo, hi, cells = -1, len(points), []
    for _ in range(lookups):
        cells.append(max((lo + hi) // 2, 0))
        if hi - lo > 1:
            lo, hi = (cells[-1], hi) if points[cells[-1]] <= q else (lo, cells[-1])
    return cells


def by_place(lo, hi, v_lo, v_hi, q):
    """The integer among lo + 1 … hi − 1 nearest to the place of q, the larger of two."""
    place = lo + Fraction(int(q - v_lo), int(v_hi - v_lo)) * (hi - lo)
    return min(max((2 * place + 1) // 2, lo + 1), hi - 1)


@pytest.mark.parametrize("N", [1, 2, 33, 65, 130, 1000])
def test_searches(N):
    low, high = -(10**6), 2**40
    x = ascending(N, high)
    queries = [low, high, *x[:3], *RNG.integers(low, high, size=20), x[-1] + 1, x[0] - 1]
    M = N.bit_length() + 2
    found = looked_at(structures.binary_search, x, queries, M)
    assert found.tolist() == [binary(x, q, M) for q in queries]
    assert structures.nearest(x, queries).tolist() == [abs(x - q).argmin() for q in queries]
    found = looked_at(structures.interpolation_search(low, high), x, queries, M)
    ends = [low, *x.tolist(), high]
    for q, cells in zip(queries, found.tolist(), strict=True):
        lo, hi = 0, N + 1
        for cell in cells:
            if hi - lo < 2:
                assert cell + 1 in (lo, hi)
                continue
            assert cell + 1 == by_place(lo, hi, ends[lo], ends[hi], q)
            lo, hi = (cell + 1, hi) if x[cell] <= q else (lo, cell + 1)


@pytest.mark.parametrize("scale", [1, 2**30, 2**56, 2**57])
def test_integers_up_to_the_ends_of_int64(scale):
    """Lookups and neighbours do not change if all numbers are multiplied by one integer."""
    x, q = np.array([-63, -20, 1, 16, 62]), np.arange(-63, 63)
    search = structures.interpolation_search(-64 * scale, 63 * scale)
    usual = looked_at(structures.interpolation_search(-64, 63), x, q, 5)
    assert (looked_at(search, x * scale, q * scale, 5) == usual).all()
    assert (structures.nearest(x * scale, q * scale) == structures.nearest(x, q)).all()


@pytest.mark.parametrize("hi", [2, 3, 130, 1001, 4000])
def test_places_next_to_halves(hi):
    """Queries whose places are halves, up to the rounding of the queries to integers."""
    W = 2**40 + 15
    at = [((2 * k + 1) * W // (2 * hi)) + off for k in range(0, hi, 1 + hi // 50) for off in (0, 1)]
    found = structures.interpolated(at, 0, hi, 0, W)
    assert found.tolist() == [by_place(0, hi, 0, W, q) for q in at]


@pytest.mark.parametrize(("q", "cell"), [(-(2**60), 1), (2**60, 11)])
def test_queries_far_outside_the_bracket(q, cell):
    """12·2^60 would wrap around in int64."""
    assert structures.interpolated(q, 0, 12, 0, 1) == cell


@pytest.mark.parametrize(("N", "M"), [(1, 3), (5, 2), (33, 12), (130, 40), (1000, 5)])
def test_next_cells(N, M):
    """The ends of the bracket are those of the earlier lookups of another strategy."""
    x = np.stack([ascending(N, 10**6) for _ in range(9)])
    q, seen = RNG.integers(10**6, size=9), RNG.integers(N, size=(9, M))
    seen[0, 0], q[0] = N // 2, x[0, N // 2]  # the query is a point that is looked up first
    found = structures.next_cells(seen, x, q, -5, 10**6)
    for s, i in np.ndindex(9, M):
        earlier = seen[s, :i]
        below = earlier[x[s, earlier] <= q[s]]
        above = earlier[x[s, earlier] > q[s]]
        lo, hi = max([-1, *below.tolist()]), min([N, *above.tolist()])
        assert found["binary"][s, i] == max((lo + hi) // 2, 0)
        if hi - lo > 1:
            values = [-5, *x[s].tolist(), 10**6]
            place = by_place(lo + 1, hi + 1, values[lo + 1], values[hi + 1], q[s])
            assert found["interpolation"][s, i] == place - 1
        else:
            assert found["interpolation"][s, i] in (max(lo, 0), min(hi, N - 1))


def depth_of(N):
    """The depth of each cell, by the search for it."""
    return [binary(range(N), c, 12).index(c) + 1 for c in range(N)]


@pytest.mark.parametrize("N", [1, 2, 3, 17, 64, 65, 130, 1000])
def test_binary_accuracy(N):
    depth = depth_of(N)
    assert structures.depths(N).tolist() == depth
    weights = [2] * N
    weights[0] += 1
    weights[-1] += 1
    wanted = [
        Fraction(sum(w for w, d in zip(weights, depth, strict=True) if d <= i), 2 * (N + 1))
        for i in range(1, 14)
    ]
    assert structures.binary_accuracy(N, 13) == wanted


def test_found_in_many_lookups():
    cells, nearest = RNG.integers(40, size=(3, 50, 130)), RNG.integers(40, size=(3, 50))
    wanted = [
        [[nearest[s, m] in cells[s, m, : i + 1] for i in range(130)] for m in range(50)]
        for s in range(3)
    ]
    assert structures.found(cells, nearest).tolist() == wanted
    mean = np.mean(wanted, axis=(0, 1))
    assert np.allclose(structures.accuracy_by_lookup(cells, nearest), mean, rtol=1e-14)


def rank_probabilities(n, u, left, right):
    """P(the nearest of n points has rank j): the place x of the nearest, and the others."""

    def density(x):
        t = abs(x - u)
        below = np.maximum(0, np.minimum(x, u - t))[:, None]
        above = np.maximum(0, 1 - np.maximum(x, u + t))[:, None]
        alive = 1.0 - ((left * (t > u)) | (right * (t > 1 - u)))
        j = np.arange(n)
        choices = np.array([float(comb(n - 1, k)) for k in j.tolist()])
        return n * choices * below**j * above ** (n - 1 - j) * alive[:, None]

    return quadrature(density, [0, 2 * u - 1, u, 2 * u, 1], n // 2 + 9)


@pytest.mark.parametrize("n", [1, 2, 5, 17, 65, 128])
def test_probabilities_of_ranks(n):
    places = np.array([0, 1 / 4096, 0.21, 0.5, 0.77, 1 - 1 / 4096, 1])
    for left, right in np.ndindex(2, 2):
        wanted = [rank_probabilities(n, u, left, right) for u in places]
        found = structures.nearest_probabilities(n, places, left=bool(left), right=bool(right))
        assert np.allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 17, 50])
def test_chosen_at_once(n):
    """The means over the midpoints of 2048 intervals."""
    u = (np.arange(2048) + 0.5) / 2048
    p = structures.nearest_probabilities(n, u)
    best = np.sort(p)[:, ::-1].cumsum(1).mean(0)
    wanted = [best[min(i, n) - 1] for i in range(1, n + 4)]
    assert np.allclose(structures.best_fixed(n, n + 3), wanted, atol=1e-12)
    rank = [min(max(floor((n + 1) * each + 0.5), 1), n) for each in u]
    first = p[np.arange(2048), np.array(rank) - 1].mean()
    assert structures.first_interpolated(n) == pytest.approx(first, abs=1e-12)


@pytest.mark.parametrize("N", [1, 5, 30])
def test_greedy_bayes(N):
    """Lookup by lookup: the likeliest rank in the bracket, at the middle of the query's place."""
    low, high = -3.0, 5.0
    x = np.sort(RNG.uniform(low, high, N))
    q = RNG.uniform(low, high, 12)
    found = looked_at(structures.greedy_bayes(low, high), x, q, 6)
    table = structures.likeliest(N)
    values = [low, *x, high]
    for each, cells in zip(q, found.tolist(), strict=True):
        lo, hi = 0, N + 1
        for cell in cells:
            if hi - lo < 2:
                break
            v_lo, v_hi = values[lo], values[hi]
            place = int(2048 * (each - v_lo) / (v_hi - v_lo))
            p = rank_probabilities(hi - lo - 1, (place + 0.5) / 2048, lo > 0, hi <= N)
            rank = cell + 1 - lo
            assert rank == table[hi - lo - 1, int(lo > 0), int(hi <= N), place]
            assert p[rank - 1] >= p.max() - 1e-12
            lo, hi = (cell + 1, hi) if x[cell] <= each else (lo, cell + 1)


@pytest.mark.slow
def test_the_likeliest_of_all_places():
    table, u = structures.likeliest(128), (np.arange(2048) + 0.5) / 2048
    for n in (1, 2, 33, 127, 128):
        for left, right in np.ndindex(2, 2):
            for place in range(0, 2048, 93):
                p = rank_probabilities(n, u[place], left, right)
                assert p[table[n, left, right, place] - 1] >= p.max() - 1e-12


def lca(levels, a, b):
    """The depth of the lowest common ancestor, by the in-order numbers of the ancestors."""

    def ancestors(cell):
        number, height = cell + 1, ((cell + 1) & -(cell + 1)).bit_length() - 1
        return [
            ((number >> (h + 1) << (h + 1)) | (1 << h), levels - 1 - h)
            for h in range(height, levels)
        ]

    others = {node for node, _ in ancestors(b)}
    return next(depth for node, depth in ancestors(a) if node in others)


@pytest.mark.parametrize("levels", [1, 2, 3, 5, 13, 33, 60])
def test_partings(levels):
    N = 2**levels - 1
    drawn = [tuple(map(int, RNG.integers(N, size=2))) for _ in range(60)]
    for cell, target in [*drawn, (0, N - 1), (N - 1, 0), (N // 2, N - 1), (N - 1, N - 1)]:
        side = (target > cell) - (target < cell)
        assert structures.parting(cell, target, levels) == (side, lca(levels, cell, target))
    for pair in ((N, 0), (0, N)):
        with rejects("cell", "target"):
            structures.parting(*pair, levels)


def test_comparisons():
    for N in (*range(1, 41), 130, 1000, 10**6, 10**15 + 7):
        for M in (*range(8), 33, 65, 130):
            assert structures.most_found(N, M) == min(N, 2**M - 1)
    for N, M in product((1, 2, 7, 15, 33, 40, 65), range(7)):
        fits = 2**M - 1 <= N
        assert structures.perfect_trees(N, M) == fits * comb(N, 2**M - 1)
        assert structures.most_by_roots(N, M) == min(N, 2**M - 1)
        if M and fits:
            assert structures.best_trees(N, M) == comb(N, 2**M - 1)
    assert [structures.most_by_branches(1, M) for M in range(3)] == [0, 1, 1]
    assert [structures.most_by_branches(2, M) for M in range(4)] == [0, 1, 3, 3]
    assert structures.best_trees(2**17 - 1, 17) == 1
    for points in (2**17 - 1 + 10**5 + 1, 10**9):
        with rejects("n_points"):
            structures.best_trees(points, 17)


@pytest.mark.slow
def test_the_most_digits_of_a_number_of_trees():
    """C(N, 2^M − 1) for N − (2^M − 1) = 10^5."""
    assert structures.best_trees(2**17 - 1 + 10**5, 17) == comb(2**17 - 1 + 10**5, 10**5)


@pytest.mark.parametrize(("N", "M"), [(1, 3), (2, 2), (3, 2), (2, 3), (33, 2), (127, 1)])
def test_all_trees(N, M):
    trees = structures.decision_trees(N, M)
    assert trees.shape == (N ** (2**M - 1), 2**M - 1)
    assert trees.min() == 0
    assert trees.max() == N - 1
    assert len(set(map(tuple, trees.tolist()))) == len(trees)


@pytest.mark.parametrize(("N", "M"), [(1, 1), (33, 4), (130, 7), (1000, 9)])
def test_walks_in_trees(N, M):
    trees = RNG.integers(N, size=(3, 2**M - 1))
    trees[0] = np.sort(trees[0])
    found = structures.found_at(trees, N)
    for tree, row in zip(trees.tolist(), found.tolist(), strict=True):
        for target in range(N):
            node, at = 0, 0
            for level in range(1, M + 1):
                if tree[node] == target:
                    at = level
                    break
                node = 2 * node + 1 + (target > tree[node])
            assert row[target] == at
    with rejects("trees"):
        structures.found_at(trees[:, 1:], N)
    with rejects("trees"):
        structures.found_at(np.where(trees == trees.max(), N, trees), N)


def treap(w, lo, hi, level, into):
    if lo < hi:
        root = max(range(lo, hi), key=lambda c: (w[c], -c))
        into[root] = level
        treap(w, lo, root, level + 1, into)
        treap(w, root + 1, hi, level + 1, into)


@pytest.mark.parametrize("N", [1, 2, 33, 130, 1000])
def test_treaps(N):
    w, levels = RNG.integers(3 * N, size=N), {}
    treap(w.tolist(), 0, N, 1, levels)
    assert structures.treap_depths(w).tolist() == [levels[c] for c in range(N)]
    found = structures.found_by_depth(structures.treap_depths(w), w, 40)
    assert found.tolist() == [sum(w[c] for c in range(N) if levels[c] <= i) for i in range(1, 41)]


@pytest.mark.parametrize("N", [1, 2, 17, 130])
def test_treaps_of_random_orders(N):
    """Σ P(level)x^level of the r-th key is x Π_{j<r} (j − 1 + 2x)/(j + 1)."""
    w, M = RNG.permutation(N) + 0.5, 20
    law, total = np.zeros(M + 1), np.zeros(M)
    law[1] = 1.0
    for r, each in enumerate(sorted(w, reverse=True), start=1):
        total += each * law[1:].cumsum()
        law = ((r - 1) * law + 2 * np.append(0, law[:-1])) / (r + 1)
    assert np.allclose(structures.treap_found(w, M), total, rtol=1e-12)


@pytest.mark.parametrize(("N", "M"), [(1, 2), (17, 4), (33, 6), (65, 3)])
def test_best_trees_of_weights(N, M):
    w = RNG.integers(100, size=N).tolist()

    @cache
    def best(lo, hi, more):
        if lo == hi or not more:
            return 0
        return max(w[c] + best(lo, c, more - 1) + best(c + 1, hi, more - 1) for c in range(lo, hi))

    wanted = [best(0, N, i) for i in range(1, M + 1)]
    assert structures.most_by_weight(w, M).tolist() == wanted
    with rejects("257"):
        structures.most_by_weight(np.ones(257), 1)


@pytest.mark.slow
def test_the_most_weights():
    w = RNG.integers(100, size=256)
    assert structures.most_by_weight(w, 256)[-1] == w.sum()


@pytest.mark.parametrize("size", [1, 40, 300])
def test_many_interpolated_places(size):
    """The nearest integer inside the interval, by fractions."""
    draw = np.random.default_rng(size)
    lo = draw.integers(10**6, size=size)
    hi = lo + draw.integers(10**6, size=size)
    v_lo = draw.integers(-(10**9), 10**9, size=size)
    v_hi = v_lo + draw.integers(1, 10**9, size=size)
    q = draw.integers(v_lo, v_hi + 1)
    found = structures.interpolated(q, lo, hi, v_lo, v_hi).tolist()
    for cell, x, a, b, low, high in zip(
        found, *(each.tolist() for each in (q, lo, hi, v_lo, v_hi)), strict=True
    ):
        if b - a < 2:
            assert cell in (a, b)
            continue
        place = a + Fraction((b - a) * (x - low), high - low)
        assert a < cell < b
        assert all(abs(cell - place) <= abs(other - place) for other in (cell - 1, cell + 1)) or (
            cell in (a + 1, b - 1)
        )


@pytest.mark.parametrize(("N", "M"), [(200, 7), (130, 8), (127, 7), (255 - 60, 7), (40, 200)])
def test_deep_trees(N, M):
    assert structures.perfect_trees(N, M) == comb(N, 2**M - 1)
    assert structures.most_by_roots(N, M) == min(N, 2**M - 1)


@pytest.mark.parametrize(("rows", "cells"), [(1, 2), (9, 5), (40, 2), (33, 10**6)])
def test_errors_of_many_rows(rows, cells):
    """The mean of the minimum is the sum of P(all rows ≥ t), by the items that share a cell."""
    counts, weights = [7, 1, 0, 3, 12], [0.1, 0.2, 0.3, 0.4, 0.0]
    wanted = Fraction(0)
    for i, weight in enumerate(weights):
        others = [c for j, c in enumerate(counts) if j != i]
        law = Counter[int]()
        for shared in product((0, 1), repeat=4):
            k = sum(shared)
            mass = Fraction(1, cells) ** k * Fraction(cells - 1, cells) ** (4 - k)
            law[sum(c for c, s in zip(others, shared, strict=True) if s)] += mass
        for t in range(1, sum(others) + 1):
            wanted += Fraction(weight) * sum(p for x, p in law.items() if x >= t) ** rows
    found = structures.count_min_error(counts, weights, rows, cells)
    assert found == pytest.approx(float(wanted), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("scale", [2.0**-1060, 1, 1.0, 2**57, 2.0**1017])
def test_points_at_the_ends_of_the_range(scale):
    """A point is equal to an end of the range and to the query, at any scale."""
    x, q = np.array([-64, 5, 63]) * scale, np.array([-64, 0, 63]) * scale
    low, high = -64 * scale, 63 * scale
    found = looked_at(structures.interpolation_search(low, high), x, q, 4).tolist()
    assert found == [[0, 1, 1, 1], [1, 0, 0, 0], [2, 2, 2, 2]]
    found = looked_at(structures.greedy_bayes(low, high), x, q, 4).tolist()
    assert [cells[0] for cells in found] == [0, 1, 2]
    assert found[2] == [2, 2, 2, 2]
    cells = structures.next_cells([[2, 1]] * 3, [x] * 3, q, low, high)["interpolation"]
    assert cells[2].tolist() == [2, 2]
