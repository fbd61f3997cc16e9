"""Functions and models of language beyond their default sizes and options, beside definitions."""

import math
from collections import Counter
from fractions import Fraction as F
from itertools import combinations, product
from typing import get_type_hints

import mpmath
import numpy as np
import pytest
from refusals import rejects

from constructions.language import (
    fact_model,
    log_probabilities,
    parity_by_linear_tokens,
    parity_with_steps,
    sample,
    string_model,
    string_probabilities,
)
from constructions.language.parity_with_steps import sharpness_for_steps
from theory import language as L
from theory.kinds import read
from theory.language.documents import next_symbol
from theory.language.parity_tree import leaves
from theory.sequences import all_sequences


def rng(seed=0):
    return np.random.default_rng(seed)


def law(m, seed=0, zeros=False, most=9):
    """A distribution on m outcomes with a small denominator."""
    weights = rng(seed).integers(0 if zeros else 1, most, size=m).tolist()
    weights[0] += 1
    return [F(w, sum(weights)) for w in weights]


SIZES = [1, 2, 5, 33, 130]


@pytest.mark.parametrize("m", SIZES)
def test_entropies(m):
    p, q = law(m, zeros=True), law(m, 1)
    x, y = (np.array(each, dtype=float) for each in (p, q))
    some = x > 0
    entropy, cross = -(x[some] * np.log(x[some])).sum(), -(x[some] * np.log(y[some])).sum()
    assert float(L.entropy(p)) == pytest.approx(entropy, abs=1e-12)
    assert float(L.cross_entropy(p, q)) == pytest.approx(cross, abs=1e-12)
    assert float(L.kl(p, q)) == pytest.approx(cross - entropy, abs=1e-12)
    a, b = x[0] / 2 + 0.1, y[0] / 2 + 0.2
    coin = a * math.log(a / b) + (1 - a) * math.log((1 - a) / (1 - b))
    exact = L.binary_kl(p[0] / 2 + F(1, 10), q[0] / 2 + F(1, 5))
    assert float(exact) == pytest.approx(coin, abs=1e-12)


@pytest.mark.parametrize("digits", [10, 30, 100, 400])
def test_logarithms_are_compared_with_close_rationals(digits):
    with mpmath.workdps(digits + 20):
        below = F(int(mpmath.floor(mpmath.log(2) * 10**digits)), 10**digits)
    assert not L.at_most_rational(L.log(2), below)
    assert L.at_most_rational(L.log(2), below + F(1, 10**digits))


def test_logarithms_at_their_limits():
    assert L.log(2**64) == 64 * L.log(2)
    assert L.log(F(1, 2**64)) == -64 * L.log(2)
    assert L.Log({2**64 - 59: 1}) == L.log(2**64 - 59)
    assert 0 < L.log(2).ball(2) < 1
    with rejects("bits"):
        L.log(2).ball(10**7 + 1)
    for value in (2**64 + 1, F(1, 2**64 + 1)):
        with rejects("value"):
            L.log(value)
    with rejects(str(2**64 + 13)):
        L.Log({2**64 + 13: 1})


@pytest.mark.parametrize(("parts", "m"), [(1, 1), (130, 1), (130, 2), (1, 33), (9, 5)])
def test_grids(parts, m):
    found = list(L.distributions_on_grid(parts, m))
    assert len(set(found)) == len(found) == math.comb(parts + m - 1, m - 1)
    assert all(sum(p) == 1 and len(p) == m and min(p) >= 0 for p in found)
    assert all((parts * x).denominator == 1 for p in found for x in p)


@pytest.mark.parametrize("m", [2, 3, 33, 130, 1000])
def test_errors(m):
    p, q = law(m), law(m, 1)
    assert L.errors(p) == (1 - max(p), 1 - sum(x * x for x in p))
    likely = q.index(max(q))
    assert L.excess_error(p, q) == max(p) - p[likely]
    for least in (F(0), F(1, 7 * m), F(m - 1, m)):
        worst = [1 - least, *[least / (m - 1)] * (m - 1)]
        assert L.most_sampling_error(least, m) == L.errors(worst)[1]
    with rejects("least"):
        L.most_sampling_error(F(m - 1, m) + F(1, 10**9), m)


def random_source(states, V, seed=0, unifilar=False):
    draw, rows = rng(seed), []
    for _ in range(states):
        weights = draw.integers(0, 5, size=(V, states))
        if unifilar:
            weights = np.where(
                np.arange(states) == draw.integers(states, size=(V, 1)), 1 + weights, 0
            )
        weights[0, 0] += 1
        if unifilar and (weights[0] > 0).sum() > 1:
            weights[0, 1:] = 0
        rows.append([[F(int(w), int(weights.sum())) for w in row] for row in weights])
    steps = [[rows[i][v] for i in range(states)] for v in range(V)]
    return L.source(law(states, seed), steps)


@pytest.mark.parametrize(("states", "V", "length"), [(1, 3, 40), (2, 2, 130), (5, 4, 33)])
def test_greedy_texts(states, V, length):
    source, text = random_source(states, V, 3), []
    found = L.greedy_text(source, length)
    state = source.start
    for symbol in found:
        following = [
            sum(s * sum(source.steps[v][i]) for i, s in enumerate(state)) for v in range(V)
        ]
        assert symbol == following.index(max(following))
        state = source.moved(state, symbol)
        text.append(symbol)
    assert L.distance_of_greedy(source, length) == 1 - source.probability(text)


