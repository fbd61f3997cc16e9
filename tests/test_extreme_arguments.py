"""Formulas at extreme arguments, where terms cancel or overflow, against many digits."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import rejects

from constructions.tokens import Tokens, lattice
from theory import (
    arithmetic,
    computation,
    graphs,
    language,
    memory,
    programs,
    sensitivity,
    structures,
)
from theory.kinds import InputError

SMALL = [5e-324, 1e-300, 1e-20, 1e-8, 2.0**-54, 2.0**-53, 0.1, 0.49, 0.5, 0.51, 0.9, 1 - 2.0**-53]


def close(found, wanted, rel=1e-14):
    assert found == pytest.approx(float(wanted), rel=rel, abs=1e-323)


def entropy(p):
    return -sum(x * mpmath.log(x) for x in (p, 1 - p) if x)


@pytest.mark.parametrize("x", SMALL)
def test_entropies_and_rates(x):
    with mpmath.workdps(400):
        p = mpmath.mpf(x)
        close(language.binary_entropy(x), entropy(p))
        rate = ((1 + p) * mpmath.log(1 + p) + (1 - p) * mpmath.log(1 - p)) / 2
        close(memory.large_deviation_rate(x), rate)
        close(memory.large_deviation_rate(-x), rate)
        close(
            language.deviation_bound(7, x),
            1 / mpmath.mpf(7) + 2.42 * mpmath.sqrt(mpmath.log(4 / p) / 7),
        )


@pytest.mark.parametrize("k", [1, 53, 54, 60, 300, 1000])
def test_a_lower_bound_on_samples_is_one(k):
    T = 10**15
    with mpmath.workdps(700):
        wanted = mpmath.log(mpmath.binomial(T, k)) / entropy(mpmath.mpf(2) ** -k)
        assert abs(language.least_samples(T, k) - wanted) < 1 + 1e-13 * wanted


@pytest.mark.parametrize("facts", [1, 2, 3, 1000, 10**8, 10**15])
@pytest.mark.parametrize("n", [2, 3, 50, 10**6, 10**15])
def test_the_mean_square_of_many_facts(facts, n):
    with mpmath.workdps(100):
        p, over = mpmath.mpf(1) / facts, mpmath.mpf(1) / n
        wanted = facts * (p * (1 - p) ** (n - 1) * over + p**2 * (1 - p) ** n)
        pairs = facts * (facts - 1) * p**2
        wanted += pairs * (1 - 2 * p) ** (n - 2) * ((2 * p) ** 2 - over)
        close(language.uniform_mean_square(facts, n), wanted)


@pytest.mark.parametrize("x", SMALL)
def test_noise(x):
    exact, values = Fraction(x), [0, 1, 1, 0, 1, 1, 0, 0]
    for d in (1, 2, 10, 300):
        for of in (
            sensitivity.parity_noise_sensitivity,
            sensitivity.conjunction_noise_sensitivity,
            sensitivity.multiplexer_noise_sensitivity,
        ):
            close(of(d, x), of(d, exact), 1e-12)
    close(
        sensitivity.noise_sensitivity(values, x),
        sensitivity.noise_sensitivity_by_definition(values, exact),
        1e-12,
    )
    close(
        sensitivity.change_when_redrawn(values, 2, x),
        sensitivity.change_when_redrawn_by_definition(values, 2, exact),
        1e-12,
    )


@pytest.mark.parametrize("gap", [-1e308, -1.0, 0.0, 1.0, 1e3, 1e308])
def test_bounds_on_retrieval(gap):
    with mpmath.workdps(60):
        for n in (1, 2, 10**15):
            for beta, M in ((1.0, 1e300), (1.0, 1e308), (1e300, 1e10), (1e308, 1e-160)):
                leak = 2 * (n - 1) * mpmath.exp(-mpmath.mpf(beta) * mpmath.mpf(gap))
                with np.errstate(over="raise", invalid="raise"):
                    error = memory.retrieval_error_bound(n, beta, M, gap, 0.0)
                    close(error, mpmath.mpf(M) * leak, 1e-12)
                    close(memory.gap_error_bound(n, beta, M, gap), mpmath.mpf(M) * leak, 1e-12)
                    factor = memory.contraction_bound(n, beta, M, gap, 0.0)
                    close(factor, mpmath.mpf(beta) * n * mpmath.mpf(M) ** 2 * leak, 1e-12)


def test_an_energy_that_overflows():
    X = [[1.0, 0.0], [0.0, 1.0]]
    assert np.isfinite(memory.sphere_energy(X, 1e-300))
    with rejects("beta"):
        memory.sphere_energy(X, 5e-324)
    assert memory.sphere_flow(X, 1e6, [1e-9]).tokens.shape == (1, 2, 2)
    for beta, QK in ((1.01e6, None), (0.5, [[1e308, 1e308], [1e308, 1e308]])):
        with rejects("beta", "QᵀK"):
            memory.sphere_flow(X, beta, [1e-9], QK=QK)


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6, unique=True),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_the_nearest_of_any_floats(points, query):
    points = sorted(points)
    distances = [abs(Fraction(query) - Fraction(point)) for point in points]
    assert structures.nearest(points, [query]).item() == distances.index(min(distances))


@pytest.mark.parametrize("digits", [1, 15, 200, 500])
def test_digits_of_the_critical_load(digits):
    """The maximiser is a zero of α', found by bisection."""
    found = memory.critical_load(digits)
    with mpmath.workdps(digits + 20):
        low, high = mpmath.mpf(1), mpmath.mpf(2)
        root = 2 / mpmath.sqrt(mpmath.pi)
        for _ in range(200):
            y = (low + high) / 2
            rises = root * mpmath.exp(-y * y) * (y + 2 * y**3) > mpmath.erf(y)
            low, high = (y, high) if rises else (low, y)
        assert abs(found.y - low) < mpmath.mpf(10) ** (1 - min(digits, 59))


