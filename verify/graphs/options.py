"""Options of claims on graphs: how many nodes, or a graph of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np

from theory.graphs import from_edges
from theory.graphs.search import EdgeList, read_edges
from theory.kinds import InputError
from verify.claim import option

Nodes = Annotated[int | None, option("nodes of the graphs, at least 2")]
Edges = Annotated[
    Path | None,
    option("a graph of your own, as JSON: its edges as pairs of nodes [[0, 1], [1, 2], …]"),
]
MOST_NODES = 256  # of which all pairs are run through every layer


def chosen(n_nodes: int | None, edges: Path | None, default: int) -> tuple[int, EdgeList | None]:
    """How many nodes, and the graph that was given, if one was.

    Raises InputError for both options at once, and for too many nodes or too few.
    """
    if edges is not None and n_nodes is not None:
        raise InputError(f"n_nodes is {n_nodes} and edges is {edges}: give only one of them")
    own = None if edges is None else read_edges(edges)
    n = own.n_nodes if own is not None else default if n_nodes is None else n_nodes
    if not 2 <= n <= MOST_NODES:
        raise InputError(f"a graph of {n} nodes: give one of 2 to {MOST_NODES}")
    return n, own


def adjacency(own: EdgeList) -> np.ndarray:
    """Its adjacency (n, n), each edge both ways."""
    return from_edges(own.edges, own.n_nodes)
