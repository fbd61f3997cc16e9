"""Search of a graph from a source, one edge after another, and edges as lists.

Edges (m, 2) are pairs u → v of nodes in 0 … n − 1, in a fixed order; loops and repeated edges are
allowed.  The search follows the first edge that leads from a node that it has found to one that it
has not, as long as there is one: it finds what can be reached, each node once.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError
from theory.graphs.adjacency import as_adjacency, from_edges


class EdgeList(NamedTuple):
    """A graph of `nodes` nodes by its edges (m, 2)."""

    name: str
    nodes: int
    edges: np.ndarray


def as_edges(edges: ArrayLike, n: int) -> np.ndarray:
    """Edges (m, 2) as int64.  Raises `ValueError` as `from_edges`."""
    from_edges(edges, n)
    return checks.array_of("edges", edges).reshape(-1, 2).astype(np.int64)


def both_ways(A: ArrayLike) -> np.ndarray:
    """The edges (m, 2) of a graph (n, n), each in both directions, without loops, row by row.

    Raises `ValueError` as `as_adjacency`, and for more than one graph.
    """
    graph = as_adjacency(A)
    if graph.ndim != 2:
        raise InputError(f"A has shape {graph.shape}: give one graph (n, n)")
    return np.argwhere(graph - np.eye(len(graph), dtype=np.int64))


def search(edges: ArrayLike, n: int, source: int) -> list[int]:
    """The nodes that can be reached from the source, in the order of the search, which it begins.

    Raises `ValueError` as `from_edges`, and for a source that is no node.
    """
    pairs = as_edges(edges, n).tolist()
    found = dict.fromkeys([checked_node(source, n)])
    while True:
        ahead = next((v for u, v in pairs if u in found and v not in found), None)
        if ahead is None:
            return list(found)
        found[ahead] = None


def reachable(edges: ArrayLike, n: int, source: int) -> set[int]:
    """The nodes that can be reached from the source, breadth-first.

    Raises `ValueError` as `search`.
    """
    pairs, source = as_edges(edges, n), checked_node(source, n)
    found, queue = {source}, deque([source])
    while queue:
        node = queue.popleft()
        for ahead in pairs[pairs[:, 0] == node, 1].tolist():
            if ahead not in found:
                found.add(ahead)
                queue.append(ahead)
    return found


def checked_node(node: Any, n: int) -> int:
    """A node as int; `ValueError` for what is not one of 0 … n − 1."""
    number = checks.step_count("source", node)
    if number >= n:
        raise InputError(f"source is {number}: give a node from 0 to {n - 1}")
    return number


def read_edges(path: Path | str) -> EdgeList:
    """A graph from JSON: `{"edges": [[0, 1], [1, 2]], "nodes": 4, "name": "mine"}`, or the edges
    alone; without `nodes` there are as many as the largest number says.

    Raises `ValueError` for a file that cannot be read, for what is not JSON, and for what are no
    edges.
    """
    path = checks.path_of("edges", path)
    fields = checks.table(path, ("edges", "nodes", "name"))
    given = fields["edges"]
    if not isinstance(given, list):
        raise InputError(f"the edges in {path} are {given!r}: give pairs of nodes [[0, 1], …]")
    numbers = [node for pair in given if isinstance(pair, list) for node in pair]
    whole = [node for node in numbers if isinstance(node, int) and not isinstance(node, bool)]
    if len(whole) < len(numbers):
        raise InputError(f"an edge in {path} has a node that is no whole number: give 0, 1, …")
    n = checks.dimension("nodes", fields.get("nodes", 1 + max(whole, default=0)))
    return EdgeList(str(fields.get("name", path.stem)), n, as_edges(given, n))