@pytest.mark.parametrize("p", [3, 13, 1001, 10**6 + 1])
def test_the_margin_of_one_frequency(p):
    with mpmath.workdps(40):
        close(arithmetic.few_frequencies_margin(p, [1]), 1 - mpmath.cos(2 * mpmath.pi / p))


def test_a_bound_at_small_probabilities():
    for gamma in (5e-324, 1e-310, 1e-300, 0.1):
        with mpmath.workdps(40):
            wanted = 0.5 - 0.1 - 2 / mpmath.mpf(3) - mpmath.sqrt(-0.05 * mpmath.log(gamma))
            close(language.prompted_bound_given_data(0.5, 0.1, 3, gamma, 0.1), wanted, 1e-13)


def test_refusals_name_the_parameter_that_is_extreme():
    half = Fraction(1, 2)
    for name, call in (
        ("loads", lambda: memory.capacity_curve(2, [2.0**64], 2, 0)),
        ("loads", lambda: memory.capacity_curve(2, [1e308], 2, 0)),
        ("eps", lambda: memory.update_rounding(2, 2, 0.5, 0.5, 0.5, 2.0)),
        ("eps", lambda: memory.update_rounding(1, 1, 0.5, 0.5, 0.5, 2 / 11 + 1e-9)),
        ("K", lambda: memory.failure_bound(2, 2, 0.5, 5e-324)),
        ("K", lambda: memory.union_bound_patterns(2, 0.5, 1.01e300, 0.5)),
        ("step", lambda: arithmetic.default_bits(20, 10**30, 1.0)),
        ("E", lambda: arithmetic.peak_ratios(0.5, 1)),
        ("E", lambda: arithmetic.permutation_maxima(np.ones((2, 2, 2)), 1, 3, 0)),
        ("b", lambda: language.binary_kl(half, 0)),
        ("b", lambda: language.binary_kl(half, 1)),
        ("b", lambda: language.binary_kl(0, 1)),
        ("ridge", lambda: arithmetic.probe_accuracies(np.ones((2, 3)), [[0, 1]], 1e-300)),
        ("ridge", lambda: arithmetic.probe_accuracies([[1, -1], [1, 1]], [[0, 1]], 1e-300)),
        ("n_buckets", lambda: structures.k_means(np.ones((3, 2)), 2, 0)),
        ("gates", lambda: computation.all_circuits(2**40, 1, [])),
        ("gates", lambda: computation.all_circuits(2, 2**40, [])),
    ):
        with rejects(name):
            call()
    assert memory.update_rounding(1, 1, 0.5, 0.5, 0.5, 2 / 11 - 1e-9) > 0
    assert float(language.binary_kl(0, 0)) == float(language.binary_kl(1, 1)) == 0
    assert structures.k_means(np.ones((3, 2)), 1, 0)([[0.0, 5.0]]).tolist() == [0]
    assert list(computation.all_circuits(2, 2, [])) == []


