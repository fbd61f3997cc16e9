"""Distances between all pairs of nodes, and what follows from them.

The set of pairs at distance at most k is the support of A^k, as every node has a loop.  So boolean
products with A, one for each distance that occurs, give all distances of many graphs at once; a
product of 0/1 matrices counts at most n paths, which float32 holds exactly for n below 2^24.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError
from theory.graphs.adjacency import as_adjacency

UNCONNECTED = -1
MOST_LAYERS = 10_000  # of which 3^L has 4772 digits


def distances(A: ArrayLike) -> np.ndarray:
    """dist(i, j) (…, n, n) as int64, −1 for nodes that are not connected.

    At most as many products of n × n matrices as the largest distance.  Raises `ValueError` as
    `as_adjacency`.
    """
    edges = as_adjacency(A).astype(np.float32)
    reached = np.broadcast_to(np.eye(edges.shape[-1], dtype=bool), edges.shape)
    found = np.where(reached, 0, UNCONNECTED)
    for k in range(1, edges.shape[-1]):
        further = (reached.astype(np.float32) @ edges) > 0
        found[further & ~reached] = k
        if np.array_equal(further, reached):
            break
        reached = further
    return found


def distances_by_definition(A: ArrayLike) -> np.ndarray:
    """`distances` of one graph (n, n), by a breadth-first search from every node."""
    graph = as_adjacency(A)
    found = np.full(graph.shape, UNCONNECTED)
    for source in range(len(graph)):
        found[source, source] = 0
        queue = deque([source])
        while queue:
            node = queue.popleft()
            for neighbour in np.flatnonzero(graph[node]).tolist():
                if found[source, neighbour] == UNCONNECTED:
                    found[source, neighbour] = found[source, node] + 1
                    queue.append(neighbour)
    return found


def connected(A: ArrayLike) -> np.ndarray:
    """R (…, n, n) of 0 and 1: whether there is a path from i to j, by ⌈log₂(n − 1)⌉ squarings of A.

    Raises `ValueError` as `as_adjacency`.
    """
    reached = as_adjacency(A).astype(np.float32)
    for _ in range((reached.shape[-1] - 2).bit_length() if reached.shape[-1] > 2 else 0):
        reached = (reached @ reached > 0).astype(np.float32)
    return reached.astype(np.int64)


def components(A: ArrayLike) -> np.ndarray:
    """The least node of each node's component, (…, n).  Raises `ValueError` as `as_adjacency`."""
    return np.asarray(connected(A).argmax(-1))


def diameter(A: ArrayLike) -> np.ndarray:
    """The largest distance of connected nodes (…,): the largest diameter of the components.

    Raises `ValueError` as `as_adjacency`.
    """
    return np.asarray(distances(A).max(axis=(-1, -2)))


def capacity(layers: int) -> int:
    """3^L: how far apart two nodes may be whose connection L layers can tell.

    Raises `ValueError` for a number of layers that is not an integer from 0 to 10000.
    """
    layers = checks.step_count("layers", layers)
    if layers > MOST_LAYERS:
        raise InputError(f"layers are more than {MOST_LAYERS}: give fewer")
    return int(3**layers)


def least_layers(distance: int) -> int:
    """⌈log₃ distance⌉, the least L with 3^L ≥ distance: 0 for distances 0 and 1.

    Raises `ValueError` for a distance that is not an integer at least 0.
    """
    wanted, layers = checks.step_count("distance", distance), 0
    while 3**layers < wanted:
        layers += 1
    return layers


def beyond(A: ArrayLike, layers: int) -> np.ndarray:
    """Which pairs (…, n, n) are connected and farther apart than 3^layers: beyond capacity.

    Pairs that are not connected are not counted.  Raises `ValueError` as `as_adjacency`.
    """
    return distances(A) > capacity(layers)


def share_beyond(A: ArrayLike, layers: int) -> np.ndarray:
    """ρ (…,): the share of all n² pairs of nodes that is `beyond` capacity."""
    return np.asarray(beyond(A, layers).mean(axis=(-1, -2)))
