"""Functions of `theory.memory` at many sizes, compared with definitions."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from memory_by_definition import signs, steps
from refusals import rejects
from scipy.stats import binom

from theory import memory as m


def test_fields_of_more_patterns_than_neurons_of_a_half():
    """Fields from patterns, where P is large and 2P < d."""
    patterns, s = signs(150, 400), signs(3, 400, seed=2)
    W = m.hebb(patterns)
    found = m.hebb_synchronous_run(patterns, s, max_steps=1)
    assert (found.states == [steps(W, 0, each, 1)[-1] for each in s]).all()


@pytest.mark.parametrize("degree", [2, 3, 4, 33])
@pytest.mark.parametrize(("N", "d"), [(1, 1), (3, 2), (33, 17), (5, 65), (130, 33)])
def test_dense_memories(N, d, degree):
    patterns, states = signs(N, d), signs(2, d, seed=1)
    states[0] = patterns[0]
    x = [[int(row @ s) for row in patterns] for s in states]
    assert m.dense_energy(patterns, states, degree).tolist() == [
        -sum(v**degree for v in r) for r in x
    ]
    preferred = m.dense_preferred(patterns, states, degree)
    for s, overlaps, found in zip(states, x, preferred.tolist(), strict=True):
        wanted = []
        for i in range(d):
            rest = [v - int(s[i] * row[i]) for v, row in zip(overlaps, patterns, strict=True)]
            gain = sum(
                (u + int(row[i])) ** degree - (u - int(row[i])) ** degree
                for u, row in zip(rest, patterns, strict=True)
            )
            wanted.append((gain > 0) - (gain < 0))
        assert found == wanted
        if N * d <= 600:
            assert m.dense_preferred_by_definition(patterns, s, degree) == wanted
    updated = m.dense_synchronous_update(patterns, states, degree)
    assert (updated == np.where(preferred == 0, states, preferred)).all()
    order = np.random.default_rng(d).permutation(d)
    now = states.copy()
    for _ in range(2):
        for i in order:
            wanted = m.dense_preferred(patterns, now, degree)[:, i]
            now[:, i] = np.where(wanted == 0, now[:, i], wanted)
    assert (m.dense_update(patterns, states, degree, order, sweeps=2).states == now).all()


@pytest.mark.parametrize(("N", "d"), [(1, 1), (3, 2), (33, 17), (5, 65), (130, 33), (3, 300)])
def test_the_exponential_memory(N, d):
    patterns, states = signs(N, d), signs(3, d, seed=1)
    with mpmath.workdps(400):
        for s, found, energy in zip(
            states,
            m.dense_preferred(patterns, states, "exp").tolist(),
            m.exponential_log_energy(patterns, states),
            strict=True,
        ):
            x = [int(row @ s) for row in patterns]
            exact = mpmath.log(sum(mpmath.exp(v) for v in x))
            assert energy == pytest.approx(float(exact), rel=1e-12, abs=1e-12)
            for i in range(0, d, 1 + d // 20):
                gain = {}
                for v, row in zip(x, patterns, strict=True):
                    u = v - int(s[i] * row[i])
                    gain[u] = gain.get(u, 0) + int(row[i])
                total = sum(k * mpmath.exp(u) for u, k in gain.items() if k)
                assert found[i] == int(mpmath.sign(total))


@pytest.mark.parametrize(
    ("P", "d"), [(1, 5), (2, 3), (3, 2), (17, 33), (130, 65), (300, 1000), (1000, 7)]
)
def test_unstable_bits(P, d):
    most = math.ceil(Fraction((P - 2) * (d - 1), 2)) - 1
    n = (P - 1) * (d - 1)
    if n <= 1100:
        wanted = float(Fraction(sum(math.comb(n, k) for k in range(most + 1)), 2**n))
    else:
        wanted = binom.cdf(most, n, 0.5)
    assert m.unstable_bit_probability(P, d) == pytest.approx(wanted, rel=1e-9, abs=0)


@pytest.mark.parametrize("d", [2, 3, 33, 130, 1000, 10**6])
def test_thresholds(d):
    for degree in (2, 3, 4, 7, 17, 33):
        odd = math.prod(range(1, 2 * degree - 2, 2))
        exact = Fraction(d ** (degree - 1), odd)
        for every, factor in ((False, 2), (True, 2 * degree)):
            wanted = float(exact) / (factor * math.log(d))
            assert m.dense_patterns(d, degree, every) == pytest.approx(wanted, rel=1e-10, abs=0)
            if degree == 2:
                assert m.mceliece_patterns(d, every) == pytest.approx(wanted, rel=1e-10, abs=0)
    with rejects("d"):
        m.dense_patterns(2**53, 500)


def test_functions_of_loads():
    with mpmath.workdps(60):
        for load in (1e-3, 0.01, 0.138, 1.0, 30.0, 1e6):
            wanted = mpmath.ncdf(-1 / mpmath.sqrt(load))
            assert m.unstable_bit_limit(load) == pytest.approx(float(wanted), rel=1e-10, abs=0)
        for a in (-1.0, -0.999, -0.3, 0.0, 1e-3, 0.5, 0.999, 1.0):
            terms = [(1 + s * mpmath.mpf(a)) for s in (1, -1)]
            wanted = float(sum(t * mpmath.log(t) for t in terms if t) / 2)
            assert m.large_deviation_rate(a) == pytest.approx(wanted, rel=1e-9, abs=0)
            if a > 0:
                assert m.exponential_load((1 - a) / 2) == pytest.approx(wanted / 2, rel=1e-9, abs=0)
    for digits in (1, 15, 60):
        found = m.critical_load(digits)
        with mpmath.workdps(digits + 20):
            y = found.y
            load = (mpmath.erf(y) / y - 2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-y * y)) ** 2 / 2
            unit = 10 * mpmath.mpf(10) ** -digits
            assert abs(load - found.load) < unit
            assert abs(mpmath.erf(y) - found.overlap) < unit
            assert abs((1 - found.overlap) / 2 - found.wrong_bits) < unit
    for digits in (15, 20):
        for load in (0.05, 0.1379):
            overlap = m.retrieval_overlap(load, digits)
            with mpmath.workdps(digits + 20):
                y = mpmath.erfinv(overlap) if overlap < 1 else mpmath.inf
                if y < 10:
                    part = overlap / y - 2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-y * y)
                    assert abs(part**2 / 2 - load) < mpmath.mpf(10) ** (-digits / 2)
                    assert y > m.critical_load().y
    critical = float(m.critical_load().load)
    assert m.retrieval_overlap(critical) == pytest.approx(
        float(m.critical_load().overlap), abs=1e-6
    )
    for load in (np.nextafter(critical, 1), 0.138, 0.1385):
        with rejects("load"):
            m.retrieval_overlap(load)


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (3, 33), (130, 300), (1000, 1000), (0, 5000)])
def test_confidence(k, n):
    for level in (0.5, 0.95, 0.9999):
        low, high = m.clopper_pearson(k, n, level)
        tail = (1 - level) / 2
        assert (
            low == 0 if k == 0 else binom.sf(k - 1, n, low) == pytest.approx(tail, rel=1e-6, abs=0)
        )
        assert (
            high == 1 if k == n else binom.cdf(k, n, high) == pytest.approx(tail, rel=1e-6, abs=0)
        )
    with rejects("successes"):
        m.clopper_pearson(n + 1, n, 0.95)


@pytest.mark.parametrize("N", [2, 3, 33, 130, 1000, 10**9])
def test_bounds_of_modern_networks(N):
    for beta, M, delta, distance in [
        (1.0, 1.0, 0.5, 0.1),
        (8.0, 3.0, 4.0, 0.25),
        (0.3, 30.0, 70.0, 0.01),
    ]:
        leak = 2 * (N - 1) * M * math.exp(-beta * (delta - 2 * M * distance))
        assert m.gap_error_bound(N, beta, M, delta) == pytest.approx(
            2 * (N - 1) * M * math.exp(-beta * delta)
        )
        assert m.retrieval_error_bound(N, beta, M, delta, distance) == pytest.approx(leak)
        assert m.contraction_bound(N, beta, M, delta, distance) == pytest.approx(
            beta * N * M * leak
        )
        required = 2 / (beta * N) + math.log(2 * (N - 1) * N * beta * M**2) / beta
        assert m.required_separation(N, beta, M) == pytest.approx(required)
        assert m.basin_radius(N, beta, M) == pytest.approx(1 / (beta * N * M))
    for d, eps, size in [(1, 2.0**-52, 1.0), (17, 2.0**-52, 30.0), (300, 2.0**-23, 2.0)]:
        u = eps / 2
        if (2 * N + 9) * u >= 1:
            with rejects("n_patterns"):
                m.update_rounding(N, d, 1.0, 1.0, size, eps)
            continue

        def gamma(n, u=u):
            return n * u / (1 - n * u)

        for beta, M in ((1.0, 1.0), (4.0, 3.0)):
            eta = beta * M * size * (2 * gamma(d + 8) + 5 * u)
            with mpmath.workdps(60):
                theta = float(mpmath.exp(eta) * (1 + mpmath.mpf(40 * u)) - 1)
            off = 2 * theta / (1 - theta) if theta < 1 else math.inf
            local = off + gamma(2 * N + 6) * (1 + off) + math.exp(-80) * N
            wanted = M * min(local, 2 * (1 + gamma(2 * N + 9)))
            assert m.update_rounding(N, d, beta, M, size, eps) == pytest.approx(
                wanted, rel=1e-6, abs=0
            )
    for d, beta, K in [
        (2, 1.0, 3.0),
        (20, 1.0, 3.0),
        (33, 0.3, 2.0),
        (130, 1.0, 0.5),
        (5, 30.0, 2.0),
    ]:
        M = K * math.sqrt(d - 1)
        required = 2 / (beta * N) + math.log(2 * (N - 1) * N * beta * M**2) / beta
        t = 1 - required / M**2
        with mpmath.workdps(30):
            if beta * required <= 2 / N:
                wanted = 1.0
            else:
                half = mpmath.mpf(d - 1) / 2
                beyond = mpmath.betainc(half, 0.5, 0, max(0, 1 - t * t), regularized=True) / 2
                wanted = min(1.0, float(N * (N - 1) / 2 * (beyond if t >= 0 else 1 - beyond)))
        assert m.failure_bound(N, d, beta, K) == pytest.approx(wanted, rel=1e-6, abs=0)


@pytest.mark.parametrize(
    ("d", "beta", "K", "p"),
    [(2, 1.0, 3.0, 0.5), (20, 1.0, 3.0, 0.001), (75, 1.0, 1.0, 0.1), (33, 4.0, 1.0, 1e-6)],
)
def test_stored_patterns(d, beta, K, p):
    found = m.stored_patterns_bound(d, beta, K, p)
    a = 2 / (d - 1) * (1 + math.log(2 * beta * K**2 * p * (d - 1)))
    b = 2 * K**2 * beta / 5
    w = float(b / found.c)  # W₀ of its argument
    assert (float(found.a), float(found.b)) == pytest.approx((a, b))
    assert w * math.exp(w) == pytest.approx(math.exp(a + math.log(b)))
    assert float(found.c_required) == pytest.approx((2 / math.sqrt(p)) ** (4 / (d - 1)))
    assert found.applies == (found.c >= found.c_required)
    number = m.union_bound_patterns(d, beta, K, p)
    assert m.failure_bound(number, d, beta, K) <= p
    assert number >= 2**49 or m.failure_bound(number + 1, d, beta, K) > p


@pytest.mark.parametrize("n", [1, 2, 17, 33, 60, 130])
def test_clusters_of_chains(n):
    """Chains of n links in every order of the tokens, and the same chains cut at one link."""
    angles = np.arange(n) * (3.0 / 300)
    rng = np.random.default_rng(n)
    for cut in (0, 1):
        turned = angles + cut * (np.arange(n) >= n // 2) * 0.2
        for order in (
            np.arange(n),
            np.argsort(-np.abs(angles - angles.mean())),
            rng.permutation(n),
        ):
            X = np.stack([np.cos(turned), np.sin(turned)], axis=-1)[order]
            found = int(m.n_clusters(X, math.cos(1.5 * 3.0 / 300)))
            assert found == 1 + (cut and n // 2 > 0)


@pytest.mark.parametrize("form", ["SA", "USA"])
@pytest.mark.parametrize(("n", "d"), [(1, 2), (2, 3), (17, 5), (130, 33), (33, 130)])
def test_velocities_on_the_sphere(n, d, form):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=-1, keepdims=True)
    QK = rng.normal(size=(d, d)) / d
    for beta in (0.0, 1.0, 30.0):
        for B in (None, QK):
            found = m.sphere_velocity(X, beta, form, B)
            for i in {0, n // 2, n - 1}:
                e = [math.exp(beta * (X[i] @ (np.eye(d) if B is None else B) @ x)) for x in X]
                pull = np.array(e) @ X / (math.fsum(e) if form == "SA" else n)
                wanted = pull - (X[i] @ pull) * X[i]
                assert np.abs(found[i] - wanted).max() <= 1e-12 * (1 + np.abs(pull).max())
            w, cosine = m.hemisphere_pole(X)
            if d >= n and cosine > 1e-6:
                assert m.in_open_hemisphere(X)
                norm = 1.0 if B is None else math.sqrt(np.linalg.eigvalsh(B.T @ B).max())
                rate = (
                    min(X @ w)
                    / np.linalg.norm(w)
                    * math.exp(-(2 if form == "SA" else 1) * beta * norm)
                )
                assert m.hemisphere_rate(X, beta, w, form, B) == pytest.approx(rate)
                y = X / (X @ (w / np.linalg.norm(w)))[:, None]
                wide = max(np.linalg.norm(a - b) for a in y for b in y)
                assert m.cone_diameter(X, w) == pytest.approx(wide)
        if beta:
            energy = math.fsum(math.exp(beta * (a @ b)) for a in X for b in X) / (2 * beta * n * n)
            assert m.sphere_energy(X, beta) == pytest.approx(energy)
    assert m.mean_length(X) == pytest.approx(np.linalg.norm(sum(X)) / n)
    assert m.smallest_inner_product(X) == pytest.approx(min(a @ b for a in X for b in X))


@pytest.mark.parametrize("form", ["SA", "USA"])
@pytest.mark.parametrize("beta", [10.0, 20.0, 30.0])
def test_gaps_near_the_escape_time(beta, form):
    """The gap itself is off by up to 15 % at β = 30."""
    for n, gamma in ((2, 0.5), (3, 0.99), (100, 1 - 1e-6)):
        time = m.escape_time(beta, n, gamma, form)
        gap = m.orthogonal_gap(n, beta, [0.0, time], form)[-1]
        assert m.escape_time(beta, n, 1 - gap, form) == pytest.approx(time, rel=1e-11, abs=0)


@pytest.mark.parametrize("form", ["SA", "USA"])
@pytest.mark.parametrize("n", [2, 17, 10**6])
def test_orthogonal_starts(n, form):
    """The gap satisfies its equation, and the time to reach an inner product is its inverse."""
    for beta in (0.0, 5.0):
        for gamma in (0.0, 0.3, 0.999):
            time = m.escape_time(beta, n, gamma, form)
            gap = m.orthogonal_gap(n, beta, [0.0, time], form)[-1]
            assert gap == pytest.approx(1 - gamma, rel=1e-8, abs=0)
            assert m.orthogonal_start(n, beta, [0.0, time], form)[-1] == pytest.approx(
                gamma, abs=1e-8
            )
    if n <= 17:
        X = np.eye(n)
        products = m.orthogonal_start(n, 2.0, [0.0, 0.5, 1.0], form)
        moved = m.sphere_flow(X, 2.0, [0.0, 0.5, 1.0], form).tokens
        assert np.einsum("tnd,tmd->tnm", moved, moved)[:, 0, 1] == pytest.approx(products, abs=1e-8)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (3, 3), (17, 5), (33, 17), (130, 65), (300, 3)])
def test_probabilities_of_hemispheres(n, d):
    wanted = Fraction(sum(math.comb(n - 1, k) for k in range(min(d, n))), 2 ** (n - 1))
    assert m.hemisphere_probability(n, d) == wanted


@pytest.mark.parametrize(("n", "d"), [(3, 5), (17, 33), (5, 130)])
def test_hidden_bits(n, d):
    patterns = signs(n, d)
    for flips in (0, 1, d // 2, d):
        assert ((m.flipped(patterns, flips, 1) != patterns).sum(-1) == flips).all()
    with rejects("flips"):
        m.flipped(patterns, d + 1, 1)
    assert (m.overlap(patterns, patterns) == patterns @ patterns.T / d).all()
    assert (m.mixture(patterns) == np.sign(patterns.sum(0))).all()