@pytest.mark.parametrize(("V", "T"), [(1, 20), (2, 8), (5, 3), (9, 2)])
def test_texts_and_windows(V, T):
    source = random_source(2, V, 1)
    texts = list(product(range(V), repeat=T))
    assert sum(map(source.probability, texts[:1000])) == 1 or len(texts) > 1000
    best = L.most_probable_text(source, T)
    assert source.probability(best) == max(map(source.probability, texts))
    t = min(T, 6)
    assert L.conditional_entropy(source, t) == L.window_entropy_by_definition(source, t, t - 1)
    with rejects("window"):
        L.window_entropy_by_definition(source, t, t)
    beyond = {1: 21, 2: 17, 5: 8, 9: 6}[V]
    with rejects("length"):
        L.most_probable_text(source, beyond)
    with rejects("t"):
        L.window_entropy_by_definition(source, beyond, 1)


@pytest.mark.parametrize("S", [1, 2, 9])
def test_entropy_rates_of_cycles(S):
    """State i emits a symbol of its own distribution and goes on to the next state."""
    laws = [law(3, seed) for seed in range(S)]
    steps = [
        [[laws[i][v] * (j == (i + 1) % S) for j in range(S)] for i in range(S)] for v in range(3)
    ]
    source = L.source([F(1, S)] * S, steps)
    assert source.is_stationary
    rate = sum((L.entropy(p) for p in laws), start=L.Log()) * F(1, S)
    assert L.entropy_rate(source) == rate
    state = [F(int(i == 0)) for i in range(S)]
    known = L.source(state, steps)
    assert known.is_stationary == (S == 1)
    for t in (1, 2, 33, 200 if S < 3 else 40):
        assert L.conditional_entropy(known, t) == L.entropy(laws[(t - 1) % S])