LARGE = np.full((2, 2), 1e308)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: arithmetic.bin_sizes(LARGE), "values"),
        (lambda: computation.window_sums(LARGE, 2), "x"),
        (lambda: graphs.orthogonal_split(LARGE, 2), "W"),
        (lambda: language.signals(LARGE), "gradients"),
        (lambda: memory.basin_radius(2, 1e-200, 1e-200), "beta"),
        (lambda: memory.basin_radius(2, 1e-200, np.array([1.0, 1e-200])), "M"),
    ],
)
def test_results_that_overflow_are_refused(call, name):
    with rejects(name):
        call()
    assert np.geterr()["over"] == "warn"


def test_a_function_that_is_given_may_overflow():
    def likely(words):
        return 1 / (1 + np.exp(1000.0 * (1 - words.sum(-1)))) > 0.75

    with pytest.warns(RuntimeWarning, match="overflow"):
        found = sensitivity.tabulated(likely, 2)
    assert found.tolist() == [1, 1, 1, -1]


def test_integers_of_many_digits():
    many, more = 10**400, 10**5000
    with pytest.raises(InputError, match="401") as caught:
        computation.shuffled_path(many, 0)
    assert len(str(caught.value)) < 200
    with rejects("n_nodes"):
        computation.shuffled_path(more, 0)
    for largest, call in (
        (2**62 - 1, lambda largest: computation.transpose(3, largest)),
        (2**60 - 1, lambda largest: computation.tree_sum(4, 2, largest)),
    ):
        call(largest)
        with rejects("largest", str(largest)):
            call(largest + 1)
    golden = arithmetic.Golden(-more, 1)
    assert max(len(repr(golden)), len(str(golden))) < 100
    assert str(arithmetic.Golden(-1, Fraction(2, 3))) == "−1 + 2/3·√5"
    assert eval(repr(golden := arithmetic.Golden(1, 2)), vars(arithmetic) | globals()) == golden


def test_helpers_refuse_what_they_cannot_read():
    task, tokens = programs.chomsky.TASKS["even pairs"], Tokens(2, 4)
    assert task.shown([]) == ""
    assert task.shown([0, 1]).split() == list(task.tokens)
    for name, call in (
        ("tokens", lambda: task.shown(2)),
        ("tokens", lambda: task.shown([2])),
        ("outputs", lambda: tokens.read(2)),
        ("tokens", lambda: tokens.write(2)),
        ("tokens", lambda: tokens.write(np, np.int64(1))),
        ("write", lambda: computation.tree_sum(4, 2).empty(3)),
    ):
        with rejects(name):
            call()


def test_names_of_expressions_with_many_equal_parts():
    found = programs.tokens
    for _ in range(60):
        found = found + found
    assert len(found.name) == 1000
    assert programs.evaluate(found, [1, 3]) == [2**60, 3 * 2**60]


def test_one_minus_what_is_close_to_one():
    with mpmath.workdps(60):
        for K in (1e6, 1e9, 1e10, 1e100):
            r = 2 / (mpmath.mpf(1) / 2 * 2) + mpmath.log(4 * mpmath.mpf(K) ** 2 / 2) * 2
            apart = r / mpmath.mpf(K) ** 2
            bound = mpmath.betainc(0.5, 0.5, 0, apart * (2 - apart), regularized=True) / 2
            close(memory.failure_bound(2, 2, 0.5, K), bound, 1e-9)
        assert memory.union_bound_patterns(2, 0.5, 1e10, 1e-10) == 1
        for k in (52, 53, 80):
            exact = (10**15 - k) * (1 - mpmath.mpf(2) ** -(k + 1)) ** (10**15)
            close(language.false_bits(10**15, k, 10**15), exact, 1e-12)
    for t in (1e-20, 1e-8):  # γ'(0) = 2/(e^β + 1) for two tokens
        close(memory.orthogonal_start(2, 1.0, [t]).item(), 2 * t / (np.e + 1), 1e-6)


