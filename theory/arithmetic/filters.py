"""Fourier filters: a projection of the residual stream removes Fourier coefficients of the logits.

Shape glossary: p logits, D the width of the stream, h (D,) a state of the stream, W (p, D) the
transposed unembedding, Q (p, p) the Fourier matrix.

The Fourier coefficients of the logits are Q W h.  Let R (r, D) be the rows of Q W to be removed,
and K the other rows.  The filter is the orthogonal projection onto the null space of R,

    h ↦ P h,   P = I − R⁺ R,

where R⁺ is the pseudoinverse.  So R P = 0, and rank(R) dimensions of the stream are removed.

If R has rounding errors, singular values up to a tolerance τ times the largest are treated as 0;
then ‖R P‖ ≤ τ ‖R‖ in the spectral norm instead of R P = 0.

**Theorem.**  The filter preserves K h for every h iff K Rᵀ = 0.

*Proof.*  K P = K iff K R⁺ R = 0, and R⁺R and R have the same row space.  ∎

In this case the filter is a mask of coefficients.  If W Wᵀ is circulant, the filter is a mask for
every set of bins, since Q diagonalises circulant matrices bin by bin.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import OpenUnit, Reals, checked
from theory.scaling import near_one

Removed: TypeAlias = Annotated[Any, Reals("r D")]
"""The rows R of Q W that a filter removes, shape (r, D)."""


@checked
def null_space_projection(removed: Removed, tolerance: OpenUnit = 1e-4) -> np.ndarray:
    """The orthogonal projection P (D, D) onto the null space of the matrix R = `removed` (r, D).

    Singular values of R that are at most τ times the largest one are treated as 0, with
    τ = `tolerance`.  So ‖R P‖ ≤ τ ‖R‖ in the spectral norm.  If r ≥ D, rounding errors can make the
    rows of R span the whole space, and without a tolerance, P would then be 0.  Therefore τ must
    exceed the relative rounding error of R.
    """
    _, singular, directions = np.linalg.svd(removed, full_matrices=False)
    largest = singular.max(initial=0.0)
    directions = directions[singular > tolerance * largest]
    return np.asarray(np.eye(removed.shape[1]) - directions.T @ directions)


@checked
def leakage(
    removed: Removed, kept: Annotated[Any, Reals("s D")], tolerance: OpenUnit = 1e-4
) -> float:
    """The relative change ‖K − K P‖/‖K‖ of coefficients that a filter P should preserve.

    The rows of K = `kept` (s, D) map a state of a D-dimensional residual stream to s Fourier
    coefficients of the logits.  The filter P is the projection of the residual stream onto the null
    space of the rows of `removed` (r, D), which give the r coefficients to be removed.  It is
    computed by `null_space_projection` with the same `tolerance`.  The norms are Frobenius norms.
    So for states with an isotropic distribution, the result is the root mean square of the change
    divided by the root mean square of the coefficients.  It is 0 iff P preserves all s coefficients
    of every state.  The result is 0 for K = 0, too.
    """
    K, _ = near_one(kept, (0, 1))
    P, size = null_space_projection(removed, tolerance), float(np.linalg.norm(K))
    return float(np.linalg.norm(K - K @ P)) / size if size else 0.0
