"""Modern Hopfield networks in numpy against their formulas in 60 digits, and the bounds on them."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from refusals import rejects
from scipy.integrate import quad

import theory.memory.modern_hopfield as module
from theory import machine
from theory.memory.modern_hopfield import (
    basin_radius,
    jacobian,
    modern_hopfield_energy,
    modern_hopfield_step,
    pattern_weights,
    required_separation,
    separation,
)
from theory.memory.retrieval_bounds import (
    cluster_radius,
    contraction_bound,
    failure_bound,
    gap_error_bound,
    retrieval_error_bound,
    rounding_bound,
    stored_patterns_bound,
    union_bound_patterns,
    update_rounding,
)

EPS = 2.0**-53
betas = st.sampled_from([1e-6, 0.02, 1.0, 7.5, 300.0, 1e6])
sizes = {"N": st.integers(1, 6), "d": st.integers(1, 4), "seed": st.integers(0, 999)}
network = np.random.default_rng(0).standard_normal((5, 3))


def drawn(N, d, seed):
    """Patterns, of which two may be equal, and a state."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, d))
    if seed % 3 == 0:
        X[-1] = X[0]
    return X, rng.standard_normal(d) * rng.choice([0.1, 1, 5])


def exact(X, xi, beta):
    """Energy, weights, update and Jacobian from their definitions, in 60 digits."""
    with mpmath.workdps(60):
        x = [[mpmath.mpf(v) for v in row] for row in X.tolist()]
        state, b = [mpmath.mpf(v) for v in xi.tolist()], mpmath.mpf(beta)
        scores = [mpmath.fdot(row, state) for row in x]
        powers = [mpmath.exp(b * s) for s in scores]
        total = mpmath.fsum(powers)
        p = [power / total for power in powers]
        f = [mpmath.fdot(p, column) for column in zip(*x, strict=True)]
        square = max(mpmath.fdot(row, row) for row in x)
        energy = -mpmath.log(total) / b + mpmath.fdot(state, state) / 2
        energy += mpmath.log(len(x)) / b + square / 2
        second = [
            [
                b * (mpmath.fsum(w * row[i] * row[j] for w, row in zip(p, x, strict=True)))
                - b * f[i] * f[j]
                for j in range(len(state))
            ]
            for i in range(len(state))
        ]
        return float(energy), np.array(p, float), np.array(f, float), np.array(second, float)


@given(beta=betas, **sizes)
@example(beta=1e6, N=1, d=1, seed=0)
def test_everything_against_the_definition_in_60_digits(beta, N, d, seed):
    X, xi = drawn(N, d, seed)
    energy, p, f, J = exact(X, xi, beta)
    M, length = np.linalg.norm(X, axis=1).max(), np.linalg.norm(xi)
    # A score has an error of (d + 1)·eps·M‖ξ‖; two of them, times β, and the difference give each
    # exponent an error of eta and each weight a factor e^eta.
    eta = beta * M * length * (2 * (d + 1) + 5) * EPS
    theta = 2 * math.expm1(eta) + (N + 20) * EPS
    if theta < 0.5:
        got = pattern_weights(X, xi, beta)
        assert (abs(got - p) <= 3 * theta * p + 1e-300).all()
        assert np.linalg.norm(modern_hopfield_step(X, xi, beta) - f) <= rounding_bound(
            X, beta, 1, length
        )
        # An entry is a sum of p_j (x_j − f)_a (x_j − f)_b, and |x_j − f| ≤ 2M.
        assert abs(jacobian(X, xi, beta) - J).max() <= beta * 8 * M**2 * (3 * theta + 20 * d * EPS)
    # lse is a mean of scores and so its error is at most theirs; the rest are sums of squares.
    slack = (20 * d + N) * EPS * (M + length) ** 2 + (N + 4) * EPS * math.log(N) / beta
    assert abs(modern_hopfield_energy(X, xi, beta) - energy) <= slack


@given(beta=betas, batch=st.lists(st.integers(0, 3), max_size=2), steps=st.integers(0, 3), **sizes)
def test_shapes_and_the_number_of_updates(beta, batch, steps, N, d, seed):
    X, _ = drawn(N, d, seed)
    xi = np.random.default_rng(seed).standard_normal((*batch, d))
    got = modern_hopfield_step(X, xi, beta, steps)
    assert got.shape == xi.shape
    wanted = xi
    for _ in range(steps):
        wanted = modern_hopfield_step(X, wanted, beta)
    assert np.array_equal(got, wanted)
    assert not np.shares_memory(got, xi)
    assert modern_hopfield_energy(X, xi, beta).shape == tuple(batch)
    assert pattern_weights(X, xi, beta).shape == (*batch, N)
    assert jacobian(X, xi, beta).shape == (*batch, d, d)


def test_equal_patterns_attain_both_bounds_of_the_energy():
    assert modern_hopfield_energy([[3.0], [3.0]], [[3.0], [-3.0]], 2.0).tolist() == [0, 18]


