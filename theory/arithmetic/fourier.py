"""The orthonormal real discrete Fourier transform, and the size of each bin.

For p points x = 0, …, p − 1 the Fourier matrix Q (p, p) has the following rows.  Row 0 is 1/√p.
Bin k, 1 ≤ k < p/2, has the rows √(2/p) cos(2πkx/p) and √(2/p) sin(2πkx/p).  For even p the last row
is cos(πx)/√p, bin p/2.  Bin k has period p/k: T is the period of a bin iff p/T is an integer.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, TypeAlias

import numpy as np

from theory import machine
from theory.kinds import Count, Exact, Finite, InputError, RealArray, Within, checked

Period: TypeAlias = Annotated[Exact, Within(least=2)] | Annotated[Finite, Within(least=2)]
"""A period T ≥ 2; the shortest period on the integers is 2."""


@checked
def fourier_matrix(p: Count) -> np.ndarray:
    """The orthonormal Fourier matrix Q (p, p); the rows are scaled cosines and sines.

    The rows are in the order of `fourier_bins(p)`, with the cosine of a bin before the sine of the
    bin.  The rows of bin k have frequency k/p.  Raises `ValueError` if the matrix does not fit in
    memory.
    """
    k = fourier_bins(p)
    machine.fits_in_memory(f"a Fourier matrix of {p} rows", 32 * p * p, "give a smaller p")
    # Angles are reduced mod 2π in integers, so that each is rounded once.
    angles = 2 * np.pi * (np.outer(k, np.arange(p)) % p) / p
    sines = (np.arange(p) > 0) & (np.arange(p) % 2 == 0)
    lengths = np.full(p, np.sqrt(2 / p))
    lengths[(k == 0) | (2 * k == p)] = np.sqrt(1 / p)
    rows = np.where(sines[:, None], np.sin(angles), np.cos(angles))
    return rows * lengths[:, None]


@checked
def fourier_bins(p: Count) -> np.ndarray:
    """The bin 0, 1, 1, 2, 2, … of each row of `fourier_matrix(p)`, (p,)."""
    machine.fits_in_memory(f"the bins of {p} points", 64 * p, "give a smaller p")
    return (np.arange(p) + 1) // 2


@checked
def bin_of(period: Period, p: Count) -> int:
    """The bin p/period of a period, in the Fourier transform of p points.

    Raises `ValueError` if p/period is not an integer.
    """
    k = Fraction(p) / Fraction(period)
    if k.denominator != 1:
        raise InputError(
            f"p = {p} is not a multiple of the period {period}: give a multiple of {period} as p"
        )
    return int(k)


@checked
def bin_sizes(values: RealArray) -> np.ndarray:
    """The size of each bin k = 0, …, ⌊p/2⌋ of the Fourier transform of values, (⌊p/2⌋ + 1,).

    The size of bin k is the norm ‖Q_k values‖, where Q_k consists of the one or two rows of bin k
    in the orthonormal Fourier matrix of p points.  Values have shape (p,), or (p, D) with D
    columns; in the second case, the norm is over all columns.

    Raises `ValueError` unless the values have one of these shapes.
    """
    if values.ndim not in (1, 2):
        raise InputError(f"values have shape {values.shape}: give values of shape (p,) or (p, D)")
    p = len(values)
    spectrum = np.abs(np.fft.rfft(values.reshape(p, -1), axis=0))
    sizes = np.sqrt((spectrum**2).sum(1) * 2 / p)
    sizes[0] /= np.sqrt(2)
    if p % 2 == 0:
        sizes[-1] /= np.sqrt(2)
    return sizes
