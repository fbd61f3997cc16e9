"""A Fourier matrix as printed, whose rows have the period p − 1, and what is wrong with it.

Let N = p − 1 be even.  The printed F (p, p) has the rows, x = 0, …, N,

    √(1/N),     √(2/N) sin(2πkx/N),  √(2/N) cos(2πkx/N),   k = 1, …, N/2.

All of them have period N, so its columns x = 0 and x = N are equal, and its row sin(πx) is 0: it is
no basis.  With the orthonormal Q_N and D = diag(1, …, 1, √2), whose last place is the period 2,
the other rows are D Q_N [I | e₀].  With q = Q_N e₀, of which q_last² = 1/N, and v = Dq,

    F Fᵀ = D (I + q qᵀ) D = I + e eᵀ + v vᵀ,     ⟨e, v⟩² = 2/N,  ‖v‖² = 1 + 1/N,

beside the row of zeros.  So its eigenvalues are 0, N − 2 times 1, and the two of
λ² − (4 + 1/N)λ + 4.  Off its diagonal there is 2/N at most, between
two cosines (√2/N for p = 3, which has one beside the constant).

FᵀF has the same eigenvalues, so F is not undone by Fᵀ: for u of independent entries of mean 0 and
one variance the mean of ‖FᵀFu − u‖² is Σ(λ − 1)²/p of that of ‖u‖², with s = 4 + 1/N

    Σ(λ − 1)² = 1 + (s² − 8) − 2s + 2 = s² − 2s − 5.

`printed_gram` is exact: Σ_{x<N} e^{2πimx/N} is N if N divides m, and 0 otherwise.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from theory import machine
from theory.arithmetic.congruence import OddModulus
from theory.kinds import checked


@checked
def printed_matrix(p: OddModulus) -> np.ndarray:
    """F (p, p): the constant, then sine and cosine for each k.

    Raises `ValueError` for more than the memory holds.
    """
    N = _fitting(p)
    k = (np.arange(p) + 1) // 2
    angles = 2 * np.pi * (np.outer(k, np.arange(p)) % N) / N
    sines = np.arange(p) % 2 == 1
    lengths = np.full(p, np.sqrt(2 / N))
    lengths[0] = np.sqrt(1 / N)
    rows = np.where(sines[:, None], np.sin(angles), np.cos(angles))
    rows[-2] = 0.0  # sin(πx)
    return rows * lengths[:, None]


@checked
def printed_gram(p: OddModulus) -> np.ndarray:
    """2 R Rᵀ (p, p), integers, of the rows R of F without their factors √(1/N), √(2/N).

    Twice a sum of products is N([j ≡ k] ± [j ≡ −k]) mod N, + for cosines, and 2 for x = N.
    """
    N = _fitting(p)
    k = (np.arange(p) + 1) // 2
    sine = np.arange(p) % 2 == 1
    alike = ((k[:, None] - k) % N == 0).astype(np.int64)
    mirrored = ((k[:, None] + k) % N == 0).astype(np.int64)
    cosines = ~sine[:, None] & ~sine
    gram = N * np.where(cosines, alike + mirrored, alike - mirrored) + 2 * cosines
    return np.where(sine[:, None] == sine, gram, 0)


@checked
def printed_scales(p: OddModulus) -> list[Fraction]:
    """The squares of the factors of the rows of F: 1/N, then 2/N."""
    N = _fitting(p)
    return [Fraction(1, N)] + [Fraction(2, N)] * N


@checked
def printed_quadratic(p: OddModulus) -> tuple[Fraction, Fraction]:
    """Sum 4 + 1/N and product 4 of the two eigenvalues of F Fᵀ that are neither 0 nor 1."""
    return 4 + Fraction(1, _fitting(p)), Fraction(4)


@checked
def printed_misses(p: OddModulus) -> Fraction:
    """‖FᵀF − I‖² = Σ(λ − 1)² = s² − 2s − 5, s = 4 + 1/N, in the Frobenius norm."""
    s, _ = printed_quadratic(p)
    return s * s - 2 * s - 5


def _fitting(p: int) -> int:
    """N = p − 1, for which the memory holds the matrix."""
    machine.fits_in_memory(f"a Fourier matrix of {p} rows", 64 * p * p, "take a smaller p")
    return p - 1
