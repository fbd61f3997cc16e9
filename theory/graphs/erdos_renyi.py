"""Erdős–Rényi graphs: each of the n(n−1)/2 possible edges is present independently with
probability p."""

from __future__ import annotations

import numpy as np

from theory import machine
from theory.kinds import Count, Probability, Seed, checked


@checked
def erdos_renyi(count: Count, n: Count, p: Probability, seed: Seed) -> np.ndarray:
    """`count` independent graphs ER(n, p), (count, n, n), with loops at all nodes.

    Raises `ValueError` if the graphs do not fit in memory.
    """
    machine.fits_in_memory(f"{count} graphs of {n} nodes", 24 * count * n * n, "give fewer")
    upper = np.triu(np.random.default_rng(seed).random((count, n, n)) < p, 1)
    return (upper | upper.swapaxes(-1, -2) | np.eye(n, dtype=bool)).astype(np.int64)
