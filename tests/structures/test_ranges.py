"""Weights at the largest numbers for which a model is built, where every sum is still exact; the
sizes of MLPs; and functions and models beyond their default sizes, beside definitions."""

import re
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import ceil, comb, floor
from typing import get_type_hints

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
from theory.kinds import InputError, read
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


RNG = np.random.default_rng(0)
SIZES = (1, 2, 3, 5, 17, 33, 65, 130, 1000)


def ascending(N, largest):
    """N distinct integers between 0 and the largest, a few of them next to each other."""
    return np.sort(RNG.choice(largest - 1, N, replace=False) + 1)


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


@pytest.mark.parametrize("hi", [2, 3, 130, 1001, 4000])
def test_places_next_to_halves(hi):
    """Queries whose places are halves, up to the rounding of the queries to integers."""
    W = 2**40 + 15
    at = [((2 * k + 1) * W // (2 * hi)) + off for k in range(0, hi, 1 + hi // 50) for off in (0, 1)]
    found = structures.interpolated(at, 0, hi, 0, W)
    assert found.tolist() == [by_place(0, hi, 0, W, q) for q in at]


@pytest.mark.parametrize(("N", "M"), [(1, 3), (5, 2), (33, 12), (130, 40), (1000, 5)])
def test_next_cells(N, M):
    """The ends of the bracket are those of the earlier lookups of another strategy."""
    x = np.stack([ascending(N, 10**6) for _ in range(9)])
    q, seen = RNG.integers(10**6, size=9), RNG.integers(N, size=(9, M))
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


def quadrature(f, breaks, nodes):
    """The integral of an array-valued f over [0, 1], piece by piece."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    breaks = np.unique(np.clip(breaks, 0, 1))
    half = np.diff(breaks)[:, None] / 2
    return np.tensordot((half * w).ravel(), f((breaks[:-1, None] + half * (x + 1)).ravel()), 1)


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


@pytest.mark.parametrize("T", [1, 2, 5, 24, 33, 130, 1000])
@pytest.mark.parametrize("bits", [4, 10, 20, 33, 50, 52, 54, 56, 57, 58, 59, 60, 61, 62])
def test_buckets(T, bits):
    low, high = (-(2**bits) // 3, 2**bits) if T % 2 else (3, 2**bits)
    x = sorted({low, high, (low + high) // 2, *(int(RNG.integers(low, high)) for _ in range(9))})
    named = []
    for t in range(T):
        middle = (2 * t + 1) * (high - low) + 2 * T * low
        away = [abs(2 * T * each - middle) for each in x]
        named.append(away.index(min(away)))
    assert structures.table_of(x, T, low, high).tolist() == named
    queries = [*x, low, high]
    buckets = [min(T * (q - low) // (high - low), T - 1) for q in queries]
    assert structures.bucket_of(queries, T, low, high).tolist() == buckets
    assert table_lookup(x, queries, T, low, high).tolist() == [named[b] for b in buckets]
    for q in (low - 1, high + 1):
        with rejects("queries"):
            structures.bucket_of([q], T, low, high)


@pytest.mark.parametrize("T", [1, 7, 130, 1000])
def test_buckets_of_floats(T):
    x, q = np.sort(RNG.uniform(-2.5, 7.25, 65)), RNG.uniform(-2.5, 7.25, 300)
    middle = -2.5 + (np.arange(T) + 0.5) * 9.75 / T
    named = abs(middle[:, None] - x).argmin(1)
    assert (structures.table_of(x, T, -2.5, 7.25) == named).all()
    buckets = [floor(T * (Fraction(each) + Fraction(5, 2)) / Fraction(39, 4)) for each in q]
    assert structures.bucket_of(q, T, -2.5, 7.25).tolist() == buckets
    assert (table_lookup(x, q, T, -2.5, 7.25) == named[buckets]).all()


def same_neighbour(n, u, v):
    def others(x):
        a, b = abs(x - u), abs(x - v)
        left, right = np.minimum(u - a, v - b), np.maximum(u + a, v + b)
        taken = np.minimum(1, right) - np.maximum(0, left)
        return n * (1 - taken) ** (n - 1)

    return quadrature(others, [0, u, v, 1, 2 * u, 2 * v - 1, (u + v) / 2], n // 2 + 5)


@pytest.mark.parametrize("n", [1, 2, 3, 17, 130, 1024])
def test_the_same_neighbour(n):
    pairs = [(0, 0), (0, 1), (0.1, 0.12), (0.3, 0.301), (0.49, 0.5), (0.7, 1), (1, 1)]
    u, v = np.array(pairs).T
    wanted = [same_neighbour(n, *pair) for pair in pairs]
    assert np.allclose(structures.same_neighbour_probability(n, u, v), wanted, atol=1e-12)


@pytest.mark.parametrize(("n", "T"), [(1, 1), (2, 1), (17, 3), (33, 130), (130, 17), (3, 1024)])
def test_accuracies_of_tables(n, T):
    per = ceil(1024 / T)
    q = (np.arange(per * T) + 0.5) / (per * T)
    middle = (np.floor(q * T) + 0.5) / T
    wanted = structures.same_neighbour_probability(n, np.minimum(q, middle), np.maximum(q, middle))
    assert structures.table_accuracy(n, T) == pytest.approx(wanted.mean(), abs=1e-12)


@pytest.mark.parametrize(("N", "d"), [(1, 1), (33, 2), (65, 5), (130, 3), (300, 1), (130, 65)])
def test_clouds(N, d):
    x, q = RNG.integers(-2, 3, size=(2, N, d)), RNG.integers(-2, 3, size=(2, 17, d))
    found = structures.nearest_in_cloud(x, q)
    for s, i in np.ndindex(2, 17):
        away = [sum((a - b) ** 2 for a, b in zip(q[s, i], row, strict=True)) for row in x[s]]
        assert found[s, i] == away.index(min(away))


@pytest.mark.parametrize("seed", [0, 1])
def test_draws(seed):
    """Ranges, means and variances of large draws within five standard errors."""

    def uniform(values, low, high):
        values = (np.asarray(values) - low) / (high - low)
        assert 0 <= values.min() < 20 / values.size
        assert 1 - 20 / values.size < values.max() <= 1
        assert abs(values.mean() - 0.5) < 5 / (12 * values.size) ** 0.5
        assert abs((values**2).mean() - 1 / 3) < 5 * (4 / 45 / values.size) ** 0.5

    for low, high in ((-1.0, 1.0), (-3.0, 40.0)):
        x, q = structures.uniform_points(3, 1000, 1300, seed, low, high)
        assert (x.shape, q.shape) == ((3, 1000), (3, 1300))
        assert (np.diff(x) > 0).all()
        uniform(x, low, high)
        uniform(q, low, high)
    assert abs(structures.uniform_points(1, 300, 1, seed)[0]).max() > 0.9
    x, q = structures.uniform_cloud(4, 300, 17, 130, seed)
    assert (x.shape, q.shape) == ((4, 300, 17), (4, 130, 17))
    for axis in range(17):
        uniform(x[..., axis], 0, 1)
        uniform(q[..., axis], 0, 1)
    for rho in (-1.0, -0.3, 0.0, 0.8, 1.0):
        x, q = structures.sphere_cloud(2, 33, 130, 65, seed, rho)
        assert np.allclose(np.linalg.norm(x, axis=-1), 1)
        assert np.allclose(np.linalg.norm(q, axis=-1), 1)
        assert np.isclose(q @ x.swapaxes(1, 2), rho).any(-1).all()
    with rejects("d"):
        structures.sphere_cloud(1, 1, 1, 1, 0)
    w = structures.normal_directions(130, 65, seed)
    assert abs(w.mean()) < 5 / w.size**0.5
    assert abs((w**2).mean() - 1) < 5 * (2 / w.size) ** 0.5
    for b, d in ((1, 130), (33, 130), (65, 65)):
        w = structures.orthogonal_directions(b, d, seed)
        assert w.shape == (b, d)
        assert np.allclose(w @ w.T, np.eye(b), atol=1e-12)
    with rejects("n_bits"):
        structures.orthogonal_directions(66, 65, seed)
    h = structures.random_hashes(5, 7, 130, 33, seed)
    assert h.shape == (5, 7, 130)
    counts = np.bincount(h.ravel(), minlength=33)
    assert abs(counts - 4550 / 33).max() < 5 * (4550 / 33) ** 0.5
    for V, cells in ((1, 5), (33, 130), (130, 7), (1000, 999)):
        h = structures.balanced_hashes(3, V, cells, seed)
        assert h.shape == (3, 1, V)
        for row in h[:, 0]:
            assert sorted(np.bincount(row, minlength=cells)) == sorted(
                np.bincount(np.arange(V) % cells, minlength=cells)
            )
        assert V == 1 or (h[0] != h[1]).any()


@pytest.mark.parametrize(("levels", "a"), [(1, 1.5), (2, 1e4), (6, 1e4), (9, 1e4)])
def test_hard_points(levels, a):
    """For a large base the order is that of the tree, and steps are at most a power."""
    sets = 2000 // 2**levels + 200
    x, q = structures.hard_points(sets, levels, 33, 3, a)
    assert x.shape == (sets, 2**levels - 1)
    assert q.shape == (sets, 33)
    for k in range(min(levels, 4)):
        half = 2 ** (levels - 1 - k)
        nodes = np.arange(half - 1, 2**levels - 1, 2 * half)
        sides = half * (-1) ** np.arange(len(nodes))
        parent = x[:, nodes + sides] if k else 0.0
        steps = np.sort((abs(x[:, nodes] - parent) / a ** (levels - k)).ravel())
        for fraction in (0.05, 0.5, 0.95):
            assert abs(steps[int(fraction * len(steps))] - fraction) < 2.5 / len(steps) ** 0.5
        assert np.mean(steps <= 1) > 0.999
    near = abs(q[:, :, None] - x[:, None]).min(-1)
    if levels == 1:
        noise = q - x
        assert abs(noise.mean()) < 5 / noise.size**0.5
        assert abs(noise.var() - 1) < 5 * (2 / noise.size) ** 0.5
    assert near.max() < 6 + 1e-9 * a**levels
    most = 1e300 ** (1 / levels)
    assert structures.hard_points(1, levels, 1, 0, 0.999 * most)[0].max() < 1e301
    with rejects("a"):
        structures.hard_points(1, levels, 1, 0, 1.001 * most)


@pytest.mark.parametrize(("levels", "d"), [(1, 1), (3, 33), (7, 2)])
def test_hard_clouds(levels, d):
    x, q = structures.hard_cloud(300, levels, d, 5, 1)
    assert (x.shape, q.shape) == ((300, 2**levels - 1, d), (300, 5, d))
    assert (abs(q[:, :, None] - x[:, None]).max(-1).min(-1) < 6).all()
    reach = sum(7.0**k for k in range(1, levels))
    for axis in range(d):
        middle = np.median(x[..., axis], axis=1) if levels > 1 else x[:, 0, axis]
        assert -reach < middle.min()
        assert 0.8 * 7.0**levels < middle.max() < 7.0**levels + reach


def laid_out(points, which, axis):
    """By recursion: coordinates, and then the given order."""
    if len(which) < 2:
        return which
    ordered = sorted(which, key=lambda i: (points[i][axis], i))
    m, after = len(which) // 2, (axis + 1) % len(points[0])
    below, above = laid_out(points, ordered[:m], after), laid_out(points, ordered[m + 1 :], after)
    return [*below, ordered[m], *above]


def searched(x, q, lookups):
    """One query, with a list of the pending brackets."""
    cells, pending, bracket = [], [], (0, len(x), 0)
    while len(cells) < lookups:
        lo, hi, axis = bracket
        if lo >= hi:
            if not pending:
                return cells + [cells[-1]] * (lookups - len(cells))
            first = min(pending, key=lambda each: each[0])
            pending.remove(first)
            bracket = first[1]
            continue
        m, after = (lo + hi) // 2, (axis + 1) % len(q)
        cells.append(m)
        away, sides = q[axis] - x[m][axis], ((lo, m, after), (m + 1, hi, after))
        near, far = sides[::-1] if away >= 0 else sides
        if far[0] < far[1]:
            pending.append((abs(away), far))
        bracket = near
    return cells


@pytest.mark.parametrize(("N", "d"), [(1, 2), (2, 1), (33, 5), (64, 2), (130, 7), (300, 3)])
def test_trees_of_points(N, d):
    x = RNG.integers(-40, 41, size=(2, N, d))
    order = kd_order(x)
    assert order.tolist() == [laid_out(row, list(range(N)), 0) for row in x.tolist()]
    x, q = in_order(x, order), RNG.integers(-41, 42, size=(2, 3, d))
    found = kd_search(x, q, N + 2)
    for s, i in np.ndindex(2, 3):
        assert found[s, i].tolist() == searched(x[s].tolist(), q[s, i].tolist(), N + 2)


@pytest.mark.parametrize("b", [1, 3, 17, 20])
def test_simhash(b):
    w, z = RNG.normal(size=(b, 33)), RNG.normal(size=(9, 33))
    wanted = [sum(2**i for i in range(b) if w[i] @ each > 0) for each in z]
    assert structures.simhash(w)(z).tolist() == wanted
    with rejects("21"):
        structures.simhash(np.ones((21, 2)))


@pytest.mark.parametrize("B", [1, 2, 17, 1024])
@pytest.mark.parametrize("N", [1, 2, 33, 130])
def test_equal_buckets(N, B):
    M, s = 40, Fraction(1, B)
    total, atom = [Fraction(0)] * M, [Fraction(1)]
    for _ in range(N):  # atom: the distribution of the earlier points in the bucket
        below = Fraction(0)
        for i in range(M):
            below += atom[i] if i < len(atom) else 0
            total[i] += below / N
        kept, moved = [each * (1 - s) for each in atom], [each * s for each in atom]
        atom = [a + b for a, b in zip([*kept, 0], [0, *moved], strict=True)][:M]
    assert np.allclose(structures.in_equal_buckets(N, B, M), list(map(float, total)), atol=1e-12)


@pytest.mark.parametrize(("N", "b", "M"), [(1, 1, 3), (33, 3, 17), (300, 1, 200)])
def test_found_in_large_buckets(N, b, M):
    x, q = structures.sphere_cloud(2, N, 9, 7, RNG)
    hashed = structures.simhash(structures.normal_directions(b, 9, RNG))
    found = structures.found_in_buckets(hashed, x, q, M)
    target = structures.nearest_in_cloud(x, q)
    for s, i in np.ndindex(2, 7):
        own = [a for a in range(N) if hashed(x[s, a]) == hashed(q[s, i])]
        assert found[s, i].tolist() == [target[s, i] in own[:k] for k in range(1, M + 1)]


@pytest.mark.parametrize(("heaps", "each"), [(1, 5), (5, 1), (33, 4)])
def test_many_centres(heaps, each):
    x = np.repeat(1e6 * np.eye(heaps), each, axis=0) + RNG.normal(size=(heaps * each, heaps))
    bucket = structures.k_means(x, heaps, 1)(x).reshape(heaps, each)
    assert (bucket == bucket[:, :1]).all()
    assert sorted(bucket[:, 0]) == list(range(heaps))
    with rejects("n_buckets"):
        structures.k_means(x[:heaps], heaps + 1, 1)


@pytest.mark.parametrize(("N", "n_rows"), [(1, 1), (5, 3), (33, 7), (130, 300), (300, 33)])
def test_rows(N, n_rows):
    x = np.round(256 * RNG.uniform(size=(N, 2))) / 256
    x[0] = [0.375, 1.0]
    y_order = sorted(range(N), key=lambda i: (x[i, 1], i))
    rank = {i: c for c, i in enumerate(y_order)}
    for name, row in (
        ("band_order", [min(floor(n_rows * Fraction(y)), n_rows - 1) for y in x[:, 1]]),
        ("row_order", [rank[i] * n_rows // N for i in range(N)]),
    ):
        order = sorted(range(N), key=lambda i: (row[i], x[i, 0] if row[i] % 2 == 0 else -x[i, 0]))
        found = getattr(structures, name)(x, n_rows).tolist()
        assert [(row[i], x[i, 0]) for i in found] == [(row[i], x[i, 0]) for i in order]


@pytest.mark.parametrize(
    ("N", "n_rows", "grid", "M", "sets"),
    [(1, 1, 16, 2, 50), (9, 3, 1, 9, 2000), (9, 2, 5, 4, 2000), (4, 2, 3, 3, 10_200)],
)
def test_cells_chosen_at_once(N, n_rows, grid, M, sets):
    """The accuracy on other points, with counts of as many other points."""

    def order(x):
        return structures.row_order(x, n_rows)

    def drawn(count):
        x, q = RNG.uniform(size=(count, N, 2)), RNG.uniform(size=(count, 2))
        nearest = ((x - q[:, None]) ** 2).sum(-1).argmin(1)
        place = order(x).argsort(1)[np.arange(count), nearest]
        return (q[:, 0] * grid).astype(int) * grid + (q[:, 1] * grid).astype(int), place

    square, place = drawn(20 * sets)
    seen = np.zeros((grid**2, N))
    np.add.at(seen, (square, place), 1)
    best = (-seen).argsort(1)[:, :M]
    square, place = drawn(4 * sets)
    wanted = (best[square] == place[:, None]).cumsum(1).mean(0)
    found = structures.found_at_once(order, N, M, sets, 5, grid)
    assert found.shape == (sets, min(M, N))
    assert (np.diff(found.astype(int), axis=1) >= 0).all()
    spread = 5 * (wanted * (1 - wanted) * 1.25 / sets) ** 0.5
    assert (abs(found.mean(0) - wanted) <= spread + 1e-2).all()
    if sets > 10_000:  # all chunks are counted
        assert abs(found[10_000:].mean(0) - wanted).max() < 5 * 0.5 / (sets - 10_000) ** 0.5


@pytest.mark.parametrize("V", [1, 4, 130, 1000])
@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.5, 60.0])
def test_zipf(V, exponent):
    p = [float(i) ** -exponent for i in range(1, V + 1)]
    assert np.allclose(structures.zipf(V, exponent), np.array(p) / sum(p), rtol=1e-12)
    given, streams = structures.zipf_streams(4, V, 300, exponent, 1)
    assert streams.shape == (4, 300)
    for distribution, stream in zip(given, streams, strict=True):
        assert np.allclose(np.sort(distribution)[::-1], np.array(p) / sum(p), rtol=1e-12)
        counts = structures.counts_of(stream, V)
        assert counts.tolist() == [int((stream == i).sum()) for i in range(V)]
        spread = 5 * (300 * distribution * (1 - distribution)) ** 0.5
        assert (abs(counts - 300 * distribution) <= spread + 4).all()


@pytest.mark.parametrize(
    ("d", "V", "w"), [(1, 1, 1), (3, 33, 1), (5, 33, 2), (6, 130, 33), (8, 17, 300), (17, 5, 3)]
)
def test_sketches(d, V, w):
    streams, h = RNG.integers(V, size=(2, 300)), RNG.integers(w, size=(2, d, V))
    signs, counts = RNG.choice([-1, 1], size=h.shape), structures.counts_of(streams, V)
    plain, careful = structures.count_min(counts, h, w), structures.conservative(streams, h, w)
    signed = structures.count_sketch(counts, h, signs, w)
    for s in range(2):
        table, grown = np.zeros((d, w), int), np.zeros((d, w), int)
        for item in streams[s].tolist():
            least = min(grown[r, h[s, r, item]] for r in range(d))
            for r in range(d):
                cell = r, h[s, r, item]
                table[cell] += signs[s, r, item]
                grown[cell] += grown[cell] == least
        for i in range(V):
            cells = [np.flatnonzero(h[s, r] == h[s, r, i]) for r in range(d)]
            assert plain[s, i] == min(counts[s, cell].sum() for cell in cells)
            assert careful[s, i] == min(grown[r, h[s, r, i]] for r in range(d))
            products = sorted(signs[s, r, i] * table[r, h[s, r, i]] for r in range(d))
            assert signed[s, i] == (products[d // 2] + products[(d - 1) // 2]) / 2


@pytest.mark.parametrize(
    ("V", "k"), [(1, 1), (2, 3), (33, 7), (130, 130), (130, 200), (1000, 65), (1000, 300)]
)
@pytest.mark.parametrize("balanced", [False, True])
def test_errors_of_one_row(V, k, balanced):
    p = structures.zipf(V, 0.7)
    sizes = np.bincount(np.arange(V) % k, minlength=k)
    pairs = int((sizes * (sizes - 1)).sum())
    s = pairs / max(1, V * (V - 1)) if balanced else 1 / k
    wanted = 300 * s * (1 - (p**2).sum())
    assert structures.one_row_error(p, 300, k, balanced=balanced) == pytest.approx(wanted)
    structures.one_row_error(p * (1 + 9e-10), 1, k)
    for factor in (1 - 2e-9, 1 + 2e-9):
        with rejects("p"):
            structures.one_row_error(p * factor, 1, k)


@pytest.mark.parametrize(("V", "d", "w"), [(1, 1, 2), (9, 3, 2), (33, 5, 3), (40, 2, 33)])
def test_count_min_errors(V, d, w):
    """The distribution of the other items of each cell, without division."""
    counts, p = RNG.integers(12, size=V), RNG.dirichlet(np.ones(V))
    total = 0.0
    for i in range(V):
        law = np.array([1.0])
        for j in set(range(V)) - {i}:
            law = np.convolve(law, np.append(1 - 1 / w, [0.0] * counts[j]))
            law[counts[j] :] += 0
            shifted = np.zeros(counts[j] + 1)
            shifted[-1] += 1 / w
            previous = law[: len(law) - counts[j]] / (1 - 1 / w)
            law = law + np.convolve(previous, shifted)
        total += p[i] * (np.clip(1 - law.cumsum(), 0, 1) ** d).sum()
    assert structures.count_min_error(counts, p, d, w) == pytest.approx(total, rel=1e-9, abs=1e-12)
    with rejects("n_cells"):
        structures.count_min_error(counts, p, d, 1)


@pytest.mark.parametrize(("pairs", "largest"), [(1, 1), (40, 5), (1000, 33), (300, 130)])
def test_best_answers(pairs, largest):
    e, c = RNG.integers(largest + 1, size=(2, pairs))
    w = RNG.integers(3, size=pairs)
    found = structures.best_answers(e, c, w)
    assert len(found) == e.max() + 1
    for estimate, answer in enumerate(found.tolist()):
        mine = e == estimate
        if w[mine].any():
            losses = [(w * abs(c - f))[mine].sum() for f in range(largest + 1)]
            assert losses[answer] == min(losses)
        else:
            assert answer == estimate
    estimates = RNG.normal(size=(3, pairs))
    wanted = [sum(w[i] * abs(estimates[s, i] - c[i]) for i in range(pairs)) for s in range(3)]
    both = np.tile(w, (3, 1)), np.tile(c, (3, 1))
    assert np.allclose(structures.mean_errors(*both, estimates), wanted)


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


@pytest.mark.parametrize("base", [2, 3, 10, 2**20, 2**63])
@pytest.mark.parametrize("n", [1, 3, 33, 300])
def test_one_cell(n, base):
    x = [int(RNG.integers(base)) for _ in range(n - 1)] + [base - 1]
    cell = sum(each * base**a for a, each in enumerate(x))
    assert structures.packed(x, base) == cell
    assert structures.unpacked(cell, n, base).tolist() == x
    assert structures.unpacked(base**n - 1, n, base).tolist() == [base - 1] * n
    with rejects("cell"):
        structures.unpacked(base**n, n, base)
    with rejects("numbers"):
        structures.packed([*x, base], base)
    bits = structures.cell_bits(n, base)
    assert 2 ** (bits - 1) < base**n <= 2**bits


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
    """The kind of the argument accepts both ends of its range, and no number beyond them."""
    kind = get_type_hints(function, include_extras=True)[name]
    for end, step in ((least, -1), (most, 1)):
        if end is not None:
            assert read(kind, name, end) == end
            with rejects(name):
                read(kind, name, end + step)


def test_limits_of_bits():
    assert structures.cell_bits(500_000, 2) == 500_000
    for call in (structures.cell_bits, lambda n, base: structures.unpacked(1, n, base)):
        with rejects("n_digits"):
            call(500_001, 2)
    assert structures.one_bit([0.0, np.pi]).tolist() == [1.0, 0.0]
    for angle in (-1e-9, np.pi + 1e-9):
        with rejects("angles"):
            structures.one_bit([angle])


@pytest.mark.parametrize("n", [1, 2, 17, 33, 130, 300])
def test_large_sorts(n):
    x = RNG.choice(np.arange(1 - 2**20, 2**20), n, replace=False)
    x[0] = 2**20 - 1
    model = sort(n)
    assert (model(x).numpy() == np.sort(x)).all()
    for far in (2**20, -(2**20)):
        x[0] = far
        with rejects("points"):
            model(x)
    x[0] = 1 - 2**20
    assert (model(x).numpy() == np.sort(x)).all()


@pytest.mark.parametrize("M", [1, 3, 6, 8])
def test_deep_searches(M):
    N = 2**M - 1
    x, largest = RNG.permutation(ascending(N, 1024)), 1024
    q = [0, 1, largest, *x[:5], *x[:5] - 1]
    model = binary_search(M, largest=largest)
    assert model(x, q).tolist() == [int((x <= each).sum()) for each in q]
    x[0] = largest - 1 if largest - 1 not in x else x[0]
    model(x, q)
    for far in (0, largest):
        with rejects("points"):
            model(np.where(np.arange(N) == 0, far, x), q)
    for far in (-1, largest + 1):
        with rejects("queries"):
            model(x, [far])


@pytest.mark.parametrize(("N", "M"), [(1, 1), (33, 6), (130, 3), (300, 2)])
def test_long_interpolation_searches(N, M):
    x = RNG.permutation(ascending(N, 2**14))
    q = [0, 1, 2**14, *RNG.integers(2**14, size=9), *x[:5]]
    strategy = structures.interpolation_search(0, 2**14)
    wanted = looked_at(strategy, np.sort(x), q, M)[..., -1]
    model = interpolation_search(N, M, largest=2**14)
    assert (model(x, q).numpy() == wanted).all()
    assert model.n_layers == 3 * M


@pytest.mark.parametrize(("N", "T"), [(1, 33), (33, 130), (130, 17), (300, 1)])
def test_large_tables(N, T):
    x = RNG.permutation(ascending(N, 1024))
    q = np.arange(1025)
    cells = table_lookup(np.sort(x), q, T, 0, 1024)
    assert (bucket_table(N, T)(x, q).numpy() == np.sort(x)[cells]).all()


def test_the_most_cells_of_a_table():
    for N, T in ((10**6, 1), (1, 10**6), (500_000, 500_001)):
        with rejects("n_points", "n_cells"):
            bucket_table(N, T, largest=2)


@pytest.mark.parametrize(("d", "w", "V", "n"), [(1, 1, 1, 33), (7, 33, 130, 300), (17, 2, 33, 65)])
def test_large_sketches(d, w, V, n):
    h, stream = RNG.integers(w, size=(d, V)), RNG.integers(V, size=n)
    counts = structures.counts_of(stream, V)
    wanted = [min(counts[h[r] == h[r, i]].sum() for r in range(d)) for i in range(V)]
    model = count_min(h, w, max_length=n)
    assert model(stream, np.arange(V)).tolist() == wanted
    with rejects("stream"):
        model([*stream, 0], [0])
    with rejects("stream"):
        model([V], [0])


@pytest.mark.parametrize(("L", "d"), [(2, 1), (2, 17), (5, 3), (6, 7), (8, 2)])
def test_large_layouts(L, d):
    N, largest = 2**L - 1, 30
    x = RNG.integers(1 - largest, largest, size=(N, d))
    x[0], x[1] = largest - 1, 1 - largest
    order = laid_out(x.tolist(), list(range(N)), 0)
    layout = kd_layout(N, d, largest=largest)
    assert layout(x)[order].tolist() == list(range(N))
    for far in (-largest, largest):
        with rejects("points"):
            layout(np.where(np.arange(N)[:, None] == 0, far, x))
    x = abs(np.array(x)[order]) + 1
    x = np.array(x)[laid_out(x.tolist(), list(range(N)), 0)]
    q = RNG.integers(largest + 1, size=(33, d))
    wanted = []
    for each in q:
        lo, hi, axis = 0, N, 0
        while hi > lo:
            m = (lo + hi) // 2
            lo, hi = (m + 1, hi) if each[axis] >= x[m, axis] else (lo, m)
            axis = (axis + 1) % d
        wanted.append(lo)
    descent = kd_descent(L, d, largest=largest + 1)
    assert descent(x, q).tolist() == wanted
    for far, name in ((0, "points"), (largest + 1, "points"), (-1, "queries"), (99, "queries")):
        given = np.where(np.arange(N)[:, None] == 0, far, x) if name == "points" else x
        with rejects(name):
            descent(given, q if name == "points" else np.full((1, d), far))
    with rejects("n_points"):
        kd_layout(N - 1, d)
    with rejects("n_points"):
        kd_layout(N + 1, d)
