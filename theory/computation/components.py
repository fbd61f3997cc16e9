"""Connected components of a graph by least labels: union, hooking and jumping.

Nodes are numbered 1, …, n. Each node v has a label p(v), at first v; the result is the least number
in its component. In a step

    jump   every node looks up p(p(v))
    hook   every edge uv looks up p(u) and p(v), and sends the smaller to node max(p(u), p(v))
    p(v) ← the least of p(p(v)) and of the numbers sent to v

A label is a node of the same component and never grows, so p(v) ≤ v. Let m be the least node of a
component and S the set of its nodes with label m. If S is not the whole component, some edge has u
in S and v not in S; the message m goes to x = p(v) ≠ m. After it, x is new in S; or x was in S
before, and then v is new, as it looked up p(x). So S grows with every message, and after n − 1
messages all labels are right. Conversely, labels are right as soon as the ends of every edge have
equal labels.

Overlapped, a step sends the labels that edges looked up in the step before: a message takes two
steps, each of one layer. Otherwise looking up and sending are two separate steps of the program.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components as components_of

from theory import machine
from theory.computation.kinds import Edges
from theory.computation.pram import Program, Read, Set, Step, Write, processors_fit
from theory.kinds import Count, InputError, Seed, Steps, Within, checked

LOOK_UP = Read("p", ("u", "p"), "a"), Read("p", ("v", "p"), "b")
"""Edges look up p(u) and p(v), as their p is 0; nodes p(p(v)) twice, as their u and v are 0."""

SORTED = Set("lo", "min", ("a", "b")), Set("hi", "max", ("a", "b"))
SEND = Write("lo", "hi", "m")


@checked
def components(
    n_nodes: Count, n_edges: Steps, steps: Steps | None = None, *, overlapped: bool = True
) -> Program:
    """The PRAM program of least labels, for n nodes and at most m edges.

    Processors 1, …, n are the nodes and the others the edges; the inputs u and v of an edge are its
    ends, and 0 at nodes. By default there are 2(n − 1) steps, which suffice for every graph. Raises
    `ValueError` for an odd number of steps if `overlapped` is False.
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
                f"steps is {steps}: give an even number, since a message takes two steps"
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
    """The number 2(n − 1): a message takes two steps, and n − 1 messages settle all labels."""
    return 2 * (n_nodes - 1)


def as_inputs(edges: np.ndarray, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """The registers u and v (…, n + m) of edges (…, m, 2)."""
    at_nodes = np.zeros((*edges.shape[:-2], n_nodes, 2), dtype=np.int64)
    both = np.concatenate([at_nodes, edges], axis=-2)
    return both[..., 0], both[..., 1]


@checked
def least_labels(edges: Annotated[Edges, Within(most="n_nodes")], n_nodes: Count) -> np.ndarray:
    """The least node of each node's component (n,), by a search of the graph.

    Edges (m, 2), or (…, m, 2) for labels (…, n).
    """
    n = n_nodes
    processors_fit(n)
    labels = np.empty((*edges.shape[:-2], n), dtype=np.int64)
    for at in np.ndindex(edges.shape[:-2]):
        u, v = edges[at].T - 1
        _, which = components_of(coo_array((np.ones(len(u)), (u, v)), shape=(n, n)), directed=False)
        _, first = np.unique(which, return_index=True)
        labels[at] = 1 + first[which]
    return labels


@checked
def settled_after(
    edges: Annotated[Edges, Within(most="n_nodes")], n_nodes: Count, *, overlapped: bool = True
) -> int:
    """The number of steps after which the labels of a graph (m, 2) are right, by a run."""
    program = components(n_nodes, len(edges), overlapped=overlapped)
    right = least_labels(edges, n_nodes)
    return next(
        after
        for after, held in enumerate(program.run(*as_inputs(edges, n_nodes)))
        if np.array_equal(held["p"][:n_nodes], right)
    )


def slowest(edges: np.ndarray, n: int) -> int:
    """The greatest number of steps that one of the graphs (graphs, edges, 2) takes."""
    right = least_labels(edges, n)
    program = components(n, edges.shape[1])
    for after, held in enumerate(program.run(*as_inputs(edges, n))):
        if (held["p"][:, :n] == right).all():
            return after
    return program.repeat + 1


@checked
def shuffled_path(n_nodes: Count, seed: Seed) -> np.ndarray:
    """The edges (n − 1, 2) of a path through all nodes in random order."""
    machine.fits_in_memory(f"a path of {n_nodes} nodes", 40 * n_nodes, "give fewer")
    order = 1 + seed.permutation(n_nodes)
    return np.stack([order[:-1], order[1:]], axis=1)
