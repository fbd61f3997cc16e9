"""The Chebyshev semi-iteration on the least-squares loss, from w₀ = 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from theory.kinds import InputError, Inputs, Labels, PerPrompt, checked
from theory.regression.iterates import Iterations, after, finite
from theory.regression.normal_equations import normal_equations


def ordered_bounds(smallest: np.ndarray, largest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The bounds `smallest` and `largest`, broadcast to one shape."""
    low, high = np.broadcast_arrays(smallest, largest)
    if (low > high).any():
        raise InputError(
            f"smallest = {low[low > high].flat[0]} exceeds largest = "
            f"{high[low > high].flat[0]}: "
            "give bounds with 0 < smallest ≤ largest"
        )
    return low, high


@checked
def chebyshev_iterates(
    x: Inputs, y: Labels, smallest: PerPrompt, largest: PerPrompt
) -> Iterator[np.ndarray]:
    """Yield the iterates w₀ = 0, w₁, w₂, … (each (…, d)) of the Chebyshev semi-iteration.

    The rows of X are the examples x (…, n, d) of a prompt, y (…, n) are their labels, and S = XᵀX.
    The iterates approach the minimum-norm minimiser of ‖Xw − y‖². The bounds a = `smallest` and
    c = `largest`, with 0 < a ≤ c, are one number or one per prompt. The interval [a, c] should
    contain the non-zero eigenvalues of S. In k steps, the component of the error along an
    eigenvector of S with eigenvalue λ is multiplied by

        T_k((c + a − 2λ)/(c − a)) / T_k((c + a)/(c − a)),

    where T_k is the Chebyshev polynomial. Among all polynomials in λ of degree k with value 1 at 0,
    this quotient has the smallest maximum of the absolute value over [a, c] [Saad2003, Algorithm
    12.1]. For a = c the iteration is gradient descent with step size 1/a. The iteration diverges if
    S has an eigenvalue above a + c; only overflow raises an error.

    Raises `ValueError` if smallest > largest, if S or Xᵀy overflows or underflows, or if an iterate
    overflows.
    """
    S, b = normal_equations(x, y)
    low, high = ordered_bounds(smallest, largest)
    # The bounds are halved before they are added, so that large bounds do not overflow.
    centre, radius = (high / 2 + low / 2)[..., None], (high / 2 - low / 2)[..., None]

    def recursion() -> Iterator[np.ndarray]:
        w, r = np.zeros_like(b), b
        # ρ_j = T_{j−1}(centre/radius) / T_j(centre/radius); for radius = 0 it is 0.
        with np.errstate(all="ignore"):
            rho, step = radius / centre, r / centre
        while True:
            yield w
            with np.errstate(all="ignore"):
                w = w + step
                r = r - np.matvec(S, step)
                denominator = 2 * centre - radius * rho
                step = (radius * rho * step + 2 * r) / denominator
                rho = radius / denominator

    remedy = "give a larger bound `largest`, or rescale x and y"
    return finite(recursion(), remedy, largest=high, x=x, y=y)


@checked
def chebyshev(
    x: Inputs, y: Labels, k: Iterations, smallest: PerPrompt, largest: PerPrompt
) -> np.ndarray:
    """The weights w_k (…, d) after `k` ≥ 0 steps of the Chebyshev semi-iteration for least squares.

    The rows of X are the examples x (…, n, d) of a prompt, and y (…, n) are their labels. The
    weights approach the minimum-norm minimiser of ‖Xw − y‖². The interval [smallest, largest]
    should contain the non-zero eigenvalues of XᵀX; both bounds are one number or one per prompt.

    Raises `ValueError` if smallest > largest, if XᵀX or Xᵀy overflows or underflows, or if an
    iterate overflows.
    """
    return after(k, chebyshev_iterates(x, y, smallest, largest))
