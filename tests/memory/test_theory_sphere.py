"""Attention on the sphere, its energy, hemispheres and the orthogonal start."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.memory.hemisphere import (
    cone_diameter,
    hemisphere_pole,
    hemisphere_probability,
    hemisphere_rate,
    in_open_hemisphere,
)
from theory.memory.orthogonal_start import escape_time, gap_rate, orthogonal_gap, orthogonal_start
from theory.memory.sphere import (
    SPHERE_FORMS,
    mean_length,
    n_clusters,
    smallest_inner_product,
    sphere_energy,
    sphere_flow,
    sphere_velocity,
    uniform_tokens,
)
from theory.memory.sphere_balls import escape_ratio_bounds

EPS = 2.0**-53
PAIR = np.eye(2)
forms = pytest.mark.parametrize("form", SPHERE_FORMS)
drawn = {"n": st.integers(1, 6), "d": st.integers(1, 4), "seed": st.integers(0, 999)}


def uniform(seed, *shape):
    return uniform_tokens(np.random.default_rng(seed), *shape)


def by_definition(X, beta, form, B):
    """x_i' in 40 decimals."""
    with mpmath.workdps(40):
        rows = [[mpmath.mpf(v) for v in row] for row in X.tolist()]
        B = [[mpmath.mpf(v) for v in row] for row in B.tolist()]
        answered = [[sum(b * v for b, v in zip(line, x, strict=True)) for line in B] for x in rows]
        velocity = []
        for x in rows:
            weights = [
                mpmath.exp(beta * sum(a * b for a, b in zip(x, y, strict=True))) for y in answered
            ]
            factor = sum(weights) if form == "SA" else len(rows)
            u = [
                sum(w * y[k] for w, y in zip(weights, rows, strict=True)) / factor
                for k in range(len(x))
            ]
            along = sum(a * b for a, b in zip(x, u, strict=True))
            velocity.append([float(p - along * q) for p, q in zip(u, x, strict=True)])
    return np.array(velocity)


@settings(max_examples=25)
@given(form=st.sampled_from(SPHERE_FORMS), beta=st.sampled_from([0.0, 1e-6, 1.0, 4.0]), **drawn)
def test_the_velocity_is_its_definition(form, beta, n, d, seed):
    """Scores off by (2d + 4)·eps·‖B‖ each, times β; sums of n and d numbers of at most e^{β‖B‖}."""
    X, B = uniform(seed, n, d), np.random.default_rng(seed).uniform(-1, 1, (d, d)) / d
    size = math.exp(beta) if form == "USA" else 1.0
    bound = 4 * (2 * beta * (2 * d + 4) + 2 * n + 2 * d + 12) * EPS * size
    for QK, matrix in ((None, np.eye(d)), (B, B)):
        found = sphere_velocity(X, beta, form, QK)
        assert abs(found - by_definition(X, beta, form, matrix)).max() <= bound
    batch = sphere_velocity(np.stack([X, X[::-1]]), beta, form)
    assert abs(batch[1] - sphere_velocity(X, beta, form)[::-1]).max() <= 2 * bound


def test_rounding_of_a_tokens_own_exponential_is_no_velocity():
    """Beside e³⁰⁰, which is projected to 0, the other exponential e¹⁵⁰ would be rounded away."""
    x, y = np.array([0.5, 0.5, 0.5, 0.5]), np.array([0.5, 0.5, 0.5, -0.5])
    found = sphere_velocity([x, y], 300.0, "USA")[0]
    np.testing.assert_allclose(found, math.exp(150) / 2 * (y - x / 2), rtol=1e-12)


def test_softmax_weights_of_a_huge_beta():
    assert np.array_equal(sphere_velocity(PAIR, 1e6), np.zeros((2, 2)))


@settings(max_examples=25)
@given(beta=st.sampled_from([0.1, 1.0, 4.0]), **drawn)
def test_the_energy_is_a_mean_over_pairs_and_its_limit_that_of_the_mean(beta, n, d, seed):
    X = uniform(seed, n, d)
    pairs = [math.exp(beta * float(x @ y)) for x in X for y in X]
    wanted = math.fsum(pairs) / (2 * beta * n * n)
    error = (2 * beta * (d + 4) + n * n + 8) * EPS * math.exp(beta) / beta
    assert abs(sphere_energy(X, beta) - wanted) <= error
    # e^x = 1 + x + O(x²): E − 1/(2β) is ‖x̄‖²/2 up to β·e^β/4.
    small = 2.0**-20
    rest = sphere_energy(X, small) - 1 / (2 * small)
    assert abs(rest - mean_length(X) ** 2 / 2) <= small / 2 + (n * n + 8) * EPS / small


