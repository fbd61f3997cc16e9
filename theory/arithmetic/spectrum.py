"""Peaks in the Fourier spectrum of embeddings of numbers, and a permutation test for them.

Shape glossary: p numbers, D features; row n of E (p, D) is the embedding of the number n.

The size of bin k is ‖Q_k E‖, where Q_k are the rows of the bin in the orthonormal Fourier matrix.
The statistic of a bin is its size divided by the median size of the bins from `first` on; the size
of bin p/2, which has one row instead of two, is first multiplied by √2.  Under a uniformly random
order of the rows of E, all bins except the constant bin have the same mean square, though not
necessarily the same distribution.  Consider the largest statistic of the bins from `first` on.  The
(1 − α)-quantile of this statistic over many random orders is a bound for all these bins together,
with probability α of a false alarm.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from theory import machine
from theory.arithmetic.fourier import bin_sizes
from theory.kinds import Count, InputError, RealArray, Reals, Seed, Steps, Within, checked, shown

Rows: TypeAlias = Annotated[Any, Reals("p D")]
"""D features of the numbers 0, …, p − 1, shape (p, D)."""


@checked
def peak_ratios(E: RealArray, first: Count) -> np.ndarray:
    """The size of each Fourier bin of E divided by the median size, (⌊p/2⌋ + 1,).

    The result is 0 for the constant bin.  The median is over the bins from `first` on.  E has shape
    (p,), or (p, D) with D columns, and row n is the embedding of the number n.  Raises `ValueError`
    for an E of another shape, a `first` above ⌊p/2⌋, and rows that are all equal.
    """
    sizes, p = bin_sizes(E), len(E)
    if first >= len(sizes):
        raise InputError(
            f"first is {shown(first)} and the last bin is {len(sizes) - 1}: give a smaller first"
        )
    sizes[0] = 0.0
    if p % 2 == 0:
        sizes[-1] *= np.sqrt(2)
    middle = np.median(sizes[first:])
    if not middle > 0:
        raise InputError(
            "the spectrum of E is 0 in all bins from `first` on: give rows of E that differ"
        )
    return sizes / middle


@checked
def permutation_maxima(E: RealArray, first: Count, trials: Count, seed: Seed) -> np.ndarray:
    """The largest ratio of the bins from `first` on, for random orders of the rows of E, (trials,).

    The ratio is the size of a Fourier bin divided by the median size (`peak_ratios`).  Raises
    `ValueError` as `peak_ratios` does, or if the results do not fit in memory.
    """
    peak_ratios(E, first)
    machine.fits_in_memory(f"{shown(trials)} trials", 40 * trials, "give fewer trials")
    draws = np.random.default_rng(seed)
    orders = (draws.permutation(len(E)) for _ in range(trials))
    return np.array([peak_ratios(E[order], first)[first:].max() for order in orders])


@checked
def without_trend(E: Rows, degree: Annotated[Steps, Within(below="p")]) -> np.ndarray:
    """E (p, D) minus, in each column, the least-squares polynomial in the row number.

    E has p rows and D columns, and the polynomials have the given degree.
    """
    x = np.linspace(-1, 1, len(E))
    basis, _ = np.linalg.qr(np.polynomial.legendre.legvander(x, degree))
    return np.asarray(E - basis @ (basis.T @ E))


@checked
def without_confounds(E: Rows, confound: RealArray) -> np.ndarray:
    """E (p, D) minus the least-squares regression of E on `confound` and a constant.

    E has p rows and D columns, and `confound` has shape (p,), or (p, m) with m columns.  Raises
    `ValueError` if `confound` does not have p rows.
    """
    if not confound.ndim or len(confound) != len(E):
        raise InputError(
            f"E has shape {E.shape} and confound has shape {confound.shape}: give a confound with "
            "as many rows as E"
        )
    basis, singular, _ = np.linalg.svd(
        np.column_stack([np.ones(len(E)), confound.reshape(len(E), -1)]), full_matrices=False
    )
    basis = basis[:, singular > 1e-12 * singular.max()]
    return np.asarray(E - basis @ (basis.T @ E))
