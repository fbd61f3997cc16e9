"""The normal equations S w = b of a least-squares problem: S = XᵀX, b = Xᵀy."""

from __future__ import annotations

import numpy as np

from theory.kinds import InputError, Inputs, Labels, checked

TINY = np.finfo(np.float64).tiny


@checked
def normal_equations(x: Inputs, y: Labels) -> tuple[np.ndarray, np.ndarray]:
    """The matrix S = XᵀX (…, d, d) and the vector b = Xᵀy (…, d) of the normal equations S w = b.

    The rows of X are the examples x (…, n, d) of a prompt, and y (…, n) are their labels. Raises
    `ValueError` if a product overflows, or underflows below the smallest normal number.
    """
    transpose = x.swapaxes(-1, -2)
    with np.errstate(over="ignore", invalid="ignore"):
        S, b = transpose @ x, np.matvec(transpose, y)
    for name, product in (("XᵀX", S), ("Xᵀy", b)):
        if not np.isfinite(product).all():
            raise InputError(
                f"{name} overflows float64 (the largest number is 1.8e308): rescale x and y"
            )
    lengths, labels = np.abs(x).max(-2), np.abs(y).max(-1, keepdims=True)
    for name, found, squares in (
        ("XᵀX", lengths, np.diagonal(S, axis1=-2, axis2=-1)),
        ("Xᵀy", lengths * (labels > 0), lengths * labels),
    ):
        if ((found > 0) & (squares < TINY)).any():
            raise InputError(
                f"{name} underflows float64 (the smallest normal number is {TINY:.0e}): "
                "rescale x and y"
            )
    return S, b
