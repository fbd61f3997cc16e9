"""Options of claims on graphs: a number of nodes, or the user's own graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np

from theory.graphs import from_edges
from theory.graphs.search import EdgeList, read_edges
from theory.kinds import InputError
from verify.claim import option

MOST_NODES = 256  # limit, as all pairs run through every layer

Nodes = Annotated[int | None, option("number of nodes of the graphs", min=2, max=MOST_NODES)]
Edges = Annotated[
    Path | None,
    option("a JSON file with the edges of your own graph, as pairs of nodes [[0, 1], [1, 2], …]"),
]


def chosen(n_nodes: int | None, edges: Path | None, default: int) -> tuple[int, EdgeList | None]:
    """The number of nodes, and the user's graph from the file `edges`, or None.

    Raises InputError for both options at once, and for a number of nodes outside 2 … 256.
    """
    if edges is not None and n_nodes is not None:
        raise InputError(
            f"n_nodes is {n_nodes} and edges is {edges}: give n_nodes or edges, not both"
        )
    own = None if edges is None else read_edges(edges)
    n = own.n_nodes if own is not None else default if n_nodes is None else n_nodes
    if not 2 <= n <= MOST_NODES:
        raise InputError(f"the number of nodes is {n}: give a graph of 2 to {MOST_NODES} nodes")
    return n, own


def adjacency(own: EdgeList) -> np.ndarray:
    """The adjacency matrix (n, n) of the user's edge list, with each edge in both directions."""
    return from_edges(own.edges, own.n_nodes)