@forms
def test_the_energy_rises_along_a_flow_and_tokens_stay_on_the_sphere(form):
    flow = sphere_flow(uniform(0, 3, 5, 3), 2.0, np.linspace(0, 60, 41), form)
    assert flow.tokens.shape == (41, 3, 5, 3)
    assert abs(np.linalg.norm(flow.tokens, axis=-1) - 1).max() <= 8 * EPS
    assert 0 < flow.drift < 1e-9
    energies = sphere_energy(flow.tokens, 2.0)
    assert np.diff(energies, axis=0).min() >= -2e-9 * math.exp(2)
    assert smallest_inner_product(flow.tokens[-1]).min() > 0.99
    assert (n_clusters(flow.tokens[-1], 0.9) == 1).all()


def test_times_may_repeat_and_time_0_is_the_start():
    X = uniform(1, 4, 3)
    flow = sphere_flow(X, 1.0, [0.0, 0.0, 1.0, 1.0])
    assert np.array_equal(flow.tokens[0], flow.tokens[1])
    assert np.array_equal(flow.tokens[2], flow.tokens[3])
    assert abs(flow.tokens[0] - X).max() <= 4 * EPS
    assert sphere_flow(X, 1.0, [0.0]).tokens.shape == (1, 4, 3)
    assert sphere_flow(np.zeros((0, 4, 3)), 1.0, [0.0, 2.0]).tokens.shape == (2, 0, 4, 3)


@forms
def test_one_token_equal_tokens_and_an_antipodal_pair_do_not_move(form):
    x = uniform(2, 3)
    for X in ([x], [x, x], [x, -x], [[1.0], [-1.0]]):
        velocity = sphere_velocity(X, 1.0, form)
        assert abs(velocity).max() <= 20 * EPS * math.e
    assert smallest_inner_product([x, -x]) == pytest.approx(-1)
    assert mean_length([x, -x]) == 0


@given(n=st.integers(1, 7), seed=st.integers(0, 999), threshold=st.sampled_from([-0.5, 0.3, 0.9]))
def test_clusters_are_the_components_of_the_graph_of_links(n, seed, threshold):
    X = uniform(seed, n, 2)
    groups = [{i} for i in range(n)]
    for i, j in itertools.combinations(range(n), 2):
        if float(X[i] @ X[j]) >= threshold:
            joined = [group for group in groups if group & {i, j}]
            groups = [group for group in groups if not group & {i, j}] + [set().union(*joined)]
    assert n_clusters(X, threshold) == len(groups)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (4, 1), (1, 3), (3, 3), (4, 2), (5, 3), (7, 4)])
def test_wendels_recursion(n, d):
    """P(n, d) = ½(P(n − 1, d) + P(n − 1, d − 1)), as regions of hyperplanes are counted."""

    def regions(n, d):
        return 0 if d == 0 else 2 if n == 1 else regions(n - 1, d) + regions(n - 1, d - 1)

    assert hemisphere_probability(n, d) == Fraction(regions(n, d), 2**n)


@given(n=st.integers(1, 8), seed=st.integers(0, 9999))
def test_hemispheres_on_the_circle_are_gaps_of_more_than_half(n, seed):
    X = np.random.default_rng(seed).standard_normal((n, 2))
    angles = np.sort(np.arctan2(X[:, 1], X[:, 0]))
    gap = np.diff(np.append(angles, angles[0] + 2 * math.pi)).max()
    assert bool(in_open_hemisphere(X)) == (gap > math.pi)
    w, margin = hemisphere_pole(X)
    assert abs(np.linalg.norm(w) - 1) <= 4 * EPS
    if gap > math.pi:
        assert margin > 0


@pytest.mark.parametrize(
    ("X", "inside"),
    [
        ([[1.0, 0], [-1, 0]], False),
        ([[1.0, 1e-7], [-1, 1e-7]], True),
        ([[0.0, 0], [1, 0]], False),
        ([[1e300, 1e300], [1, 0]], True),
        ([[1e-300, 0], [1, 0]], True),
        ([[5.0]], True),
        ([[5.0], [-1]], False),
        ([[1.0, 0], [-0.5, 0.75], [-0.5, -0.75]], False),
    ],
)
def test_special_sets_in_a_hemisphere_or_not(X, inside):
    assert bool(in_open_hemisphere(X)) is inside
    assert in_open_hemisphere(np.zeros((0, 2, 3))).shape == (0,)


@settings(max_examples=8)
@given(seed=st.integers(0, 999), form=st.sampled_from(SPHERE_FORMS))
def test_tokens_of_a_hemisphere_converge_at_the_proved_rate(seed, form):
    X = uniform(seed, 5, 3)
    X *= np.where(X[:, :1] < 0, -1, 1)
    QK = np.random.default_rng(seed).uniform(-0.5, 0.5, (3, 3))
    w, margin = hemisphere_pole(X)
    rate = hemisphere_rate(X, 1.5, w, form, QK)
    sides = 2 if form == "SA" else 1
    wanted = margin * math.exp(-sides * 1.5 * np.linalg.norm(QK, 2))
    assert rate == pytest.approx(wanted, rel=1e-12)
    times = np.linspace(0, 8, 9)
    tokens = sphere_flow(X, 1.5, times, form, QK).tokens
    spread = cone_diameter(tokens, w)
    assert (spread <= spread[0] * np.exp(-rate * times) + 1e-9 / margin**2).all()
    distances = np.linalg.norm(tokens[:, :, None] - tokens[:, None], axis=-1).max((-1, -2))
    assert (distances <= spread + 1e-15).all()


