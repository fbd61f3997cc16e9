"""Filters: coefficients of the logits are removed by a projection of the stream.

Shape glossary: p answers, D the width of the stream, W (p, D) = W_Uᵀ, Q the Fourier matrix.

The logits' Fourier coefficients are Q W h.  Let R (r, D) be the rows of Q W that are to be removed,
and K the others.  The filter is the orthogonal projection on the null space of R,

    h ↦ P h,   P = I − R⁺ R:   R P = 0, and rank(R) dimensions of the stream are removed.

Where R is known but for rounding, singular values up to a part τ of the largest count as 0, and
‖R P‖ ≤ τ ‖R‖ in the spectral norm is what is left of R P = 0.

**It keeps K h for every h iff K Rᵀ = 0.**  K P = K iff K R⁺ R = 0, and the row space of R⁺R is that
of R.  Then the filter is a mask of coefficients.  If W Wᵀ is circulant it is one for all bins: Q
makes a circulant matrix diagonal bin by bin.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory import checks


def kept_stream(removed: ArrayLike, tolerance: float = 1e-4) -> np.ndarray:
    """P (D, D), the orthogonal projection on the null space of the rows removed (r, D).

    Directions with singular values up to τ = tolerance times the largest count as 0, so that
    ‖removed P‖ ≤ τ ‖removed‖, spectral norms, and 0 only where none is so small: with fewer
    dimensions than rows, what leaks into them by rounding would have the filter delete everything.
    Give a τ above the part that is rounding.

    Raises `ValueError` for another shape, NaN or infinite entries, and a tolerance that is not
    above 0 and below 1.
    """
    rows, tolerance = _rows("removed", removed), checks.positive_number("tolerance", tolerance)
    if tolerance >= 1:
        raise checks.InputError(f"tolerance is {tolerance:g}: give a part, above 0 and below 1")
    _, singular, directions = np.linalg.svd(rows, full_matrices=False)
    largest = singular.max(initial=0.0)
    directions = directions[(singular > tolerance * largest) & (singular > 0)]
    return np.eye(rows.shape[1]) - directions.T @ directions


def leakage(removed: ArrayLike, kept: ArrayLike, tolerance: float = 1e-4) -> float:
    """‖K − K P‖/‖K‖ in the Frobenius norm: by what part the filter changes the coefficients that it
    is to keep, on average over streams of all directions; 0 for a mask.

    removed (r, D), kept (s, D).  Raises `ValueError` as `kept_stream`, and for unequal D.
    """
    rows, P = _rows("kept", kept), kept_stream(removed, tolerance)
    checks.vector_shape("kept", rows.shape, len(P))
    size = float(np.linalg.norm(rows))
    return float(np.linalg.norm(rows - rows @ P)) / size if size else 0.0


def _rows(name: str, value: ArrayLike) -> np.ndarray:
    array = checks.vectors(name, value)
    if array.ndim != 2:
        raise checks.InputError(f"{name} has shape {array.shape}: give rows (r, D)")
    return array
