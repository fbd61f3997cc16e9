"""Erdős–Rényi graphs: each of the n(n−1)/2 possible edges is present independently with
probability p."""

from __future__ import annotations

import math

import numpy as np

from theory import machine
from theory.kinds import Count, Probability, Seed, checked, shown


@checked
def erdos_renyi(n_graphs: Count, n_nodes: Count, p: Probability, seed: Seed) -> np.ndarray:
    """Independent Erdős–Rényi graphs, as adjacency matrices (n_graphs, n, n) for n = `n_nodes`.

    Each of the n(n−1)/2 possible edges is present independently with probability p. The matrices
    have ones on the diagonal, so every node has a loop.

    Raises `ValueError` if the graphs do not fit in memory.
    """
    shape = n_graphs, n_nodes, n_nodes
    machine.fits_in_memory(
        f"{shown(n_graphs)} graphs of {shown(n_nodes)} nodes",
        24 * math.prod(shape),
        "give fewer or smaller graphs",
    )
    upper = np.triu(np.random.default_rng(seed).random(shape) < p, 1)
    return (upper | upper.swapaxes(-1, -2) | np.eye(n_nodes, dtype=bool)).astype(np.int64)
