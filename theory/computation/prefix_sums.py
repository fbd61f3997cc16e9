"""Prefix sums, and the sums of windows of which a tree of fan-in s makes them.

x₁ + … + x_i  for every i;    after ℓ rounds of s words, i has the sum of the last s^ℓ up to i.
"""

from __future__ import annotations

import numpy as np

from theory.computation.kinds import Fan
from theory.kinds import Count, Vectors, checked


@checked
def window_sums(x: Vectors, width: Count) -> np.ndarray:
    """The sum of the last `width` numbers up to each one, of all where there are fewer: prefix sums
    for a width of N, (…, N) → (…, N)."""
    ends = range(1, x.shape[-1] + 1)
    return np.stack([x[..., max(0, i - width) : i].sum(-1) for i in ends], axis=-1)


@checked
def tree_depth(n_leaves: Count, fan_in: Fan) -> int:
    """⌈log_s N⌉, the depth of a tree of N leaves whose nodes have at most s children."""
    depth = 0
    while fan_in**depth < n_leaves:
        depth += 1
    return depth
