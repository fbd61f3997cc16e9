"""Moments, fits and similarities at many sizes, compared with definitions."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq, fmpq_mat
from numpy.polynomial.legendre import leggauss
from refusals import rejects
from regression_by_definition import (
    STARTS,
    near,
    power,
)

from theory import regression as r
from theory.regression.growth import random_straightness, straightness
from theory.regression.precision import newton_digits


@pytest.mark.parametrize("layers", [1, 2, 3, 5, 17, 33, 130])
def test_growth(layers):
    rng = np.random.default_rng(layers)
    steps = np.sort(rng.integers(0, 1000, 40))
    for _ in range(20):
        similarity = rng.integers(0, 5 + layers, (40, layers)).astype(float)
        best = [int(steps[max(range(40), key=column.__getitem__)]) for column in similarity.T]
        top = best.index(max(best))
        fell = any(later < best[max(top - 1, 0)] for later in best[top:])
        assert r.matching_steps(steps, similarity).tolist() == (best if fell else best[: top + 1])
    if layers < 4:
        return
    place = np.arange(1, layers + 1.0)
    laws = {
        "linear": place,
        "quadratic": place**2,
        "cubic": place**3,
        "exponential": 10 ** (place / layers * 14),
        "logarithmic": 100 * np.log(place) + 1,
    }
    for word, counts in laws.items():
        assert r.growth_of(counts) == word
        found = straightness(counts[None])[0]
        mapped = [counts, counts**0.5, np.cbrt(counts), np.log(counts)]
        wanted = [np.corrcoef(each, place)[0, 1] for each in mapped]
        near(found, [*wanted, np.corrcoef(counts, np.log(place))[0, 1]])
    random = np.sort(np.random.default_rng(1).uniform(1, 100, (4000, layers)), axis=-1)
    assert abs((straightness(random).max(-1) > random_straightness(layers)).mean() - 0.05) < 0.015


@pytest.mark.parametrize("z", [0.0, 1e-300, 0.5, 1 - 2.0**-53, 1.0])
def test_filters_near_one_and_of_small_powers(z):
    with mpmath.workdps(60):
        for p, m in [(1e-10, 1.0), (1e-10, 1e-300), (1e-3, 7.0), (2.0, 0.5), (300.0, 1e10)]:
            wanted = float((1 - mpmath.mpf(z) ** p) ** m)
            assert float(r.filter_residual(z, p, m)) == pytest.approx(wanted, rel=1e-12, abs=0)


@pytest.mark.parametrize(("N", "d"), [(8, 1), (8, 33), (130, 5), (300, 17), (1000, 2)])
def test_filters(N, d):
    rng = np.random.default_rng(N)
    components, z = rng.normal(size=(N, d)), rng.uniform(0.01, 1, size=(N, d))
    for p, m in [(0.5, 0.7), (1.0, 3.0), (2.0, 64.0), (3.0, 1000.0), (1.0, 40.0)]:
        near(r.filter_residual(z, p, m), (1 - z**p) ** m, 1e-9)
        errors = ((1 - z**p) ** m * components).sum(-1)
        found = r.fitted_filter(errors, components, z, p)
        assert found.power == p
        assert found.steps == pytest.approx(m, rel=1e-4, abs=0)
        assert found.unexplained < 1e-8
        if N > 8:
            found = r.fitted_filter(errors, components, z)
            assert found[:2] == pytest.approx((p, m), rel=1e-3, abs=0)
    for mu in (1e-4, 0.3, 100.0):
        errors = (mu / (z + mu) * components).sum(-1)
        found, left = r.fitted_ridge(errors, components, z)
        assert left < 1e-6
        assert N == 8 or found == pytest.approx(mu, rel=1e-2, abs=0)
    for fit in (r.fitted_filter, r.fitted_ridge, r.unexplained_fraction):
        with rejects("errors"):
            fit(errors[:7], components[:7], z[:7])


@pytest.mark.parametrize("n_knots", [1, 2, 3, 24, 130])
def test_knots(n_knots):
    """By the normal equations of the piecewise linear functions, with hat functions."""
    rng = np.random.default_rng(0)
    components, z = rng.normal(size=(400, 3)), rng.uniform(0.01, 1, size=(400, 3))
    errors, place = rng.normal(size=400), np.log(z)
    knots = [*np.linspace(place.min(), 0, n_knots)]
    knots = np.unique([*knots, *np.quantile(place, np.linspace(0, 1, n_knots))])
    hats = []
    for j, knot in enumerate(knots):
        low = knots[j - 1] if j else -np.inf
        high = knots[j + 1] if j + 1 < len(knots) else np.inf
        up = np.ones_like(place) if j == 0 else (place - low) / (knot - low)
        down = np.ones_like(place) if j + 1 == len(knots) else (high - place) / (high - knot)
        hats.append((np.clip(np.minimum(up, down), 0, 1) * components).sum(-1))
    _, sigma, Q = np.linalg.svd(np.array(hats), full_matrices=False)
    part = Q[sigma > 1e-12 * sigma[0]] @ errors
    wanted = 1 - part @ part / (errors @ errors)
    assert r.unexplained_fraction(errors, components, z, n_knots) == pytest.approx(wanted, abs=1e-6)
    r.unexplained_fraction(errors[:8], components[:8], z[:8], 1000)
    with rejects("n_knots"):
        r.unexplained_fraction(errors, components, z, 1001)


def ordered_moments(n, d, count, top, nodes=60):
    """E tr S^k, k < count, given λmax ≤ top, by quadrature over 0 < λ₁ < … < λ_d < top."""
    t, weights = leggauss(nodes)
    t, weights = (t + 1) / 2, weights / 2
    grid = np.meshgrid(*[t] * d, indexing="ij")
    volume = math.prod(np.meshgrid(*[weights] * d, indexing="ij"))
    values, largest = [], np.full_like(grid[0], top)
    for u in grid:  # λ_d = top·u₁, λ_{d−1} = λ_d·u₂, …
        volume, largest = volume * largest, largest * u
        values.append(largest)
    log = sum((n - d - 1) / 2 * np.log(v) - v / 2 for v in values)
    density = volume * np.exp(log - log.max())
    for i in range(d):
        for j in range(i + 1, d):
            density = density * (values[i] - values[j])
    return [(density * sum(v**k for v in values)).sum() / density.sum() for k in range(count)]


@pytest.mark.parametrize(
    ("n", "d", "top"),
    [
        (2, 1, 3.0),
        (18, 1, 9.0),
        (66, 1, 60.0),
        (302, 1, 280.0),
        (3, 2, 4.0),
        (33, 2, 40.0),
        (151, 2, 120.0),
        (4, 3, 6.0),
        (34, 3, 30.0),
        (150, 3, 100.0),
        (130, 3, 200.0),
    ],
)
def test_moments_below_a_bound(n, d, top):
    found = [float(each) for each in r.wishart_moments(n, d, 4, top)]
    assert found == pytest.approx(
        ordered_moments(n, d, 4, top, 120 if d < 3 else 50), rel=1e-9, abs=0
    )


@pytest.mark.parametrize(
    ("n", "d"), [(2, 1), (34, 1), (300, 1), (3, 2), (131, 2), (8, 5), (40, 17), (66, 33)]
)
def test_moments(n, d):
    found = r.wishart_moments(n, d, 4)
    cubic = n * d * (n * n + d * d + 3 * n * d + 3 * n + 3 * d + 4)
    wanted = [d, n * d, n * d * (n + d + 1), cubic]
    assert [each.unique_fmpz() for each in found] == wanted
    if d == 1:
        wanted = [math.prod(range(n, n + 2 * k, 2)) for k in range(65)]
        assert [each.unique_fmpz() for each in r.wishart_moments(n, 1, 65)] == wanted


def exact_moments(n, d, count):
    return [fmpq(each.unique_fmpz()) for each in r.wishart_moments(n, d, count)]


@pytest.mark.parametrize(("n", "d"), [(2, 1), (40, 1), (3, 2), (34, 3), (12, 5), (101, 2)])
def test_errors_of_polynomials_by_determinants(n, d):
    """The smallest value of a quadratic form is a quotient of two determinants."""
    terms = 33
    moments = exact_moments(n, d, 2 * terms + 1)
    found = r.polynomial_errors(n, d, terms)
    assert len(found) == terms
    for t in (1, 2, 3, 17, terms):
        whole, part = (
            fmpq_mat([[moments[i + j] for j in range(low, t + 1)] for i in range(low, t + 1)]).det()
            for low in (0, 1)
        )
        with ctx.workprec(4096):
            assert found[t - 1].overlaps(arb(whole / part))
    for k, eta in [(0, 0.5), (1, 1 / n), (2, 0.01), (33, 1 / 1024)]:
        exact = sum(
            math.comb(2 * k, j) * fmpq(*(-Fraction(eta)).as_integer_ratio()) ** j * moments[j]
            for j in range(2 * k + 1)
        )
        with ctx.workprec(4096):
            assert r.gradient_descent_error(n, d, k, eta).overlaps(arb(exact))
    for k in (1, 2, 17, 33):
        best = r.best_step_size(n, d, k)

        def slope(eta, k=k):
            eta = fmpq(*(-Fraction(eta)).as_integer_ratio())
            m = 2 * k - 1
            return sum(math.comb(m, j) * eta**j * moments[j + 1] for j in range(m + 1))

        assert slope(best * (1 - 1e-8)) > 0 > slope(best * (1 + 1e-8))


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize(
    ("entries", "alpha", "digits"),
    [
        ([1], Fraction(1, 10), 2000),
        ([1, 2, 3], Fraction(1, 100), 1),
        ([Fraction(i, 8) for i in range(1, 9)], 0.75, 300),
        ([1, Fraction(1, 10**20)], 1, 5),
        ([1, Fraction(3, 10**25)], 1, 5),
    ],
)
def test_digits(entries, alpha, digits, start):
    """For diagonal examples the residual is diagonal, with the entries (1 − α x⁴ or x²)^(2^j)."""
    x = [[entry if i == j else 0 for j in range(len(entries))] for i, entry in enumerate(entries)]
    found = newton_digits(x, alpha, start, digits)
    with mpmath.workdps(150):
        left = [1 - Fraction(alpha) * Fraction(e) ** (2 * power(start)) for e in entries]
        left = [mpmath.mpf(each.numerator) / each.denominator for each in left]
        for j, value in enumerate(found):
            size = mpmath.sqrt(sum(mpmath.power(each, 2 ** (j + 1)) for each in left))
            if j + 1 < len(found):
                assert value < digits
                assert value == pytest.approx(float(-mpmath.log10(size)), rel=1e-9, abs=1e-9)
            else:
                assert value >= digits or math.isclose(value, digits)


@pytest.mark.parametrize(
    ("k", "m", "n", "d"), [(1, 2, 2, 1), (3, 33, 5, 7), (2, 3, 300, 2), (5, 130, 2, 65)]
)
def test_similarities(k, m, n, d):
    rng = np.random.default_rng(m)
    first, second = rng.normal(size=(k, m, n)), rng.normal(size=(k + 1, m, n))
    labels = rng.normal(size=(m, n))

    def cosine(u, v):
        return u @ v / math.sqrt((u @ u) * (v @ v))

    cosines, distances = (
        np.array([[[f(a[i], b[i], labels[i]) for i in range(m)] for b in second] for a in first])
        for f in (lambda a, b, y: cosine(a - y, b - y), lambda a, b, y: ((a - b) ** 2).sum() / n)
    )
    near(r.error_cosines(first, second, labels), cosines)
    near(r.error_distances(first, second, labels), distances)
    weights = rng.normal(size=(k, m, n, d)), rng.normal(size=(k + 1, m, n, d))
    mean = np.einsum(
        "kmnd,lmnd->klm",
        *(each / np.sqrt((each**2).sum(-1, keepdims=True)) for each in weights),
    )
    near(r.weight_cosines(*weights), mean / n)
    for estimate, each in [
        (r.error_similarity(first, second, labels), cosines),
        (r.error_distance(first, second, labels), distances),
        (r.weight_similarity(*weights), mean / n),
    ]:
        near(estimate.mean, each.sum(-1) / m)
        spread = ((each - (each.sum(-1) / m)[..., None]) ** 2).sum(-1)
        near(estimate.error, np.sqrt(spread / (m - 1) / m))


@pytest.mark.parametrize("d", [1, 2, 17, 130])
def test_induced_weights(d):
    rng = np.random.default_rng(d)
    for T in (d + 1, 3 * d + 2):
        Q, p = rng.normal(size=(2, T, d)), rng.normal(size=(2, T))
        w, explained = r.induced_weights(Q, p)
        for i in range(2):
            best = np.linalg.lstsq(Q[i], p[i], rcond=None)[0]
            near(w[i], best, 1e-6)
            left = p[i] - Q[i] @ best
            assert explained[i] == pytest.approx(1 - left @ left / (p[i] @ p[i]), abs=1e-9)
    with rejects("queries"):
        r.induced_weights(rng.normal(size=(d, d)), rng.normal(size=d))


@pytest.mark.parametrize("d", [2, 3, 17, 130])
def test_prompts(d):
    n = 20 * d + 1000
    for prompts, values in [
        (r.gaussian_prompts(1, n, d, noise=0.5, seed=1), [1] * d),
        (
            r.ill_conditioned_prompts(1, n, d, noise=0.5, seed=1),
            [1] * (d - d // 2) + [100] * (d // 2),
        ),
        (r.covariance_prompts(1, n, np.diag([4.0] * d), noise=0.5, seed=1), [4] * d),
    ]:
        assert prompts.x.shape == (1, n, d)
        found = np.linalg.eigvalsh(prompts.x[0].T @ prompts.x[0] / n)
        assert (np.abs(np.log(found / values)) < 1).all()
        noise = prompts.y[0] - prompts.x[0] @ prompts.w[0]
        assert 0.45 < noise.std() < 0.55
        assert abs(noise.mean()) < 0.1
