"""The smallest node of each connected component, with one layer for each step of a PRAM program.

BOS is at position 0, the nodes are at 1 … n, and the edges follow.  The PRAM program is in
`theory/computation/components.py`.  Each node v has a label p(v), and the labels are right after at
most n − 1 messages.  `pram.py` translates a step of the program into a layer with three heads:

    Read p at u + p, into a   edges, whose p is 0, look up p(u); nodes, whose u is 0, look up p(p)
    Read p at v + p, into b   edges look up p(v), and nodes look up p(p)
    Write lo to hi, into m    edges send lo of the layer before to node hi; m is the minimum of the
                              numbers that arrive

The MLP computes lo = min(a, b), hi = max(a, b), and at nodes p = min(a, m).  The stream also
contains the squares of p, a, b, lo, hi and m, since hi is an address.

The labels are right iff the two ends of every edge have equal labels.  If the labels are not right
after the last layer, the model raises ValueError.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from constructions.call import construction
from constructions.computation.pram import Processors, _Compiled, held_after
from constructions.interface import as_many
from constructions.transformer import Transformer
from theory.computation.components import as_inputs, components, enough_steps
from theory.computation.kinds import EdgeArray
from theory.computation.pram import Program
from theory.kinds import Count, InputError, Steps, Within


@construction
def connected_components(
    n_nodes: Count, n_edges: Steps, n_layers: Steps | None = None
) -> Transformer:
    """Returns a model that computes the smallest node of the connected component of each node.

    `connected_components(n, m)(pairs)` maps the edges of graphs on nodes 1 … n to labels (…, n).
    Label i is the smallest node of the connected component of node i. The pairs (…, m', 2), m' ≤ m,
    are the edges of the graph, in any order and direction. Loops and repeated edges are allowed.
    Each layer has 3 heads, width 18 and 18 ReLUs, and all layers have the same weights. By default
    there are 2(n − 1) layers, which are enough for every graph.

    The model raises ValueError for more than m edges, for nodes outside 1 … n, and for a graph that
    needs more layers than the model has.
    """
    program = components(n_nodes, n_edges, n_layers)
    graph = Graph(n_nodes, n_edges, program.repeat)
    return _Compiled(program).model(graph, partial(_of_graph, n_nodes))


def _of_graph(
    n_nodes: int, program: Program, name: str, power: int, after: int, edges: np.ndarray
) -> np.ndarray:
    """The content of a program register after `after` steps on a graph (…, m, 2)."""
    return held_after(program, name, power, after, *as_inputs(edges, n_nodes))


class Graph(Processors):
    """The interface of a model on graphs: edges (…, m', 2) on nodes 1 … n → labels (…, n), int64.

    Here n is the number of nodes, m' ≤ m is the number of edges of a graph, and m is the largest
    number of edges.  Raises ValueError for more than m edges, for numbers that are not nodes, and
    for an edge whose ends have different labels in the output.
    """

    def __init__(self, n_nodes: int, n_edges: int, n_layers: int) -> None:
        super().__init__(components(n_nodes, n_edges, n_layers))
        self.n_nodes, self.n_edges, self.n_layers = n_nodes, n_edges, n_layers

    def check(self, like: Tensor, *inputs: Any) -> tuple[Any, ...]:
        (edges,) = as_many(inputs, "edges")
        within = Within(least=1, most=self.n_nodes)
        pairs = EdgeArray("... m 2", within, empty=True).read("edges", edges)
        if pairs.shape[-2] > self.n_edges:
            raise InputError(
                f"the graph has {pairs.shape[-2]} edges, and the model was built for at most "
                f"{self.n_edges}: build a model with n_edges={pairs.shape[-2]}"
            )
        return super().check(like, *as_inputs(pairs, self.n_nodes))

    def choices(self) -> tuple[np.ndarray, range]:
        """All n² possible edges, as an array (n², 2), and all possible numbers of edges."""
        pairs = 1 + np.indices((self.n_nodes,) * 2).reshape(2, -1).T
        return pairs, range(self.n_edges + 1)

    def called(self, rows: np.ndarray) -> tuple[np.ndarray, ...]:
        return (rows,)

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        labels = super().read(outputs)[..., : self.n_nodes]
        u, v = (each[..., self.n_nodes :].to(torch.int64) - 1 for each in inputs)
        if bool((labels.gather(-1, u) != labels.gather(-1, v)).any()):
            raise InputError(
                f"the labels are not final after {self.n_layers} layers: build a model with more "
                f"layers ({enough_steps(self.n_nodes)} layers are enough for every graph)"
            )
        return labels
