"""Solvers, residuals, counts, moments and models at sizes far beyond the defaults, for every value
of an option, at the last value that is accepted and at the next one.

The non-zero eigenvalues λ_i of S = XᵀX are chosen, so every prediction is Σ_i (1 − R(λ_i)) c_i with
R by its formula in high precision.
"""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq, fmpq_mat
from numpy.polynomial.legendre import leggauss
from refusals import rejects

import constructions as c
from constructions.regression import newton_with_pauses
from theory import regression as r
from theory.regression.depth import ceil_log3
from theory.regression.growth import random_straightness, straightness
from theory.regression.precision import newton_digits

STARTS = ("gram", "identity")


def one_minus(z, exponent):
    """(1 − z)^exponent."""
    return mpmath.power(1 - mpmath.mpf(z), exponent)


def chebyshev(z, k, a, b):
    """T_k((b + a − 2z)/(b − a))/T_k((b + a)/(b − a)), and its limit for a = b."""
    z, a, b = map(mpmath.mpf, (z, a, b))
    if a == b:
        return one_minus(z / a, k)
    t, s = (b + a - 2 * z) / (b - a), (b + a) / (b - a)
    top = (
        mpmath.cos(k * mpmath.acos(t))
        if abs(t) <= 1
        else mpmath.sign(t) ** k * mpmath.cosh(k * mpmath.acosh(abs(t)))
    )
    return top / mpmath.cosh(k * mpmath.acosh(s))


def power(start):
    return 2 if start == "gram" else 1


# name → (function of x, y that returns weights, R)
SOLVERS = {
    f"gradient descent, {k} steps": (
        lambda x, y, k=k: r.gradient_descent(x, y, k, 0.9),
        lambda z, k=k: one_minus(0.9 * z, k),
    )
    for k in (0, 1, 2, 33, 130, 1000)
}
SOLVERS |= {
    f"chebyshev, {k} steps from {a}": (
        lambda x, y, k=k, a=a: r.chebyshev(x, y, k, a, 1.0),
        lambda z, k=k, a=a: chebyshev(z, k, a, 1.0),
    )
    for k, a in [(0, 0.1), (1, 0.1), (2, 0.1), (33, 0.1), (130, 0.01), (300, 0.01), (300, 1.0)]
}
SOLVERS |= {
    f"newton from {start}, {k} steps": (
        lambda x, y, k=k, s=start: r.newton(x, y, k, 0.9, s),
        lambda z, k=k, s=start: one_minus(0.9 * z ** power(s), 2**k),
    )
    for start in STARTS
    for k in (0, 1, 2, 5, 9)
}
SOLVERS |= {
    f"hyperpower from {start}, {k} steps of order {p}": (
        lambda x, y, k=k, p=p, s=start: r.hyperpower(x, y, k, p, 0.9, s),
        lambda z, k=k, p=p, s=start: one_minus(0.9 * z ** power(s), p**k),
    )
    for start in STARTS
    for k, p in [(0, 7), (1, 2), (2, 3), (2, 5), (3, 7), (1, 33), (1, 130), (1, 301)]
}
SOLVERS |= {
    f"ridge with penalty {m}": (lambda x, y, m=m: r.ridge(x, y, m), lambda z, m=m: m / (z + m))
    for m in (1e-12, 0.3, 1e6)
}
SOLVERS["ols"] = r.ols, lambda z: 0
SIZES = [(1, 1), (2, 3), (33, 5), (7, 130), (300, 17), (1000, 3), (70, 65)]


def problem(n, d, condition=100.0):
    """X (n, d) with eigenvalues of XᵀX in [1/condition, 1], y, 3 queries, the λ_i and the c_i."""
    rng, rank = np.random.default_rng(n + d), min(n, d)
    U, V = (np.linalg.qr(rng.normal(size=(size, rank)))[0] for size in (n, d))
    values = np.geomspace(1 / condition, 1, rank) if rank > 1 else np.ones(1)
    y, queries = rng.normal(size=n), rng.normal(size=(3, d))
    return (U * np.sqrt(values)) @ V.T, y, queries, values, (queries @ V) * (y @ U) / values**0.5


