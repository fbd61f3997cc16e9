"""Prefix sums, and the window sums that rounds of fan-in s compute.

The prefix sum of a sequence x at position i is x₁ + … + x_i.  In each round a position adds s
numbers.  After ℓ rounds, position i has the sum of the last s^ℓ numbers up to x_i.
"""

from __future__ import annotations

import numpy as np

from theory.computation.kinds import FanIn
from theory.kinds import Count, Vectors, checked


@checked
def window_sums(x: Vectors, width: Count) -> np.ndarray:
    """The sum of the last `width` numbers up to each position of sequences x (…, N), as (…, N).

    The number at the position itself is one of these numbers. If there are fewer than `width`
    numbers up to a position, all of them are added. So for width N the result is the prefix sums.
    """
    ends = range(1, x.shape[-1] + 1)
    return np.stack([x[..., max(0, i - width) : i].sum(-1) for i in ends], axis=-1)


@checked
def tree_depth(n_leaves: Count, fan_in: FanIn) -> int:
    """The smallest depth ⌈log_s N⌉ of a tree with N = n_leaves leaves and fan-in s = fan_in.

    The fan-in is the largest number of children of a node.
    """
    depth = 0
    while fan_in**depth < n_leaves:
        depth += 1
    return depth
