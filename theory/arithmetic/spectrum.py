"""Peaks in the spectrum of embeddings of numbers, beside what a shuffled order would give.

Shape glossary: p numbers, D features; rows of E are numbers, in order.

The statistic of a bin is its size ‖Q_k E‖, times √2 for bin p/2, which has one row instead of two,
over the median of the bins from `first` on.  Under a random order of the rows every bin but the
constant one has the same mean square, up to that; what else there is to its distribution may
differ.  A quantile of the largest statistic of the bins from `first` on, over many orders, bounds
all of these together, with that probability of a false alarm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.arithmetic.fourier import bin_sizes
from theory.checks import InputError


def peak_ratios(E: ArrayLike, first: int) -> np.ndarray:
    """The statistic of every bin, (⌊p/2⌋ + 1,); that of the constant is 0.

    Raises `ValueError` for shapes other than (p,) and (p, D), NaN or infinite entries, a first bin
    that there is not or is 0, and rows that are all the same.
    """
    sizes, first = bin_sizes(E), checks.dimension("first", first)
    p = len(np.asarray(E))
    if first >= len(sizes):
        raise InputError(f"first is {first} and there are bins up to {len(sizes) - 1}: take fewer")
    sizes[0] = 0.0
    if p % 2 == 0:
        sizes[-1] *= np.sqrt(2)
    middle = np.median(sizes[first:])
    if not middle > 0:
        raise InputError("the spectrum is 0 from the first bin on: the rows do not differ")
    return sizes / middle


def permutation_maxima(
    E: ArrayLike, first: int, trials: int, rng: np.random.Generator
) -> np.ndarray:
    """The largest statistic of bins from `first` on, for each of so many random orders of the rows.

    Raises `ValueError` as `peak_ratios`, for no trials, and for what is no generator.
    """
    array, trials = checks.real("E", E), checks.dimension("trials", trials)
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng is {rng!r}: give a generator, numpy.random.default_rng(0)")
    peak_ratios(array, first)
    orders = (rng.permutation(len(array)) for _ in range(trials))
    return np.array([peak_ratios(array[order], first)[first:].max() for order in orders])


def without_trend(E: ArrayLike, degree: int) -> np.ndarray:
    """E (p, D) less its least-squares polynomial of this degree in the number, column by column.

    Raises `ValueError` for another shape, NaN or infinite entries, and a degree below 0 or not
    below p.
    """
    array, degree = checks.vectors("E", E), checks.step_count("degree", degree)
    if array.ndim != 2 or degree >= len(array):
        raise InputError(
            f"E has shape {array.shape} and the degree is {degree}: give (p, D), p > degree"
        )
    x = np.linspace(-1, 1, len(array))
    basis, _ = np.linalg.qr(np.polynomial.legendre.legvander(x, degree))
    return np.asarray(array - basis @ (basis.T @ array))


def without(E: ArrayLike, confound: ArrayLike) -> np.ndarray:
    """E (p, D) less its least-squares regression on columns (p,) or (p, m), and a constant.

    Raises `ValueError` for shapes that do not fit, and NaN or infinite entries.
    """
    array, columns = checks.vectors("E", E), checks.vectors("confound", confound)
    columns = columns.reshape(len(columns), -1)
    if array.ndim != 2 or len(columns) != len(array):
        raise InputError(
            f"E has shape {array.shape} and the confound {columns.shape}: give a row each"
        )
    basis, singular, _ = np.linalg.svd(
        np.column_stack([np.ones(len(array)), columns]), full_matrices=False
    )
    basis = basis[:, singular > 1e-12 * singular.max()]
    return np.asarray(array - basis @ (basis.T @ array))
