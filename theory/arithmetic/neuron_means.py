"""The mean margin of a quadratic neuron over a, b and c ≠ a + b, by three formulas.

These are the definition and steps (1) and (2) of the proof in `modular_margin.py`, for integers u,
v, w of length p, without divisions, so that they can be compared modulo a prime at random points.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Row = Sequence[int]


def by_definition(u: Row, v: Row, w: Row) -> int:
    """Σ_{a,b} Σ_{c≠a+b} (w_{a+b} − w_c)(u_a + v_b)², which is p²(p − 1) times the mean."""
    p, total = len(u), 0
    for a in range(p):
        for b in range(p):
            square, right = (u[a] + v[b]) ** 2, (a + b) % p
            total += sum((w[right] - w[c]) * square for c in range(p) if c != right)
    return total


def by_sums(u: Row, v: Row, w: Row) -> int:
    """p Σ_{a,b} u_a v_b w̃_{a+b}, which is p²(p − 1)/2 times (1)."""
    p, total = len(u), sum(w)
    return sum(u[a] * v[b] * (p * w[(a + b) % p] - total) for a in range(p) for b in range(p))


def by_frequencies(u: Row, v: Row, w: Row) -> int:
    """Σ_{k≠0} û_k v̂_k ŵ_{−k} for transforms û, v̂, ŵ, which is p²(p − 1)/2 times (2)."""
    return sum(u[k] * v[k] * w[-k] for k in range(1, len(u)))


def transform(x: Row, root: int, prime: int) -> list[int]:
    """The transform x̂_k = Σ_a x_a ω^{ka} modulo a prime, with ω = `root` of order p."""
    p = len(x)
    return [sum(x[a] * pow(root, k * a % p, prime) for a in range(p)) % prime for k in range(p)]


def field_with_root(p: int, seed: int | np.random.Generator) -> tuple[int, int]:
    """A prime q ≡ 1 mod p above 2^60, and an element of order p modulo q."""
    from sympy import isprime, primefactors

    rng = np.random.default_rng(seed)
    q = 2 * p * int(rng.integers(2**59 // p, 2**60 // p)) + 1
    while not isprime(q):
        q += 2 * p
    for g in range(2, 1000):
        root = pow(g, (q - 1) // p, q)
        if all(pow(root, p // f, q) != 1 for f in primefactors(p)):
            return q, root
    raise ArithmeticError(f"no element of order {p} mod {q}")
