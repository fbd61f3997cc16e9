"""Search of a graph from a source, one edge after another, and edges as lists.

Edges (m, 2) are pairs u → v of nodes in 0 … n − 1, in a fixed order; loops and repeated edges are
allowed.  The search follows the first edge that leads from a node that it has found to one that it
has not, as long as there is one: it finds what can be reached, each node once.
"""

from __future__ import annotations

from collections import deque
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np

from theory import machine
from theory.graphs.adjacency import Edges, OneGraph, from_edges
from theory.json_table import json_table
from theory.kinds import Count, File, InputError, Steps, Tokens, Within, checked, read

Node: TypeAlias = Annotated[Steps, Within(below="n")]
"""One of the nodes 0 … n − 1."""


class EdgeList(NamedTuple):
    """A graph of `nodes` nodes by its edges (m, 2)."""

    name: str
    nodes: int
    edges: np.ndarray


@checked
def both_ways(A: OneGraph) -> np.ndarray:
    """The edges (m, 2) of a graph (n, n), each in both directions, without loops, row by row."""
    return np.argwhere(A - np.eye(len(A), dtype=np.int64))


@checked
def search(edges: Edges, n: Count, source: Node) -> list[int]:
    """The nodes that can be reached from the source, in the order of the search, itself first."""
    pairs = edges.tolist()
    found = dict.fromkeys([source])
    while True:
        ahead = next((v for u, v in pairs if u in found and v not in found), None)
        if ahead is None:
            return list(found)
        found[ahead] = None


class SearchSteps(NamedTuple):
    """After each token of sequences (…, T): the next node, −1 if there is none; the nodes so far as
    0 and 1 (…, T, n); and e_u − 2e_v of the first edge so far that leads on, or 0, (…, T, n)."""

    answers: np.ndarray
    visited: np.ndarray
    followed: np.ndarray


@checked
def search_steps(tokens: Tokens, n: Count) -> SearchSteps:
    """The search, token by token: 0 … n − 1 are nodes that are found, n + u·n + v the edge u → v.

    Raises `ValueError` for other tokens, and for more nodes than there is memory.
    """
    machine.fits_in_memory(f"{tokens.size} tokens of {n} nodes", 16 * tokens.size * n, "give fewer")
    if tokens.max() >= n + n * n:
        raise InputError(f"tokens contain {tokens.max()}: give tokens below n + n² = {n + n * n}")
    answers = np.full(tokens.shape, -1)
    visited, followed = np.zeros((2, *tokens.shape, n))
    for row in np.ndindex(tokens.shape[:-1]):
        edges, found = list[tuple[int, int]](), set[int]()
        for t, token in enumerate(tokens[row].tolist()):
            if token < n:
                found.add(token)
            else:
                edges.append(divmod(token - n, n))
            visited[row][t, list(found)] = 1
            leads = next((e for e in edges if e[0] in found and e[1] not in found), None)
            if leads is not None:
                answers[row][t] = leads[1]
                followed[row][t, leads] = 1, -2
    return SearchSteps(answers, visited, followed)


@checked
def reachable(edges: Edges, n: Count, source: Node) -> set[int]:
    """The nodes that can be reached from the source, breadth-first."""
    found, queue = {source}, deque([source])
    while queue:
        node = queue.popleft()
        for ahead in edges[edges[:, 0] == node, 1].tolist():
            if ahead not in found:
                found.add(ahead)
                queue.append(ahead)
    return found


@checked
def read_edges(path: Annotated[Any, File("edges")]) -> EdgeList:
    """A graph from JSON: `{"edges": [[0, 1], [1, 2]], "nodes": 4, "name": "mine"}`, or the edges
    alone; without `nodes` there are as many as the largest number says.

    Raises `ValueError` for a file that cannot be read, for what is not JSON, and for what are no
    edges.
    """
    fields = json_table(path, ("edges", "nodes", "name"))
    given = fields["edges"]
    if not isinstance(given, list):
        raise InputError(f"the edges in {path} are {given!r}: give pairs of nodes [[0, 1], …]")
    numbers = [node for pair in given if isinstance(pair, list) for node in pair]
    whole = [node for node in numbers if isinstance(node, int) and not isinstance(node, bool)]
    if len(whole) < len(numbers):
        raise InputError(f"an edge in {path} has a node that is no whole number: give 0, 1, …")
    n = read(Count, "nodes", fields.get("nodes", 1 + max(whole, default=0)))
    from_edges(given, n)
    pairs = np.array(given, dtype=np.int64).reshape(-1, 2)
    return EdgeList(str(fields.get("name", path.stem)), n, pairs)
