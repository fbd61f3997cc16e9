"""Boolean functions and kernels at many sizes, compared with definitions."""

from fractions import Fraction
from functools import partial
from itertools import product
from math import prod, sqrt

import numpy as np
import pytest
from limits import limited
from refusals import rejects
from scipy.linalg import hadamard
from sensitivity_by_definition import RATES, slow

from theory import sensitivity as s
from theory.kinds import kinds_of

BITS = (1, 2, 3, 5, 8, 10)


def drawn(d, seed=0):
    """A random function of d bits, and one that is −1 at the last word only."""
    values = np.random.default_rng(seed + d).choice([-1, 1], 2**d)
    last = np.ones(2**d, dtype=int)
    last[-1] = -1
    return values, last


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
        name = "k" if function is not s.multiplexer_noise_sensitivity else "address"
        limited(function, name, None, 1000)


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
    limited(s.majority_noise_sensitivity, "d", None, 63)
    limited(s.majority_mean_influence, "d", None, 100_000)
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
    limited(s.all_figures, "d", None, 4)


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
