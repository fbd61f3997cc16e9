"""Tables, points and sketches at many sizes, compared with definitions."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from refusals import rejects
from structures_by_definition import RNG, laid_out, one_search, quadrature

from theory import structures
from theory.structures import in_order, kd_order, kd_search, table_lookup


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


SIZES = (1, 1), (2, 1), (17, 3), (33, 130), (130, 17), (3, 1024), (64, 1024), (500, 100), (900, 7)


@pytest.mark.parametrize(("n", "T"), SIZES)
def test_accuracies_of_tables(n, T):
    """By quadrature with 60 nodes on each eighth of a bucket."""

    def found(q):
        middle = (np.floor(q * T) + 0.5) / T
        ends = np.minimum(q, middle), np.maximum(q, middle)
        return structures.same_neighbour_probability(n, *ends)

    wanted = quadrature(found, np.arange(8 * T + 1) / (8 * T), 60)
    assert structures.table_accuracy(n, T) == pytest.approx(wanted, abs=1e-11)


@pytest.mark.parametrize(("n", "T"), [(2, 3), (64, 1024), (200, 1), (300, 700), (1024, 100)])
def test_accuracies_of_tables_by_simulation(n, T):
    """Within five standard errors of the fraction of 4000 draws."""
    points, q = np.sort(RNG.random((4000, n)), axis=-1), RNG.random((4000, 1))
    middle = (np.floor(q * T) + 0.5) / T
    hits = abs(points - q).argmin(1) == abs(points - middle).argmin(1)
    wanted = structures.table_accuracy(n, T)
    assert abs(hits.mean() - wanted) <= 5 * (wanted * (1 - wanted) / 4000) ** 0.5


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


@pytest.mark.parametrize(("N", "d"), [(1, 2), (2, 1), (33, 5), (64, 2), (130, 7), (300, 3)])
def test_trees_of_points(N, d):
    x = RNG.integers(-40, 41, size=(2, N, d))
    order = kd_order(x)
    assert order.tolist() == [laid_out(row, list(range(N)), 0) for row in x.tolist()]
    x, q = in_order(x, order), RNG.integers(-41, 42, size=(2, 3, d))
    found = kd_search(x, q, N + 2)
    for s, i in np.ndindex(2, 3):
        assert found[s, i].tolist() == one_search(x[s].tolist(), q[s, i].tolist(), N + 2)


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


@pytest.mark.parametrize("scale", [2.0**-1070, 2.0**-600, 1.0, 2.0**1015])
def test_nearest_points_at_any_scale(scale):
    """Exact matches and exact ties, in floats whose squares would underflow or overflow."""
    x = np.array([[1, 7], [5, 5], [0, 9], [3, 1], [7, 1]]) * scale
    q = np.array([[0, 0], [6, 4], [3, 1], [4, 6], [1, 8]]) * scale
    assert structures.nearest_in_cloud(x, q).tolist() == [3, 1, 3, 1, 0]
    assert structures.nearest_in_cloud(x[[0, 1, 4]], q[:1]) == [0]


@pytest.mark.parametrize("range_", [(-1e308, 1e308), (0, 1.7e308)])
def test_ranges_that_overflow_are_rejected(range_):
    with rejects("low", "high"):
        structures.table_of([0.5, 1.0], 7, *range_)
    with rejects("low", "high"):
        table_lookup([0.5, 1.0], [1.0], 7, *range_)
