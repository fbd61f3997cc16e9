"""The claim `connectivity-layers`: how many layers connectivity takes, by construction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

import numpy as np

from constructions.computation import connected_components
from constructions.graphs import search, squaring, tripling
from constructions.retrieval import hop
from theory.graphs import Pointers, directed_edges, least_layers, pointers, reachable
from theory.kinds import InputError
from verify.claim import Run, claim, option
from verify.finding import Evidence, Finding, each_at_most, same
from verify.ledger.theorems import ceil_log

DIAMETERS = 2, 3, 4, 9, 16, 28
LONGEST = 64  # largest diameter of a path on which all constructions run
LENGTH = 20  # tokens of a random graph


@claim(
    picture="verify.graphs.connectivity_layers_picture:draw",
    faults_seen=[{"diameter": 4, "samples": 1}],
)
def connectivity_layers(
    run: Run,
    *,
    diameter: Annotated[
        int, option("the diameter of the longest path", min=2, max=LONGEST)
    ] = DIAMETERS[-1],
    samples: Annotated[int, option("number of random graphs", min=1, max=1000)] = 3,
) -> Iterator[Finding]:
    """Connectivity of graphs takes ⌈log₃D⌉ layers by tripling of distances, ⌈log₂D⌉ layers by
    squaring of the adjacency matrix and 1 + ⌈log₂h⌉ layers by pointer doubling, for diameter D and
    h hops.

    The graphs are pointer graphs of sequences of tokens: a token points to its match, which is the
    token after the last earlier occurrence of the same symbol.  Tokens without a match, and the
    initial token BOS, point to BOS.  D is the largest diameter of a component, and h the number of
    hops after which all nodes have reached a node that points to itself.  The inputs of the models
    for tripling and squaring are the rows of the adjacency matrix of n nodes, and the widths of
    these models are n and 2n.  Pointers are doubled by the model for k-hop induction, whose input
    is the sequence of tokens.

    A transformer of width 18 reads the edges and simulates a PRAM program, with one layer for each
    step of the program.  It needs at most 2(n − 1) layers for n nodes, and 2, 3, 4, 5, 6, 7 layers
    on the default paths of 2, 3, 4, 9, 16, 28 edges.

    A transformer of two layers searches the graph by chain of thought.  It decodes the component of
    a node in as many tokens as the component has nodes.
    """
    wanted = [D for D in DIAMETERS if diameter > D]
    paths = [*wanted[: 2 if run.quick else None], diameter]
    graphs = {f"path, D = {D}": pointers(np.arange(D) % 2) for D in paths}
    for i in range(samples):
        symbols = int(run.rng.integers(2, LENGTH))  # with many symbols some tokens have no match
        graphs[f"random {i + 1}"] = pointers(run.rng.integers(symbols, size=LENGTH))
    found = {name: on_graph(graph) for name, graph in graphs.items()}
    yield from _findings(graphs, found)
    run.draw(graphs, found)


Counts = dict[str, int]


def on_graph(graph: Pointers) -> Counts:
    """The smallest number of layers with which each construction is right on a graph, by name.

    For `search`, the value is the number of decoded tokens instead.  The constructions run in
    float64, which is exact for tripling.
    """
    ways = {"tripling": tripled, "squaring": squared, "machine": by_machine, "pointers": doubled}
    counts = {name: _least(way, graph) for name, way in ways.items()}
    return {**counts, "search": searched(graph)}


def _least(right: Callable[[Pointers, int], bool], graph: Pointers) -> int:
    """The smallest number of layers, up to 2n, at which a construction is right; −1 if none is."""
    return next((L for L in range(2 * len(graph.A) + 1) if right(graph, L)), -1)


def tripled(graph: Pointers, L: int) -> bool:
    """Whether L layers of tripling output exactly the connected pairs."""
    predicted = tripling(len(graph.A), L, clipped=True)(graph.A)
    return np.array_equal(predicted.numpy(), graph.connected)


def squared(graph: Pointers, L: int) -> bool:
    """Whether L layers of squaring output exactly the connected pairs."""
    return np.array_equal(squaring(len(graph.A), L)(graph.A).numpy(), graph.connected)


def by_machine(graph: Pointers, L: int) -> bool:
    """Whether labels are equal exactly for connected nodes after L steps of the PRAM program."""
    edges = np.stack([np.arange(len(graph.to)), graph.to], axis=1) + 1
    try:
        labels = connected_components(len(graph.A), len(edges), L)(edges).numpy()
    except InputError:  # labels have not converged
        return False
    return np.array_equal(labels[:, None] == labels, graph.connected)


def doubled(graph: Pointers, L: int) -> bool:
    """Whether pointers are equal exactly for connected nodes after L layers of k-hop induction
    heads.
    """
    if L == 0:
        return False
    model = hop(2 ** (L - 1), int(graph.tokens.max()) + 1, len(graph.tokens))
    pointer = [*model.streams(graph.tokens)][L][:, model.stream["pointer"]].numpy()
    return np.array_equal((pointer[:, None] == pointer).all(-1), graph.connected)


def searched(graph: Pointers) -> int:
    """The number of tokens, ⊥ included, in which the search decodes the component of the last node.

    The result is −1 if the search decodes another set of nodes.
    """
    edges, n = directed_edges(graph.A), len(graph.A)
    model = search(n, len(edges))
    tokens = model.generate(model.interface.prompt(edges, n - 1), n).tolist()
    found = [n - 1, *model.interface.found(tokens)]
    whole = sorted(found) == np.flatnonzero(graph.connected[-1]).tolist()
    return tokens.index(-1) + 1 if whole and -1 in tokens else -1


def tripling_takes(graph: Pointers) -> int:
    """The stated number ⌈log₃D⌉ of layers of tripling; D is the largest diameter of a component."""
    return least_layers(graph.diameter)


def squaring_takes(graph: Pointers) -> int:
    """The stated number ⌈log₂D⌉ of layers of squaring; D is the largest diameter of a component."""
    return ceil_log(2, graph.diameter)


def machine_takes(graph: Pointers) -> int:
    """The upper bound 2(n − 1) on the layers of the PRAM program, for a graph of n nodes."""
    return 2 * (len(graph.A) - 1)


def pointers_take(graph: Pointers) -> int:
    """The stated number 1 + ⌈log₂h⌉ of layers of pointer doubling, where h is `graph.hops`."""
    return 1 + ceil_log(2, graph.hops)


def search_takes(graph: Pointers) -> int:
    """The stated number of tokens of the search: the number of nodes in the source's component.

    One token is decoded for each node of the component except the source, and one for ⊥.
    """
    return len(reachable(directed_edges(graph.A), len(graph.A), len(graph.A) - 1))


def _findings(graphs: dict[str, Pointers], found: dict[str, Counts]) -> Iterator[Finding]:
    stated = {
        "tripling": (
            tripling_takes,
            "smallest number of layers with which tripling connects the right pairs of a graph",
            "⌈log₃D⌉, for the largest diameter D of a component",
        ),
        "squaring": (
            squaring_takes,
            "smallest number of layers with which squaring connects the right pairs of a graph",
            "⌈log₂D⌉, for the largest diameter D of a component",
        ),
        "pointers": (
            pointers_take,
            "smallest number of layers with which pointer doubling by k-hop induction heads "
            "connects the right pairs of a graph",
            "1 + ⌈log₂h⌉, where h hops lead from every node to a node that points to itself",
        ),
        "search": (
            search_takes,
            "number of tokens in which the search by chain of thought decodes the component of a "
            "source, with 2 layers",
            "the number of nodes of the source's component",
        ),
    }
    for id, (takes, name, wanted) in stated.items():
        counts = {graph: each[id] for graph, each in found.items()}
        limits = {graph: takes(each) for graph, each in graphs.items()}
        evidence: Evidence = "exact" if id == "tripling" else "float"
        words = _words(counts)
        yield same(id, name, counts, limits, evidence=evidence, words=words, wanted=wanted)
    counts = {graph: each["machine"] for graph, each in found.items()}
    yield each_at_most(
        "machine",
        "smallest number of layers with which the model of the PRAM program labels the components "
        "of a graph",
        "exact",
        {graph: np.nan if count < 0 else count for graph, count in counts.items()},
        {graph: machine_takes(each) for graph, each in graphs.items()},
        words=_words(counts),
        wanted="at most 2(n − 1), for n nodes",
    )


def _words(counts: Counts) -> str:
    return ", ".join(
        f"{n} on {graph.replace('path,', 'the path with').replace('random', 'random graph')}"
        for graph, n in counts.items()
    )
