"""Definitions and cases that the range tests of graphs share."""

from heapq import heappop, heappush

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path

SIZES = (1, 2, 3, 4, 5, 9, 17, 18, 33, 34, 65, 66, 130)


def slow(*case):
    return pytest.param(*case, marks=pytest.mark.slow)


def drawn(n, seed=0, p=None):
    """A random graph with components of several sizes, and the longest path in random order."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < (1.1 / n if p is None else p), 1)
    order = rng.permutation(n)
    return np.stack(
        [(upper | upper.T | np.eye(n, dtype=bool)).astype(int), line(n)[order][:, order]]
    )


def line(n):
    i = np.arange(n)
    return (abs(i[:, None] - i) <= 1).astype(int)


def distances(A):
    """By Dijkstra's algorithm; −1 for nodes that are not connected."""
    far = shortest_path(A, unweighted=True, directed=False)
    return np.where(np.isinf(far), -1, far).astype(int)


def first_edges(edges, source):
    """The order of a search, by a queue of the edges from visited nodes, first edge first."""
    found, ahead = [], [(-1, source)]
    while ahead:
        _, node = heappop(ahead)
        if node not in found:
            found.append(node)
            for index, (u, v) in enumerate(edges):
                if u == node:
                    heappush(ahead, (index, v))
    return found


def blocks(W, n):
    rows, columns = len(W) // n, len(W[0]) // n
    return {
        (r, c): W[r * n : (r + 1) * n, c * n : (c + 1) * n]
        for r in range(rows)
        for c in range(columns)
    }
