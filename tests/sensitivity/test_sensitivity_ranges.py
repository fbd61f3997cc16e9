"""Sensitivity at many sizes, options and limits, each against another algorithm or closed form."""

from fractions import Fraction
from functools import partial
from itertools import product
from math import log, prod, sqrt

import numpy as np
import pytest
import torch
from limits import at_most
from refusals import rejects
from registers import registers_are_right
from scipy.linalg import hadamard
from torch import nn

from constructions import conjunction, junta, subset_parity
from constructions.sensitivity import predictions
from theory import sensitivity as s
from theory.kinds import kinds_of
from theory.sensitivity import tokens

BITS = (1, 2, 3, 5, 8, 10)
RATES = (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(7, 8), Fraction(1))


def slow(*case):
    return pytest.param(*case, marks=pytest.mark.slow)


def drawn(d, seed=0):
    """A random function of d bits, and one that is −1 at the last word only."""
    values = np.random.default_rng(seed + d).choice([-1, 1], 2**d)
    last = np.ones(2**d, dtype=int)
    last[-1] = -1
    return values, last


# Boolean functions


@pytest.mark.parametrize("d", [*BITS, 13, 16])
def test_influences(d):
    for values in drawn(d):
        cube = values.reshape((2,) * d)
        flips = np.array([cube != np.flip(cube, i) for i in range(d)])
        each = [Fraction(int(flip.sum()), 2**d) for flip in flips]
        assert s.influences(values) == s.influences_by_spectrum(values) == each
        assert s.total_influence(values) == sum(each)
        assert s.mean_influence(values) == sum(each) / d
        assert (s.sensitive_bits(values) == flips.sum(0).ravel()).all()
        assert s.max_sensitivity(values) == flips.sum(0).max()
        p = Fraction(int((values < 0).sum()), 2**d)
        assert s.variance(values) == 4 * p * (1 - p)


@pytest.mark.parametrize("d", [*BITS, slow(12)])
def test_spectra(d):
    sizes = np.array([bin(S).count("1") for S in range(2**d)])
    for values in drawn(d):
        wanted = hadamard(2**d) @ values
        assert (s.walsh_hadamard(values) == wanted).all()
        weights = [
            Fraction(int((wanted[sizes == k].astype(object) ** 2).sum()), 4**d)
            for k in range(d + 1)
        ]
        assert s.fourier_weights(values) == weights
        assert s.degree(values) == max(k for k in range(d + 1) if weights[k])
        if d < 12:
            assert (s.walsh_hadamard_by_definition(values) == wanted).all()
        for rho in (Fraction(-1), Fraction(-1, 3), Fraction(0), Fraction(1, 2), Fraction(1)):
            wanted_at = sum(rho**k * w for k, w in enumerate(weights))
            assert s.noise_stability(values, rho) == wanted_at
            assert s.noise_stability(values, float(rho)) == pytest.approx(float(wanted_at))


@pytest.mark.parametrize("d", [13, 16])
def test_a_character_of_many_bits(d):
    words = np.arange(2**d)
    for S in (0, 1, 2**d - 1, 2**d - 2, 0b1011 << d - 5):
        values = 1 - 2 * (np.bitwise_count(words & S).astype(int) % 2)
        spectrum = np.zeros(2**d)
        spectrum[S] = 2**d
        k = S.bit_count()
        assert (s.walsh_hadamard(values) == spectrum).all()
        assert s.degree(values) == s.max_sensitivity(values) == k
        assert s.noise_sensitivity(values, Fraction(1, 5)) == (1 - Fraction(3, 5) ** k) / 2


@pytest.mark.parametrize("d", [1, 2, 3, 5, 7, slow(10)])
def test_noise_sensitivities(d):
    """Bit by bit: the expectation over the noise of one bit after another."""
    for values in drawn(d):
        for delta in RATES:
            smooth = values.astype(object).reshape((2,) * d)
            for i in range(d):
                smooth = (1 - delta) * smooth + delta * np.flip(smooth, i)
            wanted = (1 - Fraction((smooth.ravel() * values).sum()) / 2**d) / 2
            assert s.noise_sensitivity(values, delta) == wanted
            assert s.noise_sensitivity_by_definition(values, delta) == wanted
            found = s.noise_sensitivity(values, float(delta))
            assert isinstance(found, float)
            assert found == pytest.approx(float(wanted), abs=1e-12)


