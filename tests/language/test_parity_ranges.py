"""Parities, circuits and learners at many sizes, compared with definitions."""

import math
from collections import Counter
from fractions import Fraction as F
from itertools import combinations, product

import numpy as np
import pytest
from language_by_definition import rng
from refusals import rejects

from theory import language as L
from theory.language.parity_tree import leaves
from theory.sequences import all_sequences


@pytest.mark.parametrize(("d", "k"), [(1, 1), (33, 20), (130, 65), (300, 7)])
def test_elimination_over_gf2(d, k):
    words = rng(d).integers(2, size=(d + 40, d))
    positions = sorted(rng(k).permutation(d)[:k].tolist())
    parities = words[:, positions].sum(1) % 2
    assert L.bits_by_elimination(words, parities) == positions
    assert L.bits_by_elimination(words[: d - 1], parities[: d - 1]) is None if d > 1 else True
    with rejects("parities"):
        L.bits_by_elimination(words, np.append(parities[:-1], 1 - parities[-1]))


@pytest.mark.parametrize(("n", "G"), [(2, 1), (5, 33), (33, 130), (130, 300)])
def test_circuits(n, G):
    made, inputs = L.random_circuit(n, G, 2), rng(n).integers(2, size=(9, n))
    assert made == L.circuit(n, [list(gate) for gate in made.gates])
    assert len(made.gates) == G
    for x, found in zip(inputs.tolist(), made.wires(inputs).tolist(), strict=True):
        for a, b, f in made.gates:
            assert 0 <= a < b < len(x)
            x.append(int(f"{f:04b}"[3 - 2 * x[a] - x[b]]))
        assert found == x
    if G > 100:
        assert {f for _, _, f in made.gates} == set(L.FUNCTIONS)
    if G > 200:
        assert any(b == n + i - 1 for i, (_, b, _) in enumerate(made.gates))
        assert any(a == 0 for a, _, _ in made.gates)


@pytest.mark.parametrize(("n", "G", "N"), [(2, 1, 0), (9, 12, 9), (20, 33, 200), (33, 9, 400)])
def test_gate_learners(n, G, N):
    """Hypotheses by enumeration; values are as in the circuit or undecided."""
    made, draw = L.random_circuit(n, G, 5), rng(N)
    seen = made.wires(draw.integers(2, size=(N, n))) if N else np.zeros((0, n + G), dtype=int)
    learner, asked = L.GateLearner(n, seen), draw.integers(2, size=(130, n))
    found, truth = learner(asked), made.wires(asked)
    assert ((found == truth) | (found == -1)).all()
    rows = {tuple(row) for row in seen.tolist()}
    for gate in (n, n + G - 1):
        wanted = {
            (a, b, f)
            for a, b in combinations(range(gate), 2)
            for f in L.FUNCTIONS
            if all(f >> (2 * row[a] + row[b]) & 1 == row[gate] for row in rows)
        }
        assert (
            set(zip(*(x.tolist() for x in learner.version_spaces[gate - n]), strict=True)) == wanted
        )
        if gate == n:
            for x, value in zip(asked[:20], found[:20, n], strict=True):
                values = {f >> (2 * x[a] + x[b]) & 1 for a, b, f in wanted}
                assert value == (values.pop() if len(values) == 1 else -1)


@pytest.mark.parametrize(
    ("n", "G", "epsilon", "delta"),
    [(2, 1, 0.5, 0.5), (33, 130, 1e-3, 1e-6), (10**6, 9, 0.9, 1e-99)],
)
def test_enough_examples(n, G, epsilon, delta):
    H = 10 * (n + G - 1) * (n + G - 2) // 2
    assert L.hypotheses(n, G) == H
    wanted = G * H / epsilon * math.log(G * H / delta)
    found = L.enough_examples(n, G, epsilon, delta)
    assert -1e-12 * wanted <= found - wanted < 1 + 1e-12 * wanted


@pytest.mark.parametrize(("T", "d"), [(1, 1), (2, 33), (130, 5), (33, 130), (1000, 2)])
def test_heads(T, d):
    q, v, X = rng(T).normal(size=d), rng(d).normal(size=d), rng(T + d).normal(size=(2, T, d))
    weights = np.exp(X @ q - (X @ q).max(1, keepdims=True))
    wanted = (weights * (X @ v)).sum(1) / weights.sum(1)
    assert np.allclose(L.head(q, v, X), wanted, rtol=1e-9)


