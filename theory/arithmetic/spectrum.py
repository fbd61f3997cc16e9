"""Peaks in the spectrum of embeddings of numbers, beside what a shuffled order would give.

Shape glossary: p numbers, D features; rows of E are numbers, in order.

The statistic of a bin is its size ‖Q_k E‖, times √2 for bin p/2, which has one row instead of two,
over the median of the bins from `first` on.  Under a random order of the rows every bin but the
constant one has the same mean square, up to that; what else there is to its distribution may
differ.  A quantile of the largest statistic of the bins from `first` on, over many orders, bounds
all of these together, with that probability of a false alarm.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from theory import machine
from theory.arithmetic.fourier import bin_sizes
from theory.kinds import Count, InputError, RealArray, Reals, Seed, Steps, Within, checked, shown

Rows: TypeAlias = Annotated[Any, Reals("p D")]
"""D features of p numbers, in order, shape (p, D)."""


@checked
def peak_ratios(E: RealArray, first: Count) -> np.ndarray:
    """The statistic of every bin, (⌊p/2⌋ + 1,); that of the constant is 0.

    Raises `ValueError` for shapes other than (p,) and (p, D), a first bin that there is not, and
    rows that are all the same.
    """
    sizes, p = bin_sizes(E), len(E)
    if first >= len(sizes):
        raise InputError(
            f"first is {shown(first)} and there are bins up to {len(sizes) - 1}: take fewer"
        )
    sizes[0] = 0.0
    if p % 2 == 0:
        sizes[-1] *= np.sqrt(2)
    middle = np.median(sizes[first:])
    if not middle > 0:
        raise InputError("the spectrum is 0 from the first bin on: the rows do not differ")
    return sizes / middle


@checked
def permutation_maxima(E: RealArray, first: Count, trials: Count, rng: Seed) -> np.ndarray:
    """The largest statistic of bins from `first` on, for each of so many random orders of the rows.

    Raises `ValueError` as `peak_ratios`, and for more trials than there is memory.
    """
    peak_ratios(E, first)
    machine.fits_in_memory(f"{shown(trials)} trials", 40 * trials, "take fewer of them")
    draws = np.random.default_rng(rng)
    orders = (draws.permutation(len(E)) for _ in range(trials))
    return np.array([peak_ratios(E[order], first)[first:].max() for order in orders])


@checked
def without_trend(E: Rows, degree: Annotated[Steps, Within(below="p")]) -> np.ndarray:
    """E (p, D) less its least-squares polynomial of this degree in the number, column by column."""
    x = np.linspace(-1, 1, len(E))
    basis, _ = np.linalg.qr(np.polynomial.legendre.legvander(x, degree))
    return np.asarray(E - basis @ (basis.T @ E))


@checked
def without(E: Rows, confound: RealArray) -> np.ndarray:
    """E (p, D) less its least-squares regression on columns (p,) or (p, m), and a constant.

    Raises `ValueError` for columns that are not p each.
    """
    if not confound.ndim or len(confound) != len(E):
        raise InputError(
            f"E has shape {E.shape} and confound has shape {confound.shape}: give a row each"
        )
    basis, singular, _ = np.linalg.svd(
        np.column_stack([np.ones(len(E)), confound.reshape(len(E), -1)]), full_matrices=False
    )
    basis = basis[:, singular > 1e-12 * singular.max()]
    return np.asarray(E - basis @ (basis.T @ E))
