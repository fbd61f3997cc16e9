"""Conjugate gradients on the normal equations, from w₀ = 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from theory.kinds import Inputs, Labels, checked
from theory.regression.iterates import Iterations, after


@checked
def conjugate_gradient_iterates(x: Inputs, y: Labels) -> Iterator[np.ndarray]:
    """Yield w₀ = 0, w₁, w₂, … (each (…, d)): w_k minimises ‖Xw − y‖² over span{b, Sb, …, S^(k−1)b}.

    x (…, n, d), y (…, n). In exact arithmetic w_k is the minimum-norm least-squares solution once k
    reaches the number of distinct non-zero eigenvalues of S, so at k = rank(S) ≤ min(n, d) at the
    latest [Hestenes1952]. Runs the form that keeps r = y − Xw and never forms S
    [Hestenes1952].

    A prompt whose gradient Xᵀr is zero to rounding, ‖Xᵀr‖ ≤ (n + d)·eps·‖X‖_F·‖y‖ (the error of
    computing it), is solved and stands still: a further step would divide noise by noise.

    x and y of any length: they are divided by powers of two, which rounds nothing.
    """
    x, x_power = _near_one(x, (-2, -1))
    y, y_power = _near_one(y, (-1,))
    power = y_power - x_power[..., 0]
    transpose = x.swapaxes(-1, -2)
    rounding = sum(x.shape[-2:]) * np.finfo(np.float64).eps
    scale = np.linalg.norm(x, axis=(-2, -1)) * np.linalg.norm(y, axis=-1)
    floor = (rounding * scale[..., None]) ** 2

    def square(v: np.ndarray) -> np.ndarray:
        return np.vecdot(v, v)[..., None]

    def ratio(numerator: np.ndarray, denominator: np.ndarray, moving: np.ndarray) -> np.ndarray:
        zero = np.zeros_like(numerator)
        return np.divide(numerator, denominator, out=zero, where=moving & (denominator > 0))

    def recursion() -> Iterator[np.ndarray]:
        w, r = np.zeros_like(x[..., 0, :]), y
        gradient = np.matvec(transpose, r)
        direction, size = gradient, square(gradient)
        moving = size > floor
        while True:
            yield np.ldexp(w, power)
            image = np.matvec(x, direction)
            step = ratio(size, square(image), moving)
            w = w + step * direction
            r = r - step * image
            gradient = np.matvec(transpose, r)
            previous, size = size, square(gradient)
            moving = moving & (size > floor)
            direction = gradient + ratio(size, previous, moving) * direction

    return recursion()


def _near_one(array: np.ndarray, axes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Every prompt divided by a power of two so that its largest entry is in [½, 1), and this."""
    _, power = np.frexp(np.abs(array).max(axes, keepdims=True))
    return np.ldexp(array, -power), power


@checked
def conjugate_gradient(x: Inputs, y: Labels, k: Iterations) -> np.ndarray:
    """w_k (…, d), the weights after `k` ≥ 0 steps of `conjugate_gradient_iterates`."""
    return after(k, conjugate_gradient_iterates(x, y))
