"""Gradient descent on the least-squares loss, from w₀ = 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from theory.kinds import Inputs, Labels, PerPrompt, checked
from theory.regression.iterates import Iterations, after, finite
from theory.regression.normal_equations import normal_equations


@checked
def gradient_descent_iterates(x: Inputs, y: Labels, step_size: PerPrompt) -> Iterator[np.ndarray]:
    """Yield the iterates w₀ = 0, w₁, w₂, … (each (…, d)) of w ← w − η (S w − b).

    x (…, n, d), y (…, n), η = `step_size` > 0, one number or one per prompt. The iterates converge
    to the minimum-norm solution if and only if η < 2/λmax(S) (or b = 0); with a larger step size
    they diverge, and only overflow raises an error. `gradient_descent_residual` is the exact
    residual. One head of linear attention computes a step [vonOswald2023, Proposition 1].

    Raises `ValueError` if an iterate overflows, and where `normal_equations` does.
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
    """The weights w_k (…, d) after `k` ≥ 0 steps of `gradient_descent_iterates`."""
    return after(k, gradient_descent_iterates(x, y, step_size))