@pytest.mark.parametrize(("d", "k"), [(1, 1), (3, 17), (9, 40), (33, 9), (130, 65)])
def test_covers(d, k):
    """Each summand by trying all of them, for small sizes; the bound for all."""
    draw = rng(d)
    q = [F(int(x), 10 * d) for x in draw.integers(-9, 10, size=d)]
    A = sum(map(abs, q)) + F(int(draw.integers(3)), 7) + F(1, 1000)
    near = L.nearest_in_cover(q, A, k)
    counts = [x * k / A for x in near]
    assert all(c.denominator == 1 for c in counts)
    assert sum(map(abs, counts)) <= k
    squares = sum((x - y) ** 2 for x, y in zip(q, near, strict=True))
    assert squares <= (A**2 - sum(x * x for x in q)) / k
    if d < 10:
        total = [F(0)] * d
        for i in range(1, k + 1):
            off = [x - i * y / A for x, y in zip(total, q, strict=True)]
            best = max(range(d), key=lambda j: abs(off[j]))
            if abs(off[best]) > F(1, 2):
                total[best] -= 1 if off[best] > 0 else -1
        assert sum((x - i * y / A) ** 2 for x, y in zip(total, q, strict=True)) == sum(
            (c - k * y / A) ** 2 for c, y in zip(counts, q, strict=True)
        )
    L.nearest_in_cover(q, sum(map(abs, q)) or 1, 1)
    with rejects("A"):
        L.nearest_in_cover([*q, F(1)], 1 + sum(map(abs, q)) - F(1, 10**9), 1)
    with rejects("k"):
        L.nearest_in_cover([F(0)] * d, 1, 10**6 // d + 1)


@pytest.mark.parametrize(
    ("d", "A", "V", "B", "margin", "samples", "delta"),
    [
        (1, 1.0, 1.0, 1.0, 1.0, 1, 0.5),
        (130, 7.0, 0.3, 2.5, 0.01, 10**6, 1e-9),
        (9, 0.2, 50.0, 0.5, 3.0, 33, 0.9),
        (1, 0.7, 1.5, 1.5, 0.36, 1000, 0.5),  # 16V²B²/γ² is above 625 by a rounding error
    ],
)
def test_certificates(d, A, V, B, margin, samples, delta):
    for k, m in ((1, 1), (7, 300), (10**9, 3)):
        wanted = V * B * B * A / k**0.5 + V * B / m**0.5
        assert L.cover_radius(A, V, B, k, m) == pytest.approx(wanted, rel=1e-12, abs=0)
        assert L.log_cover_size(d, k, m) == pytest.approx(
            (k + m) * math.log(1 + 2 * d), rel=1e-12, abs=0
        )
    for size in (0.0, 3.5, 1e6):
        wanted = (size + math.log(1 / delta)) / samples
        assert L.occam(size, samples, delta) == pytest.approx(wanted, rel=1e-12, abs=0)
    exactly = {name: F(value) for name, value in zip("AVBm", (A, V, B, margin), strict=True)}
    by_value = exactly["V"] * exactly["B"] / exactly["m"]
    k_q = math.ceil(16 * (by_value * exactly["A"] * exactly["B"]) ** 2)
    k_v = math.ceil(16 * by_value**2)
    wanted = ((k_q + k_v) * math.log(2 * d + 1) + math.log(1 / delta)) / samples
    found = L.margin_certificate(d, A, V, B, margin, samples, delta)
    assert found == pytest.approx(wanted, rel=1e-12, abs=0)
    assert L.margin_certificate(1, 1.0, 9e99, 1.0, 1.0, 1, 0.5) > 1
    with rejects("margin"):
        L.margin_certificate(1, 1.0, 1.1e100, 1.0, 1.0, 1, 0.5)


@pytest.mark.parametrize(
    ("T", "margin", "samples", "delta"),
    [(1, 1.0, 1, 0.5), (33, 0.3, 10**6, 0.01), (1000, 0.02, 10**12, 1e-9), (5, 1e-4, 10**15, 0.1)],
)
def test_vote_bounds(T, margin, samples, delta):
    """The minimum over all k up to 10^5, at large k for a small margin."""
    best = min(
        2 * math.exp(-k * margin**2 / 2)
        + math.sqrt(
            (k * math.log(T) + 2 * math.log(k + 2) + math.log(k * (k + 1) / delta)) / samples / 2
        )
        for k in range(1, 10**5 + 1)
    )
    assert L.vote_bound(T, margin, samples, delta) == pytest.approx(best, rel=1e-12, abs=0)


@pytest.mark.parametrize("T", [1, 5, 33, 300])
def test_conjunctions(T):
    scores = rng(T).integers(9, size=T)
    for k in {1, T // 2 + 1, T}:
        wanted = sorted(sorted(range(T), key=lambda t: (-scores[t], t))[:k])
        assert list(L.largest_scores(scores, k)) == wanted
        rule = L.random_conjunction(T, k, 1)
        assert len(set(rule.positions)) == k
        assert max(rule.positions) < T
        words = rng(k).integers(2, size=(9, T)) | (rng(3).random((9, 1)) < 0.5)
        assert rule.labels(words).tolist() == [int(all(w[list(rule.positions)])) for w in words]
        for m in (0, 1, 33, 10**6):
            wanted = (T - k) * (1 - 0.5 ** (k + 1)) ** m
            assert L.false_bits(T, k, m) == pytest.approx(wanted, rel=1e-9, abs=1e-300)
    for name in (L.largest_scores, lambda scores, k: L.random_conjunction(T, k, 0)):
        with rejects("k"):
            name(scores, T + 1)
    A, B = (set(rng(s).integers(T, size=20).tolist()) for s in (1, 2))
    both = F(1, 2 ** len(A | B))
    assert L.error_between(A, B) == F(1, 2 ** len(A)) - both + F(1, 2 ** len(B)) - both


@pytest.mark.parametrize(("n", "T"), [(2, 1), (33, 130), (300, 9)])
def test_elimination_and_accuracy(n, T):
    words, labels = rng(n).integers(2, size=(n, T)) | 0, rng(T).integers(2, size=n)
    labels[:2] = 0, 1
    common = [t for t in range(T) if all(w[t] for w, y in zip(words, labels, strict=True) if y)]
    asked = rng(1).integers(2, size=(50, T))
    asked[:9, common] = 1
    wanted = [0.5 if all(w[common]) else -0.5 for w in asked]
    assert L.elimination(words, labels)(asked).tolist() == wanted
    scores = rng(2).integers(-2, 3, size=n)
    right = [
        np.mean([(s > 0) == y for s, y in zip(scores, labels, strict=True) if y == c])
        for c in (0, 1)
    ]
    assert L.balanced_accuracy(scores, labels) == pytest.approx(np.mean(right))


@pytest.mark.parametrize("penalty", [0.0, 0.003, 0.1])
def test_logistic_optima(penalty):
    """The subgradient of the balanced loss is 0 at the fitted weights."""
    T, n = 17, 400
    words, draw = rng(4).integers(2, size=(n, T)), rng(5)
    labels = ((words[:, 0] + words[:, 3] + draw.random(n)) > 1.7).astype(int)
    fit = L.l1_logistic(words, labels, penalty) if penalty else L.logistic(words, labels)
    origin, units = fit(np.zeros((1, T), int))[0], fit(np.eye(T, dtype=int))
    w = (units - origin) / 2
    b = origin + w.sum()
    x, sign = 2.0 * words - 1, 2.0 * labels - 1
    weight = np.where(labels == 1, 0.5 / labels.sum(), 0.5 / (n - labels.sum()))
    pull = -weight * sign / (1 + np.exp(sign * (x @ w + b)))
    assert abs(pull.sum()) < 2e-3
    slope = x.T @ pull
    some = abs(w) > 1e-3
    assert some.sum() > 1
    assert abs(slope + penalty * np.sign(w))[some].max() < 2e-3
    assert abs(slope).max() < penalty + 2e-3


def tree_of(d, k, seed=0):
    return L.parity_tree(d, rng(seed).permutation(d)[:k].tolist())


@pytest.mark.parametrize(("d", "k"), [(2, 2), (33, 16), (65, 64), (128, 128), (300, 32)])
def test_trees_of_parities(d, k):
    tree, bits = tree_of(d, k), rng(d).choice([-1, 1], size=(5, d))
    x = L.with_steps(tree, bits)
    assert x.shape == (5, d + k - 1)
    level, nodes = bits[:, list(tree.positions)], []
    while level.shape[1] > 1:
        level = level[:, ::2] * level[:, 1::2]
        nodes.append(level)
    assert (x[:, d:] == np.concatenate(nodes, axis=1)).all()
    assert tree.scores.sum() == 2 * (k - 1)
    assert [sorted(np.flatnonzero(row)) for row in tree.scores] == np.sort(tree.children).tolist()
    assert L.tree_sizes(d, k) == (d, k)
    for wrong in (k + 1, 2 * d + 2, 1):
        with rejects("k"):
            L.tree_sizes(d, wrong)
    with rejects("positions"):
        L.parity_tree(d, [*tree.positions[1:], d])


@pytest.mark.parametrize(("d", "k"), [(9, 8), (12, 4), (13, 8)])
def test_steps_on_all_words(d, k):
    tree, bits = tree_of(d, k), 1 - 2 * all_sequences(d, 2)
    for node in range(d, d + k - 1):
        counted = L.gradient_by_counting(tree, node)
        assert counted == L.gradient(tree, node, bits)
        closed = L.gradient_in_closed_form(tree, node)
        assert closed == L.gradient(tree, node, bits, printed=False)
    worst = max(
        abs(u - int(c))
        for node in range(d, d + k - 1)
        for c, u in zip(tree.scores[node - d], L.gradient_by_counting(tree, node), strict=False)
    )
    assert L.noise_tolerance(tree) == F(1, 2) - worst


@pytest.mark.parametrize(("d", "k"), [(33, 8), (40, 16)])
def test_steps_on_random_words(d, k):
    """One step by the derivative in floating point, for true and for other labels."""
    tree, bits = tree_of(d, k), rng(d).choice([-1, 1], size=(130, d))
    x = L.with_steps(tree, bits)
    for labels in (None, rng(k).choice([-1, 1], size=(130, k - 1))):
        found = L.one_step(tree, bits, labels)
        assert found.shape == tree.scores.shape
        for m in range(d, d + k - 1):
            z = x[:, :m].mean(1)
            y = x[:, m] if labels is None else labels[:, m - d]
            slope = np.where(abs(z) < 0.5, 8 * z, 8 * np.sign(z) - 8 * z)
            moved = ((y - L.link(z)) * slope)[:, None] * (x[:, :m] - z[:, None])
            assert np.allclose(found[m - d, :m], m / 8 * moved.mean(0), atol=1e-10)
            assert not found[m - d, m:].any()
            if labels is None and m in (d, d + k - 2):
                exact = [float(u) for u in L.gradient(tree, m, bits)]
                assert np.allclose(found[m - d, :m], exact, atol=1e-10)
    z = np.array([-1, -0.7, -0.5, -0.49, 0, 0.25, 0.5, 1])
    wanted = [-4 * a * a + 8 * abs(a) - 3 if abs(a) >= 0.5 else 4 * a * a - 1 for a in z]
    assert np.allclose(L.link(z), wanted, atol=1e-14)
    node = d + k - 2
    counted = np.array(list(map(float, L.gradient_by_counting(tree, node))))
    many = rng(1).choice([-1, 1], size=(4000, d))
    drawn = L.one_step(tree, many)[node - d, :node]
    assert abs(drawn - counted).max() < 5 * (4 * node / 4000) ** 0.5
    sets = leaves(tree)[:node]
    pairs = Counter(sets[i] ^ sets[j] for i, j in combinations(range(node), 2))
    _, R = L.relations(tree, node)
    assert sum(n * (n - 1) // 2 for n in pairs.values()) // 3 == R


@pytest.mark.parametrize(("d", "k"), [(4, 2), (33, 16), (1000, 64)])
def test_enough_samples(d, k):
    tree = tree_of(d, k)
    for t in (F(1, 2), F(1, 10), F(2, 10**6)):
        for delta in (0.9, 0.05, 1e-12):
            wanted = 8.7 * (d + k) / float(t) ** 2 * math.log(2 * (k - 1) * (d + k) / delta)
            found = L.enough_samples(tree, delta, t)
            assert -1e-9 * wanted <= found - wanted < 1 + 1e-9 * wanted
    for t in (F(1, 10**6), F(500_001, 10**6)):
        with rejects("tolerance"):
            L.enough_samples(tree, 0.1, t)
    if d < 100:
        default = L.enough_samples(tree, 0.1, L.noise_tolerance(tree)) if d > 4 else None
        assert default is None or L.enough_samples(tree, 0.1) == default


def paths(tree, path=()):
    if not isinstance(tree, tuple):
        yield path, tree
        return
    for bit in (0, 1):
        yield from paths(tree[1 + bit], (*path, (tree[0], bit)))


@pytest.mark.parametrize(("d", "leaves"), [(1, 2), (5, 6), (33, 17), (130, 131), (1000, 1000)])
def test_random_trees(d, leaves):
    tree = L.random_tree(d, leaves, 3)
    ends = list(paths(tree))
    assert len(ends) == leaves
    for path, leaf in ends:
        assert leaf in (0, 1)
        variables = [v for v, _ in path]
        assert len(set(variables)) == len(variables)
        assert max(variables) < d
    if leaves < 200:
        for row in L.restrictions(d, 0.4, 9, rng(d)):
            word = np.where(row < 0, rng(1).integers(2, size=d), row)
            left = L.restricted(tree, row)
            value = next(leaf for path, leaf in ends if all(word[v] == b for v, b in path))
            assert L.tree_value(left, word) == L.tree_value(tree, word) == value
            assert all(row[v] < 0 for path, _ in paths(left) for v, _ in path)
    for sizes in ((d, d + 2), (1001, 1000)):
        with rejects("n_leaves", "d"):
            L.random_tree(*sizes, 0)


def test_random_trees_differ():
    """In sizes of subtrees, in variables, and in values of leaves."""
    assert {L.random_tree(1, 2, seed) for seed in range(20)} == {(0, 0, 1), (0, 1, 0)}
    trees = [L.random_tree(2, 3, seed) for seed in range(40)]
    assert {(v, isinstance(low, int)) for v, low, _ in trees} == set(product((0, 1), (True, False)))


@pytest.mark.parametrize(("d", "mu", "count"), [(1, 0.5, 3000), (130, 0.1, 100), (33, 0.9, 300)])
def test_restrictions(d, mu, count):
    found = L.restrictions(d, mu, count, 1)
    assert found.shape == (count, d)
    free = (found == -1).mean()
    assert abs(free - mu) < 5 * (mu * (1 - mu) / found.size) ** 0.5
    ones = (found == 1).mean() / (1 - free)
    assert abs(ones - 0.5) < 2.5 / ((1 - free) * found.size) ** 0.5
    assert L.restrictions(d, mu, 0, 1).shape == (0, d)


@pytest.mark.parametrize(("d", "leaves"), [(5, 4), (17, 9), (33, 6)])
def test_learned_trees(d, leaves):
    tree = L.random_tree(d, leaves, 2)
    depth = max(len(path) for path, _ in paths(tree))
    n = L.enough_restrictions(d, leaves, depth, 0.5, 0.01)
    rows = L.restrictions(d, 0.5, n, rng(1))
    samples = [(row, L.restricted(tree, row)) for row in rows]
    assert L.tree_by_restriction(d, samples) == tree

    def agrees(part, whole):
        if part is None:
            return True
        if not isinstance(part, tuple):
            return part == whole
        return part[0] == whole[0] and all(map(agrees, part[1:], whole[1:]))

    for few in (0, 1, 7, 33):
        assert agrees(L.tree_by_restriction(d, samples[:few]), tree)


@pytest.mark.parametrize(
    ("d", "s", "depth", "mu", "delta"),
    [(1, 1, 0, 0.5, 0.9), (130, 33, 7, 0.1, 1e-6), (10**9, 10**6, 17, 0.99, 1e-99)],
)
def test_enough_restrictions(d, s, depth, mu, delta):
    wanted = math.log(2 * s * d / delta) / (((1 + mu) / 2) ** depth * mu**2)
    found = L.enough_restrictions(d, s, depth, mu, delta)
    assert -1e-9 * wanted <= found - wanted < 1 + 1e-9 * wanted
    for width in {1, min(depth + 1, 9)}:
        wanted = math.log(s / delta) / mu**width
        found = L.enough_for_terms(width, s, mu, delta)
        assert -1e-9 * wanted <= found - wanted < 1 + 1e-9 * wanted


def test_the_most_restrictions():
    """At the last depth and width for which 10^12 restrictions are enough."""
    last = max(n for n in range(120) if math.log(40) / (0.75**n * 0.25) <= 10**12)
    L.enough_restrictions(2, 1, last, 0.5, 0.1)
    with rejects("depth", "mu"):
        L.enough_restrictions(2, 1, last + 1, 0.5, 0.1)
    last = max(n for n in range(120) if math.log(20) * 2**n <= 10**12)
    assert L.enough_for_terms(last, 2, 0.5, 0.1) <= 10**12
    with rejects("width", "mu"):
        L.enough_for_terms(last + 1, 2, 0.5, 0.1)
