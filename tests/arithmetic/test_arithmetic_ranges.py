"""Functions of `theory.arithmetic` at many sizes, compared with definitions."""

from fractions import Fraction
from itertools import permutations
from math import cos, pi

import mpmath
import numpy as np
import pytest
from arithmetic_by_definition import (
    ADDERS,
    SETS,
    enough_bits,
    gap,
    most_bits,
    moved,
    rng,
    teeth,
)
from flint import arb, fmpq_mat, fmpz_mat
from refusals import rejects

from theory import arithmetic as A
from theory.arithmetic import adder_balls as balls
from theory.arithmetic.comb import ZHOU
from theory.arithmetic.residues import second_differences
from verify.domains import Ball

SIZES = (1, 2, 3, 4, 5, 16, 17, 33, 64, 130, 301, 1000)


MODULI = (3, 5, 17, 33, 65, 129, 301)


@pytest.mark.parametrize("L", [*range(31), 260, 999, 1000, 10**6 + 4, 2**60])
def test_candidates(L):
    p = A.n_candidates(L)
    assert p % 10 == 0
    assert p == 20 or p > 2 * L >= p - 10


@pytest.mark.parametrize("step", [*range(1, 8), 10, 33, 130, 1000, 2**53 - 1, 2**53])
def test_multiples(step):
    n = [*range(40), *rng().integers(2**53, size=40).tolist(), 2**52, 2**53 - 1, 2**53]
    nearest = [(2 * each + step) // (2 * step) * step for each in n]
    assert A.round_to_multiple(n, step).tolist() == nearest
    assert max(abs(each - m) for each, m in zip(n, nearest, strict=True)) <= step // 2
    assert A.round_to_multiple([step // 2, (step - 1) // 2], step).tolist() == [
        step * (step % 2 == 0),
        0,
    ]


@pytest.mark.parametrize("p", [20, 90, 270, 1000])
@pytest.mark.parametrize(("alpha", "s", "error"), [(0, 7, 0.0), (3.5, -14, 2.25), (64, 10**6, -90)])
def test_logits(p, alpha, s, error):
    for F in SETS[:: 1 if p == 20 else 7]:
        wanted = [
            teeth(F, c - s) + alpha * cos(2 * pi * ((c - s) % p - error) / p) for c in range(p)
        ]
        assert np.allclose(A.adder_logits(p, alpha, s, error, F), wanted, atol=1e-11)


@pytest.mark.parametrize("p", [20, 50, 270, 1010])
@pytest.mark.parametrize(("alpha", "error"), [(0.0, 3), (0.5, 0), (7.0, 4), (64.0, 5), (3.0, 150)])
def test_least_gaps(p, alpha, error):
    for F in SETS[:: 3 if p < 100 else 11]:
        assert A.least_gap(p, alpha, error, F) == pytest.approx(gap(p, alpha, error, F), abs=1e-11)
    assert A.least_gap(p, alpha, error) == pytest.approx(gap(p, alpha, error), abs=1e-11)


@pytest.mark.parametrize("bits", [1, 2, 5, 11, 13, 14, 15, 16, 24, 40, 1074])
@pytest.mark.parametrize("alpha", [0.0, 0.25, 4.0, 64.0, 100.0, 1e6])
def test_bounds_of_rounding(alpha, bits):
    assert A.rounding_of_logits(alpha, bits) == pytest.approx(
        moved(alpha, bits), rel=1e-12, abs=4e-15 * (1 + alpha)
    )


@pytest.mark.parametrize(
    "alpha", [1e-3, 0.5, 3.9, 4, 4.1, 12, 12.1, 28, 28.1, 60, 64, 124, 2.0**13 - 4, 2.0**50, 1e30]
)
def test_bits_of_float64(alpha):
    assert A.largest_bits(alpha) == most_bits(alpha)


@pytest.mark.parametrize(("p", "step", "alpha"), ADDERS)
def test_bits(p, step, alpha):
    enough, most = enough_bits(p, step, alpha), most_bits(alpha)
    assert A.sufficient_bits(p, step, alpha) == enough
    default = 14 if not enough or enough[0] <= 14 else enough[0]
    assert A.default_bits(p, step, alpha) == max(1, min(default, most))


@pytest.mark.parametrize("p", [50, 310, 1010, 12_340])
def test_balls_of_adders(p):
    """Logits, limits of α and rounded cosines, with 60 digits."""
    with mpmath.workdps(60), Ball.precision(200):
        turn = 2 * mpmath.pi / p
        for F in (SETS[0], SETS[-1], ZHOU):
            tooth = [mpmath.fsum(mpmath.cos(mpmath.pi * f * d / 5) for f in F) for d in range(10)]
            error = Fraction(7, 3)
            if p < 5000:
                found = balls.logits(p, arb(3), error, F)
                assert len(found) == p
                for d in (0, 1, 9, 10, 299, 300, 301, p // 2, p - 1):
                    if d < p:
                        wanted = tooth[d % 10] + 3 * mpmath.cos((d - mpmath.mpf(7) / 3) * turn)
                        assert near(found[d], wanted)
            limits = {
                d: (tooth[0] - tooth[d]) / (mpmath.cos((5 - d) * turn) - mpmath.cos(5 * turn))
                for d in range(1, 10)
            }
            for d, wanted in limits.items():
                assert near(balls.alpha_at(p, F, d), wanted)
            limit, d = balls.alpha_limit(p, F)
            assert near(limit, min(limits.values()))
            assert near(limit, limits[d])
        rows = balls.turn(p, 30)
        for n in (0, 1, 7, p // 3, p - 1):
            angle = n * turn
            exact = [2**30 * mpmath.cos(angle), 2**30 * mpmath.sin(angle)]
            assert rows[n].tolist() == [int(mpmath.floor(x + 0.5)) for x in exact]
        pairs = np.array([[p // 2 - 1, p // 3], [p // 2 - 7, 4], [0, 1]])
        product = balls.turn_of_sum(pairs, p, 20)
        for (a, b), (c, s) in zip(pairs.tolist(), product.tolist(), strict=True):
            # Four products of cosines, each of which is off by at most 2^−21.
            assert abs(c / 2**40 - mpmath.cos((a + b) * turn)) <= 2.0**-19
            assert abs(s / 2**40 - mpmath.sin((a + b) * turn)) <= 2.0**-19
        step, alpha, bits = 2, 3.5, 14
        found = balls.rounded_logits(pairs, p, step, alpha, bits) / 2.0 ** (3 * bits)
        for (a, b), row in zip(pairs.tolist(), found, strict=True):
            size = sum((2 * n + step) // (2 * step) * step for n in (a, b))
            c = np.arange(p)
            wanted = [teeth(ZHOU, each) for each in range(10)]
            exact = np.array(wanted)[(c - a - b) % 10] + alpha * np.cos(2 * pi * (c - size) / p)
            # Of products of rounded cosines, for each tooth and for the bump.
            assert abs(row - exact).max() <= (len(ZHOU) + alpha) * 6 * 2.0**-bits


def near(ball, number):
    """Whether a ball is narrower than 1e-40 and its midpoint as near to the number."""
    return ball.rad() < 1e-40 and abs(mpmath.mpf(ball.mid().str(50, radius=False)) - number) < 1e-40


@pytest.mark.parametrize("F", SETS)
def test_combs(F):
    values = [teeth(F, d) for d in range(10)]
    for d in (*range(-12, 13), 10**30 + 3, -(10**30) - 4):
        assert float(A.comb(F, d)) == pytest.approx(values[d % 10], abs=1e-14)
        assert float(A.cosine(d)) == pytest.approx(cos(pi * (d % 10) / 5), abs=1e-14)
    assert float(A.comb_gap(F)) == pytest.approx(values[0] - max(values[1:]), abs=1e-14)
    closed = {min(m % 10, -m % 10) for f in F for m in (f, 2 * f, 4 * f, 8 * f, 16 * f)} - {0}
    assert A.halving_closure(F) == tuple(sorted(closed, reverse=True))
    assert [A.period(f) * f for f in F] == [10] * len(F)


@pytest.mark.parametrize("p", SIZES)
def test_fourier(p):
    """The discrete Fourier transform, scaled: cosines first, then minus the imaginary parts."""
    Q, hat = A.fourier_matrix(p), np.fft.fft(np.eye(p))
    bins = [0, *(k for k in range(1, (p + 1) // 2) for _ in range(2)), *[p // 2] * (p % 2 == 0)]
    assert A.fourier_bins(p).tolist() == bins[:p]
    k, row = np.array(bins[:p]), np.arange(p)
    parts = np.where(((row > 0) & (row % 2 == 0))[:, None], -hat[k].imag, hat[k].real)
    single = (k == 0) | (2 * k == p)
    assert np.allclose(Q, parts * np.sqrt(np.where(single, 1, 2) / p)[:, None], atol=1e-13)
    E = rng(p).normal(size=(p, 3))
    coefficients = Q @ E
    parts = [np.linalg.norm(coefficients[k == each]) for each in range(p // 2 + 1)]
    assert np.allclose(A.bin_sizes(E), parts)
    assert np.allclose(A.bin_sizes(E[:, 0]), A.bin_sizes(E[:, :1]))
    for frequency in {1, p // 3, p // 2} & set(range(1, p // 2 + 1)):
        assert A.bin_of(Fraction(p, frequency), p) == frequency
    if p > 1:
        assert A.bin_of(float(p), p) == 1


@pytest.mark.parametrize(("r", "D"), [(1, 2), (3, 3), (9, 5), (5, 33), (40, 33), (60, 130)])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-4, 0.3])
def test_filters(r, D, tolerance):
    """Singular values of 1, ½ and on either side of the tolerance."""
    n, draw = min(r, D), rng(r)
    left, right = (np.linalg.qr(draw.normal(size=(k, k)))[0] for k in (r, D))
    sizes = np.resize([1.0, 0.5, 1.01 * tolerance, 0.99 * tolerance], n)
    R, K = (left[:, :n] * sizes) @ right[:n], draw.normal(size=(4, D))
    removed = right[:n][sizes > tolerance]
    P = A.null_space_projection(R, tolerance)
    assert np.allclose(P, np.eye(D) - removed.T @ removed, atol=1e-9)
    lost = np.linalg.norm(K @ removed.T) / np.linalg.norm(K)
    assert A.leakage(R, K, tolerance) == pytest.approx(lost)


@pytest.mark.parametrize("p", MODULI)
def test_modular_neurons(p):
    """Logits 2(p[c = a + b] − 1) at random residues, and the formula of the margin."""
    u, v, w = A.modular_neurons(p)
    assert u.shape == v.shape == w.shape == (4 * (p - 1), p)
    a, b, c = rng(p).integers(p, size=(3, 60))
    c[::2] = (a + b)[::2] % p
    f = (w[:, c] * (u[:, a] + v[:, b]) ** 2).sum(0)
    assert np.allclose(f, 2 * (p * (c == (a + b) % p) - 1), atol=1e-9 * p)
    square = A.largest_margin_squared(p)
    assert square == Fraction(2, 27) / (p * Fraction(p - 1) ** 2)
    cubed = A.cubed_norms(u, v, w)
    assert np.allclose(cubed, (1.5 * p) ** 1.5)
    assert 2 * p / cubed.sum() == pytest.approx(float(square) ** 0.5)
    assert np.allclose(A.mean_over_cubes(u, v, w), float(square) ** 0.5)


@pytest.mark.parametrize(("count", "p"), [(1, 2), (1, 3), (130, 3), (300, 5), (3, 16), (4, 33)])
def test_networks(count, p):
    u, v, w = rng(p).normal(size=(3, count, p))
    f = np.array(
        [[((u[:, a] + v[:, b]) ** 2) @ w for b in range(p)] for a in range(p)],
    )
    assert np.allclose(A.network_logits(u, v, w), f)
    cubed = np.array([np.linalg.norm([*u[i], *v[i], *w[i]]) ** 3 for i in range(count)])
    assert np.allclose(A.cubed_norms(u, v, w), cubed)
    least = min(
        f[a, b, (a + b) % p] - f[a, b, c] for a, b, c in np.ndindex(p, p, p) if c != (a + b) % p
    )
    assert A.normalised_margin(u, v, w) == pytest.approx(least / cubed.sum())
    if p % 2 == 0:
        with rejects("u", "v", "w"):
            A.mean_over_cubes(u, v, w)
        return
    a, b = np.indices((p, p))
    for i in range(min(count, 4)):
        one = (u[i][:, None] + v[i]) ** 2
        mean = (one * (p * w[i][(a + b) % p] - w[i].sum())).sum() / (p * p * (p - 1))
        assert A.mean_over_cubes(u, v, w)[i] == pytest.approx(mean / cubed[i])


@pytest.mark.parametrize(("count", "p"), [(1, 3), (130, 3), (3, 17), (2, 129), (2, 301)])
def test_fractions_of_frequencies(count, p):
    """Squared coefficients in the orthonormal real transform."""
    weights = rng(p).normal(size=(3, count, p))
    parts = (weights @ A.fourier_matrix(p).T) ** 2
    parts = parts.sum(0) / (weights**2).sum((0, 2))[:, None]
    wanted = np.stack([parts[:, A.fourier_bins(p) == k].sum(1) for k in range(p // 2 + 1)], 1)
    assert np.allclose(A.frequency_fractions(*weights), wanted)


@pytest.mark.parametrize("p", [3, 5, 17, 65, 129, 301, 401, 1009, 4001])
def test_margins_of_few_frequencies(p):
    for K in (
        [1],
        [p - 1],
        [2],
        [1, 2],
        rng(p).permutation(p - 1)[:5] + 1,
        np.arange(1, min(p, 60)),
    ):
        logits = sum(np.cos(2 * pi * (int(k) * np.arange(p) % p) / p) for k in K)
        wanted = logits[0] - logits[1:].max()
        assert A.few_frequencies_margin(p, K) == pytest.approx(wanted, abs=1e-13)


@pytest.mark.parametrize(("p", "D", "first"), [(41, 1, 3), (61, 5, 9), (301, 2, 150)])
def test_maxima_of_one_row(p, D, first):
    """One row that is not 0 has equal sizes at all frequencies above 0, in every order."""
    E = np.zeros((p, D))
    E[7] = rng(p).normal(size=D)
    assert np.allclose(A.permutation_maxima(E, first, 9, 3), 1)
    E[8:20] = rng(1).normal(size=(12, D))
    maxima = A.permutation_maxima(E, first, 9, 3)
    assert (maxima >= 1).all()
    assert first == 150 or len({*maxima.round(9).tolist()}) == 9  # other orders, other maxima


@pytest.mark.parametrize("p", [3, 5, 17, 65, 131, 301])
def test_printed(p):
    N, k, x = p - 1, (np.arange(p) + 1) // 2, np.arange(p)
    angles = 2 * pi * np.outer(k, x) / N
    R = np.where((x % 2 == 1)[:, None], np.sin(angles), np.cos(angles))
    F = R * np.sqrt([1 / N, *[2 / N] * N])[:, None]
    assert np.allclose(A.printed_matrix(p), F, atol=1e-11)
    assert np.allclose(A.printed_gram(p), 2 * R @ R.T, atol=1e-8)
    assert A.printed_scales(p) == [Fraction(1, N), *[Fraction(2, N)] * N]
    eigenvalues = np.linalg.eigvalsh(F @ F.T)
    pair = eigenvalues[abs(eigenvalues - 1).argsort()][-3:]  # 0 and the two others
    total, product = A.printed_quadratic(p)
    assert float(total) == pytest.approx(pair.sum())
    assert float(product) == pytest.approx(pair[pair > 1e-6].prod())
    assert float(A.printed_inversion_error(p)) == pytest.approx(((F.T @ F - np.eye(p)) ** 2).sum())


@pytest.mark.parametrize(
    ("p", "D", "m", "ridge"),
    [(2, 1, 2, 1.0), (13, 2, 3, 10.0), (40, 60, 9, 0.1), (130, 5, 17, 1e3), (300, 3, 2, 1e-3)],
)
def test_probes(p, D, m, ridge):
    draw = rng(p)
    E, classes = draw.normal(size=(p, D)), draw.integers(m, size=p)
    X, Y, right = np.column_stack([E - E.mean(0), np.ones(p)]), np.eye(m)[classes], 0
    for i in range(p):
        x, y = np.delete(X, i, 0), np.delete(Y, i, 0)
        said = X[i] @ np.linalg.solve(x.T @ x + ridge * np.eye(D + 1), x.T @ y)
        right += int(said.argmax() == classes[i])
    assert A.probe_accuracies(E, classes, ridge) == right / p
    assert A.probe_accuracies(E, classes[None, None], ridge).shape == (1, 1)


@pytest.mark.parametrize(("m", "r"), [(2, 1), (3, 5), (33, 1), (33, 32), (130, 77), (130, 1000)])
def test_separability(m, r):
    wanted = np.zeros((2, m, 2 * m))
    for a, b in np.ndindex(m, m):
        for which, total in enumerate((0, r)):
            if (a + b - total) % m == 0:
                wanted[which, a, [a, m + b]] = (1, -1)[which]
    assert (A.separability_inequalities(m, r) == wanted.reshape(2 * m, -1)).all()
    z = rng(m).integers(-9, 9, size=(m, m, 2))
    a, b = m - 2, m // 2 - 1
    wanted = z[a, b] - z[a + 1, b] - z[a, b + 1] + z[a + 1, b + 1]
    assert (second_differences(z)[a, b] == wanted).all()


@pytest.mark.parametrize("p", [3, 4, 16, 17, 33, 130, 301, 1000])
def test_peaks(p):
    E = rng(p).normal(size=(p, 3))
    for first in {1, 2, p // 4, p // 2 - 1, p // 2} & set(range(1, p // 2 + 1)):
        hat = np.sqrt((abs(np.fft.fft(E, axis=0)[: p // 2 + 1]) ** 2).sum(1))
        hat[0] = 0
        wanted = hat / np.median(hat[first:])
        assert np.allclose(A.peak_ratios(E, first), wanted)
        assert np.allclose(A.peak_ratios(E[:, 0], 1), A.peak_ratios(E[:, :1], 1))
    with rejects("first", str(p // 2 + 1)):
        A.peak_ratios(E, p // 2 + 1)


@pytest.mark.parametrize(("p", "first", "trials"), [(4, 1, 130), (5, 1, 400), (5, 2, 3), (6, 2, 1)])
def test_maxima_are_those_of_orders(p, first, trials):
    E = rng(p).normal(size=(p, 2))
    orders = [
        A.peak_ratios(E[list(order)], first)[first:].max() for order in permutations(range(p))
    ]
    maxima = A.permutation_maxima(E, first, trials, 1)
    assert maxima.shape == (trials,)
    assert np.isclose(maxima[:, None], orders).any(1).all()
    if trials > 100:  # every order is drawn, early and late
        for part in (maxima[:100], maxima[-100:]):
            assert np.isclose(np.array(orders)[:, None], part).any(1).all()


@pytest.mark.parametrize(
    ("p", "degree"), [(1, 0), (2, 1), (5, 2), (17, 16), (33, 5), (130, 13), (300, 40), (1000, 3)]
)
def test_trends(p, degree):
    """What is left is orthogonal to all Chebyshev polynomials, and what is removed is one."""
    E = rng(p).normal(size=(p, 2))
    basis = np.polynomial.chebyshev.chebvander(np.linspace(-1, 1, p), degree)
    fitted = basis @ np.linalg.lstsq(basis, E, rcond=None)[0]
    assert np.allclose(A.without_trend(E, degree), E - fitted, atol=1e-8)
    with rejects("degree"):
        A.without_trend(E, p)


@pytest.mark.parametrize(("p", "m"), [(2, 1), (5, 3), (33, 33), (130, 17), (1000, 2)])
def test_confounds(p, m):
    E, confound = rng(p).normal(size=(p, 2)), rng(m).normal(size=(p, m))
    X = np.column_stack([np.ones(p), confound])
    wanted = E - X @ np.linalg.lstsq(X, E, rcond=None)[0]
    assert np.allclose(A.without_confounds(E, confound), wanted, atol=1e-9)
    repeated = np.column_stack([confound, confound])
    assert np.allclose(A.without_confounds(E, repeated), wanted, atol=1e-9)
    one = A.without_confounds(E, confound[:, :1])
    assert np.allclose(A.without_confounds(E, confound[:, 0]), one)


def test_polynomials_of_almost_every_degree_are_removed():
    """Compared with the normal equations over Q."""
    p, degree = 60, 58
    E = np.random.default_rng(0).integers(-9, 9, p)
    V = fmpz_mat(p, degree + 1, [(2 * i - p + 1) ** j for i in range(p) for j in range(degree + 1)])
    y = fmpz_mat(p, 1, E.tolist())
    left = fmpq_mat(y) - fmpq_mat(V) * (V.transpose() * V).solve(V.transpose() * y)
    wanted = [int(each.p) / int(each.q) for each in left.entries()]
    assert np.abs(A.without_trend(E[:, None], degree)[:, 0] - wanted).max() < 1e-12
