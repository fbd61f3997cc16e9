"""Distances between all pairs of nodes, components, diameters and capacity.

The pairs at distance at most k are the support of A^k, where the adjacency matrix A (…, n, n) has
ones on its diagonal.  So one Boolean product with A for each distance that occurs gives all
distances.  Many graphs are processed at once.  An entry of a product of 0/1 matrices is at most n,
which float32 represents exactly for n < 2^24.
"""

from __future__ import annotations

from collections import deque
from typing import Annotated, TypeAlias

import numpy as np

from theory.graphs.adjacency import Graphs, OneGraph
from theory.kinds import Steps, Within, checked
from theory.waiting import Pace

UNCONNECTED = -1
MOST_LAYERS = 10_000  # 3^10000 has 4772 digits

Layers: TypeAlias = Annotated[Steps, Within(most=MOST_LAYERS)]
"""A number of layers, at most 10 000."""


@checked
def distances(A: Graphs) -> np.ndarray:
    """The distances between all pairs of nodes, (…, n, n) int64; −1 for nodes not connected.

    The graphs are given by their adjacency matrices A (…, n, n). The function takes at most 1 + D
    products of n × n matrices, where D is the largest distance. One line on standard error
    announces a computation that may take more than a minute.
    """
    edges = A.astype(np.float32)
    reached = np.broadcast_to(np.eye(edges.shape[-1], dtype=bool), edges.shape)
    found = np.where(reached, 0, UNCONNECTED)
    pace = Pace(f"distances in graphs with n = {edges.shape[-1]} nodes", edges.shape[-1] - 1)
    for k in range(1, edges.shape[-1]):
        further = (reached.astype(np.float32) @ edges) > 0
        found[further & ~reached] = k
        if np.array_equal(further, reached):
            break
        reached = further
        pace.done(1)
    return found


@checked
def distances_by_definition(A: OneGraph) -> np.ndarray:
    """The distances (n, n) between the nodes of a graph A (n, n), by breadth-first searches.

    The distance of nodes that are not connected is −1. A is the adjacency matrix.
    """
    found = np.full(A.shape, UNCONNECTED)
    for source in range(len(A)):
        found[source, source] = 0
        queue = deque([source])
        while queue:
            node = queue.popleft()
            for neighbour in np.flatnonzero(A[node]).tolist():
                if found[source, neighbour] == UNCONNECTED:
                    found[source, neighbour] = found[source, node] + 1
                    queue.append(neighbour)
    return found


@checked
def connected(A: Graphs) -> np.ndarray:
    """The matrices R (…, n, n) with R_ij = 1 if nodes i and j are connected in A, and 0 otherwise.

    R is computed by ⌈log₂(n − 1)⌉ squarings of the adjacency matrices A (…, n, n).
    """
    reached = A.astype(np.float32)
    for _ in range((reached.shape[-1] - 2).bit_length() if reached.shape[-1] > 2 else 0):
        reached = (reached @ reached > 0).astype(np.float32)
    return reached.astype(np.int64)


@checked
def components(A: Graphs) -> np.ndarray:
    """The smallest node of the component of each node of graphs A (…, n, n), as (…, n)."""
    return np.asarray(connected(A).argmax(-1))


@checked
def diameter(A: Graphs) -> np.ndarray:
    """The largest distance between two connected nodes of each graph, as an array (…).

    The graphs are given by their adjacency matrices A (…, n, n).
    """
    return np.asarray(distances(A).max(axis=(-1, -2)))


@checked
def capacity(n_layers: Layers) -> int:
    """3^L, the largest distance between nodes that L = `n_layers` layers of tripling connect.

    A layer of tripling is H ← H + HHᵀH, starting from the adjacency matrix H = A. After L layers,
    entry (i, j) of H is positive iff the distance of i and j is at most 3^L.
    """
    return int(3**n_layers)


@checked
def least_layers(distance: Steps) -> int:
    """⌈log₃ distance⌉, the smallest integer L ≥ 0 with 3^L ≥ distance.

    For distance 0 the result is 0. After L layers H ← H + HHᵀH from H = A, where A is an adjacency
    matrix, the positive entries of H are the pairs of nodes at distance at most 3^L.
    """
    layers = 0
    while 3**layers < distance:
        layers += 1
    return layers


@checked
def within(A: Graphs, distance: Steps) -> np.ndarray:
    """Whether the distance of two nodes is at most `distance`, as booleans (…, n, n).

    The entry (i, j) is about the nodes i and j of a graph with an adjacency matrix in A (…, n, n).
    It is false for nodes that are not connected.
    """
    apart = distances(A)
    return (apart >= 0) & (apart <= distance)


@checked
def beyond(A: Graphs, n_layers: Layers) -> np.ndarray:
    """Whether two nodes are connected and more than 3^L apart, as booleans (…, n, n).

    The entry (i, j) is about the nodes i and j of a graph in A (…, n, n), and L = `n_layers`. The
    number 3^L is the largest distance at which L layers H ← H + HHᵀH connect nodes, if H = A at
    first.
    """
    return distances(A) > capacity(n_layers)
