"""The step sizes with which the iterations for least squares converge."""

from __future__ import annotations

from math import floor, log2
from typing import Literal

import numpy as np

from theory.kinds import InputError, Inputs, checked
from theory.regression.newton import Start

Method = Literal["newton", "hyperpower", "gradient_descent"]
"""An iteration with one step size: `alpha`, or `step_size` of gradient descent."""


@checked
def safe_step_size(x: Inputs, method: Method = "newton", start: Start = "gram") -> float:
    """A power of two with which a method converges on all prompts with inputs x (…, n, d).

    S = XᵀX for the inputs X of a prompt, λmax is the largest eigenvalue of S, and ‖S‖ ≥ λmax its
    Frobenius norm. The result is the largest power of two that satisfies, for every prompt,

    | method               | start    | parameter | converges iff           | result    |
    |----------------------|----------|-----------|-------------------------|-----------|
    | newton, hyperpower   | gram     | alpha     | 0 < alpha < 2/λmax²     | ≤ 1/‖S‖²  |
    | newton, hyperpower   | identity | alpha     | 0 < alpha < 2/λmax      | ≤ 1/‖S‖   |
    | gradient_descent     | (none)   | step_size | 0 < step_size < 2/λmax  | ≤ 1/‖S‖   |

    The conditions are those of `newton_inverses`, `hyperpower_inverses` and
    `gradient_descent_iterates`. A power of two is exact in every number system.

    Raises `ValueError` if all inputs are 0, or there are none, if the result is outside the range
    of float64, and for a start of gradient descent, which has none.
    """
    if method == "gradient_descent" and start != "gram":
        raise InputError(f"start is {start!r}, which gradient_descent does not have: omit it")
    scale = float(np.abs(x).max(initial=0))
    if scale == 0:
        raise InputError(
            "x has no inputs, or all inputs are 0, so that every step size converges: give an x "
            "that is not 0"
        )
    scaled = x / scale
    gram = scaled.swapaxes(-1, -2) @ scaled
    norm = float(np.sqrt((gram**2).sum((-1, -2))).max())
    power = 2 if method != "gradient_descent" and start == "gram" else 1
    exponent = floor(-power * (log2(norm) + 2 * log2(scale)))
    if not -1022 <= exponent <= 1023:
        raise InputError(
            f"the step size for x is 2^{exponent}, outside the range of float64: rescale x"
        )
    return 2.0**exponent
