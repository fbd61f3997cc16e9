"""Functions of `theory.graphs` at many sizes, compared with definitions."""

import json
from fractions import Fraction
from itertools import permutations
from math import comb, factorial, log, prod

import numpy as np
import pytest
import torch
from graphs_by_definition import SIZES, blocks, distances, drawn, first_edges, line, slow
from refusals import rejects
from scipy.linalg import block_diag
from scipy.sparse.csgraph import breadth_first_order

from theory import graphs as g


def power(A, k):
    return np.linalg.matrix_power(A.astype(object), k)


@pytest.mark.parametrize("n", [2, 33, 300])
def test_a_wrong_entry_at_the_last_node_is_refused(n):
    A = np.stack([np.eye(n, dtype=int)] * 2)
    for entries in (
        {(n - 1, n - 2): 1},
        {(n - 1, n - 1): 0},
        {(n - 1, n - 2): 2, (n - 2, n - 1): 2},
    ):
        wrong = A.copy()
        for place, value in entries.items():
            wrong[(1, *place)] = value
        for given in (wrong, torch.as_tensor(wrong)):
            with rejects("A"):
                g.as_adjacency(given)
    assert (g.as_adjacency(A, n) == A).all()


@pytest.mark.parametrize("n", [1, 2, 33, 130])
def test_edges_and_orders(n):
    rng = np.random.default_rng(n)
    edges = np.concatenate([rng.integers(0, n, (3 * n, 2)), [[n - 1, 0]]])
    A = g.from_edges(edges, n)
    found = {(int(u), int(v)) for u, v in np.argwhere(A)}
    pairs = {tuple(each) for each in edges.tolist()}
    assert found == pairs | {(v, u) for u, v in pairs} | {(v, v) for v in range(n)}
    assert [tuple(e) for e in g.directed_edges(A).tolist()] == sorted(
        (u, v) for u, v in found if u != v
    )
    order = rng.permutation(n)
    P = np.eye(n)[order]
    assert (g.relabelled(A[None], order)[0] == P @ A @ P.T).all()
    with rejects("edges"):
        g.from_edges([[n, 0]], n)
    for wrong in ([*order[:-1], n], [*order[:-1], order[0]])[: 1 if n == 1 else 2]:
        with rejects("order"):
            g.relabelled(A, wrong)


@pytest.mark.parametrize("n", range(1, 7))
def test_all_graphs_are_listed_once(n):
    A = g.as_adjacency(g.all_graphs(n))
    rows = {row.tobytes() for row in np.packbits(A.reshape(len(A), -1), 1)}
    assert len(A) == len(rows) == 2 ** comb(n, 2)


@pytest.mark.parametrize("n", [*range(1, 7), slow(8)])
def test_labellings(n):
    for A in (line(n), drawn(n, n)[0], np.ones((n, n), dtype=int)):
        orders = map(list, permutations(range(n)))
        wanted = {A[order][:, order].tobytes() for order in orders}
        found = g.labellings(A)
        assert len(found) == len(wanted)
        assert {each.tobytes() for each in found} == wanted
    assert len(g.labellings(line(n))) == factorial(n) // (2 if n > 1 else 1)


