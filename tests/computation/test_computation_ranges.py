"""Computations and their models on long words, with many types, states, layers and machines, at the
last value that is accepted and at the next one, against definitions written out here."""

import math
from collections import Counter

import numpy as np
import pytest
from refusals import rejects

import constructions as c
from constructions.computation import from_formula, pram, prefix_sums
from theory import computation as t
from theory.computation.counting import holds
from theory.computation.counting_syntax import parse
from theory.computation.message_passing import block_sums
from theory.computation.prefix_sums import tree_depth
from theory.computation.threshold_circuits import Gate
from theory.sequences import all_sequences

LENGTHS = [1, 2, 3, 5, 17, 33, 65, 130, 300, 1000]


def bits(T, count=6):
    """Random words of bits, words of one symbol, and words with one other bit at either end."""
    rows = np.random.default_rng(T).integers(2, size=(count, T))
    ends = np.zeros((2, T), dtype=int)
    ends[0, 0] = ends[1, -1] = 1
    return np.vstack([rows, ends, 1 - ends, np.zeros((1, T), dtype=int), np.arange(T) % 2])


@pytest.mark.parametrize("T", [*LENGTHS[:-1], pytest.param(LENGTHS[-1], marks=pytest.mark.slow)])
def test_words_of_bits(T):
    words = bits(T)
    ones = np.array([[sum(row[: i + 1]) for i in range(T)] for row in words.tolist()])
    places = np.arange(1, T + 1)
    assert (t.parity(words) == ones % 2).all()
    assert (t.majority(words) == (2 * ones > places)).all()
    assert (t.first_symbol(words) == words[:, :1]).all()
    for gate in (False, True):
        assert (c.majority(T, gate=gate)(words).numpy() == (2 * ones > places)).all()
    assert (c.parity(T)(words).numpy()[:, 0] == ones[:, -1] % 2).all()
    assert (c.parity(T, causal=True)(words).numpy() == ones % 2).all()
    assert (c.first_symbol(T)(words).numpy()[:, 0] == words[:, 0]).all()
    for layer_norm in (False, True):
        assert (
            c.first_symbol_bounded(T, layer_norm=layer_norm)(words).numpy()[:, 0] == words[:, 0]
        ).all()
        if T <= 300:
            model = c.parity_bounded(T, layer_norm=layer_norm)
            assert (model(words).numpy()[:, 0] == ones[:, -1] % 2).all()
    for build in (c.majority, c.parity, c.first_symbol, c.first_symbol_bounded):
        with rejects():
            build(T)(np.zeros(T + 1, dtype=int))


@pytest.mark.parametrize("T", [*LENGTHS[:-1], 32, 64, 128, 129])
def test_sums(T):
    x = np.random.default_rng(T).integers(-9, 10, size=(2, T))
    for s in {2, 3, 5, *([17, T] if T <= 65 else [])} - {1}:
        if s > max(T, 2):
            with rejects("s"):
                prefix_sums(T, s)
            continue
        model = prefix_sums(T, s)
        assert (model(x).numpy() == np.cumsum(x, axis=-1)).all()
        depth = next(L for L in range(99) if s**L >= T)
        assert len(model.blocks) == depth == tree_depth(T, s)
    for width in {1, 2, 7, T, T + 3}:
        wanted = [[sum(row[max(0, i + 1 - width) : i + 1]) for i in range(T)] for row in x.tolist()]
        assert t.window_sums(x, width).tolist() == wanted
        wanted = [[sum(row[i * width : (i + 1) * width]) for i in range(T)] for row in x.tolist()]
        assert block_sums(x, width).tolist() == wanted


def balanced(word, k, depth):
    """Whether each prefix is a Dyck word that was never deeper than the limit."""
    stack, right, result = [], True, []
    for symbol in word:
        if symbol < k:
            stack.append(symbol)
        elif right and stack and stack[-1] == symbol - k:
            stack.pop()
        else:
            right = False
        right = right and len(stack) <= depth
        result.append(right and not stack)
    return result


@pytest.mark.parametrize(
    ("T", "k"),
    [
        (1, 1),
        (2, 2),
        (17, 1),
        (33, 5),
        (65, 17),
        (130, 300),
        pytest.param(300, 2, marks=pytest.mark.slow),
        (301, 1),
    ],
)
def test_brackets(T, k):
    for depth in (None, 1, 2, 9, 65):
        words = np.vstack([*t.adversarial_words(T, k, 0, depth).values()])
        wanted = [balanced(row, k, math.inf if depth is None else depth) for row in words.tolist()]
        assert (t.is_dyck(words, k, depth) == wanted).all()
        assert (c.dyck(k, T, depth=depth)(words).numpy() == np.array(wanted)).all()
    height = np.array([np.cumsum([1 if v < k else -1 for v in row]) for row in words.tolist()])
    assert (t.balances(words, k) == height).all()
    if k <= 4:
        assert t.read_brackets(t.brackets(words[0], k), k) == words[0].tolist()


