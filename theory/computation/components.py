"""Connected components of a graph by minimum labels, with hooking and pointer jumping.

Nodes are numbered 1, …, n. Each node v has a label p(v). At first p(v) = v, and at the end p(v) is
the smallest node of the component of v. In a step

    jump   every node looks up p(p(v))
    hook   every edge uv looks up p(u) and p(v), and sends their minimum to node max(p(u), p(v))
    p(v) ← the minimum of p(p(v)) and of the numbers sent to v

The label of v is a node of the component of v and never grows, so p(v) ≤ v. Let m be the smallest
node of a component, and S the set of the nodes of this component with label m. If S is not the
whole component, some edge uv has u in S and v not in S, and sends m to the node x = p(v) ≠ m.
Afterwards x is in S. If x was in S before the message, v is new in S, since v looked up p(x) = m.
So S grows with every message, and after n − 1 messages all labels are right. Conversely, if the
ends of every edge have equal labels, then all labels are right.

In the overlapped form, a step sends the labels that edges looked up in the step before, so that a
message takes two steps of one layer each. In the other form, looking up and sending are separate
steps of the program.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import scipy  # its submodules are loaded when they are used

from theory import machine
from theory.computation.kinds import Edges
from theory.computation.pram import Program, Read, Set, Step, Write, processors_fit
from theory.kinds import Count, InputError, Seed, Steps, Within, checked

LOOK_UP = Read("p", ("u", "p"), "a"), Read("p", ("v", "p"), "b")
"""Edges look up p(u) and p(v), since their p is 0; nodes look up p(p(v)) in both reads, since their
u and v are 0."""

SORTED = Set("lo", "min", ("a", "b")), Set("hi", "max", ("a", "b"))
SEND = Write("lo", "hi", "m")


@checked
def components(
    n_nodes: Count, n_edges: Steps, steps: Steps | None = None, *, overlapped: bool = True
) -> Program:
    """The PRAM program that labels each node of a graph with the smallest node of its component.

    The graphs have n = n_nodes nodes and at most n_edges edges. Processors 1, …, n are the nodes,
    and the other processors are the edges. The program's inputs are the registers u and v. At an
    edge they are the two ends of the edge; at a node they are 0.

    At first the label of a node is the node. An edge looks up the labels of its ends, and sends the
    smaller label to the node that equals the larger label. If node x has the label y, its new label
    is the minimum of the label of node y and of the labels that are sent to x.

    By default there are 2(n − 1) steps, which are enough for every graph. If `overlapped` is true,
    an edge looks up labels in every step, and sends them in the next step. Otherwise looking up and
    sending are separate steps. Raises `ValueError` if `overlapped` is false and the number of steps
    is odd.
    """
    n, m = n_nodes, n_edges
    processors_fit(n + m)
    steps = enough_steps(n) if steps is None else steps
    if overlapped:
        least = Set("p", "min", ("a", "m"), at="node")
        body: tuple[Step, ...] = (Step(LOOK_UP, (SEND,), (*SORTED, least)),)
    else:
        least = Set("p", "min", ("lo", "m"), at="node")
        body = Step(LOOK_UP, (), SORTED), Step((), (SEND,), (least,))
        if steps % 2:
            raise InputError(
                f"steps is {steps}: give an even number of steps, since a message takes two steps"
            )
    return Program(
        f"components({n}, {m}, {steps}{'' if overlapped else ', overlapped=False'})",
        n + m,
        inputs=("u", "v"),
        answer="p",
        steps=body,
        repeat=steps // len(body),
        initial={"p": tuple(range(1, n + 1))},
        kinds={"node": frozenset(range(1, n + 1))},
    )


def enough_steps(n_nodes: int) -> int:
    """The number 2(n − 1) of steps after which `components` has labelled every graph of n nodes.

    A message along an edge takes two steps, and n − 1 successive messages are enough.
    """
    return 2 * (n_nodes - 1)


def as_inputs(edges: np.ndarray, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """The inputs u and v of the program `components`, each (…, n + m), for edges (…, m, 2).

    Here n = n_nodes. The first n entries belong to nodes and are 0.
    """
    at_nodes = np.zeros((*edges.shape[:-2], n_nodes, 2), dtype=np.int64)
    both = np.concatenate([at_nodes, edges], axis=-2)
    return both[..., 0], both[..., 1]


@checked
def least_labels(edges: Annotated[Edges, Within(most="n_nodes")], n_nodes: Count) -> np.ndarray:
    """The smallest node of the component of each node, (…, n_nodes), by a search of the graph.

    `edges` (…, m, 2) contains the m edges of each graph, as pairs of nodes. Nodes are numbered from
    1.
    """
    n = n_nodes
    processors_fit(n)
    labels = np.empty((*edges.shape[:-2], n), dtype=np.int64)
    for at in np.ndindex(edges.shape[:-2]):
        u, v = edges[at].T - 1
        graph = scipy.sparse.coo_array((np.ones(len(u)), (u, v)), shape=(n, n))
        _, which = scipy.sparse.csgraph.connected_components(graph, directed=False)
        _, first = np.unique(which, return_index=True)
        labels[at] = 1 + first[which]
    return labels


@checked
def settled_after(
    edges: Annotated[Edges, Within(most="n_nodes")], n_nodes: Count, *, overlapped: bool = True
) -> int:
    """The number of steps after which the PRAM program `components` has labelled a graph rightly.

    The right label of a node is the smallest node of its component. The edges are an array (m, 2):
    m pairs of nodes, which are numbered from 1. In the program, edges look up the labels of their
    ends and send the smaller label on. If `overlapped` is true, an edge sends labels in the step
    after the one in which it looked them up, and looks up labels in every step. Otherwise looking
    up and sending are separate steps.
    """
    program = components(n_nodes, len(edges), overlapped=overlapped)
    right = least_labels(edges, n_nodes)
    return next(
        after
        for after, held in enumerate(program.run(*as_inputs(edges, n_nodes)))
        if np.array_equal(held["p"][:n_nodes], right)
    )


def slowest(edges: np.ndarray, n: int) -> int:
    """The largest number of steps that the program `components` takes on any of several graphs.

    The graphs have n nodes, and their edges are an array (graphs, edges, 2).
    """
    right = least_labels(edges, n)
    program = components(n, edges.shape[1])
    for after, held in enumerate(program.run(*as_inputs(edges, n))):
        if (held["p"][:, :n] == right).all():
            return after
    return program.repeat + 1


@checked
def shuffled_path(n_nodes: Count, seed: Seed) -> np.ndarray:
    """The edges (n − 1, 2) of a path through all n = n_nodes nodes in random order.

    The nodes are numbered from 1.
    """
    machine.fits_in_memory(f"the {n_nodes} nodes of a path", 40 * n_nodes, "give fewer nodes")
    order = 1 + seed.permutation(n_nodes)
    return np.stack([order[:-1], order[1:]], axis=1)
