"""Models of `constructions.graphs` at many sizes, compared with definitions."""

from functools import partial
from math import comb

import numpy as np
import pytest
import torch
from graphs_by_definition import SIZES, distances, drawn, first_edges, slow
from limits import needs_memory
from refusals import rejects
from registers import registers_are_right
from scipy.linalg import block_diag
from scipy.sparse.csgraph import connected_components

from constructions.graphs import disentangled, search, squaring, tripling, two_cycles
from constructions.graphs.graph import Graph
from constructions.graphs.random_graphs import connected as connected_tensors
from constructions.graphs.random_graphs import random_graphs
from theory import graphs as g


@pytest.mark.parametrize(("count", "n"), [(1, 200), (3, 130), (40, 33), (3000, 3)])
@pytest.mark.parametrize("p", [0.02, 0.5, 0.9])
def test_frequencies_of_edges(count, n, p):
    """Of each graph in three blocks, and at each node in all graphs: within 7 standard errors."""
    for A in (g.erdos_renyi(count, n, p, 1), random_graphs(count, n, p, 1).long().numpy()):
        A = g.as_adjacency(A)
        assert A.shape == (count, n, n)
        upper = np.where(np.triu(np.ones((n, n), bool), 1), A, np.nan)
        h = (n + 1) // 2
        blocks = upper[:, :h, :h], upper[:, :h, h:], upper[:, h:, h:]
        degrees = (A.sum((0, 2)) - count) / (count * (n - 1))
        means = [(np.nanmean(b, (1, 2)), np.isfinite(b[0]).sum()) for b in blocks if b.shape[1] > 1]
        for found, size in (*means, (degrees, (n - 1) * count)):
            assert (abs(found - p) <= 7 * np.sqrt(p * (1 - p) / size) + 9 / size).all()
        if n > 3:
            assert len({each.tobytes() for each in A}) == count


@pytest.mark.parametrize("n", [*SIZES, 200, 258, 300, 514])
def test_connected_nodes(n):
    A, path = drawn(n, n)
    for graph in (A, path, block_diag(path, A)) if n < 200 else (path,):
        _, labels = connected_components(graph, directed=False)
        wanted = labels[:, None] == labels
        assert (g.connected(graph[None])[0] == wanted).all()
        assert (g.components(graph) == wanted.argmax(-1)).all()
        if n == 200:
            assert (g.distances(graph) == distances(graph)).all()
        if n <= 300:
            assert (connected_tensors(torch.as_tensor(graph)).numpy() == wanted).all()


@pytest.mark.parametrize("count", [1, 63, 64, 65, 130])
def test_many_graphs_of_many_nodes(count):
    A = random_graphs(count, 34, 0.04, count)
    wanted = [distances(graph) >= 0 for graph in A.numpy().astype(int)]
    assert (connected_tensors(A).numpy() == wanted).all()


def stream_of(A, weights):
    h = np.hstack([np.eye(len(A), dtype=int), A]).astype(object)
    for W in weights:
        S = h @ (W if W is not None else np.eye(h.shape[1], dtype=int)) @ h.T
        h = np.hstack([h, S * (S > 0) @ h])
    return h


@pytest.mark.parametrize(
    ("n", "L"), [(1, 3), (2, 6), (3, 4), (17, 1), (17, 2), (33, 1), slow(65, 1)]
)
def test_disentangled_transformers(n, L):
    """Of any weights, of the default weights, and of both kinds."""
    rng, A = np.random.default_rng(n), drawn(n, n, 2 / n)
    sizes = [2 ** (i + 1) * n for i in range(L + 1)]
    W = [
        np.where(rng.random((size, size)) < 0.8, 0, rng.integers(-1, 2, (size, size)))
        for size in sizes[:-1]
    ]
    out = rng.integers(-2, 3, (sizes[-1], n))
    with rejects("weights[0]"):
        g.disentangled_features(A, [W[0] * 1.0, *W[1:]])
    with rejects("unembedding"):
        g.disentangled_outputs(A, W, out[:-1])
    for weights, bias in ((W, -2.5), ([None] * L, 0.0), ([*W[:-1], None], 1.5)):
        wanted = np.stack([stream_of(graph, weights) for graph in A])
        assert (g.disentangled_features(A, weights) == wanted).all()
        assert (g.disentangled_outputs(A, weights, out) == wanted @ out).all()
        scaled = [n * (np.eye(s) if w is None else w) for w, s in zip(weights, sizes, strict=False)]
        model, outputs = disentangled(n, L, scaled, out, bias=bias), wanted @ out + bias
        slack = 1e-9 * np.abs(outputs.astype(float)).max()
        assert np.allclose(model.logits(A).numpy(), outputs.astype(float), rtol=1e-9, atol=slack)
        assert ((model(A).numpy() == (outputs > 0)) | (np.abs(outputs) <= slack)).all()


