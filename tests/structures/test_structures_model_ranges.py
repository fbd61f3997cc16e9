"""Models of `constructions.structures` at many sizes, compared with definitions."""

import re
from itertools import permutations

import numpy as np
import pytest
import torch
from refusals import rejects
from structures_by_definition import RNG, ascending, laid_out

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


@pytest.mark.parametrize(("M", "largest"), [(1, 1024), (3, 1024), (6, 1024), (9, 1024)])
def test_deep_searches(M, largest):
    N = 2**M - 1
    x = RNG.permutation(ascending(N, largest))
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


@pytest.mark.parametrize("M", [9, 16])
def test_steps_of_deep_searches(M):
    """Comparison k moves the index m by 2^(M − 2 − k) up if v ≤ q, and down otherwise."""
    model = binary_search(M, largest=2**M)
    q, v = np.array([[0, 3, 3, 3, 2**M], [1, 1, 3, 4, 2**M - 1]])
    h = torch.zeros(5, model.d_model, dtype=torch.float64)
    for register, values in (("q", q), ("v", v)):
        h[:, model.stream[register]] = torch.as_tensor(values, dtype=h.dtype)[:, None]
    for k, layer in enumerate(model.blocks[1:]):
        moved = layer.mlp(h)[:, model.stream["m"]].flatten()
        assert moved.tolist() == (np.where(v <= q, 1, -1) * 2.0 ** (M - 2 - k)).tolist()


@pytest.mark.parametrize(("N", "M"), [(1, 1), (5, 30), (33, 14), (130, 3), (300, 2)])
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