def near(found, wanted, tolerance=1e-9):
    """Equal up to the tolerance times the largest entry."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= tolerance * np.abs(wanted).max()


def predicted(values, components, R):
    with mpmath.workdps(40):
        return components @ np.array([float(1 - R(z)) for z in values.tolist()])


@pytest.mark.parametrize(("n", "d"), SIZES)
def test_solvers(n, d):
    x, y, queries, values, components = problem(n, d)
    for solve, R in SOLVERS.values():
        near(queries @ solve(x, y), predicted(values, components, R))


@pytest.mark.parametrize(("n", "d"), SIZES)
def test_one_pass(n, d):
    x, y, *_ = problem(n, d)
    for step_size in (None, 0.7):
        w = np.zeros(d)
        for row, label in zip(x, y, strict=True):
            w = w + (label - w @ row) * row / (row @ row if step_size is None else 1 / step_size)
        near(r.online_gradient_descent(x, y, step_size), w)
        assert len([*r.online_gradient_descent_iterates(x, y, step_size)]) == n + 1


@pytest.mark.parametrize(("n", "d"), SIZES)
def test_conjugate_gradients_minimise_over_the_krylov_space(n, d):
    x, y, *_ = problem(n, d)
    S, b = x.T @ x, x.T @ y
    krylov = b[:, None] / np.linalg.norm(b)
    for k in range(1, min(n, d, 6) + 1):
        best = krylov @ np.linalg.lstsq(x @ krylov, y, rcond=None)[0]
        near(r.conjugate_gradient(x, y, k), best, 1e-7)
        krylov, _ = np.linalg.qr(np.column_stack([krylov, S @ krylov[:, -1]]))
    near(r.conjugate_gradient(x, y, 300), np.linalg.pinv(x) @ y, 1e-6)


def of_prefixes(step):
    """The residuals of the methods of `PrefixSpectrum` below, for the step size `step`."""
    return {
        "ols": lambda z: 0,
        "ridge": lambda z: 0.5 / (z + 0.5),
        "descent": lambda z: one_minus(step * z, 1000),
        "newton gram": lambda z: one_minus((step * z) ** 2, 2**12),
        "newton identity": lambda z: one_minus(step * z, 2**12),
        "order 7 gram": lambda z: one_minus((step * z) ** 2, 7**4),
        "order 130 identity": lambda z: one_minus(step * z, 130**2),
        "chebyshev": lambda z: chebyshev(z, 130, 0.1 / step, 1 / step),
    }


@pytest.mark.parametrize(
    ("n", "d"), [(1, 1), (2, 3), (33, 5), (7, 70), (300, 17), (1000, 3), (70, 65)]
)
def test_the_spectrum_of_prefixes(n, d):
    x, y, queries, _, _ = problem(n, d)
    x, query = x * n**0.5, queries[0]
    spectrum = r.PrefixSpectrum(x, y, query)
    top = spectrum.largest
    alpha = 1 / top
    found = {
        "ols": spectrum.ols(),
        "ridge": spectrum.ridge([0.5])[0],
        "descent": spectrum.gradient_descent([1000], alpha)[0],
        "newton gram": spectrum.newton([12], alpha**2)[0],
        "newton identity": spectrum.newton([12], alpha, "identity")[0],
        "order 7 gram": spectrum.hyperpower([4], 7, alpha**2)[0],
        "order 130 identity": spectrum.hyperpower([2], 130, alpha, "identity")[0],
        "chebyshev": spectrum.chebyshev([130], 0.1 * top, top)[0],
    }
    for t in sorted({0, 1, 2, d - 1, d, d + 1, n // 2, n - 1, n} & {*range(n + 1)}):
        following = query if t == n else x[t]
        _, sigma, Vt = np.linalg.svd(x[:t], full_matrices=False) if t else (0, np.ones(0), x[:0])
        values = sigma**2
        if t:
            near(spectrum.eigenvalues[t][::-1][: len(values)], values)
        pulled = (Vt @ following) * (Vt @ (x[:t].T @ y[:t])) / values
        scale = np.abs(pulled).sum() if t else 1.0
        step = 1 / values[0] if t else 1.0
        for name, R in of_prefixes(step).items():
            wanted = predicted(values, pulled, R) if t else 0.0
            assert abs(found[name][t] - wanted) <= 1e-7 * scale, (name, t)


EIGENVALUES = [0.0, 1e-15, 1e-6, 0.3, 0.99, 1.0, 1.7, 2.0, 2.5]


def agree(found, R, relative=1e-9):
    """R and 1 − R, where overflow of float64 counts as agreement."""
    residual, rest = (float(each) for each in found)
    for value, exact in ((residual, R), (rest, 1 - R)):
        if abs(exact) > 1e308:
            assert value == math.copysign(math.inf, exact)
        else:
            assert abs(value - exact) <= relative * abs(exact) + 1e-12 * abs(R) + 1e-300


@pytest.mark.parametrize("k", [0, 1, 2, 33, 64, 65, 130, 1001, 10**6])
def test_residuals_of_many_steps(k):
    with mpmath.workdps(60):
        for z in EIGENVALUES:
            agree(
                (r.gradient_descent_residual(z, k, 1.0), r.gradient_descent_fitted(z, k, 1.0)),
                one_minus(z, k),
                1e-8,
            )
            for a, b in [(0.1, 2.0), (1.0, 1.0), (1e-6, 1.7)]:
                found = r.chebyshev_residual(z, k, a, b), r.chebyshev_fitted(z, k, a, b)
                agree(found, chebyshev(z, k, a, b), 1e-7)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize(
    ("order", "k"),
    [(p, k) for p in (2, 3, 4, 5, 6, 7, 33, 130, 10**9) for k in (0, 1, 2)] + [(2, 30), (5, 13)],
)
def test_residuals_of_every_order(order, k, start):
    with mpmath.workdps(60):
        for z in EIGENVALUES:
            R = one_minus(mpmath.mpf(z) ** power(start), order**k)
            arguments = (z, k, order, 1.0, start)
            agree((r.hyperpower_residual(*arguments), r.hyperpower_fitted(*arguments)), R, 1e-6)
            if order == 2:
                arguments = (z, k, 1.0, start)
                agree((r.newton_residual(*arguments), r.newton_fitted(*arguments)), R, 1e-6)
    with rejects("order"):
        r.hyperpower_residual(0.5, 1, 10**9 + 1, 1.0)


CONDITIONS = [1.5, 2.0, 30.0, 1e3, 1e6, 1e12, 1e100, 1e153, 1e308]
EPS = mpmath.mpf(2) ** -46
EPSILONS = [0.9, 0.5, 1e-3, 1e-12, 1e-100, 1e-300]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_counts_are_the_smallest_or_one_more(condition):
    with mpmath.workdps(400):
        kappa, root = mpmath.mpf(condition), mpmath.sqrt(condition)
        for epsilon in EPSILONS:
            decay = mpmath.log(1 / mpmath.mpf(epsilon))
            linear = {
                r.gradient_descent_steps: decay / -mpmath.log(1 - 1 / kappa),
                r.optimal_gradient_descent_steps: decay / -mpmath.log((kappa - 1) / (kappa + 1)),
                r.chebyshev_steps: (decay + mpmath.log(2)) / -mpmath.log((root - 1) / (root + 1)),
                r.conjugate_gradient_steps: (decay + mpmath.log(2))
                / -mpmath.log((root - 1) / (root + 1)),
            }
            for count, wanted in linear.items():
                found = count(condition, epsilon)
                assert wanted <= found <= max(1, (wanted + 1) * (1 + EPS)), count
            for start in STARTS if condition < 1e154 else ["identity"]:
                exponent = decay / -mpmath.log(1 - 1 / kappa ** power(start))
                for order in (2, 3, 4, 5, 7, 33, 130, 10**9):
                    found = r.hyperpower_steps(condition, epsilon, order, start)
                    assert exponent <= mpmath.mpf(order) ** found
                    assert found == 0 or order ** (found - 1) < exponent * (1 + EPS)
                assert r.newton_steps(condition, epsilon, start) == r.hyperpower_steps(
                    condition, epsilon, 2, start
                )
                estimate = power(start) * mpmath.log(kappa, 2) + mpmath.log(decay, 2)
                assert r.newton_steps_estimate(condition, epsilon, start) == pytest.approx(
                    float(estimate), rel=1e-12, abs=1e-12
                )


@pytest.mark.parametrize("layers", [0, 1, 2, 3, 17, 33, 40, 65, 130, 300, 1000, 20_000])
def test_logarithms_at_powers_of_three(layers):
    value = 3**layers
    assert [ceil_log3(value), ceil_log3(value + 1)] == [layers, layers + 1]
    assert layers < 2 or ceil_log3(value - 1) == layers


@pytest.mark.parametrize("start", STARTS)
def test_layers_of_many_steps(start):
    for k in [0, 1, 2, 13, 33, 65, 130, 300, 1000, 10**6]:
        degree = 2 ** (k + 1 + (start == "gram")) + 1
        assert r.newton_degree(k, start) == degree
        layers = r.newton_lower_bound(k, start)
        if k <= 1000:
            assert 3 ** (layers - 1) < degree <= 3**layers
        else:
            assert layers == math.ceil((k + 1 + (start == "gram")) * math.log(2, 3))
    with rejects("k"):
        r.newton_degree(10**6 + 1, start)
    with rejects("k"):
        r.newton_lower_bound(10**6 + 1, start)


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


def test_growth_at_its_limits():
    assert r.growth_of([1, 10**5, 10**10, 10**15]) == "exponential"
    with rejects("steps"):
        r.growth_of([1, 10**5, 10**10, 10**15 + 1])


@pytest.mark.parametrize(("N", "d"), [(8, 1), (8, 33), (130, 5), (300, 17), (1000, 2)])
def test_filters(N, d):
    rng = np.random.default_rng(N)
    components, z = rng.normal(size=(N, d)), rng.uniform(0.01, 1, size=(N, d))
    for p, m in [(0.5, 0.7), (1.0, 3.0), (2.0, 64.0), (3.0, 1000.0), (1.0, 40.0)]:
        near(r.filter_residual(z, p, m), (1 - z**p) ** m, 1e-9)
        errors = ((1 - z**p) ** m * components).sum(-1)
        found = r.fitted_filter(errors, components, z, p)
        assert found.power == p
        assert found.steps == pytest.approx(m, rel=1e-4)
        assert found.unexplained < 1e-8
        if N > 8:
            found = r.fitted_filter(errors, components, z)
            assert found[:2] == pytest.approx((p, m), rel=1e-3)
    for mu in (1e-4, 0.3, 100.0):
        errors = (mu / (z + mu) * components).sum(-1)
        found, left = r.fitted_ridge(errors, components, z)
        assert left < 1e-6
        assert N == 8 or found == pytest.approx(mu, rel=1e-2)
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
    assert found == pytest.approx(ordered_moments(n, d, 4, top, 120 if d < 3 else 50), rel=1e-9)


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


def test_limits_of_moments_and_errors():
    for call, name in [
        (lambda: r.wishart_moments(10**4 + 1, 10**4, 1), "n"),
        (lambda: r.wishart_moments(4, 1, 10**4 + 1), "n_moments"),
        (lambda: r.wishart_moments(5, 3, 1), "n"),
        (lambda: r.wishart_moments(3, 3, 1), "n"),
        (lambda: r.wishart_moments(3, 4, 1), "n"),
        (lambda: r.polynomial_errors(4, 1, 2001), "n_terms"),
        (lambda: r.gradient_descent_error(4, 1, 2001, 0.1), "k"),
        (lambda: r.best_step_size(4, 1, 2001), "k"),
    ]:
        with rejects(name):
            call()
    assert float(r.gradient_descent_error(4, 1, 130, 1e-6)) > 0


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


def test_limits_of_digits():
    for start, bound in (("gram", Fraction(1, 8)), ("identity", Fraction(1, 2))):
        assert newton_digits([[2]], bound * Fraction(999, 1000), start, 10)[-1] >= 10
        with rejects("alpha"):
            newton_digits([[2]], bound, start, 10)
    with rejects():
        newton_digits([[1, 0], [0, Fraction(1, 10**25)]], 1, "gram", 5)
    with rejects("digits"):
        newton_digits([[1]], 1, "gram", 10**6 + 1)


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


@pytest.mark.parametrize(
    ("n", "d"),
    [
        (300, 17),
        *(
            pytest.param(*size, marks=pytest.mark.slow)
            for size in [(1, 1), (2, 3), (1000, 3), (40, 33)]
        ),
    ],
)
def test_models(n, d):
    x, y, queries, values, components = problem(n, d)

    def check(model, R, layers=None, tolerance=1e-8):
        near(model(x, y, queries), predicted(values, components, R), tolerance)
        assert layers is None or len(model.blocks) == layers

    for k in (1, 2, 33, 130):
        check(c.gradient_descent(d, k, 0.9), lambda z, k=k: one_minus(0.9 * z, k), k)
    for k in (1, 4, 5, 14, 41, 1000, 3**9):
        model = c.gradient_descent(d, k, 0.9, "ladder")
        check(model, lambda z, k=k: one_minus(0.9 * z, k), ceil_log3(2 * k + 1))
    for k, a in [
        (1, 0.01),
        (13, 0.01),
        (14, 0.01),
        (41, 0.1),
        (130, 0.01),
        (300, 1.0),
        (1000, 1e-4),
    ]:
        model = c.chebyshev(d, k, a, 1.0)
        check(model, lambda z, k=k, a=a: chebyshev(z, k, a, 1.0), ceil_log3(2 * k + 1), 1e-6)
    for start in STARTS:
        p = power(start)
        for k in (0, 1, 2, 7, 13):
            R = lambda z, k=k, p=p: one_minus(0.9 * z**p, 2**k)  # noqa: E731
            check(c.newton(d, k, 0.9, start=start), R, k + p, 1e-7)
            model = c.newton(d, k, 0.9, "ladder", start=start)
            check(model, R, ceil_log3(2 ** (k + p) + 1))
        for k, order in [(0, 7), (1, 3), (2, 5), (3, 7), (1, 33), (2, 130)]:
            R = lambda z, k=k, o=order, p=p: one_minus(0.9 * z**p, o**k)  # noqa: E731
            model = c.hyperpower(d, k, order, 0.9, start=start)
            check(model, R, ceil_log3(2 * p * order**k + 1))
    for k in (0, 1, 5):
        check(c.newton(d, k, 0.9, "paper", n=n), lambda z, k=k: one_minus(0.9 * z**2, 2**k), k + 8)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (3, 2), (33, 5), (65, 17)])
def test_models_for_some_numbers_of_examples(n, d):
    """The last number of examples that the weights fit, and the next one."""
    x, y, queries, *_ = problem(n, d)
    model = c.online_gradient_descent(d, n)
    near(model(x, y, queries), queries @ r.online_gradient_descent(x, y))
    fewer = max(1, n - 1)
    near(
        model(x[:fewer], y[:fewer], queries),
        queries @ r.online_gradient_descent(x[:fewer], y[:fewer]),
    )
    paper = c.newton(d, 1, 0.9, "paper", n=n)
    more = np.vstack([x, x[:1]]), np.append(y, 1.0), queries
    for built in (model, paper):
        with rejects("n"):
            built(*more)
    if n > 1:
        with rejects("n"):
            paper(x[:fewer], y[:fewer], queries)


@pytest.mark.parametrize(
    ("n", "d"),
    [
        (130, 2),
        *(pytest.param(*size, marks=pytest.mark.slow) for size in [(1, 1), (3, 2), (33, 3)]),
    ],
)
def test_causal_models(n, d):
    x, y, queries, *_ = problem(n, d)

    def check(model, R, layers):
        said = model(x, y, queries[0])
        assert len(model.blocks) == layers
        assert said.shape == (n + 1,)
        for t in {0, 1, 2, n // 2, n - 1, n} & {*range(n + 1)}:
            _, sigma, Vt = (
                np.linalg.svd(x[:t], full_matrices=False) if t else (0, np.ones(0), x[:0])
            )
            pulled = (Vt @ (queries[0] if t == n else x[t])) * (Vt @ (x[:t].T @ y[:t])) / sigma**2
            scale = max(np.abs(pulled).sum(), 1e-3)
            assert abs(said[t].item() - predicted(sigma**2, pulled, R)) <= 1e-8 * scale

    for k in (1, 2, 33):
        check(c.gradient_descent(d, k, 0.9, causal=True), lambda z, k=k: one_minus(0.9 * z, k), k)
    for start in STARTS:
        p = power(start)
        for k in (0, 1, 2, 7, 12):
            R = lambda z, k=k, p=p: one_minus(0.9 * z**p, 2**k)  # noqa: E731
            check(c.newton(d, k, 0.9, start=start, causal=True), R, k + 2)
            layers = math.ceil(k * math.log(2, 3)) + 1 + p
            check(c.newton(d, k, 0.9, "ladder", start=start, causal=True), R, layers)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("n", [1, 2, 33, 300])
def test_interleaved_models(n, start):
    x, y, queries, values, components = problem(n, 2)
    for k in (0, 1, 7):
        model = c.newton(2, k, 0.9, start=start, interleaved=True)
        R = lambda z, k=k: one_minus(0.9 * z ** power(start), 2**k)  # noqa: E731
        for query, each in zip(queries, components, strict=True):
            near(model(x, y, query), predicted(values, each, R), 1e-7)


@pytest.mark.parametrize(("d", "k", "n"), [(1, 1, 300), (33, 1, 5), (2, 13, 33), (1, 33, 1)])
def test_models_with_pauses(d, k, n):
    x, y, queries, values, components = problem(n, d)
    R = lambda z: one_minus(0.9 * z, 2**k)  # noqa: E731
    near(newton_with_pauses(d, k, 0.9)(x, y, queries), predicted(values, components, R), 1e-7)


def test_a_ladder_of_a_million_steps():
    """At an eigenvalue where the residual is neither 0 nor 1."""
    model = c.gradient_descent(1, 10**6, 1e-6, "ladder")
    assert len(model.blocks) == ceil_log3(2 * 10**6 + 1)
    assert 1 - model([[1.0]], [1.0], [1.0]).item() == pytest.approx(math.exp(-1), rel=1e-5)


@pytest.mark.parametrize("k", [65, 129, 257, 4000])
def test_chebyshev_residuals_of_many_steps(k):
    """The largest residual on the interval is the least that a polynomial can have."""
    kappa = (k / 3.0) ** 2
    model = c.chebyshev(1, k, 1.0, kappa)
    points = np.linspace(1, kappa, 40)
    roots = np.sqrt(points)[:, None]
    found = 1 - model(roots[..., None], np.ones((40, 1)), roots).numpy()
    with mpmath.workdps(40):
        near(found, [float(chebyshev(z, k, 1.0, kappa)) for z in points], 1e-4)


def test_limits_of_models():
    for rejected, name in [
        (lambda: c.newton(1, 1001, 0.5), "k"),
        (lambda: c.newton(1, 1001, 0.5, causal=True), "k"),
        (lambda: c.newton(1, 1001, 0.5, interleaved=True), "k"),
        (lambda: newton_with_pauses(1, 1001, 0.5), "k"),
        (lambda: c.chebyshev(1, 10**100 + 1, 1.0, 2.0), "k"),
        (lambda: c.hyperpower(1, 1, 10**9 + 1, 0.5), "order"),
        (lambda: c.chebyshev(1, 2, 2.0 + 1e-15, 2.0), "smallest"),
        (lambda: c.chebyshev(1, 2, 2.0**-962, 2.0**-961), "smallest"),
        (lambda: c.chebyshev(1, 2, 2.0**958, 2.0**960), "smallest"),
        (lambda: c.gradient_descent(1, 0, 0.5, "ladder"), "k"),
    ]:
        with rejects(name):
            rejected()
    assert c.hyperpower(1, 1, 10**9, 0.5)([[1.0]], [1.0], [1.0]).item() == pytest.approx(1)


@pytest.mark.slow
def test_the_longest_ladder():
    model = c.chebyshev(1, 10**100, 1.0, 2.0)
    assert len(model.blocks) == 211  # the smallest L with 3^L ≥ 2·10¹⁰⁰ + 1
    assert model([[1.0]], [1.0], [1.0]).item() == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "build",
    [
        lambda: c.newton(1, 1000, 0.5),
        lambda: c.newton(1, 1000, 0.5, start="identity"),
        lambda: c.newton(1, 1000, 0.5, causal=True),
        lambda: c.newton(1, 1001, 0.5, "ladder"),
        lambda: newton_with_pauses(1, 130, 0.5),
    ],
)
def test_the_most_steps(build):
    assert build()([[1.0]], [1.0], [1.0]).numpy().ravel()[-1] == pytest.approx(1)
