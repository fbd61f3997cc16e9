"""The claim `fourier-matrix`: a published Fourier matrix is singular; the real transform is not."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

import numpy as np

from theory.arithmetic.fourier import bin_of, fourier_bins
from theory.arithmetic.fourier import fourier_matrix as transform
from theory.arithmetic.printed_matrix import (
    printed_gram,
    printed_inversion_error,
    printed_matrix,
    printed_quadratic,
    printed_scales,
)
from theory.kinds import InputError
from verify.arithmetic.printed import PRINTED, differing, rank
from verify.claim import Run, claim, option
from verify.finding import Finding, at_most, same

EPS = float(np.finfo(np.float64).eps)
PERIODS = {"2": Fraction(2), "2.5": Fraction(5, 2), "5": Fraction(5), "10": Fraction(10)}
MOST = 2001  # largest p, whose exact ranks take seconds


@claim(faults_seen=[{"p": 21}])
def fourier_matrix(
    run: Run, *, p: Annotated[int, option("number of rows, odd", min=3, max=MOST)] = PRINTED
) -> Iterator[Finding]:
    """A published p × p Fourier matrix of period p − 1 is singular; the real transform is not.

    Let p ≥ 3 be odd, and let F be the p × p matrix of [Zhou2024].  Its rows are the values of a
    constant, and of cosines and sines of frequencies k/(p − 1), at the points 0, …, p − 1.  Columns
    0 and p − 1 of F are equal, and F has rank p − 1.  F Fᵀ has the eigenvalues 0 (once), 1 (p − 3
    times) and the two roots λ of λ² − (4 + 1/(p − 1))λ + 4 = 0.  The orthonormal real Fourier
    transform on P points has the frequencies k/P and is not singular.  If P is a multiple of 10,
    the periods 2, 2.5, 5 and 10 are among its periods P/k.
    """
    if p % 2 == 0:
        raise InputError(f"p is {p}: give an odd number p")
    yield orthonormal(p + 10 - p % 10)
    yield from defects(run.limited(101, p=p))


def orthonormal(p: int) -> Finding:
    """The finding that the real transform Q is orthonormal and that cosines are in a single bin.

    Q Qᵀ = I holds up to rounding, and the cosines have periods 2, 2.5, 5 and 10.
    """
    Q, bins = transform(p), fourier_bins(p)
    off = [float(abs(Q @ Q.T - np.eye(p)).max())]
    for T in PERIODS.values():
        wave = np.cos(2 * np.pi * (np.arange(p) * T.denominator % T.numerator) / T.numerator)
        off.append(float(abs((Q @ wave)[bins != bin_of(T, p)]).max()))
    at = ", ".join(f"period {name} is bin {bin_of(T, p)}" for name, T in PERIODS.items())
    # Sums of p products of entries of at most √(2/p), each with an error of a few eps.
    return at_most(
        "orthonormal",
        "largest entry of Q Qᵀ − I, and of Qv outside the bin of the period for cosines v of "
        f"periods 2, 2.5, 5 and 10, for the real transform Q of p = {p} points",
        "float",
        max(off),
        8 * p * EPS,
        words=f"{max(off):.1e}; {at}",
        wanted=f"at most 8·p·eps = {8 * p * EPS:.1e}",
    )


def defects(p: int) -> Iterator[Finding]:
    """The findings on equal columns, rank, eigenvalues and rows of the printed matrix."""
    F, N = printed_matrix(p), p - 1
    gram, scales = printed_gram(p), printed_scales(p)
    whole = np.sqrt([float(scale) for scale in scales])
    off = float(abs(F @ F.T - whole[:, None] * gram / 2 * whole).max())
    name = (
        f"largest entry of the difference between F Fᵀ in float64 and its exact formula, for the "
        f"printed {p} × {p} matrix F"
    )
    words, wanted = f"{off:.1e}", f"at most 8·p·eps = {8 * p * EPS:.1e}"
    yield at_most("gram", name, "float", off, 8 * p * EPS, words=words, wanted=wanted)
    name = f"number of rows of the printed matrix in which columns 0 and {N} differ"
    yield same("columns", name, differing(F), 0, wanted="0, the columns are equal")
    yield same(
        "rank",
        f"rank of the printed {p} × {p} matrix",
        rank(gram),
        N,
        evidence="proved",
        wanted=f"p − 1 = {N}",
    )
    yield eigenvalues(p, gram, scales)
    yield from not_orthonormal(p, gram, scales)
    period_two = scales[-1] * Fraction(int(gram[-1, -1]), 2)
    yield same(
        "period-2",
        f"squared norm of the row of period 2 in the printed matrix with N + 1 rows, N = {N}",
        str(period_two),
        str(2 * (1 + Fraction(1, N))),
        words=f"{float(period_two):.4f}, so the row is too long by a factor of about √2",
        wanted="2(1 + 1/N); in an orthonormal basis it would be 1",
    )


def not_orthonormal(p: int, gram: np.ndarray, scales: list[Fraction]) -> Iterator[Finding]:
    """The findings on the off-diagonal entries of F Fᵀ and the distance of FᵀF from I.

    F is the printed matrix, `gram` and `scales` are `printed_gram(p)` and `printed_scales(p)`.
    """
    N = p - 1
    S = np.array([int(scale * N) for scale in scales])
    squares = S[:, None] * S * gram * gram  # 4N² times the squared entries
    off = squares - np.diag(np.diag(squares))
    yield same(
        "off-diagonal",
        f"largest off-diagonal entry of F Fᵀ for the printed matrix F with N + 1 rows, N = {N}",
        str(Fraction(int(off.max()), 4 * N * N)),
        str(Fraction(4 if N > 2 else 2, N * N)),
        words=f"{(off.max() / 4) ** 0.5 / N:.3g}",
        wanted="2/N" if N > 2 else "√2/N, between the cosine and the constant",
    )
    trace = sum((scale * int(g) / 2 for scale, g in zip(scales, np.diag(gram), strict=True)))
    total = Fraction(int(squares.sum()), 4 * N * N) - 2 * trace + p
    missed = (float(total) / p) ** 0.5
    yield same(
        "inverse",
        "squared Frobenius norm of FᵀF − I for the printed matrix F with N + 1 rows, compared with "
        f"s² − 2s − 5 for s = 4 + 1/N, N = {N}",
        str(total),
        str(printed_inversion_error(p)),
        words=f"equal; for Gaussian u, the root mean square of ‖FᵀFu − u‖/‖u‖ is {missed:.1%}",
        wanted="s² − 2s − 5",
    )


def eigenvalues(p: int, gram: np.ndarray, scales: list[Fraction]) -> Finding:
    """The finding on the eigenvalues of F Fᵀ, from exact ranks and traces.

    F is the printed matrix with p = N + 1 rows.  Let R be the matrix F without the factors of the
    rows, G = R Rᵀ, and S the diagonal matrix of the squared factors.  The ranks and traces are
    computed for the rational matrix G S, which is similar to F Fᵀ.  As F Fᵀ is symmetric, the
    multiplicity of an eigenvalue λ is p − rank(G S − λI).  All entries are multiples of 1/(2N).
    """
    N = p - 1
    S = np.array([int(scale * N) for scale in scales])  # 1, 2, 2, …
    doubled = gram * S  # 2N times the matrix
    of_one = p - rank(doubled - 2 * N * np.eye(p, dtype=np.int64))
    of_zero = p - rank(doubled)
    trace = Fraction(int(np.trace(doubled)), 2 * N)
    of_square = Fraction(int((doubled.astype(object) * doubled.T.astype(object)).sum()), 4 * N * N)
    total, squares = trace - of_one, of_square - of_one
    found = {"0": of_zero, "1": of_one, "sum": str(total), "product": str((total**2 - squares) / 2)}
    a_sum, a_product = printed_quadratic(p)
    wanted = {"0": 1, "1": N - 2, "sum": str(a_sum), "product": str(a_product)}
    root = (float(a_sum) ** 2 / 4 - float(a_product)) ** 0.5
    two = f"{float(a_sum) / 2 + root:.6f} and {float(a_sum) / 2 - root:.6f}"
    return same(
        "eigenvalues",
        "eigenvalues of F Fᵀ for the printed matrix F, by exact ranks and traces",
        found,
        wanted,
        evidence="proved",
        words=f"0 (once), 1 ({of_one} times), {two}",
        wanted=f"0 (once), 1 ({N - 2} times), and the roots of λ² − ({a_sum})λ + {a_product}",
    )
