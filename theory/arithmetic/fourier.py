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
from theory.scaling import near_one

Period: TypeAlias = Annotated[Exact, Within(least=2)] | Annotated[Finite, Within(least=2)]
"""A period T ≥ 2; the shortest period on the integers is 2."""


@checked
def fourier_matrix(p: Count) -> np.ndarray:
    """The orthonormal real Fourier matrix (p, p), whose rows are scaled cosines and sines.

    Column x belongs to the point x = 0, …, p − 1.  The first row is constant.  Then each k with
    1 ≤ k < p/2 has two rows, √(2/p) cos(2πkx/p) and √(2/p) sin(2πkx/p).  For even p, the last row
    is cos(πx)/√p.  Raises `ValueError` if the matrix does not fit in memory.
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
    """The index k of the frequency k/p of each row of `fourier_matrix(p)`, (p,).

    The indices are 0, 1, 1, 2, 2, …, because each frequency strictly between 0 and ½ has a cosine
    and a sine.
    """
    machine.fits_in_memory(f"the bins of {p} points", 24 * p, "give a smaller p")
    return (np.arange(p) + 1) // 2


@checked
def bin_of(period: Period, p: Count) -> int:
    """The index k = p/period of the Fourier frequency k/p that has the given period.

    The Fourier transform is that of p points, with frequencies k/p for k = 0, …, ⌊p/2⌋.  Raises
    `ValueError` if p/period is not an integer.
    """
    k = Fraction(p) / Fraction(period)
    if k.denominator != 1:
        raise InputError(
            f"p = {p} is not a multiple of the period {period}: give a multiple of {period} as p"
        )
    return int(k)


@checked
def bin_sizes(values: RealArray) -> np.ndarray:
    """The norm of the Fourier coefficients of an array at each frequency k/p, (⌊p/2⌋ + 1,).

    Entry k = 0, …, ⌊p/2⌋ is ‖Q_k values‖, where Q_k consists of the rows of frequency k/p in the
    orthonormal real Fourier matrix of p points.  There are two such rows, a cosine and a sine, but
    only one row for k = 0, and for k = p/2.  The array `values` has shape (p,), or (p, D) with D
    columns; in the second case, the norm is over all columns.

    Raises `ValueError` for values of another shape.
    """
    if values.ndim not in (1, 2):
        raise InputError(f"values have shape {values.shape}: give values of shape (p,) or (p, D)")
    p = len(values)
    scaled, power = near_one(values.reshape(p, -1), (0, 1))
    spectrum = np.abs(np.fft.rfft(scaled, axis=0))
    sizes = np.sqrt((spectrum**2).sum(1) * 2 / p)
    sizes[0] /= np.sqrt(2)
    if p % 2 == 0:
        sizes[-1] /= np.sqrt(2)
    return np.ldexp(sizes, power[0])
