"""Pointer graphs of token sequences: the hops of an induction head follow their edges.

Node 0 is BOS and node i = 1 … T the i-th token of a sequence, which points to find(i) of
[Sanford2024], the position of its match; a token without a match points to BOS, and BOS to itself.
Tokens a b a b … of two symbols give a path of T edges, 1 – 0 – 2 – … – T: the first two have no
match, and each of the others points to its predecessor.

The numbers of layers below suffice to find all pairs of connected nodes.  D is the largest diameter
of a component.  A fixed point is a node that points to itself, and h is the smallest number of hops
after which every node has reached a fixed point.

Tripling and squaring.  After l layers of tripling R_ij = 1 iff dist(i, j) ≤ 3^l, after l layers of
squaring iff dist(i, j) ≤ 2^l (`tripling.py`, `squaring.py` of `constructions/graphs`).  So all
connected pairs are found iff 3^l ≥ D, respectively 2^l ≥ D.

Pointer doubling.  find(i) ≤ i, so each component has exactly one fixed point, and every node of the
component reaches it.  After 1 + m layers of `constructions/retrieval/hop.py` node i contains
find^{2^m}(i).  If 2^m ≥ h, all nodes of a component contain its fixed point, and different
components have different ones.  If 2^m < h, some node does not contain the fixed point of its
component, but the fixed point contains itself: two connected nodes contain different pointers.  So
1 + ⌈log₂h⌉ layers are necessary and sufficient.

The bounds for the PRAM program and for the search are proved in `theory/computation/components.py`
and `constructions/graphs/search.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from theory.graphs.adjacency import from_edges
from theory.graphs.distances import diameter, distances_by_definition
from theory.kinds import OneSequence, checked
from theory.retrieval import hop_positions


class Pointers(NamedTuple):
    """A graph whose nodes are the tokens of a sequence; each node points to one node.

    There are T tokens and n = T + 1 nodes. Node 0 is BOS, and node i = 1 … T is the i-th token.
    `tokens` (T,) is the sequence, and node i points to node `to[i]`. `A` (n, n) is the adjacency
    matrix of the undirected graph with an edge from each node to the node to which it points.

    A hop goes from a node to the node to which it points. `hops` is the smallest number of hops
    after which every node has reached a node that points to itself.
    """

    tokens: np.ndarray
    to: np.ndarray
    A: np.ndarray
    hops: int

    @property
    def diameter(self) -> int:
        """The largest distance between two connected nodes of the graph `A`."""
        return int(diameter(self.A))

    @property
    def connected(self) -> np.ndarray:
        """Whether each pair of nodes of the graph `A` is connected, as booleans (n, n).

        The connected nodes are found by breadth-first search.
        """
        return np.asarray(distances_by_definition(self.A) >= 0)


@checked
def pointers(tokens: OneSequence) -> Pointers:
    """The graph of a sequence of tokens (T,) in which each token points to its match.

    Node 0 is BOS, and node i = 1 … T is the i-th token. The match of token i is the position
    find(i) of [Sanford2024]: the position after the last earlier occurrence of the same symbol. BOS
    and tokens without a match point to BOS.
    """
    to = np.append(0, hop_positions(tokens, 1) + 1)
    nodes = np.arange(len(to))
    at, hops = nodes, 0
    while (to[at] != at).any():
        at, hops = to[at], hops + 1
    return Pointers(tokens, to, from_edges(np.stack([nodes, to], axis=1), len(to)), hops)
