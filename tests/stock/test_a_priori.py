"""The bound on Newton–Schulz steps in a stock model, against formulas and noise written here."""

import math

import mpmath
import numpy as np
import pytest

from constructions import newton
from constructions.stock import Gadgets, to_encoder
from constructions.stock.a_priori import newton_bound
from constructions.stock.translated import measured

RNG = np.random.default_rng(0)


def scale(B):
    return 2.0 ** math.ceil(math.log2(B))


def parts(p, theta, bits, n):
    """The errors of 2p softmax heads by definition, with the coefficients from their conditions."""
    powers = mpmath.matrix(p, p)
    for i in range(p):
        for m in range(p):
            powers[i, m] = 2 * mpmath.mpf(m + 1) ** (2 * i + 1)
    first = mpmath.matrix([1] + [0] * (p - 1))
    c = mpmath.lu_solve(powers, first)  # Σ 2 c_m m = 1, and no term of order 3, 5, …
    slopes = sum(2 * (m + 1) * abs(c[m]) for m in range(p))
    kappa = mpmath.factorial(p) ** 2 / mpmath.factorial(2 * p + 1)
    theta = mpmath.mpf(theta)
    method = kappa * theta ** (2 * p) * mpmath.exp(p * theta)
    return method, 2 * slopes * n * mpmath.exp(2 * p * theta) / mpmath.mpf(2) ** bits


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("bits", [20, 60, 400])
@pytest.mark.parametrize("size", [0.1, 0.3, 1.0])
def test_the_bound_is_the_formula_of_up_to_two_steps(p, bits, size):
    alpha, L, R, Y, n, d, theta = size / 3.0, 2.9, 1.25, 0.75, 7, 4, 2.0**-4
    B, soft = [0.4, 0.3, 0.23], Gadgets(p, theta, bits, 1.0, 1.0)
    root = mpmath.sqrt
    with mpmath.workdps(40):
        a, r, t = mpmath.mpf(alpha), 4, mpmath.mpf(alpha) * L
        e0, s0 = parts(p, theta * B[0] / scale(B[0]), bits, n)
        none = Y * (root(n) * e0 * a * root(L) * R + s0 * B[0] * n)
        assert newton_bound(B[:1], soft, alpha, L, R, Y, n, d) == pytest.approx(float(none))

        norm = root(r * L) * a
        c0 = (e0 * a * root(L) * R + s0 * B[0] * root(n)) * norm
        g1 = (e0 * root(r) * t + s0 * B[0] * n) * norm
        f1 = root(L) * c0  # at most the root of 1/α
        off = max(g1 * root(L), f1) / 2
        e1, s1 = parts(p, theta * (B[1] + off) / scale(B[1]), bits, n)
        P = min(2 * t, 1)
        q1 = root(2 * a * P) * R + f1
        one = Y * (root(n) * (f1 + e1 * q1) + 2 * s1 * (B[1] + off) * n)
        assert newton_bound(B[:2], soft, alpha, L, R, Y, n, d) == pytest.approx(float(one))

        norm = root(2 * r * a * P) + g1
        sink = 2 * s1 * (B[1] + off)
        c1 = g1 * q1 + (e1 * q1 + sink * root(n)) * norm
        g2 = 2 * g1 + root(L) * g1**2 + (e1 * (root(r) * P + root(L) * g1) + sink * n) * norm
        f2 = root(L) * c1 + min(2 * root(L), root(2 / a)) * c0
        off = max(g2 * root(L), f2) / 4
        if off > B[2]:
            assert math.isnan(newton_bound(B, soft, alpha, L, R, Y, n, d))
            return
        e2, s2 = parts(p, theta * (B[2] + off) / scale(B[2]), bits, n)
        q2 = root(4 * a * min(4 * t, 1)) * R + f2
        two = Y * (root(n) * (f2 + e2 * q2) + 4 * s2 * (B[2] + off) * n)
        assert newton_bound(B, soft, alpha, L, R, Y, n, d) == pytest.approx(float(two))