@pytest.mark.parametrize("delta", RATES)
def test_noise_sensitivities_in_closed_form(delta):
    """Parity and conjunction, bit after bit; a multiplexer from that of its words."""
    changed, both = Fraction(0), Fraction(1)
    for k in range(1, 131):
        changed = changed * (1 - delta) + (1 - changed) * delta
        both *= (1 - delta) / 2
        for function, wanted in (
            (s.parity_noise_sensitivity, changed),
            (s.conjunction_noise_sensitivity, 2 * (Fraction(1, 2**k) - both)),
        ):
            assert function(k, delta) == wanted
            assert function(k, float(delta)) == pytest.approx(float(wanted), abs=1e-12)
        kept = (1 - delta) ** k
        wanted = kept * delta + (1 - kept) * Fraction(1, 2)
        assert s.multiplexer_noise_sensitivity(k, delta) == wanted
    for a in (1, 2, 3):
        values = s.tabulated(partial(s.multiplexer, address=a), a + 2**a)
        assert s.noise_sensitivity(values, delta) == s.multiplexer_noise_sensitivity(a, delta)
    for function in (
        s.parity_noise_sensitivity,
        s.conjunction_noise_sensitivity,
        s.multiplexer_noise_sensitivity,
    ):
        assert 0 <= function(1000, delta) <= 1
        at_most(
            function, "k" if function is not s.multiplexer_noise_sensitivity else "address", 1000
        )


@pytest.mark.parametrize("k", [12, 13])
def test_a_conjunction_of_many_bits(k):
    values = s.tabulated(lambda words: words.min(1), k)
    delta = Fraction(1, 4)
    assert s.conjunction_noise_sensitivity(k, delta) == s.noise_sensitivity(values, delta)
    assert s.parity_noise_sensitivity(k, delta) == s.noise_sensitivity(
        s.tabulated(lambda words: words.sum(1) % 2, k), delta
    )


@pytest.mark.parametrize("d", [1, 3, 5, 13, 31, slow(63)])
def test_noise_sensitivity_of_majorities(d):
    """From the joint distribution of the two sums, one bit after another; δ = 1/4."""
    joint = np.ones((1, 1), dtype=object)
    for _ in range(d):
        more = np.zeros((len(joint) + 1,) * 2, dtype=object)
        for x, y in product((0, 1), repeat=2):
            more[x : len(joint) + x, y : len(joint) + y] += joint * (3 if x == y else 1)
        joint = more
    wins = 2 * np.arange(d + 1) > d
    wanted = Fraction(int(joint[wins[:, None] != wins].sum()), 8**d)
    assert s.majority_noise_sensitivity(d, Fraction(1, 4)) == wanted
    assert s.majority_noise_sensitivity(d, 0.25) == pytest.approx(float(wanted), rel=1e-12)
    with rejects("d"):
        s.majority_noise_sensitivity(d + 1, 0.25)