@pytest.mark.parametrize(
    ("n", "L"), [(1, 9), (2, 0), (33, 2), (65, 3), (65, 6), (130, 4), slow(300, 5)]
)
def test_tripling(n, L):
    A = drawn(n, L)
    wanted = np.stack([distances(graph) for graph in A])
    wanted = (wanted >= 0) & (wanted <= 3**L)
    model = tripling(n, L, clipped=True)
    assert (model(A).numpy() == wanted).all()
    assert (model.logits(A).numpy() == wanted).all()
    assert (model.n_layers, model.n_heads, model.d_model) == (L, min(L, 1), n)
    if L < 6:
        assert (tripling(n, L)(A).numpy() == wanted).all()


@pytest.mark.parametrize(
    ("build", "sizes"),
    [
        (partial(tripling, clipped=True), [(2, 9), (33, 4), (65, 5)]),
        (tripling, [(2, 4), (33, 3)]),
        (squaring, [(2, 9), (33, 6), (65, 7)]),
        (partial(squaring, form="robust"), [(2, 9), (33, 6), (65, 7)]),
        (disentangled, [(2, 4), (17, 2)]),
    ],
)
def test_registers_of_graphs(build, sizes):
    for n, L in sizes:
        registers_are_right(build(n, L), drawn(n, n)[:, None])


def test_outputs_of_two_layers_on_cycles():
    m, i = 12, np.arange(24)
    one, two = two_cycles(2).logits(np.stack([g.cycles(2 * m), g.cycles(m, m)])).numpy()
    far = np.minimum(i, 2 * m - i)
    assert one[0].tolist() == np.select([2 * far < m, 2 * far == m], [4, 3], 1).tolist()
    assert two[0].tolist() == [3] * m + [0] * m


@pytest.mark.parametrize("form", ["lean", "robust"])
@pytest.mark.parametrize(
    ("n", "L"), [(1, 9), (2, 0), (33, 5), (65, 6), (66, 7), (130, 7), slow(300, 9)]
)
def test_squaring(n, L, form):
    A = drawn(n, L)
    wanted = np.stack([distances(graph) for graph in A])
    wanted = (wanted >= 0) & (wanted <= 2**L)
    model = squaring(n, L, form=form)
    assert (model(A).numpy() == wanted).all()
    assert (model.logits(A).numpy() == wanted).all()
    sizes = (L, min(L, 1), (2 if form == "lean" else 3) * n)
    assert (model.n_layers, model.n_heads, model.d_model) == sizes
    N = next(2**k for k in range(n) if 2**k >= n)
    assert model.at_most == {"reached": 1} | ({} if form == "lean" else {"found": N})


@pytest.mark.parametrize(("n", "L"), [(2, 33), (17, 9), (33, 12), (65, 7), (129, 8)])
def test_squaring_with_softmax(n, L):
    """The robust form at the stated inverse temperature."""
    right_at_all_pairs(squaring(n, L, form="robust", sharpness=g.squaring_sharpness(n)))


@pytest.mark.parametrize(("n", "L"), [(9, 4), slow(2, 33), slow(33, 12), slow(65, 7)])
@pytest.mark.parametrize("form", ["lean", "robust"])
def test_squaring_at_the_least_inverse_temperature(n, L, form):
    model = squaring(n, L, form=form)
    right_at_all_pairs(model.sharpened(model.least_sharpness()))


