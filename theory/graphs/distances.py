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

UNCONNECTED = -1
MOST_LAYERS = 10_000  # 3^10000 has 4772 digits

Layers: TypeAlias = Annotated[Steps, Within(most=MOST_LAYERS)]
"""A number of layers, at most 10 000."""


@checked
def distances(A: Graphs) -> np.ndarray:
    """The distances between all pairs of nodes of graphs A, (…, n, n) int64; −1 if not connected.

    Takes at most 1 + D products of n × n matrices, where D is the largest distance.
    """
    edges = A.astype(np.float32)
    reached = np.broadcast_to(np.eye(edges.shape[-1], dtype=bool), edges.shape)
    found = np.where(reached, 0, UNCONNECTED)
    for k in range(1, edges.shape[-1]):
        further = (reached.astype(np.float32) @ edges) > 0
        found[further & ~reached] = k
        if np.array_equal(further, reached):
            break
        reached = further
    return found


@checked
def distances_by_definition(A: OneGraph) -> np.ndarray:
    """The distances (n, n) between the nodes of a graph A (n, n), by breadth-first searches."""
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
    """The matrices R (…, n, n) with R_ij = 1 iff nodes i and j are connected in A, else 0.

    R is computed by ⌈log₂(n − 1)⌉ squarings of the adjacency matrices A (…, n, n).
    """
    reached = A.astype(np.float32)
    for _ in range((reached.shape[-1] - 2).bit_length() if reached.shape[-1] > 2 else 0):
        reached = (reached @ reached > 0).astype(np.float32)
    return reached.astype(np.int64)


@checked
def components(A: Graphs) -> np.ndarray:
    """The smallest node (…, n) of the component of each node, for graphs A (…, n, n)."""
    return np.asarray(connected(A).argmax(-1))


@checked
def diameter(A: Graphs) -> np.ndarray:
    """The largest distance between two connected nodes of each graph A (…, n, n), (…,)."""
    return np.asarray(distances(A).max(axis=(-1, -2)))


@checked
def capacity(n_layers: Layers) -> int:
    """3^L, the largest distance of two nodes that L = `n_layers` layers of tripling connect."""
    return int(3**n_layers)


@checked
def least_layers(distance: Steps) -> int:
    """⌈log₃ distance⌉, the smallest integer L ≥ 0 with 3^L ≥ distance."""
    layers = 0
    while 3**layers < distance:
        layers += 1
    return layers


@checked
def within(A: Graphs, distance: Steps) -> np.ndarray:
    """Whether two nodes of graphs A (…, n, n) are within `distance`, (…, n, n) as booleans."""
    apart = distances(A)
    return (apart >= 0) & (apart <= distance)


@checked
def beyond(A: Graphs, n_layers: Layers) -> np.ndarray:
    """Whether two nodes of graphs A are connected but more than 3^L apart, (…, n, n) as booleans.

    L = `n_layers`, and 3^L is the `capacity` of L layers of tripling.
    """
    return distances(A) > capacity(n_layers)
