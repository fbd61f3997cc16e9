"""Variance, total influence, degree and maximum sensitivity of all functions of a few bits."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from theory.kinds import Count, Within, checked
from theory.sequences import all_sequences


@checked
def all_figures(d: Annotated[Count, Within(most=4)]) -> dict[str, np.ndarray]:
    """Four measures of all 2^(2^d) Boolean functions of d ≤ 4 bits, as scaled integers.

    The result is a dictionary with the keys "Var" (the variance of the values ±1), "I" (the total
    influence), "degree" (the Fourier degree) and "s" (the maximum sensitivity). Each value is an
    int64 array (2^(2^d),), with one entry for each function. "Var", "I" and "degree" are multiplied
    by 4^d. "s" is multiplied by 2^d, so that its square has the factor 4^d too.
    """
    words = all_sequences(d, 2)
    values = 1 - 2 * all_sequences(2**d, 2)
    spectra = values @ (1 - 2 * (words @ words.T % 2))
    sizes = words.sum(axis=1)
    number = np.arange(2**d)
    flips = [values != values[:, number ^ 1 << i] for i in range(d)]
    return {
        "Var": 4**d - spectra[:, 0] ** 2,
        "I": np.sum(flips, axis=(0, 2)) * 2**d,
        "degree": np.where(spectra != 0, sizes, 0).max(axis=1) * 4**d,
        "s": np.sum(flips, axis=0).max(axis=1) * 2**d,
    }