def test_majority_of_many_bits():
    at_most(s.majority_noise_sensitivity, "d", 63)
    at_most(s.majority_mean_influence, "d", 100_000)
    for d in range(1, 400, 2):
        factors = [Fraction(2 * i - 1, 2 * i) for i in range(1, (d + 1) // 2)]
        assert s.majority_mean_influence(d) == prod(factors, start=Fraction(1))
        with rejects("d"):
            s.majority_mean_influence(d + 1)
    for d in (9_999, 99_999):
        asymptotic = sqrt(2 / (np.pi * d))
        assert 0 < float(s.majority_mean_influence(d)) / asymptotic - 1 < 1 / d


def test_figures_of_functions_of_four_bits():
    found = s.all_figures(4)
    assert all(len(each) == 2**16 for each in found.values())
    chosen = [
        0,
        1,
        2**15,
        2**16 - 1,
        0x6996,
        0x8000,
        *np.random.default_rng(0).integers(2**16, size=90),
    ]
    for number in map(int, chosen):
        values = np.array([1 - 2 * int(bit) for bit in f"{number:016b}"])
        figures = {
            "Var": 256 * s.variance(values),
            "I": 256 * s.total_influence(values),
            "degree": 256 * s.degree(values),
            "s": 16 * s.max_sensitivity(values),
        }
        assert {name: each[number] for name, each in found.items()} == figures
    at_most(s.all_figures, "d", 4)


def one_more(values, at):
    wrong = values.copy()
    wrong[at] *= -1
    return wrong


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8, 10])
def test_linear_thresholds(d):
    rng = np.random.default_rng(d)
    words = 1 - 2 * np.array([*product((0, 1), repeat=d)])
    weights, odd = rng.normal(size=d), 2 * np.arange(d) + 1.0
    for w, b in ((weights, rng.normal()), (odd, 0.5), (np.ones(d), d - 1.0), (0 * odd, 1.0)):
        assert s.is_linear_threshold(np.where(words @ w + b > 0, 1, -1))
    if d > 1:
        assert not s.is_linear_threshold(words[:, 0] * words[:, -1])
        majority = np.where(words @ np.ones(d) + 0.5 > 0, 1, -1)
        assert s.is_linear_threshold(majority)
        for at in (0, -1) if d > 2 else ():
            assert not s.is_linear_threshold(one_more(majority, at)), at
    with rejects("values"):
        s.is_linear_threshold(np.ones(2**11, dtype=int))


@pytest.mark.parametrize(("d", "count"), [(1, 4), (2, 14), slow(3, 104)])
def test_the_number_of_linear_threshold_functions(d, count):
    every = product((-1, 1), repeat=2**d)
    assert sum(s.is_linear_threshold(values) for values in map(np.array, every)) == count


# Standard functions


@pytest.mark.parametrize(
    ("d", "k"), [(1, 1), (3, 2), (13, 12), (13, 13), (17, 16), (33, 32), (130, 65), (300, 300)]
)
def test_parities_and_conjunctions(d, k):
    rng = np.random.default_rng(d)
    positions = rng.permutation(d)[:k]
    words = rng.integers(0, 2, (40, d))
    for row, zeros in enumerate((0, 0, 1, 1, 2, 3)):  # among the positions
        words[row, positions] = 1
        words[row, positions[: min(zeros, k)]] = 0
    chosen = [[row[p] for p in positions] for row in words.tolist()]
    parity = [sum(bits) % 2 for bits in chosen]
    every = [int(all(bits)) for bits in chosen]
    assert s.subset_parity(words, positions).tolist() == parity
    assert s.conjunction(words, positions).tolist() == every
    assert s.distinct_positions(d, positions) == tuple(positions.tolist())
    models = [(subset_parity(d, positions), parity), (conjunction(d, positions), every)]
    for model, wanted in models if k < 66 else ():
        assert model(words[:12])[:, 0].tolist() == wanted[:12]
    for function in (partial(s.subset_parity, words), partial(s.conjunction, words)):
        for wrong in ([d], [-1], [*positions, positions[-1]]):
            with rejects("positions"):
                function(wrong)