@given(
    st.lists(st.floats(0, 1e300), min_size=2, max_size=5),
    st.floats(0, 1e300),
    st.integers(1, 3),
)
def test_the_nearest_of_a_cloud_at_every_scale(points, query, d):
    """Points on a line through the query, at distances that float64 tells apart."""
    apart = [abs(Fraction(query) - Fraction(point)) for point in points]
    first, *others = sorted(apart)
    if others[0] > first * Fraction(10**6 + 1, 10**6):
        cloud = [[point] * d for point in points]
        found = structures.nearest_in_cloud(cloud, [[query] * d]).item()
        assert apart[found] == first


@given(
    st.lists(st.sampled_from([0.0, 5e-324, 1e-300, 1.0, 1e308, -1e308, 1.7e308]), min_size=1),
    st.sampled_from([0.0, 5e-324, 1.5, 1e308, -1.7e308]),
)
@example([0.0, 5e-324, 1e308], 5e-324)
@example([-1.1e308, -1e308], 1e308)
def test_the_nearest_at_extreme_scales(points, query):
    points = sorted({*points})
    distances = [abs(Fraction(query) - Fraction(point)) for point in points]
    assert structures.nearest(points, [query]).item() == distances.index(min(distances))


@pytest.mark.parametrize("shift", [0, 1.7e9, -1e12])
@pytest.mark.parametrize("factor", [1e-120, 1.0, 1e120])
def test_a_regression_does_not_depend_on_units(shift, factor):
    """The span of a confounding variable and a constant is the same in other units."""
    E, times = np.random.default_rng(0).standard_normal((7, 3)), np.arange(7.0)
    wanted = arithmetic.without_confounds(E, times)
    found = arithmetic.without_confounds(E, (times + shift) * factor)
    # The products are rounded, by up to |shift|·2⁻⁵² of a step of the time; else they are exact.
    rounded = 0 if factor == 1 else 10 * abs(shift) * 2.0**-52
    assert np.allclose(found, wanted, rtol=0, atol=1e-12 + rounded)
    both = np.column_stack([times, times**2])
    fitted = np.polynomial.polynomial.polyfit(times, E, 2)
    rest = E - np.polynomial.polynomial.polyval(times, fitted).T
    assert np.allclose(arithmetic.without_confounds(E, both * factor), rest)
    assert np.allclose(arithmetic.without_confounds(E, np.full(7, factor)), E - E.mean(0))


def test_a_bound_on_rounding_is_not_rounded_down():
    for alpha in (0.0, 64.0):
        for bits in (14, 499, 500, 501, 1070, 1073, 1074):
            off = mpmath.sqrt(2) * mpmath.mpf(2) ** (-bits - 1)
            exact = off * (9 + 2 * alpha + 1)
            found = arithmetic.rounding_of_logits(alpha, bits)
            assert exact * (1 - mpmath.mpf(2) ** -50) <= found <= exact * (1 + 1e-3) + 1e-323


@pytest.mark.usefixtures("unchecked")
def test_messages_about_what_python_does_not_print():
    deep: list = []
    for _ in range(10**5):
        deep = [deep]
    for call in (
        lambda: computation.S3.map_of(deep),
        lambda: arithmetic.adder_logits(20, np.broadcast_to(1, (10**6, 10**6))),
    ):
        with pytest.raises(InputError):
            call()


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: arithmetic.probe_accuracies(np.eye(3), [0, 2**31 - 1, 5]), "classes"),
        (lambda: lattice(2**1023), "lattice"),
        (lambda: structures.nearest(np.arange(1e3), np.arange(1e3)), "queries"),
        (lambda: computation.machine_of({"a\nb": 1}, "m"), "m"),
        (lambda: computation.Semiautomaton(((5,),), name="a\nb"), "a b"),
    ],
)
def test_refusals_of_arrays_beyond_memory_and_of_names_of_two_lines(call, name, monkeypatch):
    monkeypatch.setattr("theory.machine.available_memory", lambda: 2**20)
    with rejects(name):
        call()