@pytest.mark.parametrize("beta", [1e-6, 1.0, 1e6])
def test_one_pattern_is_retrieved_in_one_update(beta):
    assert modern_hopfield_step([[1.0, 2.0]], [-7.0, 5.0], beta).tolist() == [1, 2]
    assert not jacobian([[1.0, 2.0]], [-7.0, 5.0], beta).any()


def test_equal_patterns_share_their_weight():
    assert pattern_weights([[1.0], [1.0], [-1.0]], [1.0], 1e6).tolist() == [0.5, 0.5, 0]


@pytest.mark.parametrize("block", [1, 7, 2**22])
def test_separation_of_integers_in_any_block(block, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", block)
    X = np.random.default_rng(1).integers(-3, 4, (9, 2))
    X[4] = X[7]
    gram = X @ X.T
    wanted = [gram[i, i] - max(np.delete(gram[i], i)) for i in range(9)]
    assert separation(X).tolist() == wanted
    assert wanted[4] <= 0


def test_separation_of_a_single_pattern_is_infinite():
    assert separation([[1.0, 2.0]]).tolist() == [math.inf]
    assert required_separation(1, 2.0, 3.0) == -math.inf


@given(N=st.integers(2, 10**6), beta=st.floats(1e-6, 1e6), M=st.floats(1e-3, 1e3))
def test_required_separation_and_radius(N, beta, M):
    with mpmath.workdps(40):
        b, m = mpmath.mpf(beta), mpmath.mpf(M)
        logs = [mpmath.log(v) for v in (2 * (N - 1), N, b, m**2)]
        wanted = (mpmath.mpf(2) / N + mpmath.fsum(logs)) / b
        size = (mpmath.mpf(2) / N + mpmath.fsum(abs(v) for v in logs)) / b
        assert abs(required_separation(N, beta, M) - wanted) <= 12 * EPS * size
        assert abs(basin_radius(N, beta, M) * b * N * m - 1) <= 4 * EPS


@given(
    N=st.integers(1, 10**6),
    d=st.integers(1, 10**4),
    beta=st.floats(1e-9, 1e9),
    M=st.floats(0, 100),
    size=st.floats(0, 100),
    eps=st.sampled_from([2.0**-23, 2.0**-52]),
)
@example(N=10**6, d=1, beta=1e-9, M=1.0, size=0.0, eps=2.0**-52)  # sums alone
@example(N=1, d=10**4, beta=1e3, M=1.0, size=1.0, eps=2.0**-52)  # scores alone
def test_the_rounding_of_an_update_is_the_stated_one(N, d, beta, M, size, eps):
    with mpmath.workdps(40):
        u = mpmath.mpf(eps) / 2
        gamma = [n * u / (1 - n * u) for n in (d + 8, 2 * N + 6, 2 * N + 9)]
        theta = mpmath.exp(beta * M * size * (2 * gamma[0] + 5 * u)) * (1 + 40 * u) - 1
        off = 2 * theta / (1 - theta) if theta < 1 else mpmath.inf
        wanted = M * min(off + gamma[1] * (1 + off) + N * mpmath.exp(-80), 2 + 2 * gamma[2])
    assert update_rounding(N, d, beta, M, size, eps) == pytest.approx(float(wanted), 1e-6, 1e-300)


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_rounding_grows_by_the_slope_of_the_updates(steps):
    """Patterns ±1 from 0, where the slope βR² is attained, and every update is off upwards."""
    X, beta, state = np.array([[1.0], [-1.0]]), 100.0, 0.0
    for _ in range(steps):
        state = math.tanh(beta * state) + update_rounding(2, 1, beta, 1.0, state, 2.0**-52)
    bound = rounding_bound(X, beta, steps, 0.0)
    assert state <= bound <= (1 if steps == 1 else 2) * state


def test_bounds_of_a_single_pattern_are_zero():
    assert gap_error_bound(1, 1.0, 1.0, -1e300) == 0
    assert retrieval_error_bound(1, 1.0, 1.0, math.inf, 3.0) == 0
    assert contraction_bound(1, 1.0, 1.0, math.inf, 3.0) == 0


def test_bounds_broadcast():
    assert gap_error_bound(3, [1.0, 2.0], 1.0, np.zeros((4, 1))).shape == (4, 2)


@settings(max_examples=25)
@given(
    cluster=st.lists(st.integers(0, 4), min_size=1, unique=True),
    beta=st.sampled_from([0.01, 0.3, 3.0, 30.0]),
    seed=st.integers(0, 99),
)
def test_a_fixed_point_lies_within_the_cluster_radius(cluster, beta, seed):
    X = np.random.default_rng(seed).standard_normal((5, 3)) * 1.5
    radius = cluster_radius(X, cluster, beta)
    if radius == math.inf:
        return
    m = X[cluster].mean(axis=0)
    direction = np.random.default_rng(seed).standard_normal((20, 3))
    offsets = radius * direction / np.linalg.norm(direction, axis=1, keepdims=True)
    images = modern_hopfield_step(X, m + offsets, beta)
    rounding = rounding_bound(X, beta, 1, np.linalg.norm(m) + radius)
    assert (np.linalg.norm(images - m, axis=1) <= radius * (1 + 1e-9) + rounding).all()


@pytest.mark.parametrize("slope", [0.3, 0.5, 0.9, 0.97])
@pytest.mark.parametrize("m", [2.0**-26, 1.0])
def test_the_radius_of_a_cluster_of_all_patterns_is_not_below_the_smallest(m, slope):
    """g(r) = slope·(m + r) for ρ = 1, so that the smallest r is slope·m/(1 − slope)."""
    smallest = Fraction(slope) * Fraction(m) / (1 - Fraction(slope))
    radius = Fraction(cluster_radius([[m + 1], [m - 1]], [0, 1], slope))
    assert smallest <= radius <= smallest * (1 + Fraction(1, 2**30))


def test_the_weight_of_far_patterns_does_not_underflow_to_0():
    for scale in (1e-3, 1.0, 1e3):
        assert 0 < cluster_radius([[scale], [0.0]], [0], 1e5 / scale**2) < 1e-260
    assert cluster_radius([[1.0]], [0], 1e5) == 0


def test_cluster_radius_in_the_three_regimes():
    X = np.array([[2.0, 0.2], [2.0, -0.2], [-2.0, 0.2], [-2.0, -0.2]])
    assert cluster_radius(X, [0, 1, 2, 3], 1e-6) < 1e-5
    assert cluster_radius(X, [0, 1], 1.0) < 0.15
    assert cluster_radius(X, [0], 200.0) < 1e-4
    assert cluster_radius(X, [0], 1.0) == math.inf or cluster_radius(X, [0], 1.0) > 0.1
    assert cluster_radius([[1.0]], [0], 5.0) == 0
    near = [[1.0, 0.0]] + 9 * [[0.9, 0.1]]  # the other patterns have a weight of at most 1, not 9
    assert cluster_radius(near, [0], 0.01) == pytest.approx(math.hypot(0.1, 0.1), rel=1e-12)


@given(
    d=st.integers(2, 200),
    beta=st.sampled_from([0.01, 1.0, 50.0]),
    K=st.sampled_from([0.3, 1.0, 4.0]),
    p=st.sampled_from([1e-6, 0.01, 0.5]),
)
def test_the_constants_of_theorem_3_solve_its_equations(d, beta, K, p):
    bound = stored_patterns_bound(d, beta, K, p, digits=50)
    with mpmath.workdps(50):
        w = bound.b / bound.c
        assert abs(w + mpmath.log(w) - bound.a - mpmath.log(bound.b)) < mpmath.mpf(10) ** -45
        assert abs(bound.c_required ** (mpmath.mpf(d - 1) / 4) * mpmath.sqrt(p) / 2 - 1) < 1e-45
        assert bound.applies == (bound.c >= bound.c_required)


def test_theorem_3_is_void_where_its_hypothesis_fails():
    assert not stored_patterns_bound(3, 1.0, 1.0, 0.001).applies


@pytest.mark.parametrize(
    ("N", "d", "beta", "K"),
    [
        *((2, 2, 1.0, 3.0), (10, 4, 1.0, 2.0), (50, 9, 1.0, 2.0), (500, 20, 1.0, 3.0)),
        *((2, 3, 1.0, 1.0), (2, 3, 0.5, 1.0)),  # t < 0, and t < −1: more than half, and all
    ],
)
def test_failure_bound_against_the_integral_of_the_cap(N, d, beta, K):
    square = beta * K**2 * (d - 1)
    t = max(-1.0, 1 - (2 / N + math.log(2 * (N - 1) * N * square)) / square)
    density = lambda u: (1 - u * u) ** ((d - 3) / 2)  # noqa: E731
    cap, area = (quad(density, low, 1, epsabs=0, epsrel=1e-10)[0] for low in (t, -1))
    assert failure_bound(N, d, beta, K) == pytest.approx(min(1, math.comb(N, 2) * cap / area), 1e-7)


def test_union_bound_is_the_largest_count():
    for d, beta, K, p in [(20, 1.0, 3.0, 0.5), (10, 2.0, 2.0, 0.01), (3, 0.01, 1.0, 0.1)]:
        N = union_bound_patterns(d, beta, K, p)
        assert failure_bound(N, d, beta, K) <= p < failure_bound(N + 1, d, beta, K)
    assert N == 1


@pytest.mark.parametrize(
    "function", [modern_hopfield_energy, modern_hopfield_step, pattern_weights, jacobian]
)
@pytest.mark.parametrize(
    ("scale", "states", "name"), [(1e200, 0.0, "patterns"), (1e150, 1e200, "states")]
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_products_that_overflow(function, scale, states, name):
    with rejects(name):
        function(scale * network, np.full(3, states), 1.0)


def test_more_scores_than_memory_raise(monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: 1000)
    with rejects("9", "5"):
        modern_hopfield_step(network, np.zeros((9, 3)), 1.0)
    monkeypatch.setattr(machine, "available_memory", lambda: 500)
    with rejects("15"):
        jacobian(network, np.zeros((3, 3)), 1.0)
