"""Graph search from a source node along a list of directed edges; reading edge lists from JSON.

Edges (m, 2) are pairs u → v of nodes in 0 … n − 1, in a fixed order; loops and repeated edges are
allowed.  The search repeatedly follows the first edge from a visited to an unvisited node, until
there is no such edge.  It visits every node reachable from the source exactly once.
"""

from __future__ import annotations

from collections import deque
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np

from theory import machine
from theory.graphs.adjacency import Edges, OneGraph, from_edges
from theory.json_table import json_table
from theory.kinds import Count, File, InputError, Steps, Tokens, Within, checked, read

Node: TypeAlias = Annotated[Steps, Within(below="n_nodes")]
"""One of the nodes 0 … n_nodes − 1."""


class EdgeList(NamedTuple):
    """A directed graph: its name, its number of nodes, and its edges u → v as pairs (m, 2)."""

    name: str
    n_nodes: int
    edges: np.ndarray


@checked
def directed_edges(A: OneGraph) -> np.ndarray:
    """The directed edges (m, 2) of a graph with the adjacency matrix A (n, n), without loops.

    Each edge occurs in both directions. The edges are in the order of the rows of A.
    """
    return np.argwhere(A - np.eye(len(A), dtype=np.int64))


@checked
def search(edges: Edges, n_nodes: Count, source: Node) -> list[int]:
    """The nodes that can be reached from `source`, in the order in which a search visits them.

    The edges (m, 2) are directed: an edge (u, v) leads from u to v. The search begins at `source`.
    It repeatedly takes the first edge in the list that leads from a visited to an unvisited node,
    and visits that unvisited node. Nodes are 0 … `n_nodes` − 1.
    """
    pairs = edges.tolist()
    found = dict.fromkeys([source])
    while True:
        ahead = next((v for u, v in pairs if u in found and v not in found), None)
        if ahead is None:
            return list(found)
        found[ahead] = None


class SearchSteps(NamedTuple):
    """The state of a graph search after each token of sequences (…, T), for graphs of n nodes.

    A token is either a node that the search has visited or an edge u → v of the graph.

    `answers` (…, T) is the node to visit next, or −1 if no edge so far leads from a visited node to
    an unvisited node. `visited` (…, T, n) is 1 at the nodes visited so far and 0 elsewhere.
    `followed` (…, T, n) is e_u − 2e_v, where e_u is the one-hot vector of node u. Here u → v is the
    first edge so far that leads from a visited node u to an unvisited node v. If there is no such
    edge, `followed` is 0.
    """

    answers: np.ndarray
    visited: np.ndarray
    followed: np.ndarray


@checked
def search_steps(tokens: Tokens, n_nodes: Count) -> SearchSteps:
    """The states of a graph search after each token of sequences (…, T), for n = `n_nodes` nodes.

    A token below n is a visited node, and token n + u·n + v is the edge u → v. The search follows
    the first edge so far that leads from a visited to an unvisited node.

    Raises `ValueError` if (a) a token is above n + n² − 1, or (b) the arrays do not fit in memory.
    """
    n, size = n_nodes, tokens.size
    machine.fits_in_memory(f"{size} tokens of {n} nodes", 16 * size * n, "give fewer tokens")
    if tokens.max(initial=0) >= n + n * n:
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
def reachable(edges: Edges, n_nodes: Count, source: Node) -> set[int]:
    """The set of nodes that can be reached from `source` along directed edges (m, 2).

    The set contains `source`, and is found by breadth-first search. An edge is a pair (u, v) of
    nodes in 0 … `n_nodes` − 1 and leads from u to v.
    """
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
    """The directed graph in a JSON file `{"edges": [[0, 1], [1, 2]], "nodes": 4, "name": "mine"}`.

    The file may also contain only the list of edges. By default `nodes` is 1 + the largest node of
    an edge.

    Raises `ValueError` if the file (a) cannot be read, (b) is not JSON, or (c) has no list of
    edges.
    """
    fields = json_table(path, ("edges", "nodes", "name"))
    given = fields["edges"]
    if not isinstance(given, list):
        raise InputError(f"the edges in {path} are {given!r}: give pairs of nodes [[0, 1], …]")
    numbers = [node for pair in given if isinstance(pair, list) for node in pair]
    whole = [node for node in numbers if isinstance(node, int) and not isinstance(node, bool)]
    if len(whole) < len(numbers):
        raise InputError(f"an edge in {path} has a node that is not an integer: give nodes 0, 1, …")
    n = read(Count, "nodes", fields.get("nodes", 1 + max(whole, default=0)))
    from_edges(given, n)
    pairs = np.array(given, dtype=np.int64).reshape(-1, 2)
    return EdgeList(str(fields.get("name", path.stem)), n, pairs)