@pytest.mark.parametrize("length", [2, 4, 8, pytest.param(12, marks=pytest.mark.slow)])
def test_random_brackets_are_uniform(length):
    """The chi-squared statistic of 20 000 words of one type, whose number is a Catalan number."""

    total = math.comb(length, length // 2) // (length // 2 + 1)
    found = Counter(map(tuple, t.random_dyck(20_000, length, 1, 0).tolist()))
    assert len(found) == total
    squares = sum((n - 20_000 / total) ** 2 / (20_000 / total) for n in found.values())
    assert squares <= total - 1 + 5 * math.sqrt(2 * (total - 1))
    deepest = found[(0,) * (length // 2) + (1,) * (length // 2)]
    assert abs(deepest - 20_000 / total) <= 4 * math.sqrt(20_000 / total)


@pytest.mark.parametrize("T", [6, 33, 130])
@pytest.mark.parametrize(
    "formula",
    [
        "#(b & #(a|b|c) + #(a|b) + #(a|c) + #a >= 1) >= 1",
        "3 #a + 5 #b >= 7 #c + 2",
        "#a = 40",
        "100 #a > 99 #b",
        "#(#(#(#a >= 2) >= 3) >= 4) = 5",
    ],
)
def test_counting(formula, T):
    parsed = parse(formula)
    words = all_sequences(4, 3) if T == 6 else np.random.default_rng(T).integers(3, size=(20, T))
    wanted = holds(parsed, words, "abc")
    assert (from_formula(formula, "abc", T)(words).numpy() == wanted).all()


@pytest.mark.parametrize("m", [1, 2, 3, pytest.param(9, marks=pytest.mark.slow), 33])
def test_counters(m):
    """The state of a counter is the number of ones modulo m."""
    for T in (1, 2, 33, 64, 65, 130):
        words = bits(T)
        wanted = np.cumsum(words, axis=-1) % m
        A = t.cyclic(m)
        assert (A.run(words) == wanted).all()
        models = [c.shortcut(A, T)]
        if m <= 9:
            models.append(c.semiautomaton(A, T))
        if T == 65 and m <= 9:
            models += [c.semiautomaton(A, T, radix=3), c.semiautomaton(A, T, form="robust")]
        for model in models:
            assert (model(words).numpy() == wanted).all()
    if m <= 3:
        c.semiautomaton(t.cyclic(m), 5, radix=5)
        with rejects("radix"):
            c.semiautomaton(t.cyclic(m), 5, radix=6)


@pytest.mark.parametrize(
    "width", [1, 2, 5, 17, *(pytest.param(w, marks=pytest.mark.slow) for w in (33, 130))]
)
def test_walks(width):
    T = 130
    words = bits(T, 2)
    wanted = np.empty_like(words)
    for start in {0, width // 2, width}:
        for i, row in enumerate(words.tolist()):
            place = start
            for j, bit in enumerate(row):
                place = min(width, max(0, place + 2 * bit - 1))
                wanted[i, j] = place
        assert (c.gridworld_walk(width, T, start=start)(words).numpy() == wanted).all()
        if start == 0:
            assert (t.gridworld(width).run(words) == wanted).all()
    with rejects("start"):
        c.gridworld_walk(width, T, start=width + 1)


@pytest.mark.parametrize(("n", "s"), [(1, 2), (2, 2), (5, 3), (33, 2), (64, 4), (65, 4), (130, 7)])
def test_programs_of_many_machines(n, s):
    x = np.random.default_rng(n).integers(0, 9, size=(2, n))
    program = t.tree_sum(n, s, 9)
    *_, held = program.run(x)
    assert (held["x"][:, 0] == x.sum(-1)).all()
    assert (pram(program)(x).numpy()[:, 0] == x.sum(-1)).all()
    successors = np.roll(np.arange(1, n + 1), -1)
    successors[-1] = 0
    assert t.ranks(successors).tolist() == [n - i for i in range(n)]


def test_the_largest_numbers_of_programs():
    """Scores of at most 53 bits: the largest number that is accepted, and twice that number."""
    accepted = [e for e in range(1, 60) if built(e)]
    assert accepted == [*range(1, len(accepted) + 1)]
    with rejects():
        pram(t.tree_sum(4, 2, 2**43))
    largest = 2 ** accepted[-1]
    assert (
        pram(t.tree_sum(4, 2, largest))([largest, largest, largest, largest - 1])[0]
        == 4 * largest - 1
    )


def built(exponent):
    try:
        return bool(pram(t.tree_sum(4, 2, 2**exponent)))
    except ValueError:
        return False


def test_gates_of_large_weights():
    """Sums beyond int64, at each number of bits."""
    for e in (10, 52, 53, 60, 61, 62, 63, 64, 66, 70, 200):
        for weight in (2**e - 1, 2**e, 2**e + 1):
            for threshold in (1, 4 * weight, 4 * weight + 1):
                gate = Gate((0, 1, 2, 3), (weight,) * 4, threshold)
                found = t.ThresholdCircuit(4, (gate,), (4,), (1,))([1, 1, 1, 1])
                assert bool(found[0]) == (4 * weight >= threshold)


@pytest.mark.parametrize(
    ("n", "shape"), [(2, "path"), (9, "path"), (17, "random"), (33, "star"), (24, "path")]
)
def test_components(n, shape):
    rng = np.random.default_rng(n)
    edges = {
        "path": t.shuffled_path(n, 0) if n > 1 else [],
        "star": [[i, n] for i in range(1, n)],
        "random": rng.integers(1, n + 1, size=(n, 2)),
    }[shape]
    edges = np.asarray(edges)
    labels = list(range(1, n + 1))
    for _ in range(n):
        for u, v in edges.tolist():
            labels[u - 1] = labels[v - 1] = min(labels[u - 1], labels[v - 1])
    assert t.least_labels(edges, n).tolist() == labels
    assert c.connected_components(n, len(edges))(edges).tolist() == labels
    with rejects():
        c.connected_components(n, len(edges) - 1)(edges)
