"""Conjugate gradients on the normal equations, from w₀ = 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from theory.kinds import Inputs, Labels, checked
from theory.regression.iterates import Iterations, after, finite
from theory.scaling import near_one


@checked
def conjugate_gradient_iterates(x: Inputs, y: Labels) -> Iterator[np.ndarray]:
    """Yield the iterates w₀ = 0, w₁, w₂, … (each (…, d)) of conjugate gradients for least squares.

    The rows of X are the examples x (…, n, d) of a prompt, and y (…, n) are their labels. Let
    S = XᵀX and b = Xᵀy. The iterate w_k minimises ‖Xw − y‖² over span{b, Sb, …, S^(k−1)b}. In exact
    arithmetic w_k is the minimum-norm least-squares solution once k reaches the number of distinct
    non-zero eigenvalues of S (at most rank(S)) [Hestenes1952]. The recursion updates the
    residual r = y − Xw and never forms S [Hestenes1952].

    The iterates of a prompt stay constant once Xᵀr (the negative gradient) is zero up to rounding,
    that is, once ‖Xᵀr‖ ≤ (n + d)·eps·‖X‖_F·‖y‖. The step size of a further step would be a quotient
    of rounding errors.

    x and y may have any norm, because they are first divided by powers of two, and this division is
    exact. Raises `ValueError` if an iterate w_k overflows.
    """
    given_x, given_y = x, y
    x, x_power = near_one(x, (-2, -1))
    y, y_power = near_one(y, (-1,))
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
            with np.errstate(over="ignore"):
                scaled = np.ldexp(w, power)
            yield scaled
            image = np.matvec(x, direction)
            step = ratio(size, square(image), moving)
            w = w + step * direction
            r = r - step * image
            gradient = np.matvec(transpose, r)
            previous, size = size, square(gradient)
            moving = moving & (size > floor)
            direction = gradient + ratio(size, previous, moving) * direction

    return finite(recursion(), "rescale x and y", x=given_x, y=given_y)


@checked
def conjugate_gradient(x: Inputs, y: Labels, k: Iterations) -> np.ndarray:
    """The weights w_k (…, d) after `k` ≥ 0 steps of conjugate gradients on the normal equations.

    The normal equations are XᵀX w = Xᵀy, where the rows of X are the examples x (…, n, d) of a
    prompt and y (…, n) are their labels. The docstring of `conjugate_gradient_iterates` states the
    properties of w_k. Raises `ValueError` if w_k overflows.
    """
    return after(k, conjugate_gradient_iterates(x, y))
