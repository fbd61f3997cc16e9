"""A Fourier matrix as printed in [Zhou2024], whose rows have period p − 1: it is singular.

Let N = p − 1 be even.  The printed matrix F (p, p) has the following rows, with columns x = 0, …,
N:

    √(1/N),     √(2/N) sin(2πkx/N),  √(2/N) cos(2πkx/N),   k = 1, …, N/2.

All rows have period N, so the columns x = 0 and x = N are equal, and the row sin(πx) is 0: the rows
are not a basis.  With the orthonormal Fourier matrix Q_N of N points and D = diag(1, …, 1, √2),
whose last entry belongs to period 2, the other rows are D Q_N [I | e₀], where e₀ is the first unit
vector.  With q = Q_N e₀, whose last entry has square 1/N, with v = Dq and the last unit vector e,

    F Fᵀ = D (I + q qᵀ) D = I + e eᵀ + v vᵀ,     ⟨e, v⟩² = 2/N,  ‖v‖² = 1 + 1/N,

apart from the row of zeros.  So the eigenvalues of F Fᵀ are 0, 1 (N − 2 times) and the two roots of
λ² − (4 + 1/N)λ + 4.  The off-diagonal entries of F Fᵀ are at most 2/N.  They are equal to 2/N
between two cosines; for p = 3, where there is only one cosine, the largest entry is √2/N.

FᵀF has the same eigenvalues, so Fᵀ is not an inverse of F.  For a random u with independent entries
of mean 0 and equal variance, E‖FᵀFu − u‖² = Σ(λ − 1)²/p · E‖u‖².  The sum is over the eigenvalues
λ, and with s = 4 + 1/N

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
    """The singular matrix (p, p) that is printed as a Fourier matrix in [Zhou2024], for odd p.

    Let N = p − 1.  Every entry of the first row is √(1/N).  Each k = 1, …, N/2 gives two further
    rows, with the entries √(2/N) sin(2πkx/N) and √(2/N) cos(2πkx/N) in the columns x = 0, …, N.
    Raises `ValueError` if the matrix does not fit in memory.
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
    """The integers 2 R Rᵀ (p, p), for the rows R of `printed_matrix(p)` without their factors.

    With N = p − 1, the rows of R are cosines cos(2πkx/N) and sines sin(2πkx/N) for x = 0, …, N; the
    first row is the cosine of k = 0.  The factors √(1/N) and √(2/N) of the printed rows are
    omitted.  The entry for a cosine and a sine is 0.  For two cosines, or two sines, of indices j
    and k, twice the sum of their products over x < N is N([j ≡ k] ± [j ≡ −k]) with congruences mod
    N.  Here [·] is 1 if the condition holds and 0 otherwise, and the sign is + for cosines and −
    for sines.  For two cosines, the term x = N adds 2.
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
    """The squared factors of the cosines and sines in the rows of `printed_matrix(p)`, p fractions.

    The squared factor is 1/(p − 1) for the first row, and 2/(p − 1) for all other rows.
    """
    N = _fitting(p)
    return [Fraction(1, N)] + [Fraction(2, N)] * N


@checked
def printed_quadratic(p: OddModulus) -> tuple[Fraction, Fraction]:
    """The sum and the product of the two eigenvalues of F Fᵀ that are neither 0 nor 1.

    F is `printed_matrix(p)`, a singular matrix (p, p) that is printed as a Fourier matrix in
    [Zhou2024].  The sum is 4 + 1/(p − 1), and the product is 4.
    """
    return 4 + Fraction(1, _fitting(p)), Fraction(4)


@checked
def printed_inversion_error(p: OddModulus) -> Fraction:
    """The squared Frobenius norm ‖FᵀF − I‖² for the matrix F = `printed_matrix(p)`.

    It is 0 iff Fᵀ is the inverse of F.  The norm is Σ(λ − 1)² over the eigenvalues λ of FᵀF.  This
    sum is s² − 2s − 5 with s = 4 + 1/(p − 1).
    """
    s, _ = printed_quadratic(p)
    return s * s - 2 * s - 5


def _fitting(p: int) -> int:
    """N = p − 1; ValueError if the matrix does not fit in memory."""
    machine.fits_in_memory(f"a Fourier matrix of {p} rows", 64 * p * p, "give a smaller p")
    return p - 1
