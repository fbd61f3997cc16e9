"""Graphs in which every node points to one: what the hops of an induction head follow.

Node 0 is BOS and node i = 1 … T the i-th token of a sequence, which points to find(i) of
[Sanford2024], where it finds its match; a token that finds none points to BOS, and BOS to itself.
Tokens a b a b … of two symbols are a path of T edges, 1 – 0 – 2 – … – T: the first two find no
match, and each of the others the one before it.
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
    hops every node is where it stays."""

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