@pytest.mark.parametrize("k", [1, 2, 3, 12, 13, 33, 65, slow(130)])
def test_models_of_parities_and_conjunctions_at_every_count(k):
    """Words with all numbers of ones at the positions, or some; also in float32 and by softmax."""
    d = k + 3
    counts = np.unique([*range(0, k, k // 7 + 1), max(k - 2, 0), k - 1, k])
    words = np.ones((len(counts), d), dtype=int)
    words[:, :k] = np.arange(k) < counts[:, None]
    positions = np.arange(k)[::-1]
    for build, wanted in ((subset_parity, counts % 2), (conjunction, counts == k)):
        model = build(d, positions)
        registers_are_right(model, words)
        width, units = (4, k - 1) if build is subset_parity else (5, 1)
        mlp = model.blocks[0].mlp
        assert (model.n_layers, model.n_heads, model.d_model) == (1, k, width)
        assert (0 if mlp is None else len(mlp.b_in)) == units
        soft = model.sharpened(model.least_sharpness() * 1.01) if k < 33 else model
        for each in (model, soft, build(d, positions).float()):
            assert (each(words)[:, 0].numpy() == wanted).all()
        with rejects("positions"):
            build(k, [k])


@pytest.mark.parametrize(("d", "k"), [(1, 1), (9, 3), (33, 7), (13, 13), (130, 10), (300, 16)])
def test_juntas_and_tables(d, k):
    rng = np.random.default_rng(k)
    positions, table = rng.permutation(d)[:k], rng.integers(0, 2, 2**k)
    words = rng.integers(0, 2, (200, d))
    words[:2, positions] = [[0], [1]]
    digits = ["".join(str(row[p]) for p in positions) for row in words.tolist()]
    wanted = [int(table[int(each, 2)]) for each in digits]
    assert s.junta(words, positions, table).tolist() == wanted
    assert (s.junta_table(k, table) == table).all()
    if k < 11:
        model = junta(d, positions, table)
        assert model(words[:40])[:, 0].tolist() == wanted[:40]
        registers_are_right(model, words[:20])
        assert (model.n_layers, model.n_heads, model.d_model) == (1, k, k + 4)
        assert len(model.blocks[0].mlp.b_in) == 2**k
    for wrong in (table[:-1], [*table, 0]):
        for call in (partial(s.junta_table, k), partial(s.junta, words, positions)):
            with rejects("table"):
                call(wrong)


@pytest.mark.parametrize("a", [1, 2, 3, 5, 8, 10])
def test_multiplexers(a):
    rng = np.random.default_rng(a)
    words = rng.integers(0, 2, (100, a + 2**a))
    words[:2, :a] = [[0], [1]]
    wanted = [row[a + int("".join(map(str, row[:a])), 2)] for row in words.tolist()]
    assert s.multiplexer(words, a).tolist() == wanted
    for other in (words[:, 1:], np.pad(words, ((0, 0), (0, 1)))):
        with rejects("words"):
            s.multiplexer(other, a)


@pytest.mark.parametrize("d", [1, 2, 5, 13, 16])
def test_tabulated_functions(d):
    seen = []
    values = np.random.default_rng(d).integers(0, 2, 2**d)
    found = s.tabulated(lambda words: seen.append(words) or values, d)
    assert (seen[0] == (np.arange(2**d)[:, None] >> np.arange(d)[::-1] & 1)).all()
    assert (found == np.where(values, -1, 1)).all()
    assert (s.truth_table(values) == found).all()
    for wrong in (values[:-1], np.append(values, 0)):
        with rejects("values"):
            s.tabulated(lambda words, wrong=wrong: wrong, d)
        if d > 1:
            with rejects("values"):
                s.truth_table(wrong)


# Kernels


def of_digits(value, count):
    """Integers below 2^399 in absolute value, from the value of their polynomial at 2^400."""
    found = []
    for _ in range(count):
        digit = (value + 2**399) % 2**400 - 2**399
        found, value = [*found, digit], (value - digit) >> 400
    return found


@pytest.mark.parametrize("d", [1, 2, 3, 12, 33, 130, 300])
def test_shifts(d):
    z = 2**400
    for k in {0, 1, d // 2, d}:
        wanted = of_digits((1 - z) ** k * (1 + z) ** (d - k), d + 1)
        assert s.by_minus_ones(d, k) == s.shift_polynomial(k, d - k) == wanted
        for m in (1, 2, 17, 18):
            walks = sum(c * (d - 2 * j) ** m for j, c in enumerate(wanted))
            assert 2**d * s.walks(d, m)[k] == walks
    with rejects("k"):
        s.by_minus_ones(d, d + 1)


@pytest.mark.parametrize("d", [1, 2, 5, 13, 33, 65, slow(130), slow(300)])
def test_eigenvalues(d):
    """Monomials count walks; the eigenvalue of a sum is the sum."""
    z = 2**400
    rows = {
        k: of_digits((1 - z) ** k * (1 + z) ** (d - k), d + 1) for k in {0, 1, d // 2, d - 1, d}
    }
    for m in (0, 1, 2, 5, 17, 130, 1000):
        found = s.walks(d, m)
        assert len(found) == d + 1
        for k, row in rows.items():
            assert 2**d * found[k] == sum(c * (d - 2 * j) ** m for j, c in enumerate(row))
    c = [Fraction(1, 3), 2, 0, -1, 0, 0.375] + [0] * 26 + [Fraction(-5, 7)]
    each = [[Fraction(w, d**m) for w in s.walks(d, m)] for m in range(len(c))]
    wanted = [sum(Fraction(a) * mu[k] for a, mu in zip(c, each, strict=True)) for k in range(d + 1)]
    assert s.eigenvalues(c, d) == wanted
    if d < 13:
        assert s.eigenvalues_by_definition(c, d) == wanted


@pytest.mark.parametrize("d", [3, 4, 33, 130, 1000])
@pytest.mark.parametrize("count", [0, 1, 7, 65])
def test_power_series_on_fewer_bits(d, count):
    rng = np.random.default_rng(d)
    c = [Fraction(int(a), int(b)) for a, b in rng.integers(1, 9, (count, 2))] + [0.625] * (
        count > 1
    )
    shrunk = s.on_two_fewer_bits(c, d)
    for t in (0, 1, Fraction(-3, 7), 0.375, -2):
        inner = Fraction(t) * (d - 2) / d
        wanted = sum((Fraction(a) * inner**m for m, a in enumerate(c)), Fraction(0))
        assert s.power_series(shrunk, t) == s.power_series(c, inner) == wanted
    with rejects("d"):
        s.on_two_fewer_bits(c, 2)


# Tokens

TOKENS = [(2, 1), (2, 7), (3, 5), (5, 4), (17, 2), (33, 2), (130, 1), (300, 1)]


@pytest.mark.parametrize(("V", "T"), TOKENS)
@pytest.mark.parametrize("labels", [1, 2, 5])
def test_profiles_of_tokens(V, T, labels):
    """By the frequencies of each value on each line of sequences."""
    values = np.random.default_rng(V).integers(-labels, 0, V**T) * 7
    cube, profile = values.reshape((V,) * T), []
    for axis in range(T):
        counts = [(cube == v).sum(axis, keepdims=True).astype(object) for v in np.unique(values)]
        same = sum(int((count**2).sum()) for count in counts)
        profile.append(1 - Fraction(same, V ** (T + 1)))
    assert s.redrawn_profile(values, V) == profile
    assert s.forced_profile(values, V) == [p * V / (V - 1) for p in profile]
    for delta in RATES:
        assert s.hybrid_bound(values, V, delta) == delta * sum(profile)
    assert s.hybrid_bound(values, V, 0.375) == pytest.approx(0.375 * float(sum(profile)))
    parts(values, V, T)
    if T * V**T < 5000:
        function = dict(zip(product(range(V), repeat=T), values.tolist(), strict=True)).__getitem__
        assert s.forced_profile_by_definition(function, V, T) == s.forced_profile(values, V)


def parts(values, V, T):
    """The weights by noise on one token after another: a polynomial in 1 − δ."""
    weights = s.efron_stein_weights(values, V)
    assert sum(weights) == 1
    for delta in RATES:
        agree = 0
        for v in np.unique(values):
            smooth = e = (values == v).astype(object).reshape((V,) * T)
            p, q = delta.as_integer_ratio()
            for axis in range(T):
                smooth = (q - p) * V * smooth + p * smooth.sum(axis, keepdims=True)
            agree += Fraction((e * smooth).sum(), (q * V * V) ** T)
        assert s.change_when_redrawn(values, V, delta) == 1 - agree
        assert sum((1 - delta) ** k * w for k, w in enumerate(weights)) == agree
        if V**T < 700:
            assert s.change_when_redrawn_by_definition(values, V, delta) == 1 - agree


def test_degrees_of_functions_of_tokens():
    """A function of the last j tokens has no weight above degree j, and some at j if a parity."""
    for j in range(9):
        values = np.bitwise_count(np.arange(2**8) & 2**j - 1).astype(int) % 2
        weights = s.efron_stein_weights(values, 2)
        assert weights == [Fraction(1, 2) * ((k == 0) + (k == j)) for k in range(9)]


@pytest.mark.parametrize(
    ("function", "work"),
    [
        (s.efron_stein_weights, 2 * 2**3 * 2**3),
        (partial(s.change_when_redrawn, delta=0.5), 2 * 2**3 * 2**3),
        (partial(s.change_when_redrawn_by_definition, delta=0.5), 4**3),
    ],
)
def test_work_over_tokens(function, work, monkeypatch):
    """Values times sequences times sets, or pairs of sequences, and at most 2^27."""
    assert tokens.WORK == 2**27
    values = np.arange(8) % 2
    monkeypatch.setattr(tokens, "WORK", work)
    function(values, vocabulary_size=2)
    monkeypatch.setattr(tokens, "WORK", work - 1)
    with rejects():
        function(values, vocabulary_size=2)


def test_work_by_definition(monkeypatch):
    """Sequences times positions times symbols; also where the power alone is too large to write."""
    for V, T in ((2, 22), (3, 14), (11_586, 1), (2, 10**9)):
        with rejects("vocabulary_size", "length"):
            s.forced_profile_by_definition(sum, V, T)
    for V, T in ((2, 3), (5, 2), (9, 1)):
        monkeypatch.setattr(tokens, "WORK", T * V ** (T + 1))
        assert s.forced_profile_by_definition(sum, V, T) == [1] * T
        monkeypatch.setattr(tokens, "WORK", T * V ** (T + 1) - 1)
        with rejects("vocabulary_size", "length"):
            s.forced_profile_by_definition(sum, V, T)


# Estimates


@pytest.mark.parametrize("count", [1, 2, 33, 1000, 10**9])
@pytest.mark.parametrize("eta", [1e-300, 0.001, 0.05, 0.5, 0.999])
def test_radius_and_interval(count, eta):
    radius = sqrt((log(2) - log(eta)) / count / 2)
    for places in ([0.0], [1.0], [0.25, 0.5], np.linspace(0.2, 0.6, 300)):
        found, mean = s.Estimate(places, count, eta), sum(places) / len(places)
        assert found.radius == pytest.approx(radius, rel=1e-12)
        assert found.value == pytest.approx(mean)
        limits = np.clip([mean - radius, mean + radius], 0, 1)
        assert found.interval == pytest.approx(tuple(limits), abs=1e-12)
        assert str(found) == f"{found.value:.3f} ± {found.radius:.3f}"


@pytest.mark.parametrize(
    "wrong",
    [{"eta": 9e-301}, {"eta": 1.0}, {"count": 0}, {"by_place": [1.0000001]}, {"by_place": [-1e-9]}],
)
def test_estimates_have_limits(wrong):
    (name,) = wrong
    with rejects(name):
        s.Estimate(**{"by_place": [0.0, 1.0], "count": 1, "eta": 0.1, **wrong})


@pytest.mark.parametrize("V", [2, 3, 4, 31, 32, 33, 62, 130, 1000, 2**40])
def test_changed_tokens(V):
    """Differences of new and old tokens, modulo V, in up to 8 intervals of equal probability."""
    rng = np.random.default_rng(V)
    N, T = 4000, 3
    rows = np.concatenate([rng.integers(0, V, (N - 2, T)), [[0] * T, [V - 1] * T]])
    for change, least in ((s.redrawn(V), 0), (s.forced(V), 1)):
        met = list(change(rows, np.random.default_rng(1)))
        assert len(met) == T
        for place, changed in enumerate(met):
            assert (np.delete(changed, place, 1) == np.delete(rows, place, 1)).all()
            steps = (changed[:, place] - rows[:, place]) % V
            assert 0 <= changed.min() <= changed.max() < V
            assert least <= steps.min()
            edges = np.linspace(least, V, min(V - least, 8) + 1)
            widths = np.diff(np.ceil(edges)) / (V - least)
            found = np.histogram(steps + 0.0, np.ceil(edges) - 0.5)[0]
            assert (abs(found - N * widths) <= 6 * np.sqrt(N * widths)).all()
            if V < 200:
                assert len(np.unique(steps)) == V - least
        for wrong in (V, -1):
            with rejects("inputs"):
                next(change(np.array([[0], [wrong]]), rng))


def test_a_label_that_changes_only_far_away():
    found = s.sensitivity(lambda x: x[:, 0] > 30, np.zeros((4000, 1), int), s.forced(62))
    assert abs(found.value - 31 / 61) < 0.05


@pytest.mark.parametrize(("N", "T"), [(1, 1), (1, 300), (300, 33), (5000, 2)])
@pytest.mark.parametrize("labels", [1, 2, 40])
def test_fractions_of_changed_predictions(N, T, labels):
    """Label j of an input is token j mod T; place i changes row r iff (r + i) mod 3 is 0."""
    rows, i = np.arange(N)[:, None], np.arange(T)

    def change(x, rng):
        for place in range(T):
            yield x ^ (((rows + i) % 3 == 0) & (i == place))

    def model(x):
        read = x[:, np.arange(labels) % T]
        return read[:, 0] if labels == 1 else read.reshape(N, *(labels // 2, 2)[labels < 2 :])

    found = s.sensitivity(model, np.zeros((N, T), int), change)
    wanted = [((np.arange(N) + p) % 3 == 0).mean() if p < labels else 0 for p in range(T)]
    assert found.by_place.tolist() == wanted
    assert (found.count, found.eta) == (N, 0.05)


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((2, 1, 1), 1),
        ((3, 2, 3), 1),
        ((2, 3, 12, 20), 4),
        ((2, 18, 9), 9),
        ((1, 66, 33), 33),
        ((2, 130, 130), 65),
    ],
)
@pytest.mark.parametrize("sigma", [0.25, 3.0, 1e6])
def test_patches(shape, size, sigma):
    """Each patch in turn, row by row, and nothing else; the noise has its deviation."""
    images = np.random.default_rng(0).normal(size=shape)
    noise = []
    tops, lefts = range(0, shape[-2], size), range(0, shape[-1], size)
    met = list(s.noisy_patches(size, sigma)(images, np.random.default_rng(1)))
    for (top, left), changed in zip(product(tops, lefts), met, strict=True):
        inside = np.zeros(shape, dtype=bool)
        inside[..., top : top + size, left : left + size] = True
        assert ((changed != images) == inside).all()
        noise.append((changed - images)[inside] / sigma)
    noise = np.concatenate(noise)
    assert noise.size == images.size
    assert abs(noise.mean()) < 6 / sqrt(noise.size)
    if noise.size > 500:
        for power, moment in ((2, 1), (4, 3)):
            bound = 6 * sqrt({2: 2, 4: 96}[power] / noise.size)
            assert abs((noise**power).mean() - moment) < bound


# Predictions


@pytest.mark.parametrize("N", [1, 2, 7, 8, 9, 1023, 1024, 1025, 2049])
@pytest.mark.parametrize("batch", [1, 8, None])
def test_batches(N, batch):
    sizes = []

    class Counted(nn.Module):
        def forward(self, x):
            sizes.append(len(x))
            return x[:, :1] - x[:, 1:2] if x.shape[1] == 2 else x

    options = {} if batch is None else {"batch": batch}
    rng = np.random.default_rng(N)
    for width, least, threshold in (
        (2, 0.0, None),
        (2, 0.5, 0.5),
        (2, -1.5, -1.5),
        (300, None, None),
    ):
        inputs = rng.normal(size=(min(N, 99 if batch == 1 else N), width))
        inputs[0] = [0, 1, *[0] * (width - 2)]
        sizes.clear()
        found = predictions(Counted(), threshold=threshold, **options)(inputs)
        single = inputs[:, 0].astype(np.float32) - inputs[:, 1].astype(np.float32)
        wanted = inputs.argmax(1) if least is None else (single > least)[:, None]
        assert (found == wanted).all()
        size = batch or 1024
        assert sizes == [size] * (len(inputs) // size) + [len(inputs) % size] * (
            len(inputs) % size > 0
        )


@pytest.mark.parametrize("dtype", [None, torch.float32, torch.float64, torch.int64])
@pytest.mark.parametrize("given", [np.uint8, np.int32, np.float32, np.float64, bool])
def test_dtypes(dtype, given):
    met = []
    module = nn.Linear(1, 1).double()
    module.forward = lambda x: met.append(x.dtype) or x.double() - 5
    predictions(module, dtype=dtype)(np.ones((3, 1), given))
    whole = np.issubdtype(given, np.integer)
    assert met == [dtype or (torch.int64 if whole else torch.float64)]


# Limits


@pytest.mark.parametrize(
    ("function", "name", "last"),
    [
        (s.by_minus_ones, "d", 300),
        (s.shift_polynomial, "minus", 300),
        (s.shift_polynomial, "plus", 300),
        (s.eigenvalues, "d", 300),
        (s.eigenvalues_by_definition, "d", 16),
        (s.walks, "d", 300),
        (s.walks, "steps", 1000),
        (s.tabulated, "d", 24),
        (s.junta_table, "k", 24),
    ],
)
def test_limits(function, name, last):
    at_most(function, name, last)


def test_limits_of_rates():
    of_bits = (
        s.parity_noise_sensitivity,
        s.conjunction_noise_sensitivity,
        s.multiplexer_noise_sensitivity,
        s.majority_noise_sensitivity,
    )
    of_tables = s.noise_sensitivity, s.noise_sensitivity_by_definition
    of_tokens = s.change_when_redrawn, s.change_when_redrawn_by_definition, s.hybrid_bound
    calls = [*(partial(f, 1) for f in of_bits), *(partial(f, [0, 1]) for f in of_tables)]
    calls += [partial(f, [0, 1], 2) for f in of_tokens]
    for call in calls:
        assert (call(0), call(0.0)) == (0, 0)
        assert call(1) == call(1.0) > 0
        for delta in (Fraction(-1, 10**9), Fraction(10**9 + 1, 10**9), -1e-12, 1 + 1e-12):
            with rejects("delta"):
                call(delta)
    for rho in (-1, 1, -1.0, 1.0):
        assert s.noise_stability([0, 1], rho) == rho
    for rho in (Fraction(-(10**9) - 1, 10**9), Fraction(10**9 + 1, 10**9), -1 - 1e-12, 1 + 1e-12):
        with rejects("rho"):
            s.noise_stability([0, 1], rho)
    with rejects("sigma"):
        s.noisy_patches(1, 0.0)
    for function in (s.redrawn, s.forced):
        with rejects("vocabulary_size"):
            function(1)
    for function in (s.redrawn_profile, s.forced_profile, s.efron_stein_weights):
        with rejects("vocabulary_size"):
            function([0], 1)


BY_PAIRS = s.walsh_hadamard_by_definition, s.noise_sensitivity_by_definition
TABLES = (
    *(s.truth_table, s.walsh_hadamard, s.fourier_weights, s.degree, s.influences),
    *(s.sensitive_bits, s.influences_by_spectrum, s.total_influence, s.mean_influence),
    *(s.max_sensitivity, s.variance, s.noise_stability, s.noise_sensitivity),
)


def test_tables_of_too_many_bits():
    for most, functions in ((14, BY_PAIRS), (24, TABLES)):
        for function in functions:
            kind = kinds_of(function)["values"]
            assert kind.most == most
            with rejects("values", str(2 ** (most + 1))):
                kind.read("values", np.broadcast_to(np.int8(1), 2 ** (most + 1)))


@pytest.mark.slow
def test_the_largest_table():
    assert s.variance(np.ones(2**24, dtype=np.int8)) == 0
