"""Prefix sums, and the sums of windows of which a tree of fan-in s makes them.

x₁ + … + x_i  for every i;    after ℓ rounds of s words, i has the sum of the last s^ℓ up to i.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError


def window_sums(x: ArrayLike, width: int) -> np.ndarray:
    """The sum of the last `width` numbers up to each one, of all where there are fewer: prefix sums
    for a width of N, (…, N) → (…, N).

    Raises `ValueError` for no numbers and a width below 1.
    """
    array, width = checks.vectors("x", x), checks.dimension("width", width)
    N = array.shape[-1]
    ends = range(1, N + 1)
    return np.stack([array[..., max(0, i - width) : i].sum(-1) for i in ends], axis=-1)


def tree_depth(leaves: int, fan: int) -> int:
    """⌈log_s N⌉, the depth of a tree of N leaves whose nodes have at most s children.

    Raises `ValueError` for N < 1 and s < 2.
    """
    N, s = checks.dimension("leaves", leaves), checks.dimension("fan", fan)
    if s < 2:
        raise InputError(f"a tree of fan-in {s} has no end: give at least 2")
    depth = 0
    while s**depth < N:
        depth += 1
    return depth
