"""Online gradient descent: one pass over the examples, in order, one step for each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from theory.kinds import Inputs, Labels, PerPrompt, checked


@checked
def online_gradient_descent_iterates(
    x: Inputs, y: Labels, step_size: PerPrompt | None = None
) -> Iterator[np.ndarray]:
    """Yield w₀ = 0, w₁, …, w_n (each (…, d)) of w_i = w_{i−1} + η_i (y_i − w_{i−1}ᵀx_i) x_i.

    x (…, n, d), y (…, n). By default η_i = 1/‖x_i‖², with which w_i fits example i exactly: the
    projection method of [Kaczmarz1937] (normalised LMS), the online learner of [Fu2024]. A zero row
    makes no step. With `step_size`, η_i is that number, or that number per prompt.
    """
    if step_size is None:
        # η x = (x/s) / (s ‖x/s‖²) with s the largest |entry|: ‖x‖² itself may underflow.
        scale = np.abs(x).max(axis=-1, keepdims=True)
        unit = np.divide(x, scale, out=np.zeros_like(x), where=scale > 0)
        with np.errstate(over="ignore"):
            gain = np.divide(
                unit,
                scale * np.vecdot(unit, unit)[..., None],
                out=np.zeros_like(x),
                where=scale > 0,
            )
    else:
        gain = step_size[..., None, None] * x

    def recursion() -> Iterator[np.ndarray]:
        w = np.zeros_like(x[..., 0, :])
        yield w
        for i in range(x.shape[-2]):
            with np.errstate(over="ignore", invalid="ignore"):
                error = y[..., i] - np.vecdot(w, x[..., i, :])
                w = w + error[..., None] * gain[..., i, :]
            yield w

    return recursion()


@checked
def online_gradient_descent(x: Inputs, y: Labels, step_size: PerPrompt | None = None) -> np.ndarray:
    """w_n (…, d), the weights after the pass of `online_gradient_descent_iterates`."""
    *_, w = online_gradient_descent_iterates(x, y, step_size)
    return w
