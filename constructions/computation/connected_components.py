"""Connected components: the smallest node of each component, with one layer for each PRAM step.

BOS is at position 0, the nodes are at 1 … n, and the edges follow.  The program is in
`theory/computation/components.py`; its labels p are right after n − 1 messages at the latest.
`pram.py` translates its step into a layer with three heads:

    p of u + p, into a       edges, whose p is 0, look up p(u); nodes, whose u is 0, look up p(p)
    p of v + p, into b       edges look up p(v), and nodes p(p)
    lo to hi, into m         edges send lo from the layer before to node hi; the minimum arrives

The MLP computes lo = min(a, b), hi = max(a, b), and p = min(a, m) at nodes.  The stream also
contains the squares of p, a, b, lo, hi and m, since hi is an address.

Labels are right iff the ends of every edge have equal labels.  If they are not right after the last
layer, the model raises ValueError.
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
    """Returns a model that computes the smallest node of the component of each node, (…, n).

    In `connected_components(n, m)(pairs)` the pairs (…, m', 2), m' ≤ m, are the edges of graphs on
    nodes 1 … n, in any order and direction; loops and repeated edges are allowed.  Each layer has 3
    heads, width 18 and 18 ReLUs; all layers have the same weights.  By default there are 2(n − 1)
    layers, which are enough for every graph.

    The model raises ValueError for other inputs, and for a graph whose labels need more layers.
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
    """The interface of graphs: edges (…, m', 2) on nodes 1 … n → labels (…, n), int64.

    Raises ValueError for more than m edges, for numbers that are not nodes, and for an edge whose
    ends have different labels in the output.
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
                f"the graph has {pairs.shape[-2]} edges and the model was built for at most "
                f"{self.n_edges}: build it again with n_edges={pairs.shape[-2]}"
            )
        return super().check(like, *as_inputs(pairs, self.n_nodes))

    def choices(self) -> tuple[np.ndarray, range]:
        """All edges (n², 2), and the numbers of edges of a graph."""
        pairs = 1 + np.indices((self.n_nodes,) * 2).reshape(2, -1).T
        return pairs, range(self.n_edges + 1)

    def called(self, rows: np.ndarray) -> tuple[np.ndarray, ...]:
        return (rows,)

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        labels = super().read(outputs)[..., : self.n_nodes]
        u, v = (each[..., self.n_nodes :].to(torch.int64) - 1 for each in inputs)
        if bool((labels.gather(-1, u) != labels.gather(-1, v)).any()):
            raise InputError(
                f"labels are not final after {self.n_layers} layers: build the model with more "
                f"layers; {enough_steps(self.n_nodes)} are enough for every graph"
            )
        return labels
