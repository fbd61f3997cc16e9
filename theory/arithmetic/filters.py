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

from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import OpenUnit, Reals, checked

Removed: TypeAlias = Annotated[Any, Reals("r D")]
"""Rows of Q W that a filter removes, shape (r, D)."""


@checked
def kept_stream(removed: Removed, tolerance: OpenUnit = 1e-4) -> np.ndarray:
    """P (D, D), the orthogonal projection on the null space of the rows removed (r, D).

    Directions with singular values up to τ = tolerance times the largest count as 0, so that
    ‖removed P‖ ≤ τ ‖removed‖, spectral norms, and 0 only where none is so small: with fewer
    dimensions than rows, what leaks into them by rounding would have the filter delete everything.
    Give a τ above the part that is rounding.
    """
    _, singular, directions = np.linalg.svd(removed, full_matrices=False)
    largest = singular.max(initial=0.0)
    directions = directions[(singular > tolerance * largest) & (singular > 0)]
    return np.asarray(np.eye(removed.shape[1]) - directions.T @ directions)


@checked
def leakage(
    removed: Removed, kept: Annotated[Any, Reals("s D")], tolerance: OpenUnit = 1e-4
) -> float:
    """‖K − K P‖/‖K‖ in the Frobenius norm: by what part the filter changes the coefficients that it
    is to keep, on average over streams of all directions; 0 for a mask."""
    P, size = kept_stream(removed, tolerance), float(np.linalg.norm(kept))
    return float(np.linalg.norm(kept - kept @ P)) / size if size else 0.0