def with_noise(x, y, query, alpha, k, soft, aligned):
    """Newton's method whose heads err by as much as their bound, the scores, and the error.

    The directions of errors are random, or all the same, in the direction of the smallest
    eigenvalue, which grows most.
    """
    n, d = x.shape
    rows = np.vstack([x, query])
    exact = alpha * rows
    scores = []
    for j in range(k + 1):
        found = np.abs(exact @ x.T) / 2**j
        scores.append(float(found.max() if j < k else found[-1].max()) * (1 + 1e-9))
        exact = 2 * exact - exact @ x.T @ exact[:n]
    right = alpha * rows
    U = right.copy()
    weakest = np.linalg.eigh(x.T @ x)[1][:, 0]
    for j in range(k + 1):
        B = scores[j]
        s = U @ x.T
        theta = soft.theta * np.abs(s if j < k else s[-1]).max() / 2**j / scale(B)
        method, sink = map(float, parts(soft.order, theta, soft.bits, n))
        most = max(B, float(np.abs(s if j < k else s[-1]).max()) / 2**j)
        if j == k:
            off = method * (np.abs(s[-1]) @ np.abs(y)) + 2**k * sink * most * np.abs(y).sum()
            return scores, abs(float((U[-1] - right[-1]) @ x.T @ y)) + off
        size = np.linalg.norm(U[:n], axis=1)
        allowed = method * (np.abs(s) @ size) + 2**j * sink * most * size.sum()
        ways = np.tile(weakest, (n + 1, 1)) if aligned else RNG.normal(size=(n + 1, d))
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        U = 2 * U - s @ U[:n] + allowed[:, None] * ways
        right = 2 * right - right @ x.T @ right[:n]
    raise AssertionError


@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 5), (10, 5), (12, 3), (30, 2)])
@pytest.mark.parametrize("share", [1.0, 0.3, 0.01])
@pytest.mark.parametrize("aligned", [True, False])
def test_errors_as_large_as_those_of_heads_stay_below_the_bound(n, d, share, aligned):
    met = 0.0
    for k in range(7):
        for p, theta, bits in ((1, 2.0**-7, 60), (2, 2.0**-5, 60), (1, 2.0**-9, 34)):
            x, query = RNG.normal(size=(n, d)), RNG.normal(size=d)
            x[:, 0] *= RNG.choice([0.1, 1.0])
            y, L = RNG.normal(size=n), float(np.linalg.eigvalsh(x.T @ x).max()) * (1 + 1e-9)
            alpha, soft = share / L, Gadgets(p, theta, bits, 1.0, 1.0)
            R = max(np.linalg.norm(x, axis=1).max(), np.linalg.norm(query)) * (1 + 1e-9)
            scores, error = with_noise(x, y, query, alpha, k, soft, aligned)
            bound = newton_bound(scores, soft, alpha, L, R, float(abs(y).max()), n, d)
            assert math.isnan(bound) or error <= bound
            met += not math.isnan(bound)
    assert met >= 15  # of 21


def test_the_bound_is_met_by_one_example():
    x, y, alpha = np.array([[[1.5]]]), np.array([[2.0]]), 0.25
    model, query = newton(1, 0, alpha, start="identity"), np.array([[1.5]])
    soft = Gadgets(1, 0.25, 52, 2.0**30, 1.0)
    stock = to_encoder(model, x, y, query, gadgets=soft)
    off = float((stock(x, y, query) - model(x, y, query)).abs())
    ((score,),), _ = measured(model, x, y, query)
    bound = newton_bound([score], soft, alpha, 2.25, 1.5, 2.0, 1, 1)
    assert 0.75 * bound < off < bound


def test_the_bound_is_within_a_hundred_thousand_of_the_error():
    x, query = np.random.default_rng(3).normal(size=(10, 5)), np.ones(5)
    y, alpha, k = x @ np.ones(5), 2.0**-6, 5
    L = float(np.linalg.eigvalsh(x.T @ x).max())
    soft = Gadgets(2, 2.0**-2, 52, 2.0**30, 1.0)
    model = newton(5, k, alpha, start="identity")
    stock = to_encoder(model, x[None], y[None], query[None], gadgets=soft)
    off = float((stock(x[None], y[None], query[None]) - model(x[None], y[None], query[None])).abs())
    scores = [max(layer) for layer in measured(model, x[None], y[None], query[None])[0]]
    R = float(max(np.linalg.norm(x, axis=1).max(), np.linalg.norm(query)))
    bound = newton_bound(scores, soft, alpha, L, R, float(abs(y).max()), 10, 5)
    assert off < bound < 1e5 * off


def test_no_bound_where_a_hypothesis_fails():
    soft = Gadgets(2, 2.0**-5, 60, 1.0, 1.0)
    known = newton_bound([0.5, 0.5], soft, 0.25, 4.0, 2.0, 1.0, 5, 2)
    assert 0 < known < 1
    assert math.isnan(newton_bound([0.5, 0.5], soft, 0.25, 4.01, 2.0, 1.0, 5, 2))
    # A sink of weight 1/16 errs by more than the scores.
    rough = Gadgets(2, 2.0**-5, 4, 1.0, 1.0)
    assert math.isnan(newton_bound([0.5, 0.5], rough, 0.25, 4.0, 2.0, 1.0, 5, 2))
