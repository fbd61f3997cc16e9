"""Mistakes in print on Fourier features; findings of the claim `errata`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from flint import fmpz_mat

from theory.arithmetic.printed_matrix import printed_gram, printed_matrix, printed_scales
from verify.claim import Run
from verify.finding import Finding, Verdict

PRINTED = 521  # the p of [Zhou2024]


def differing(F: np.ndarray) -> int:
    """In how many rows the first and the last column differ."""
    return int((F[:, 0] != F[:, -1]).sum())


def rank(matrix: np.ndarray) -> int:
    """Of whole numbers, exactly."""
    return int(fmpz_mat(matrix.tolist()).rank())


def printed(run: Run) -> Iterator[Finding]:
    """[Zhou2024]: the matrix that its Fourier analysis is written with."""
    gram, scales = printed_gram(PRINTED), printed_scales(PRINTED)
    N = PRINTED - 1
    F = printed_matrix(PRINTED)
    same_columns = differing(F) == 0
    found = rank(gram)
    length = scales[-1] * Fraction(int(gram[-1, -1]), 2)
    holds = same_columns and found < PRINTED and length != 1
    yield Finding(
        "fourier-basis",
        f"the printed matrix of p = {PRINTED} rows of period {N} as a Fourier basis",
        "exact",
        {"rank": found, "squared length of the last row": float(length)},
        {"rank": N, "squared length of the last row": 2 + 2 / N},
        Verdict.of(holds and found == N and length == 2 + Fraction(2, N)),
        f"rank {found}, columns 0 and {N} equal, its last row of length² {float(length):.4f}",
        "shown to be none; of a multiple of 10 points the real transform has the same bins",
    )
