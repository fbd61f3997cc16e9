"""Definitions and cases that the range tests of regression share."""

import mpmath
import numpy as np

from theory import regression as r

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