@pytest.mark.parametrize("n", [*SIZES, 300])
def test_families(n):
    i = np.arange(n)
    apart = abs(i[:, None] - i)
    assert (g.path(n) == (apart <= 1)).all()
    assert (g.clique(n) == 1).all()
    assert g.clique(n).shape == (n, n)
    if n > 2:
        ring = np.minimum(apart, n - apart) <= 1
        assert (g.cycles(n) == ring).all()
        assert (g.cycles(3, n, 3) == block_diag(np.ones((3, 3)), ring, np.ones((3, 3)))).all()
    if n > 1:
        same = (i[:, None] < n // 2) == (i < n // 2)
        assert (g.two_chain(n) == (apart <= 1) & same).all()
        assert (g.two_clique(n) == same).all()
    A, B = drawn(n)
    parts = [np.eye(2, dtype=int), A, B, line(3)]
    assert (g.side_by_side(*parts) == block_diag(*parts)).all()


@pytest.mark.parametrize("n", [*SIZES, slow(300)])
def test_distances(n):
    A = drawn(n)
    wanted = np.stack([distances(each) for each in A])
    assert (g.distances(A) == wanted).all()
    assert (np.stack([g.distances_by_definition(each) for each in A]) == wanted).all()
    assert g.diameter(A).tolist() == wanted.max((1, 2)).tolist()
    for k in (0, 1, n // 2, n - 1, 10**30) if n < 65 else (40, 64, n - 2):
        assert (g.within(A, k) == ((wanted >= 0) & (wanted <= k))).all()
    for L in (0, 1, 2, 3, 10_000) if n < 65 else (3, 4):
        assert (g.beyond(A, L) == (wanted > 3**L)).all()


def test_capacities():
    for L in (*range(45), 100, 1000, 10_000):
        assert g.capacity(L) == prod([3] * L)
    for L in (*range(45), 100, 300):
        most = prod([3] * L)
        assert (g.least_layers(most), g.least_layers(most + 1)) == (L, L + 1)
        assert L == 0 or g.least_layers(most // 3 + 1) == L


@pytest.mark.parametrize(
    ("n", "m"), [(1, 0), (1, 3), (2, 3), (9, 20), (33, 60), (130, 260), (300, 500)]
)
def test_orders_of_search(n, m):
    edges = np.random.default_rng(n).integers(0, n, (m, 2))
    for source in {0, n // 2, n - 1}:
        found = g.search(edges, n, source)
        assert found == first_edges(edges.tolist(), source)
        graph = np.zeros((n, n))
        graph[edges[:, 0], edges[:, 1]] = 1
        wanted = breadth_first_order(graph, source, return_predecessors=False)
        assert g.reachable(edges, n, source) == set(wanted.tolist()) == set(found)
    for function in (g.search, g.reachable):
        with rejects("source"):
            function(edges, n, n)


@pytest.mark.parametrize(("n", "T"), [(1, 1), (1, 5), (2, 9), (5, 33), (17, 130), (33, 300)])
def test_steps_of_search(n, T):
    """In each prefix, the nodes and the first edge from one of them to none of them."""
    rng = np.random.default_rng(T)
    tokens = np.where(
        rng.random((2, 1, T)) < 5 / T, rng.integers(0, n, T), n + rng.integers(0, n * n, (2, 1, T))
    )
    found = g.search_steps(tokens, n)
    for row in np.ndindex(2, 1):
        for t in range(T):
            before = tokens[row][: t + 1]
            nodes = np.isin(np.arange(n), before[before < n])
            pairs = np.stack(np.divmod(before[before >= n] - n, n))
            leads = np.flatnonzero(nodes[pairs[0]] & ~nodes[pairs[1]])
            answer, followed = -1, np.zeros(n)
            if len(leads):
                u, answer = pairs[:, leads[0]]
                followed[u], followed[answer] = 1, -2
            assert (found.visited[row][t] == nodes).all()
            assert found.answers[row][t] == answer
            assert (found.followed[row][t] == followed).all()
    last = n + n * n - 1
    assert g.search_steps([last], n).answers.tolist() == [-1]
    with rejects("tokens", str(last + 1)):
        g.search_steps([last + 1], n)


def test_a_file_of_many_edges(tmp_path):
    edges = np.random.default_rng(0).integers(0, 300, (500, 2)).tolist()
    file = tmp_path / "many.json"
    file.write_text(json.dumps(edges))
    assert g.read_edges(file).n_nodes == 1 + max(map(max, edges))
    file.write_text(json.dumps({"edges": edges, "nodes": 1000}))
    name, n, found = g.read_edges(file)
    assert (name, n, found.tolist()) == ("many", 1000, edges)


@pytest.mark.parametrize("T", [1, 2, 33, 130])
@pytest.mark.parametrize("V", [1, 2, 7, 40])
def test_pointers(T, V):
    tokens = np.random.default_rng(T).integers(0, V, T) if V != 2 else np.arange(T) % 2
    found, listed = g.pointers(tokens), tokens.tolist()
    matches = [
        next((j + 1 for j in range(i, 0, -1) if listed[j - 1] == listed[i]), 0) for i in range(T)
    ]
    # Node j + 1 follows node j, the last occurrence before node i + 1.
    assert found.to.tolist() == [0, *matches]
    A = np.eye(T + 1, dtype=int)
    A[np.arange(T + 1), found.to] = A[found.to, np.arange(T + 1)] = 1
    assert (found.A == A).all()
    apart = distances(A)
    assert found.diameter == apart.max()
    assert (found.connected == (apart >= 0)).all()
    hops = 0
    for node in range(T + 1):
        steps = 0
        while found.to[node] != node:
            node, steps = found.to[node], steps + 1
        hops = max(hops, steps)
    assert found.hops == hops


@pytest.mark.parametrize("n", [2, 3, 12, 13, 31, 33, 130, 1000])
def test_jumps(n):
    """Walks to the same node and to another node, one jump after another."""
    same, other = 1, 0
    for r in range(131):
        assert g.jumps(n, r) == other
        same, other = (n - 1) * other, same + (n - 2) * other
    assert n * g.jumps(n, 10_000) == (n - 1) ** 10_000 - 1
    assert n * g.jumps(n, 9_999) == (n - 1) ** 9_999 + 1


@pytest.mark.parametrize(("n", "k"), [(1, 130), (2, 300), (13, 33), (65, 9), (130, 3)])
def test_walks(n, k):
    A = drawn(n, n, 3 / n)
    for length in {0, 1, k - 1, k}:
        kind = object if k > 9 else np.int64
        powers = [np.linalg.matrix_power(each.astype(kind), length) for each in A]
        assert (g.walks_from(A, length) == [each.sum(-1) for each in powers]).all()
        assert (g.walks(A, length) == [each.sum() for each in powers]).all()
    ring = g.cycles(max(n, 3))
    assert (g.walks_from(ring, 130) == 3**130).all()


@pytest.mark.parametrize("n", [1, 2, 13, 33])
@pytest.mark.parametrize("lengths", [[0], [9], [0] * 9, [3, 0, 2, 1, 0, 4], [0, 33, 0]])
def test_walks_with_jumps(n, lengths):
    A = drawn(n, n, 3 / n)
    jump = (1 - np.eye(n, dtype=int)).astype(object)
    for graph, found in zip(A, g.walks_with_jumps(A, lengths), strict=True):
        wanted = power(graph, lengths[0])
        for k in lengths[1:]:
            wanted = wanted @ jump @ power(graph, k)
        assert (found == wanted).all()


SLOW_7 = [*range(7), slow(7)]


@pytest.mark.parametrize("L", SLOW_7)
def test_polynomials(L):
    """At a point so large that the value determines all coefficients for L ≤ 5."""
    x = 2**300 if L < 6 else 2**61 - 1
    p, q, s = x, 1 + x * x, 1 + x
    for _ in range(L):
        s *= 1 + q
        p, q = p + p**3, q + q**3
    for function, wanted, degree in (
        (g.tripling_polynomial, p, 3**L),
        (g.gram_polynomial, q, 2 * 3**L),
        (g.disentangled_polynomial, s, 3**L),
    ):
        found, value = function(L), 0
        for c in reversed(found):
            value = value * x + c
        assert len(found) == degree + 1
        assert value == wanted


@pytest.mark.parametrize(("n", "degree"), [(1, 300), (2, 130), (9, 33), (33, 9)])
def test_polynomials_of_graphs(n, degree):
    c = np.random.default_rng(n).integers(-9, 10, degree + 1).tolist()
    A = drawn(n, n, 3 / n)
    wanted = [sum(each * power(graph, k) for k, each in enumerate(c)) for graph in A]
    assert (g.polynomial_of_graph(c, A) == wanted).all()
    assert (g.polynomial_of_graph([], A) == 0).all()


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 9, 31, 32, 33, 64, 65, 128, 129, 1000, 2**40 + 1])
def test_inverse_temperatures_of_squaring(n):
    N = 1
    while n > N:
        N *= 2
    assert g.squaring_sharpness(n) == pytest.approx(log(8 * N * (n - 1)), rel=1e-15)
    for L in (1, 2, 3, 12, 13, 33, 300, 10_000):
        wanted = 2 * (n - 1) * (Fraction(2 * N + 1, 2) ** L - 1)
        wanted = log(wanted.numerator) - log(wanted.denominator)
        assert g.lean_squaring_sharpness(n, L) == pytest.approx(wanted, rel=1e-12)


# Two channels

CHANNELS = [(2, 3, 2), (3, 1, 5), (5, 2, 2), (17, 2, 1), (33, 1, 1), slow(65, 2, 1)]


@pytest.mark.parametrize(("n", "rows", "columns"), CHANNELS)
def test_two_channels(n, rows, columns):
    W = np.random.default_rng(n).integers(-9, 10, (rows * n, columns * n))
    found, split = g.two_channels(W, n), g.orthogonal_split(W, n)
    parts = np.zeros(2, dtype=object)
    whole = np.zeros((rows * n, columns * n), dtype=object)
    for (r, c), X in blocks(W, n).items():
        trace = int(X.trace())
        a, b = Fraction(trace, n), Fraction(int(X.sum()) - trace, n * (n - 1))
        assert (found.I[r, c], found.J[r, c]) == (a - b, b)
        parts += [n * a * a, n * (n - 1) * b * b]
        for i in range(n):
            for j in range(n):
                whole[r * n + i, c * n + j] = a if i == j else b
    assert (g.kronecker(found, n) == whole).all()
    assert split == (*parts, ((W - whole) ** 2).sum())
    assert split.total == (W * W).sum()
    floats = g.two_channels(W * 0.25, n)
    assert np.allclose(floats.I, found.I.astype(float) / 4, rtol=1e-12, atol=1e-12)
    assert np.allclose(floats.J, found.J.astype(float) / 4, rtol=1e-12, atol=1e-12)
    assert np.allclose(g.orthogonal_split(W * 0.25, n), np.array(split, float) / 16)
    with rejects("W"):
        g.two_channels(W[:-1], n)


@pytest.mark.parametrize("n", [2, 3, 5, slow(7)])
def test_two_channels_by_definition(n):
    W = np.random.default_rng(n).integers(-9, 10, (2 * n, 3 * n))
    assert (g.two_channels_by_definition(W, n) == g.kronecker(g.two_channels(W, n), n)).all()


@pytest.mark.parametrize(("n", "L"), [(1, 0), (2, 0), (2, 1), (9, 1), (17, 0), (17, 1), (7, 2)])
def test_minimal_subgraphs(n, L):
    """Of a path in random order: the edges between the two nodes."""
    out = np.tile(np.eye(n, dtype=int), (2 ** (L + 1), 1))
    order = np.random.default_rng(n).permutation(n)
    A = line(n)[order][:, order]
    for j in range(n):
        low, high = sorted((order[0], order[j]))
        between = (low <= order) & (order <= high)
        if high - low <= 3**L:
            wanted = A & between[:, None] & between | np.eye(n, dtype=int)
            assert (g.minimal_subgraph(A, [None] * L, out, 0, j) == wanted).all()
        else:
            with rejects("A"):
                g.minimal_subgraph(A, [None] * L, out, 0, j)
    for wrong in ({"i": n}, {"j": n}):
        with rejects(*wrong):
            g.minimal_subgraph(A, [None] * L, out, **{"i": 0, "j": 0, **wrong})
