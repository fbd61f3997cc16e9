"""Prefix sums, and the window sums that rounds of fan-in s compute.

The prefix sum of a sequence x at position i is x₁ + … + x_i.  In each round a position adds s
numbers.  After ℓ rounds, position i has the sum of the last s^ℓ numbers up to x_i.
"""

from __future__ import annotations

import numpy as np

from theory import machine
from theory.computation.kinds import FanIn
from theory.kinds import Count, Vectors, checked


@checked
def window_sums(x: Vectors, width: Count) -> np.ndarray:
    """The sum of the last `width` numbers up to each position of sequences x (…, N), as (…, N).

    The numbers are read as float64. The number at the position itself is one of these numbers. If
    there are fewer than `width` numbers up to a position, all of them are added. So for width N the
    result is the prefix sums. Sums of widths 1, 2, 4, … are added, in time O(N log width). Raises
    ValueError for sums that do not fit in memory, and for sums that overflow.
    """
    machine.fits_in_memory("the window sums", 24 * x.size, "give fewer numbers")
    width, power = min(width, x.shape[-1]), 1
    total, of_power = np.zeros_like(x), x  # the sums of the last width mod power, power numbers
    while True:
        if width & power:
            total = _with_earlier(of_power, total, power)
        if 2 * power > width:
            return total
        of_power, power = _with_earlier(of_power, of_power, power), 2 * power


def _with_earlier(x: np.ndarray, earlier: np.ndarray, steps: int) -> np.ndarray:
    """x plus the numbers of `earlier` that are `steps` ≥ 1 positions before, if there are any."""
    added = x.copy()
    added[..., steps:] += earlier[..., :-steps]
    return added


@checked
def tree_depth(n_leaves: Count, fan_in: FanIn) -> int:
    """The smallest depth ⌈log_s N⌉ of a tree with N = n_leaves leaves and fan-in s = fan_in.

    The fan-in is the largest number of children of a node.
    """
    depth = 0
    while fan_in**depth < n_leaves:
        depth += 1
    return depth
