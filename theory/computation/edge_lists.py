"""Graphs as arrays of edges: all small graphs, and families of graphs that may take many steps."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement

import numpy as np

from theory.computation.components import shuffled_path
from theory.kinds import Count, CountFrom2, Seed, checked


def all_graphs(n_nodes: int) -> Iterator[np.ndarray]:
    """Yields all graphs of n_nodes nodes as arrays of edges, one array for each number of edges.

    The arrays have shape (graphs, edges, 2).  Every second edge begins at its larger node.  Each
    array is followed by an array that also contains the reverse of every edge.
    """
    pairs = np.array([*combinations_with_replacement(range(1, n_nodes + 1), 2)])
    pairs[1::2] = pairs[1::2, ::-1]
    chosen = np.arange(2 ** len(pairs))[:, None] >> np.arange(len(pairs)) & 1
    for m in range(len(pairs) + 1):
        rows = chosen[chosen.sum(1) == m]
        edges = pairs[np.nonzero(rows)[1]].reshape(len(rows), m, 2)
        yield edges
        yield np.concatenate([edges, edges[:, :, ::-1]], axis=1)


@checked
def families(n_nodes: CountFrom2, samples: Count, seed: Seed) -> dict[str, np.ndarray]:
    """A dictionary of families of graphs of n_nodes nodes and at most n_nodes edges.

    The families are shuffled paths, random graphs and adversarial graphs.  Each family is an array
    of edges, (graphs, edges, 2).
    """
    n, generator = n_nodes, seed
    at = np.arange(1, n + 1)
    ends = np.where(at % 2, (at + 1) // 2, n + 1 - at // 2)  # 1, n, 2, n − 1, …
    half = max(n // 2, 1)
    cycles = np.stack([at, np.where(at == half, 1, np.where(at == n, half + 1, at + 1))], axis=1)
    return {
        "shuffled paths": np.stack([shuffled_path(n, generator) for _ in range(samples)]),
        "random": generator.integers(1, n + 1, (samples, n, 2)),
        "sparse": generator.integers(1, n + 1, (samples, max(n // 2, 1), 2)),
        "path 1 n 2 n−1 …": np.stack([ends[:-1], ends[1:]], axis=1)[None],
        "sorted path": np.stack([at[:-1], at[1:]], axis=1)[None],
        "star": np.stack([np.full(n - 1, n), at[:-1]], axis=1)[None],
        "two cycles": np.minimum(cycles, n)[None],
        "loops": np.stack([at, at], axis=1)[None],
        "one edge n times": np.tile([[n, 1]], (n, 1))[None],
        "no edge": np.zeros((1, 0, 2), dtype=np.int64),
    }