@forms
@pytest.mark.parametrize(("n", "beta"), [(2, 0.0), (3, 4.0), (6, 1.0)])
def test_an_orthogonal_start_is_one_equation(n, beta, form):
    basis, _ = np.linalg.qr(np.random.default_rng(n).standard_normal((n, n)))
    times = np.linspace(0, 1.2 * escape_time(beta, n, 0.999, form), 15)
    tokens = sphere_flow(basis, beta, times, form).tokens
    products = (tokens @ tokens.swapaxes(-1, -2))[:, ~np.eye(n, dtype=bool)]
    assert abs(products - orthogonal_start(n, beta, times, form)[:, None]).max() <= 1e-8


@forms
def test_two_tokens_at_beta_0_are_tanh_and_gaps_keep_their_digits(form):
    times = np.array([0.0, 0.1, 1, 5, 20, 100])
    assert abs(orthogonal_start(2, 0.0, times, form) - np.tanh(times)).max() <= 1e-10
    # 1 − tanh t = 2/(e^{2t} + 1)
    assert abs(orthogonal_gap(2, 0.0, times, form) * (np.exp(2 * times) + 1) / 2 - 1).max() <= 1e-9
    assert np.array_equal(orthogonal_start(2, 1e6, times[:3]), np.zeros(3))


@given(n=st.integers(2, 9), beta=st.floats(0, 20), gap=st.floats(0, 1))
def test_the_rate_is_the_equation_and_within_its_bounds(n, beta, gap):
    g = 1 - gap
    growth = math.exp(beta * g) * (1 - g) * ((n - 1) * g + 1)
    for form, factor in (("SA", math.exp(beta) + (n - 1) * math.exp(beta * g)), ("USA", n)):
        rate = float(gap_rate(np.array(gap), n, beta, form))
        # 1 − (1 − gap) is off by eps, which β multiplies.
        error = (4 * beta + 4 * n + 12) * EPS * abs(rate)
        assert abs(rate * (1 - g) - 2 * growth / factor) <= error * (1 - g) + 1e-300
    below = 2 - float(gap_rate(np.array(gap), n, beta))
    slack = (2 * beta + 12) * EPS * 2
    assert -slack <= below <= (2 / n) * (n - 1 + beta * math.exp(beta * gap)) * gap + slack


@forms
@pytest.mark.parametrize(("n", "beta"), [(2, 0.0), (2, 4.0), (5, 1.0)])
def test_the_time_of_escape_is_when_the_equation_gets_there(n, beta, form):
    for gamma in (0.0, 0.3, 0.99):
        time = escape_time(beta, n, gamma, form)
        assert orthogonal_start(n, beta, [time], form)[0] == pytest.approx(gamma, abs=1e-9)
    if (n, beta) == (2, 0.0):
        assert time == pytest.approx(math.atanh(0.99), rel=1e-14)


def test_the_bounds_on_the_time_of_escape_are_their_formulas():
    end = 4 * (math.exp(-2) + math.exp(-4)) * math.atanh(0.99)
    wanted = 1 - math.exp(-3.96), 1 + 8 / (3 * 16) + end
    found = escape_ratio_bounds(arb(4), arb(0.99))
    assert tuple(map(float, found)) == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize("n", [4, 5, 9, 20])
def test_a_chain_of_links_is_one_cluster(n):
    """Tokens on an arc, each linked to its neighbours alone."""
    angles = np.random.default_rng(n).permutation(n) * 0.1
    X = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    assert n_clusters(X, np.cos(0.15)) == 1
    assert n_clusters(X, np.cos(0.05)) == n


@pytest.mark.parametrize(("beta", "time"), [(10.0, 0.01), (13.0, 1e-3), (20.0, 1e-6)])
def test_a_trial_step_far_from_the_sphere_is_no_overflow(beta, time):
    """Unnormalised attention with fast tokens: the first step that is tried may be too long."""
    gamma = float(orthogonal_start(2, beta, [time], "USA")[0])
    later = sphere_flow(np.eye(2), beta, [time], "USA").tokens[0]
    assert abs(later[0] @ later[1] - gamma) < 1e-9
    found = sphere_flow([[1, 0], [0.6, 0.8]], beta, [time], "USA")
    assert found.drift < 1e-9
    assert found.tokens[0, 0] @ found.tokens[0, 1] > 0.6
