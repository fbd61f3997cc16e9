"""Graphs in which every node points to one, that all constructions can read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from theory.graphs import distances_by_definition, from_edges
from theory.retrieval import hop_positions
from verify.claim import Run


class Pointers(NamedTuple):
    """A graph (n, n) that all constructions can read: each token of a sequence points to where it
    finds its match, and to BOS, node 0, if there is none.

    `hops` are how many a token takes at most until it stays where it is.
    """

    name: str
    tokens: np.ndarray
    to: np.ndarray
    A: np.ndarray
    hops: int

    @property
    def diameter(self) -> int:
        """D, the largest distance of connected nodes."""
        return int(distances_by_definition(self.A).max())

    @property
    def connected(self) -> np.ndarray:
        """Which pairs of nodes are connected, by breadth-first search."""
        return np.asarray(distances_by_definition(self.A) >= 0)


def a_path(D: int) -> Pointers:
    """a b a b …: token i ≥ 3 finds the one before it, the first two find nothing; with BOS it is a
    path of D edges, 1 – 0 – 2 – … – D."""
    return pointers(f"path, D = {D}", np.arange(D) % 2)


def random_pointers(run: Run, length: int, number: int) -> Pointers:
    """The graph of a random sequence, of more symbols than some find a match for."""
    symbols = int(run.rng.integers(2, length))
    return pointers(f"random {number + 1}", run.rng.integers(symbols, size=length))


def pointers(name: str, tokens: np.ndarray) -> Pointers:
    """Node i = 1 … T points to find(i) of [Sanford2024], or to 0, which points to itself."""
    to = np.append(0, hop_positions(tokens, 1) + 1)
    place, hops = np.arange(len(to)), 0
    while (to[place] != place).any():
        place, hops = to[place], hops + 1
    return Pointers(
        name, tokens, to, from_edges(np.stack([np.arange(len(to)), to], 1), len(to)), hops
    )
