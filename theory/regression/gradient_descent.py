"""Gradient descent on the least-squares loss, from w₀ = 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from theory.kinds import Inputs, Labels, PerPrompt, checked
from theory.regression.iterates import Iterations, after, finite
from theory.regression.normal_equations import normal_equations


@checked
def gradient_descent_iterates(x: Inputs, y: Labels, step_size: PerPrompt) -> Iterator[np.ndarray]:
    """Yield the iterates w₀ = 0, w₁, … (each (…, d)) of gradient descent, w ← w − η (S w − b).

    The rows of X are the examples x (…, n, d) of a prompt, and y (…, n) are their labels. S = XᵀX,
    b = Xᵀy, and η = `step_size` > 0 is one number or one per prompt. If η < 2/λmax(S), the iterates
    converge to the minimum-norm least-squares solution for all labels y. If η ≥ 2/λmax(S), they do
    not converge for some labels, and only overflow raises an error. `gradient_descent_residual`
    returns the factor by which k steps multiply the error along an eigenvector of S. One head of
    linear attention computes one step of gradient descent [vonOswald2023, Proposition 1].

    Raises `ValueError` if S or b overflows or underflows, or if an iterate overflows.
    """
    S, b = normal_equations(x, y)
    step_size = step_size[..., None]

    def recursion() -> Iterator[np.ndarray]:
        w = np.zeros_like(b)
        while True:
            yield w
            with np.errstate(over="ignore", invalid="ignore"):
                w = w - step_size * (np.matvec(S, w) - b)

    return finite(
        recursion(), "give a smaller step_size, or rescale x", step_size=step_size, x=x, y=y
    )


@checked
def gradient_descent(x: Inputs, y: Labels, k: Iterations, step_size: PerPrompt) -> np.ndarray:
    """The weights w_k (…, d) after `k` ≥ 0 steps of gradient descent from w₀ = 0.

    A step is w ← w − step_size·Xᵀ(Xw − y). The rows of X are the examples x (…, n, d) of a prompt,
    and y (…, n) are their labels. `step_size` > 0 is one number or one per prompt.

    Raises `ValueError` if XᵀX or Xᵀy overflows or underflows, or if an iterate overflows.
    """
    return after(k, gradient_descent_iterates(x, y, step_size))
