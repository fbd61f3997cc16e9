"""Entropies, texts, signals and rescalings at many sizes, compared with definitions."""

import math
from fractions import Fraction as F
from itertools import product

import mpmath
import numpy as np
import pytest
from language_by_definition import law, rng
from refusals import rejects

from theory import language as L
from theory.language.documents import next_symbol
from theory.sequences import all_sequences

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
    t = T if V == 1 else min(T, 6)
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


@pytest.mark.parametrize(
    ("T", "k"), [(1, 1), (2, 1), (33, 33), (130, 7), (10**6, 10**3), (10**15, 2), (2000, 1000)]
)
def test_fano(T, k):
    with mpmath.workdps(700):  # 1 − 2^−1000 has 302 digits
        choices = mpmath.log(mpmath.binomial(T, k))
        assert L.log_choices(T, k) == pytest.approx(float(choices), rel=1e-12, abs=1e-12)

        def h(p):
            p = mpmath.mpf(p)
            return -sum(x * mpmath.log(x) for x in (p, 1 - p) if x)

        rate = h(mpmath.mpf(2) ** -k)
        for p in (0.0, 0.001, 0.3, 0.5, 0.999, 1.0):
            assert L.binary_entropy(p) == pytest.approx(float(h(p)), rel=1e-9, abs=0)
            wanted = (p * choices - h(p)) / rate
            found = L.least_samples(T, k, p)
            assert found == 0 if wanted <= 0 else abs(found - wanted - 0.5) < 0.5001 + 1e-9 * wanted
        if T < 10**4 and k < 100:
            for m in (0, 1, 7, 300):
                allowed = [i for i in range(1001) if i / 1000 * choices - h(i / 1000) <= m * rate]
                assert allowed == [*range(len(allowed))]
                bound = min(len(allowed), 1000) / 1000  # no multiple of 1/1000 above it is allowed
                assert L.greatest_probability(T, k, m) == bound
    with rejects("k"):
        L.least_samples(T, T + 1)


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
