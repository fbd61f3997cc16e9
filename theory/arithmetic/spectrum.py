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
from theory.waiting import announced

Rows: TypeAlias = Annotated[Any, Reals("p D")]
"""D features of the numbers 0, …, p − 1, shape (p, D)."""


@checked
def peak_ratios(E: RealArray, first: Count) -> np.ndarray:
    """The size of E at each Fourier frequency divided by the median size, (⌊p/2⌋ + 1,).

    E has shape (p,), or (p, D) with D columns, and row n is the embedding of the number n.  Its
    size at the frequency k/p is the norm of its Fourier coefficients at this frequency, for k = 0,
    …, ⌊p/2⌋.  For even p, the size at k = p/2 is multiplied by √2, because this frequency has only
    one real coefficient for each column.  The median is over the indices k from `first` to ⌊p/2⌋.
    The result is 0 for k = 0.  Raises `ValueError` for an E of another shape, for a `first` above
    ⌊p/2⌋, and for rows that are all equal.
    """
    if E.ndim not in (1, 2):
        raise InputError(f"E has shape {E.shape}: give E of shape (p,) or (p, D)")
    sizes, p = bin_sizes(E), len(E)
    if first >= len(sizes):
        raise InputError(
            f"the parameter first is {shown(first)} and the last bin is {len(sizes) - 1}: give a "
            "smaller first"
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
    """The largest Fourier peak of E for each of `trials` random orders of its rows, (trials,).

    E has shape (p,), or (p, D) with D columns.  A peak is the size of E at a Fourier frequency k/p
    divided by the median size, as computed by `peak_ratios`.  The maximum and the median are over
    the indices k from `first` to ⌊p/2⌋.  Raises `ValueError` (a) for an E of another shape, (b) for
    a `first` above ⌊p/2⌋, (c) for rows that are all equal, or (d) if the results do not fit in
    memory.
    """
    peak_ratios(E, first)
    machine.fits_in_memory(f"{shown(trials)} trials", 40 * trials, "give fewer trials")
    draws = np.random.default_rng(seed)
    orders = (draws.permutation(len(E)) for _ in announced(range(trials), "permutation_maxima"))
    return np.array([peak_ratios(E[order], first)[first:].max() for order in orders])


@checked
def without_trend(E: Rows, degree: Annotated[Steps, Within(below="p")]) -> np.ndarray:
    """E (p, D) minus, in each column, the least-squares polynomial in the index of the row.

    E has p rows and D columns, and the polynomials have degree at most `degree`.
    """
    x, basis = np.linspace(-1, 1, len(E)), np.empty((len(E), degree + 1))
    basis[:, 0] = len(E) ** -0.5
    for k in range(degree):  # x times a column, made orthogonal twice: stable for all degrees
        column, earlier = x * basis[:, k], basis[:, : k + 1]
        for _ in range(2):
            column = column - earlier @ (earlier.T @ column)
        basis[:, k + 1] = column / np.linalg.norm(column)
    return np.asarray(E - basis @ (basis.T @ E))


@checked
def without_confounds(E: Rows, confound: RealArray) -> np.ndarray:
    """E (p, D) minus the least-squares linear regression of its columns on confounding variables.

    E has p rows and D columns.  `confound` contains the confounding variables of each row; it has
    shape (p,), or (p, m) for m variables.  The regression has a constant term.  Raises `ValueError`
    if `confound` does not have p rows.
    """
    if not confound.ndim or len(confound) != len(E):
        raise InputError(
            f"E has shape {E.shape} and confound has shape {confound.shape}: give a confound with "
            "as many rows as E"
        )
    C = confound.reshape(len(E), -1)
    C = C - C[:1]  # exact where entries are close, as are those of times
    C = C / np.where(C.any(0), abs(C).max(0), 1)
    basis, singular, _ = np.linalg.svd(C - C.mean(0), full_matrices=False)
    basis = basis[:, singular > 1e-12 * singular.max(initial=0)]
    centred = E - E.mean(0)
    return np.asarray(centred - basis @ (basis.T @ centred))
