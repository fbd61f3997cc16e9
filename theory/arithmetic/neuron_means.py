"""The mean margin of a quadratic neuron over a, b and c ≠ a + b, by three formulas.

The formulas are the definition and steps (1) and (2) of the proof in `modular_margin.py`, for
integer vectors u, v, w of length p.  They contain no divisions, so that they can be compared modulo
a prime at random points.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Row = Sequence[int]


def by_definition(u: Row, v: Row, w: Row) -> int:
    """The sum Σ_{a,b} Σ_{c≠a+b} (w_{a+b} − w_c)(u_a + v_b)² for weights u, v, w of length p.

    Indices are residues mod p.  The sum is p²(p − 1) times the mean margin of the neuron (u, v, w)
    over all a, b and c ≠ a + b mod p.
    """
    p, total = len(u), 0
    for a in range(p):
        for b in range(p):
            square, right = (u[a] + v[b]) ** 2, (a + b) % p
            total += sum((w[right] - w[c]) * square for c in range(p) if c != right)
    return total


def by_sums(u: Row, v: Row, w: Row) -> int:
    """The sum p Σ_{a,b} u_a v_b w̃_{a+b}, with w̃ = w − mean of w, for weights u, v, w of length p.

    Indices are residues mod p.  By step (1) of the proof in `modular_margin.py`, the sum is
    p²(p − 1)/2 times the mean margin of the neuron (u, v, w).
    """
    p, total = len(u), sum(w)
    return sum(u[a] * v[b] * (p * w[(a + b) % p] - total) for a in range(p) for b in range(p))


def by_frequencies(u: Row, v: Row, w: Row) -> int:
    """The sum Σ_{k≠0} u_k v_k w_{−k} for the Fourier transforms u, v, w of a neuron's weights.

    Indices are residues mod p.

    By step (2) of the proof in `modular_margin.py`, the sum is p²(p − 1)/2 times the mean margin of
    the neuron, where p is the length of the vectors.
    """
    return sum(u[k] * v[k] * w[-k] for k in range(1, len(u)))


def transform(x: Row, root: int, prime: int) -> list[int]:
    """The discrete Fourier transform Σ_a x_a ω^{ka} of x modulo a prime, for k = 0, …, p − 1.

    p is the length of x, and ω = `root` has order p modulo the prime.
    """
    p = len(x)
    return [sum(x[a] * pow(root, k * a % p, prime) for a in range(p)) % prime for k in range(p)]


def field_with_root(p: int, seed: int | np.random.Generator) -> tuple[int, int]:
    """A prime q ≡ 1 mod p that is above 2^60, and an element of order p modulo q."""
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