@pytest.mark.parametrize("d", [1, 2, 5, 9, 14])
def test_signals(d):
    gradients, words = rng(d).integers(-5, 6, size=(2**d, 2)), all_sequences(d, 2)
    found = L.signals(gradients)
    for at in {0, 1, 2**d - 1, 2**d // 3}:
        signs = 1 - 2 * (words @ words[at] % 2)
        assert found[at] == ((signs @ gradients) ** 2).sum()
    assert found.sum() == 2**d * (gradients**2).sum()
    for wrong in (gradients[1:], np.ones((2**15, 1)), np.ones((1, 1))):
        if len(wrong) not in (2, 4, 16):
            with rejects("gradients"):
                L.signals(wrong)


@pytest.mark.parametrize("d", [1, 2, 33, 130, 1000])
def test_bounds_of_signals(d):
    for k in {0, 1, d // 2, d}:
        assert L.mean_signal_bound(d, k) * math.comb(d, k) == 1
    with rejects("k"):
        L.mean_signal_bound(d, d + 1)
    m = d + 1
    assert L.least_step_signal(m) == F(2 * m - 4, m**3)


@pytest.mark.parametrize(("d", "k"), [(1, 1), (33, 20), (130, 65), (300, 7)])
def test_elimination_over_gf2(d, k):
    words = rng(d).integers(2, size=(d + 40, d))
    positions = sorted(rng(k).permutation(d)[:k].tolist())
    parities = words[:, positions].sum(1) % 2
    assert L.bits_by_elimination(words, parities) == positions
    assert L.bits_by_elimination(words[: d - 1], parities[: d - 1]) is None if d > 1 else True
    with rejects("parities"):
        L.bits_by_elimination(words, np.append(parities[:-1], 1 - parities[-1]))


@pytest.mark.parametrize(("base", "count"), [(2, 1), (2, 12), (33, 2), (10, 4), (1000, 1)])
def test_facts(base, count):
    found = L.fact_strings(base, count, 1)
    powers = base ** np.arange(count)[::-1]
    assert (found[:, :count] @ powers == np.arange(base**count)).all()
    assert found.min() >= 0
    assert found.max() <= base - 1
    values = found[:, count:] @ powers
    assert abs(values.mean() / base**count - 0.5) < 0.3 if base**count > 30 else True


@pytest.mark.parametrize("strings", [(4097, 2), (2, 25), (257, 3), (2**24 + 1, 1)])
def test_too_many_facts(strings):
    with rejects("facts", error=ValueError):
        L.fact_strings(*strings, 0)


@pytest.mark.parametrize("m", [1, 5, 130])
def test_probabilities_of_facts(m):
    p, counts = law(m), rng(m).integers(4, size=m).tolist()
    counts[0] += 1
    n = sum(counts)
    once = F(sum(c == 1 for c in counts), n)
    seen = [i for i in range(m) if counts[i]]
    assert L.probabilities_of_seen(p, counts, "calibrated") == [p[i] for i in seen]
    assert L.probabilities_of_seen(p, counts, "memoriser") == [F(counts[i], n) for i in seen]
    left = [(1 - once) * F(counts[i], n) for i in seen]
    assert L.probabilities_of_seen(p, counts, "good-turing") == left


@pytest.mark.parametrize(("V", "length", "m"), [(2, 9, 5), (5, 4, 33), (33, 2, 7)])
def test_next_symbols(V, length, m):
    strings = all_sequences(length, V)
    given = strings[rng(V).permutation(len(strings))[:m]]
    p = [x / 3 for x in law(m, zeros=True)]
    g = dict.fromkeys(map(tuple, strings.tolist()), F(2, 3) / (V**length - m))
    g |= dict(zip(map(tuple, given.tolist()), p, strict=True))
    for string in given[:4].tolist():
        for t in range(length):
            below = [F(0)] * V
            for other, x in g.items():
                if list(other[:t]) == string[:t]:
                    below[other[t]] += x
            wanted = [x / sum(below) for x in below]
            assert next_symbol(given, p, V, string[:t]) == wanted


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


def test_gates_at_their_limits():
    both = {f for f in range(16) if (f ^ f >> 1) & 5 and (f ^ f >> 2) & 3}
    assert set(L.FUNCTIONS) == both
    for f in range(17):
        if f in both:
            L.circuit(2, [(0, 1, f)])
        else:
            with rejects("gate"):
                L.circuit(2, [(0, 1, f)])
    L.circuit(3, [(0, 2, 8), (2, 3, 8)])
    for gate in ((1, 1, 8), (2, 1, 8), (0, 3, 8)):
        with rejects("gate"):
            L.circuit(3, [gate])
    assert len(L.random_circuit(10**5 - 1, 1, 0).gates) == 1
    with rejects("n_inputs", "n_gates"):
        L.random_circuit(10**5, 1, 0)
    assert L.GateLearner(446, np.zeros((1, 447), dtype=int)).n_inputs == 446
    with rejects("wires"):
        L.GateLearner(447, np.zeros((1, 448), dtype=int))
    with rejects("n_inputs"):
        L.GateLearner(4, np.zeros((1, 3), dtype=int))


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


@pytest.mark.parametrize(("m", "n"), [(1, 2), (2, 3), (5, 33), (9, 130), (33, 65)])
def test_good_turing(m, n):
    """The moments by the probabilities that one or two facts occur once or never."""
    p = law(m)
    once, never = [x * (1 - x) ** (n - 1) for x in p], [x * (1 - x) ** n for x in p]
    assert L.mean_difference(p, n) == sum(once) - sum(never)
    square = sum(x / n for x in once) + sum(x * y for x, y in zip(p, never, strict=True))
    for i, j in product(range(m), repeat=2):
        if i != j:
            a, b, rest = p[i], p[j], 1 - p[i] - p[j]
            square += a * b * rest ** (n - 2) * F(n - 1, n) + a * b * rest**n
            square -= 2 * a * b * rest ** (n - 1)
    assert L.mean_square(p, n) == square
    assert L.most_mean_difference(n) == F((n - 1) ** (n - 1), n**n)
    assert square <= L.most_mean_square(n)
    uniform = float(L.mean_square([F(1, m)] * m, n))
    assert L.uniform_mean_square(m, n) == pytest.approx(uniform, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("n", [1, 2, 3, 33, 300, 2000])
def test_bounds_of_good_turing(n):
    for gamma in (1e-9, 0.05, 0.7):
        wanted = 1 / n + 2.42 * math.sqrt(math.log(4 / gamma) / n)
        assert L.deviation_bound(n, gamma) == pytest.approx(wanted, rel=1e-12)
    assert L.most_mean_difference(n) == F(1, n) * F(n - 1, n) ** (n - 1)
    if n > 1:
        wanted = F(1, n) + F(n**n, (n + 1) ** (n + 1)) + F(4 * (n - 2) ** (n - 2), n**n)
        assert L.most_mean_square(n) == wanted


@pytest.mark.parametrize(("facts", "n"), [(1, 1), (1, 50), (2, 5), (33, 17), (65, 30), (10**15, 3)])
def test_seen_and_once(facts, n):
    found = L.seen_and_once(facts, n)
    assert sum(found.values()) == 1
    missed = F(facts - 1, facts)
    assert sum(x * s for (s, _), x in found.items()) == facts * (1 - missed**n)
    assert sum(x * o for (_, o), x in found.items()) == n * missed ** (n - 1)
    both = n * (n - 1) * F(facts - 1, facts) * F(facts - 2, facts) ** (n - 2) if n > 1 else F(0)
    assert sum(x * o * (o - 1) for (_, o), x in found.items()) == both
    if facts**n < 1000:
        counted = Counter[tuple[int, int]]()
        for corpus in product(range(facts), repeat=n):
            counts = Counter(corpus)
            counted[len(counts), [*counts.values()].count(1)] += 1
        assert found == {key: F(x, facts**n) for key, x in counted.items()}


def test_good_turing_at_its_limits():
    assert L.seen_once([1, 2, 1], 4) == F(1, 2)
    with rejects("counts", "documents"):
        L.seen_once([1, 2, 1], 3)
    half = [F(1, 2)] * 2
    assert L.mean_difference(half, 500_000) == F(1, 2**500_000)
    with rejects("documents"):
        L.mean_difference(half, 500_001)
    assert L.moments_by_definition([1], 20) == (0, 0)
    assert L.moments_by_definition(half, 3) == (L.mean_difference(half, 3), L.mean_square(half, 3))
    for p, n in (([1], 21), (half, 20), ([F(1, 1001)] * 1001, 2)):
        with rejects("corpora"):
            L.moments_by_definition(p, n)


@pytest.mark.parametrize("m", [2, 5, 33, 130])
def test_levels(m):
    p, g = law(m, zeros=True), law(m, 1)
    facts = {y for y in range(m) if p[y]} | {m // 2}
    unseen = set(rng(m).permutation(m)[: m // 2].tolist())
    found = L.levels(p, g, facts, unseen)
    assert found.hallucination == sum(g[y] for y in range(m) if y not in facts)
    assert found.unseen_mass == sum(p[y] for y in unseen)
    assert found.valid == len(facts)
    for tau in (F(0), *sorted(set(g)), F(1, 2 * m)):
        A = {y for y in range(m) if g[y] > tau}
        over = max(F(0), sum(g[y] - p[y] for y in A))
        assert found.over_confidence(tau) == over
        bound = found.unseen_mass - over - tau * len(facts) + tau * len(A)
        assert found.deterministic_bound(tau) == bound - sum(p[y] for y in A & unseen)
    values = sorted(set(g))
    apart = {v: sum(g[y] - p[y] for y in range(m) if g[y] == v) for v in values}
    assert found.miscalibration == sum(map(abs, apart.values())) / 2
    mass = {v: v * g.count(v) for v in values}
    for bins in (1, 2, 3, 17, 1000):
        parts, before = Counter[int](), F(0)
        for v in values:
            parts[math.floor(bins * before)] += apart[v]
            before += mass[v]
        if all((bins * sum(list(mass.values())[:i])).denominator > 1 for i in range(1, len(mass))):
            wanted = float(sum(map(abs, parts.values())) / 2)
            assert found.miscalibration_in(bins) == pytest.approx(wanted, abs=1e-12)
    with rejects("p"):
        L.levels(p, g, facts - {0}, unseen)


@pytest.mark.parametrize(
    ("a", "over", "facts", "others", "n", "delta"),
    [
        (F(1, 3), F(1, 7), 1, 1, 1, 0.5),
        (F(1), F(0), 10**6, 10**9, 33, 1e-3),
        (F(0), F(1), 7, 130, 10**15, 0.9),
    ],
)
def test_bounds_on_hallucination(a, over, facts, others, n, delta):
    assert L.expected_bound(a, over, facts, others, n) == a - over - F(facts, others) - F(1, n)
    assert L.expected_prompted_bound(a, over, facts, n) == a - over - F(2, facts) - F(1, n)
    wanted = float(a - over) - facts / others / delta
    assert L.bound_given_corpus(a, over, facts, others, delta) == pytest.approx(wanted, rel=1e-12)
    for squares in (0.0, 1e-6, 0.3):
        wanted = float(a - over - F(2, facts)) - math.sqrt(math.log(1 / delta) * squares / 2)
        found = L.prompted_bound_given_data(a, over, facts, delta, squares)
        assert found == pytest.approx(wanted, rel=1e-12)
    slack = 3 * facts / (delta * others) + math.sqrt(6 * math.log(6 / delta) / n)
    assert L.printed_slack(facts, others, n, delta) == pytest.approx(slack, rel=1e-12)
    found = L.printed_bound(a, over, facts, others, n, delta)
    assert found == pytest.approx(float(a - over) - slack, rel=1e-12)
    wanted = float(a - over) - 2 / others - (35 + 6 * math.log(n)) / math.sqrt(n)
    assert L.printed_prompted_bound(a, over, others, n) == pytest.approx(wanted, rel=1e-12)
    for value in (1 + 2e-9, -2e-9, F(1001, 1000)):
        with rejects("over"):
            L.expected_bound(a, value, facts, others, n)
    L.expected_bound(a, 1 + 0.9e-9, facts, others, n)


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
    ],
)
def test_certificates(d, A, V, B, margin, samples, delta):
    for k, m in ((1, 1), (7, 300), (10**9, 3)):
        wanted = V * B * B * A / k**0.5 + V * B / m**0.5
        assert L.cover_radius(A, V, B, k, m) == pytest.approx(wanted, rel=1e-12)
        assert L.log_cover_size(d, k, m) == pytest.approx((k + m) * math.log(1 + 2 * d), rel=1e-12)
    for size in (0.0, 3.5, 1e6):
        wanted = (size + math.log(1 / delta)) / samples
        assert L.occam(size, samples, delta) == pytest.approx(wanted, rel=1e-12)
    k_q = math.ceil(16 * (V * A * B * B / margin) ** 2 * (1 - 1e-14))
    k_v = math.ceil(16 * (V * B / margin) ** 2 * (1 - 1e-14))
    wanted = ((k_q + k_v) * math.log(2 * d + 1) + math.log(1 / delta)) / samples
    found = L.margin_certificate(d, A, V, B, margin, samples, delta)
    assert found == pytest.approx(wanted, rel=1e-6)
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
    assert L.vote_bound(T, margin, samples, delta) == pytest.approx(best, rel=1e-12)


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


@pytest.mark.parametrize(
    ("T", "k"), [(1, 1), (2, 1), (33, 33), (130, 7), (10**6, 10**3), (10**15, 2), (2000, 1000)]
)
def test_fano(T, k):
    with mpmath.workdps(40):
        choices = mpmath.log(mpmath.binomial(T, k))
        assert L.log_choices(T, k) == pytest.approx(float(choices), rel=1e-12, abs=1e-12)

        def h(p):
            p = mpmath.mpf(p)
            return -sum(x * mpmath.log(x) for x in (p, 1 - p) if x)

        rate = h(mpmath.mpf(2) ** -k)
        for p in (0.0, 0.001, 0.3, 0.5, 0.999, 1.0):
            assert L.binary_entropy(p) == pytest.approx(float(h(p)), rel=1e-9)
            wanted = (p * choices - h(p)) / rate
            found = L.least_samples(T, k, p)
            assert found == 0 if wanted <= 0 else abs(found - wanted - 0.5) < 0.5001 + 1e-9 * wanted
        if T < 10**4 and k < 100:
            for m in (0, 1, 7, 300):
                allowed = [i for i in range(1001) if i / 1000 * choices - h(i / 1000) <= m * rate]
                assert L.greatest_probability(T, k, m) == pytest.approx(max(allowed) / 1000)
    with rejects("k"):
        L.least_samples(T, T + 1)


def test_choices_at_their_limit():
    for k in (10**4, 10**6 - 10**4):
        lgamma = math.lgamma(10**6 + 1) - math.lgamma(k + 1) - math.lgamma(10**6 - k + 1)
        assert L.log_choices(10**6, k) == pytest.approx(lgamma, rel=1e-9)
    for k in (10**4 + 1, 10**6 - 10**4 - 1):
        with rejects("k"):
            L.log_choices(10**6, k)


@pytest.mark.parametrize(("prompts", "C"), [(1, 2), (3, 3), (9, 17), (33, 5)])
@pytest.mark.parametrize("valid", [1, 2])
def test_validity(prompts, C, valid):
    if valid >= C:
        valid = 1
    sets = [set(rng(c).permutation(C)[:valid].tolist()) for c in range(prompts)]
    mu, p, g = law(prompts), [], [law(C, c, zeros=True, most=5) for c in range(prompts)]
    for c, true in enumerate(sets):
        inside = dict(zip(true, law(valid, c), strict=True))
        p.append([inside.get(r, F(0)) for r in range(C)])
    found, cells = L.is_it_valid(mu, p, g, sets), list(product(range(prompts), range(C)))
    assert found.errors == sum(mu[c] * g[c][r] for c, r in cells if r not in sets[c])
    assert found.wrong == C - valid

    def misclassified(t):
        lost = sum(mu[c] * p[c][r] for c, r in cells if g[c][r] <= t)
        wrong = sum(mu[c] for c, r in cells if r not in sets[c] and g[c][r] > t)
        return lost / 2 + wrong / (C - valid) / 2

    ts = sorted({F(0), F(1), *(x for row in g for x in row)})
    assert found.thresholds == ts
    several = {ts[0], ts[len(ts) // 2], ts[-1], F(1, 3), F(-1), F(1, C - valid)}
    for t in several:
        assert found.misclassified(t) == misclassified(t)
        over = sum(mu[c] * (g[c][r] - p[c][r]) for c, r in cells if g[c][r] > t)
        assert found.over_confidence(t) == max(F(0), over)
    t = F(1, C - valid)
    bound = 2 * misclassified(t) - F(valid, C - valid) - found.over_confidence(t)
    assert found.bound == bound <= found.errors
    least = min(map(found.misclassified, [F(-1), *ts]))
    assert found.least_misclassified == least
    assert found.mean_misclassified == found.errors * C / (C - 1) / 2 or valid > 1
    if valid == 1:
        assert found.choice_bound == 2 * (1 - F(1, C)) * least <= found.errors
    else:
        with rejects("prompts"):
            assert found.choice_bound


@pytest.mark.parametrize("k", [1, 2, 3, 4, 31, 32, 33, 63, 64, 65, 127, 128, 130])
def test_digits_of_counts(k):
    d = 150
    positions = rng(k).permutation(d)[:k]
    words = (rng(1).random((40, d)) < np.linspace(0, 1, 40)[:, None]).astype(int)
    words[-2], words[-1] = 0, 1
    digits = len(f"{k:b}")
    wanted = [[int(x) for x in f"{int(w[positions].sum()):0{digits}b}"] for w in words]
    assert L.linear_tokens(words, positions).tolist() == wanted
    model = parity_by_linear_tokens(d, positions)
    assert model.generate(words, digits).tolist() == wanted
    logits = model.logits(words)
    assert (logits[:, : d - 1, 2] == 2 * k + 1).all()
    assert (logits[:, : d - 1, :2] <= 2 * k).all()
    assert (logits[:, d - 1, 2] == 0).all()
    answers = model(words)
    assert (answers[:, : d - 1] == -1).all()
    assert (answers[:, d - 1] == np.array(wanted)[:, 0]).all()


@pytest.mark.parametrize(("d", "k"), [(1, 1), (9, 8), (65, 33), (130, 17)])
def test_solved_coefficients(d, k):
    positions = rng(d).permutation(d)[:k].tolist()
    words = rng(k).integers(2, size=(d + 30, d))
    tokens = L.linear_tokens(words, positions)
    assert L.coefficients_by_solving(words, tokens) == [F(int(i in positions)) for i in range(d)]
    few = d // 2
    if few:
        assert L.coefficients_by_solving(words[:few], tokens[:few]) is None


@pytest.mark.parametrize(("d", "k"), [(9, 3), (17, 8)])
def test_regressions(d, k):
    positions = rng(d).permutation(d)[:k]
    words, asked = rng(1).integers(2, size=(900, d)), rng(2).integers(2, size=(100, d))
    found = L.tokens_by_regression(words, L.linear_tokens(words, positions), asked)
    assert (found == L.linear_tokens(asked, positions)).mean() > 0.98


@pytest.mark.parametrize(("m", "k"), [(2, 1), (5, 3), (33, 5), (130, 2)])
def test_families(m, k):
    base, features = law(m), rng(m).integers(-2, 3, size=(m, k))
    family = L.log_linear(base, features)
    x = [F(int(a), int(b)) for a, b in rng(k).integers(1, 4, size=(k, 2))]
    scores = features @ np.log(np.array(x, dtype=float))
    weights = np.array(base, dtype=float) * np.exp(scores)
    assert family.k == k
    assert np.allclose(np.array(family.weights(x), dtype=float), weights)
    member = np.array(family.at(x), dtype=float)
    assert np.allclose(member, weights / weights.sum())
    p = law(m, 7)
    y = np.array(p, dtype=float)
    mean = y @ features
    assert np.allclose(np.array(family.mean(p), dtype=float), mean)
    centred = features - mean
    assert np.allclose(np.array(family.covariance(p), dtype=float), (centred.T * y) @ centred)
    assert np.allclose(np.array(family.gradient(x, p), dtype=float), member @ features - mean)
    if m < 6:
        assert float(family.log_partition(x)) == pytest.approx(math.log(weights.sum()))
    assert L.separating_direction(family, p) is None
    theta, found = L.projection(family, p)
    by_theta = np.array(base, dtype=float) * np.exp(features @ theta)
    assert np.allclose(found, by_theta / by_theta.sum())
    assert np.allclose(found @ features, mean, atol=1e-8)
    corner = [F(int(i == features[:, 0].argmax())) for i in range(m)]
    w = L.separating_direction(family, corner)
    values = [sum(a * int(b) for a, b in zip(w, row, strict=True)) for row in features]
    assert min(values) == values[corner.index(1)] < max(values)


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


def test_the_most_tokens_of_a_tolerance():
    assert 0 < L.noise_tolerance(L.parity_tree(254, [0, 1])) < F(1, 2)
    with rejects("d", "k"):
        L.noise_tolerance(L.parity_tree(255, [0, 1]))


@pytest.mark.parametrize("m", [2, 5, 65])
def test_rescalings(m):
    p, g = law(m), law(m, 1)
    A = set(rng(m).permutation(m)[: m // 2].tolist())
    a, b = (sum(x[y] for y in A) for x in (p, g))
    for s in (F(1, 9), F(1), F(33, 7)):
        weights = [g[y] * (s if y in A else 1) for y in range(m)]
        assert list(L.rescaled(g, A, s)) == [w / sum(weights) for w in weights]
    s = L.best_scale(p, g, A)
    assert s == a * (1 - b) / (1 - a) / b
    best = L.rescaled(g, A, s)
    assert sum(best[y] for y in A) == a
    gain = a * L.log(a / b) + (1 - a) * L.log((1 - a) / (1 - b))
    assert L.rescaling_gain(p, g, A) == gain
    for t in (F(0), *sorted(set(g))):
        above = {y for y in range(m) if g[y] > t}
        over = max(F(0), sum(g[y] - p[y] for y in above))
        assert L.over_confidence(p, g, t) == (above, over)
    sets = [[y for y in range(m) if g[y] == v] for v in sorted(set(g))[::-1]]
    assert L.level_sets(g) == sets
    masses = [(sum(p[y] for y in B), sum(g[y] for y in B)) for B in sets]
    assert L.miscalibration(p, g) == sum(abs(x - y) for x, y in masses) / 2
    found = L.calibration_gain(p, g)
    assert found == sum((x * L.log(x / y) for x, y in masses), start=L.Log())
    for wrong in ([m], [0, m + 5]):
        with rejects("A"):
            L.rescaled(g, wrong, 2)


@pytest.mark.parametrize("prompts", [1, 3, 17, 33])
def test_common_scales(prompts):
    mu = law(prompts)
    p, g = ([F(int(x), 9) for x in rng(s).integers(1, 9, size=prompts)] for s in (1, 2))
    for s in (F(1, 5), F(1), F(7, 2)):
        h = [s * y / (1 + (s - 1) * y) for y in g]
        terms = (float(m) * (math.log(x / z) * -1) for m, x, z in ())
        wanted = sum(terms) - sum(
            float(m) * (float(x) * math.log(z / y) + float(1 - x) * math.log((1 - z) / (1 - y)))
            for m, x, y, z in zip(mu, p, g, h, strict=True)
        )
        assert float(L.common_scale_loss(mu, p, g, s)) == pytest.approx(wanted, abs=1e-12)
    for delta in (F(-1), F(-1, 3), F(0), F(2, 7), F(1)):
        scale = L.closest_common_scale(delta)
        assert scale.denominator <= 1000
        assert float(scale) == pytest.approx(math.exp(-4 * delta), abs=1e-3)
    for delta in (F(-1001, 1000), F(1001, 1000)):
        with rejects("delta"):
            L.closest_common_scale(delta)


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


@pytest.mark.parametrize(("d", "terms", "width"), [(3, 1, 1), (33, 9, 5), (130, 33, 3)])
def test_terms(d, terms, width):
    draw = rng(d)
    formula = {
        frozenset((int(v), int(draw.integers(2))) for v in draw.permutation(d)[:width])
        for _ in range(terms)
    }
    rows = L.restrictions(d, 0.7, 300, 1)
    samples = [L.restricted_terms(formula, row) for row in rows]
    for row, sample_ in zip(rows[:40], samples, strict=False):
        wanted = set()
        for term in formula:
            if all(row[v] in (-1, b) for v, b in term):
                wanted.add(frozenset((v, b) for v, b in term if row[v] == -1))
        assert sample_ == wanted
    assert L.terms_by_restriction(samples) == formula


@pytest.mark.parametrize("T", [1, 2, 5, 9])
def test_strings(T):
    draw = rng(T)
    p, g = draw.integers(0, 3, size=2**T) * 1.0, draw.integers(1, 6, size=2**T) * 1.0
    p[0] += 1
    p, g = p / p.sum(), g / g.sum()
    found = L.StringDistributions(p, g)
    assert found.length == T
    some = p > 0
    assert found.divergence == pytest.approx((p[some] * np.log(p[some] / g[some])).sum())
    assert found.impossible == pytest.approx(g[~some].sum(), abs=1e-15)
    strings = all_sequences(T, 2)
    for t, cross in enumerate(found.cross_entropies):
        total = 0.0
        for x in strings[some]:
            begun = (strings[:, :t] == x[:t]).all(1)
            further = begun & (strings[:, t] == x[t])
            weight = p[(strings == x).all(1)][0]
            total -= weight * math.log(g[further].sum() / g[begun].sum())
        assert cross == pytest.approx(total)
    assert sum(found.cross_entropies) == pytest.approx(-(p[some] * np.log(g[some])).sum())
    values, impossible = [], []
    for tau in np.unique(g):
        A = g > tau
        values.append(abs(g[A].sum() - p[A].sum()))
        over = max(0.0, g[A].sum() - p[A].sum())
        impossible.append(1 - over - tau * some.sum() + tau * A.sum() - p[A].sum())
    assert found.worst_level.delta == pytest.approx(max(values), abs=1e-14)
    a, b = found.worst_level.p, found.worst_level.g
    assert abs(a - b) == pytest.approx(max(values), abs=1e-14)
    if 0 < b < 1:
        wanted = sum(x * math.log(x / y) for x, y in ((a, b), (1 - a, 1 - b)) if x > 1e-15)
        assert found.worst_level.gain == pytest.approx(wanted, abs=1e-9)
    assert found.least_impossible == pytest.approx(max(impossible), abs=1e-13)


@pytest.mark.parametrize("distribution", ["zipf", "uniform"])
@pytest.mark.parametrize(("facts", "others", "n"), [(1, 1, 1), (33, 33, 130), (1000, 10**9, 300)])
def test_worlds(distribution, facts, others, n):
    of = L.world(facts, others, n, distribution, 1)
    p = np.array([1 / (i if distribution == "zipf" else 1) for i in range(1, facts + 1)])
    p /= p.sum()
    assert np.allclose(of.p, p)
    assert (of.documents, of.facts, len(of.counts)) == (n, facts, facts)
    seen = of.counts > 0
    once, mass = (of.counts == 1).sum() / n, p[~seen].sum()
    assert of.unseen == others + int((~seen).sum())
    assert of.seen_once == pytest.approx(once)
    assert of.unseen_mass == pytest.approx(mass)
    assert of.mean_seen_once == pytest.approx((p * (1 - p) ** (n - 1)).sum())
    models = {
        "calibrated": (p[seen], mass),
        "good-turing": ((1 - once) * of.counts[seen] / n, once),
        "memoriser": (of.counts[seen] / n, 0.0),
    }
    for name, (known, rest) in models.items():
        model = of.model(name)
        assert np.allclose(model.mass, [*known, rest])
        assert model.hallucination == pytest.approx(rest * others / of.unseen)
        assert model.unseen_mass == pytest.approx(mass)
        assert model.valid == facts
    for weight in (0.0, 0.3, 1.0):
        mixed = of.mixture(weight)
        calibrated, memory = of.model("calibrated"), of.model("memoriser")
        assert np.allclose(mixed.g, (1 - weight) * calibrated.g + weight * memory.g)
    known = of.known()
    assert known.hallucination == 0
    assert np.allclose(known.mass, [*p, 0])
    assert known.strings.sum() == facts + others
    if facts > 1:
        with rejects("others", "facts"):
            L.world(facts, facts - 1, n, distribution, 1)


@pytest.mark.parametrize(
    ("C", "m", "N", "alpha"),
    [(1, 1, 1, 1.0), (33, 3, 130, 0.75), (33, 3, 40, 0.74), (1000, 130, 300, 0.01), (9, 1, 5, 0.5)],
)
def test_prompts(C, m, N, alpha):
    of = L.prompted(C, m, N, alpha, 2)
    never = sum(x == 0 for x in of.answered) / C
    assert (of.prompts, of.documents, of.answers) == (C, N, m)
    assert of.answered.sum() <= N
    assert of.once == pytest.approx(sum(x == 1 for x in of.answered) / N)
    assert of.mean_once == pytest.approx(alpha * (1 - alpha / C) ** (N - 1))
    assert of.never == pytest.approx(never)
    assert of.missing == pytest.approx(alpha * never)
    assert of.squares == pytest.approx(never * C * (alpha / C) ** 2)
    sampled, likeliest = of.errors()
    assert sampled == pytest.approx(alpha * never * (1 - 1 / m))
    silent = 1 - alpha > alpha / m
    assert likeliest == pytest.approx(0 if silent else never * (1 - 1 / m))
    model = of.calibrated()
    assert model.hallucination == pytest.approx(sampled)
    assert model.mass.sum() == pytest.approx(1)
    assert np.allclose(model.mass, model.p)
    assert model.unseen_mass == pytest.approx(alpha * never)
    assert model.valid == pytest.approx(2)


@pytest.mark.parametrize(("d", "k"), [(2, 2), (33, 16), (65, 64), (130, 2)])
@pytest.mark.parametrize("soft", [False, True])
def test_long_chains_of_thought(d, k, soft):
    positions = rng(k).permutation(d)[:k]
    least = math.log(3.5 * (d + k))
    assert sharpness_for_steps(d, k) == pytest.approx(least)
    words = rng(d).integers(2, size=(3, d))
    model = parity_with_steps(d, k, positions, sharpness=least * (1 + 1e-12) if soft else None)
    level, nodes = words[:, positions], []
    while level.shape[1] > 1:
        level = level[:, ::2] ^ level[:, 1::2]
        nodes.append(level)
    nodes = np.concatenate(nodes, axis=1)
    assert (model.generate(words, k - 1).numpy() == nodes).all()
    history = np.concatenate([words, nodes[:, :-1]], axis=1)
    answers, logits = model(history), model.logits(history)
    assert (answers[:, : d - 1] == -1).all()
    assert (answers[:, d - 1 :].numpy() == nodes).all()
    assert np.allclose(logits[:, : d - 1, 2], 2)
    assert np.allclose(logits[:, d - 1 :, 2], 0)
    if soft:
        with rejects("sharpness"):
            parity_with_steps(d, k, positions, sharpness=least * (1 - 1e-9))
    default = parity_with_steps(d, k).generate(words, k - 1)
    assert (default[:, -1].numpy() == words[:, :k].sum(1) % 2).all()


@pytest.mark.parametrize(
    ("V", "length", "m"),
    [
        (1, 2, 1),
        (2, 2, 4),
        (2, 9, 5),
        (100, 3, 1),
        (5, 4, 65),
        (9, 4, 7),
        (33, 2, 17),
        (33, 2, 1),
    ],
)
def test_models_of_strings(V, length, m):
    whole = m == V**length
    draw = rng(V + length)
    codes = draw.choice(V**length, m, replace=False)
    given = codes[:, None] // V ** np.arange(length)[::-1] % V
    p = law(m, zeros=True) if whole else [x * F(2, 3) for x in law(m)]
    model = string_model(V, given, p)
    wanted = np.full(V**length, 0.0 if whole else 1 / 3 / max(1, V**length - m))
    wanted[codes] = [float(x) for x in p]
    assert np.allclose(string_probabilities(model, length), wanted, rtol=1e-12, atol=1e-25)
    assert string_probabilities(model, length - 1).sum() == pytest.approx(1)
    assert string_probabilities(model, length - 1).shape == (V ** (length - 1),)
    some = given[[i for i in range(m) if p[i]]]
    found = log_probabilities(model, np.insert(some, 0, V, axis=1)).sum(-1).numpy()
    assert np.allclose(found, [math.log(x) for x in p if x])
    if m < V**length:
        counts, facts = [*range(m)], given
        if m > 1:
            for name in ("calibrated", "good-turing", "memoriser"):
                known = L.probabilities_of_seen(law(m), counts, name)
                left = 1 - float(sum(known))
                wanted = np.full(V**length, left / (V**length - (m - 1)))
                wanted[codes[1:]] = [float(x) for x in known]
                of = fact_model(V, facts, law(m), counts, name)
                found = string_probabilities(of, length)
                assert np.allclose(found, wanted, rtol=1e-12, atol=1e-25)


@pytest.mark.parametrize(("V", "length"), [(2, 9), (33, 2)])
def test_samples(V, length):
    """Frequencies of the given strings, and of each first symbol, within five errors."""
    draw = rng(V)
    codes = draw.choice(V**length, 5, replace=False)
    given = codes[:, None] // V ** np.arange(length)[::-1] % V
    p = [F(1, 4), F(1, 8), F(1, 16), F(1, 16), F(1, 4)]
    model = string_model(V, given, p)
    drawn = sample(model, np.full((3, 1000, 1), V), length, 7).numpy().reshape(3000, length)
    for row, x in zip(given, map(float, p), strict=True):
        assert abs((drawn == row).all(1).mean() - x) < 5 * (x * (1 - x) / 3000) ** 0.5
    first = string_probabilities(model, 1).numpy()
    counted = np.bincount(drawn[:, 0], minlength=V) / 3000
    assert (abs(counted - first) <= 5 * (first * (1 - first) / 3000) ** 0.5).all()
    few = sample(model, [V, *given[0][:-1]], 1, 3)
    assert few.shape == (1,)
    with rejects("steps"):
        sample(model, [V, *given[0][:-1]], 2, 3)
    with rejects("length"):
        string_probabilities(model, 28)


@pytest.mark.parametrize("length", [1, 501])
def test_strings_at_their_limits(length):
    with rejects("strings"):
        string_model(2, [[0] * length], [F(1, 2)])


LIMITS = [
    (L.distributions_on_grid, "parts", 1, 1000),
    (L.distributions_on_grid, "outcomes", 1, 1000),
    (L.greedy_text, "length", 1, 2000),
    (L.distance_of_greedy, "length", 1, 2000),
    (L.mean_signal_bound, "d", 1, 10**5),
    (L.least_step_signal, "m", 2, None),
    (L.fact_strings, "base", 2, None),
    (L.random_circuit, "n_inputs", 2, 10**9),
    (L.random_circuit, "n_gates", 1, 10**9),
    (L.hypotheses, "n_inputs", 2, 10**9),
    (L.mean_difference, "documents", 1, 10**15),
    (L.most_mean_difference, "documents", 1, 50_000),
    (L.mean_square, "documents", 2, 10**15),
    (L.most_mean_square, "documents", 2, 50_000),
    (L.uniform_mean_square, "documents", 2, 10**15),
    (L.uniform_mean_square, "facts", 1, 10**15),
    (L.seen_and_once, "documents", 1, 50),
    (L.seen_and_once, "facts", 1, 10**15),
    (L.expected_bound, "documents", 1, 10**15),
    (L.occam, "samples", 1, 10**15),
    (L.vote_bound, "T", 1, 10**15),
    (L.random_conjunction, "T", 1, 10**8),
    (L.false_bits, "samples", 0, 10**15),
    (L.least_samples, "k", 1, 1000),
    (L.greatest_probability, "k", 1, 1000),
    (L.parity_tree, "d", 1, 10**8),
    (L.enough_restrictions, "depth", 0, 10**9),
    (L.restrictions, "count", 0, 10**15),
    (L.tree_by_restriction, "d", 1, 10**6),
    (L.random_tree, "n_leaves", 2, None),
    (L.conditional_entropy, "t", 1, 200),
    (L.window_cost, "t", 1, 200),
    (L.world, "facts", 1, 10**8),
    (L.world, "others", 1, 2**53),
    (L.world, "documents", 1, 10**8),
    (L.prompted, "prompts", 1, 10**8),
    (L.prompted, "alpha", None, 1),
    (parity_by_linear_tokens, "d", 1, 10**15),
    (string_model, "vocabulary_size", 1, 10**15),
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
