"""Errata on Fourier features: findings of the claim `errata`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from flint import fmpz_mat

from theory.arithmetic.printed_matrix import printed_gram, printed_matrix, printed_scales
from verify.claim import Run
from verify.finding import Finding, Verdict

PRINTED = 521  # the p of [Zhou2024]


def differing(F: np.ndarray) -> int:
    """The number of rows of a matrix in which the first and the last column differ."""
    return int((F[:, 0] != F[:, -1]).sum())


def rank(matrix: np.ndarray) -> int:
    """The exact rank of an integer matrix."""
    return int(fmpz_mat(matrix.tolist()).rank())


def norms(gram: np.ndarray, scales: list[Fraction]) -> dict[Fraction, int]:
    """The exact squared norms of the rows of the printed matrix, and the number of rows of each."""
    squares = (scale * Fraction(int(g), 2) for scale, g in zip(scales, np.diag(gram), strict=True))
    return dict(sorted(Counter(squares).items()))


def printed(run: Run) -> Iterator[Finding]:
    """The findings on the matrix that [Zhou2024] prints as the basis of its Fourier analysis."""
    gram, scales = printed_gram(PRINTED), printed_scales(PRINTED)
    N = PRINTED - 1
    one = Fraction(1)
    stated = {0 * one: 1, one: N // 2 - 1, 1 + one / N: 1, 1 + 2 * one / N: N // 2 - 1}
    stated[2 + 2 * one / N] = 1  # the row of period 2
    found, lengths = rank(gram), norms(gram, scales)
    same_columns = differing(printed_matrix(PRINTED)) == 0
    longest = max(lengths)
    yield Finding(
        "fourier-basis",
        f"rank and row norms of the printed Fourier matrix, {PRINTED} rows of period {N}",
        "exact",
        {"rank": found, "rows by squared norm": _named(lengths)},
        {"rank": N, "rows by squared norm": _named(stated)},
        Verdict.of(same_columns and found == N and lengths == stated),
        f"rank {found}; columns 0 and {N} are equal; the row of period 2 has norm "
        f"√({longest}) = {float(longest) ** 0.5:.4f}",
        f"rank {N}, so the rows are not a basis; one row has norm √(2 + 2/{N}), and the others "
        "have "
        f"norm 0, 1, √(1 + 1/{N}) or √(1 + 2/{N}).  For a multiple of 10 points the real Fourier "
        "transform has bins of the same periods",
    )


def _named(lengths: dict[Fraction, int]) -> dict[str, int]:
    return {str(square): count for square, count in lengths.items()}