def right_at_all_pairs(model):
    n, L = model.interface.n_nodes, model.n_layers
    star = np.eye(n, dtype=int)
    star[1:2] = star[:, 1:2] = 1
    A = np.stack([*drawn(n, L), block_diag(1, np.ones((n - 1, n - 1), dtype=int)), star])
    wanted = np.stack([distances(graph) for graph in A])
    assert (model(A).numpy() == ((wanted >= 0) & (wanted <= 2**L))).all()


NUMBERS_OF_EDGES = [0, 1, 3, 4, 5, 27, 28, 60, 61, 123, 124, 251, 252, 300, 508]


@pytest.mark.parametrize("m", NUMBERS_OF_EDGES)
def test_search_at_every_power_of_two(m):
    """After many loops of node 0, edges to the other nodes, the last of them the last token."""
    n = 4
    model = search(n, m)
    edges = ([[0, 0]] * m + [[0, 2], [0, 1], [2, 3]])[-m:] if m else []
    for source in (0, 2):
        prompt = model.interface.prompt(edges, source)
        decoded = model.generate(prompt, n)
        wanted = first_edges(edges, source)[1:]
        assert decoded.tolist() == (wanted + [-1] * n)[:n]
        with rejects("steps"):
            model.generate(prompt, n + 1)
    soft = model.sharpened(model.least_sharpness())
    assert soft.generate(prompt, n).tolist() == decoded.tolist()
    with rejects(str(m + 1)):
        model.interface.prompt([[0, 0]] * (m + 1), 0)


@pytest.mark.parametrize(("n", "m"), [(1, 0), (2, 9), (9, 40), (17, 33), (33, 66), (70, 150)])
def test_search_on_any_tokens(n, m):
    rng, T = np.random.default_rng(n), m + n
    nodes, edges = rng.integers(0, n, (3, T)), n + rng.integers(0, n * n, (3, T))
    tokens = np.where(rng.random((3, T)) < 3 / T, nodes, edges)
    model = search(n, m)
    assert (model.n_layers, model.n_heads, model.d_model) == (2, 1, 2 * n + 1)
    assert len(model.blocks[0].mlp.b_in) == n
    registers_are_right(model, tokens)
    assert search(n).interface.max_length == n * n
    assert (model(tokens).numpy() == g.search_steps(tokens, n).answers).all()
    assert model.interface.found([n - 1, -1]) == [n - 1]
    with rejects("tokens"):
        model.interface.found([n, -1])
    pairs = rng.integers(0, n, (m, 2))
    said = model.generate(model.interface.prompt(pairs, n - 1), n)
    assert [n - 1, *model.interface.found(said)] == first_edges(pairs.tolist(), n - 1)
    with rejects("source"):
        model.interface.prompt(pairs, n)
    with rejects("edges"):
        model.interface.prompt([[0, n]] if m else [[n, n]], 0)


def test_thresholds_and_all_inputs_of_graphs():
    outputs = torch.tensor([[0.0, 0.5, 1.0], [-1.0, 2.0, 0.25], [3.0, 0.75, -2.0]])
    for threshold in (-1.0, 0.0, 0.5, 2.0):
        assert (Graph(3, threshold=threshold).read(outputs) == (outputs > threshold)).all()
    for n in range(1, 7):
        count = 2 ** comb(n, 2)
        assert Graph(n).all_inputs(count - 1, False) is None
        (((A,)),) = Graph(n).all_inputs(count, False)
        assert A.shape == (count, n, n)
    assert Graph(7).all_inputs(10**9, False) is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: g.from_edges([], 300),
        lambda: g.path(300),
        lambda: g.clique(300),
        lambda: g.cycles(100, 200),
        lambda: g.two_chain(300),
        lambda: g.two_clique(300),
        lambda: g.erdos_renyi(9, 65, 0.5, 0),
        lambda: random_graphs(9, 65, 0.5, 0),
        lambda: g.search_steps(np.zeros((3, 9), int), 65).visited,
        lambda: g.kronecker(g.Channels(np.ones((5, 4)), np.ones((5, 4))), 33),
    ],
)
def test_memory(call, monkeypatch):
    needs_memory(call, monkeypatch)
