"""Graphs in which every node points to one: the hops of an induction head follow them.

Node 0 is BOS and node i = 1 … T the i-th token of a sequence, which points to find(i) of
[Sanford2024], the position of its match; a token without a match points to BOS, and BOS to itself.
Tokens a b a b … of two symbols are a path of T edges, 1 – 0 – 2 – … – T: the first two have no
match, and each of the others points to the one before it.

How many layers find all pairs of connected nodes.  D is the largest diameter of a component, h the
number of hops after which every node is at one that points to itself.

Tripling and squaring.  After l layers R_ij = 1 iff dist(i, j) ≤ 3^l, or 2^l (`tripling.py`,
`squaring.py` of `constructions/graphs`): these are all connected pairs iff 3^l ≥ D, or 2^l ≥ D.

Pointer doubling.  find(i) ≤ i, so each component has one node that points to itself, and every node
of it gets there.  After 1 + m layers of `constructions/retrieval/hop.py` node i holds
find^{2^m}(i).  If 2^m ≥ h, that is the same node in all of a component, and another one in another
component.  If 2^m < h, some node is not there yet, while the one that points to itself is: two
connected nodes hold different pointers.  So 1 + ⌈log₂h⌉ layers are needed and enough.

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
    """The graph A (n, n), n = T + 1, of tokens (T,): node i points to node to[i], and after `hops`
    hops every node is at one that points to itself."""

    tokens: np.ndarray
    to: np.ndarray
    A: np.ndarray
    hops: int

    @property
    def diameter(self) -> int:
        """D, the largest distance of connected nodes."""
        return int(diameter(self.A))

    @property
    def connected(self) -> np.ndarray:
        """Which pairs of nodes are connected, by breadth-first search."""
        return np.asarray(distances_by_definition(self.A) >= 0)


@checked
def pointers(tokens: OneSequence) -> Pointers:
    """The graph of a sequence of tokens (T,)."""
    to = np.append(0, hop_positions(tokens, 1) + 1)
    nodes = np.arange(len(to))
    at, hops = nodes, 0
    while (to[at] != at).any():
        at, hops = to[at], hops + 1
    return Pointers(tokens, to, from_edges(np.stack([nodes, to], axis=1), len(to)), hops)
