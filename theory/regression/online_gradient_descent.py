"""Online gradient descent: one pass over the examples in order, one step per example."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from theory.kinds import Inputs, Labels, PerPrompt, checked
from theory.regression.iterates import finite


@checked
def online_gradient_descent_iterates(
    x: Inputs, y: Labels, step_size: PerPrompt | None = None
) -> Iterator[np.ndarray]:
    """Yield the iterates w₀ = 0, …, w_n (each (…, d)) of one pass of online gradient descent.

    The pass is over the n examples x_i of a prompt, the rows of x (…, n, d). The labels y_i are the
    entries of y (…, n), and w_i = w_{i−1} + η_i (y_i − ⟨w_{i−1}, x_i⟩) x_i. By default
    η_i = 1/‖x_i‖², so that w_i fits example i exactly, and w_i = w_{i−1} if x_i = 0. With this step
    size, the method is the projection method of [Kaczmarz1937] (normalised LMS) and the online
    learner of [Fu2024]. If `step_size` is given, all η_i equal `step_size`, which is one number, or
    one number for each prompt.

    Raises `ValueError` if an iterate overflows.
    """
    if step_size is None:
        # η x = (x/s) / (s ‖x/s‖²), where s is the largest |entry|, because ‖x‖² may underflow.
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
        with np.errstate(over="ignore"):
            gain = step_size[..., None, None] * x

    def recursion() -> Iterator[np.ndarray]:
        w = np.zeros_like(x[..., 0, :])
        yield w
        for i in range(x.shape[-2]):
            with np.errstate(over="ignore", invalid="ignore"):
                error = y[..., i] - np.vecdot(w, x[..., i, :])
                w = w + error[..., None] * gain[..., i, :]
            yield w

    return finite(recursion(), "rescale x and y, or give a smaller step_size", gain=gain, x=x, y=y)


@checked
def online_gradient_descent(x: Inputs, y: Labels, step_size: PerPrompt | None = None) -> np.ndarray:
    """The weights w_n (…, d) after one pass of online gradient descent over the n examples.

    The weights start at w = 0. Example i adds η_i (y_i − ⟨w, x_i⟩) x_i to w, for the rows x_i of x
    (…, n, d) and the labels y_i in y (…, n). The step size η_i is `step_size`, or 1/‖x_i‖² by
    default (normalised LMS).

    Raises `ValueError` if an iterate overflows.
    """
    *_, w = online_gradient_descent_iterates(x, y, step_size)
    return w
