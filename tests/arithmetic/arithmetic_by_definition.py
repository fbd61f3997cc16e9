"""Definitions and cases that the range tests of arithmetic share."""

from fractions import Fraction
from itertools import chain, combinations
from math import cos, pi

import mpmath
import numpy as np

from theory import arithmetic as A

SETS = tuple(chain.from_iterable(combinations((5, 4, 3, 2, 1), k) for k in range(1, 6)))


ADDERS = [
    *((20, step, alpha) for step in (1, 2, 3, 4, 5) for alpha in (0.25, 4.0)),
    *((p, step, alpha) for p in (30, 530, 2010) for step in (1, 5) for alpha in (0.5, 12.0, 64.0)),
    (530, 7, 64.0),
    (2510, 5, 12.0),
    (20_010, 5, 64.0),
]


def rng(seed=0):
    return np.random.default_rng(seed)


def teeth(F, d):
    return sum(cos(2 * pi * (f * int(d) % 10) / 10) for f in F)


def gap(p, alpha, error, F=A.ZHOU):
    """The least gap over all candidates and all integer errors up to `error`."""
    c, e = np.arange(p), np.arange(-error, error + 1)[:, None]
    z = np.array([teeth(F, k) for k in range(10)])[c % 10] + alpha * np.cos(2 * pi * (c - e) / p)
    return (z[:, 0] - z[:, 1:].max(1)).min()


def moved(alpha, bits):
    """The bound on a rounded logit: three combs, and the bump."""
    with mpmath.workprec(4000):
        off = mpmath.sqrt(2) * mpmath.mpf(2) ** (-bits - 1)
        bump = (alpha + off) * (1 + off) ** 2 - alpha
        return float(3 * (3 * off + 3 * off**2 + off**3) + bump)


def most_bits(alpha):
    """The largest b with 2^3b (2α + 8) ≤ 2^53, negative for a huge α."""
    b = 20
    while Fraction(2) ** (3 * b) * (2 * Fraction(alpha) + 8) > 2**53:
        b -= 1
    return b


def enough_bits(p, step, alpha):
    least = gap(p, alpha, 2 * (step // 2))
    return [b for b in range(1, most_bits(alpha) + 1) if 2 * moved(alpha, b) < least]
