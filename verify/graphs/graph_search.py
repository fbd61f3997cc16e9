"""The claim `graph-search`: the nodes reachable from a source, decoded one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from constructions.graphs import search as construction
from constructions.transformer import Transformer
from theory.graphs import (
    all_graphs,
    directed_edges,
    erdos_renyi,
    path,
    reachable,
    search_steps,
    two_chain,
)
from theory.graphs import search as by_edges
from theory.sequences import all_sequences
from theory.waiting import announced
from verify.claim import Run, claim, option
from verify.computation.decoding import decoded, softened
from verify.evidence.gaps import States, at_positions, averaging, gap_finding
from verify.evidence.heads import head_is
from verify.evidence.restoring import leak_bound, makes, sharpness_at_two_lengths
from verify.evidence.sequences import answers_equal, equal_over_q, margin_kept, registers_hold
from verify.evidence.size import size
from verify.evidence.statement import OverTokens
from verify.finding import Finding, no_counterexample
from verify.graphs.options import Edges, Nodes, chosen

LABEL = "search"
Started = tuple[np.ndarray, int]  # the edges (m, 2) of a graph, and a source


@claim(
    faults_seen=[{"n_nodes": 4, "samples": 2}],
)
def graph_search(
    run: Run,
    *,
    n_nodes: Nodes = None,
    samples: Annotated[int, option("number of random graphs", min=1, max=10**4)] = 20,
    edges: Edges = None,
) -> Iterator[Finding]:
    """For all n and m, two layers of one head each decode the nodes that are reachable from a
    source, in every directed graph of n nodes and m edges, with one chain-of-thought token for each
    node.

    The prompt is the list of directed edges, in any order, and the source.  The model, of width 2n
    + 1, decodes all other nodes reachable from the source, each once, and then the symbol ⊥, which
    ends the list.  The inverse temperature that softmax needs depends neither on the number of
    nodes nor on the number of edges.
    """
    n, own = chosen(n_nodes, edges, 10)
    graphs = (
        [] if own is None else [(own.edges, s) for s in run.rng.permutation(n)[:samples].tolist()]
    )
    graphs += random_graphs(run, n, samples)
    m = max(len(pairs) for pairs, _ in graphs)
    model = follows(run, n).at(n, m).model
    yield _labelled(size(model, "graph-search", n=n, m=m))
    yield from _weights(model)
    few = follows(run, 3).at(3, 3).model
    yield gap_finding(LABEL, few, averaging(few, 1))
    yield gap_finding(LABEL, few, following(few))
    yield _labelled(small_graphs(run))
    prompts, wanted = decoding(model, graphs)
    yield _labelled(
        decoded(
            "large",
            f"decoded nodes on graphs of {n} nodes, with edges in random order",
            [(model, prompts, wanted)],
        )
    )
    yield _labelled(whole_component(model, graphs))
    for found in _histories(run, n, model, prompts, wanted):
        yield _labelled(found)


def _labelled(found: Finding) -> Finding:
    found.id, found.name = f"{LABEL}/{found.id}", f"{LABEL}: {found.name}"
    return found


def _weights(model: Transformer) -> Iterator[Finding]:
    """The two heads, and the MLP on all values that its input can have."""
    T = model.interface.max_length
    C = float(2 ** T.bit_length())
    mean = head_is("head/1", model, range(1, 2), {}, {("visited", "visited"): C})
    follow = {("visited", "edge"): T + 1.0, ("1", "j"): -1.0}
    picked = head_is("head/2", model, range(2, 3), follow, {("edge", "visited"): 1.0})
    values = np.kron(
        np.array([0.0, 1.0, 1.5, C / 2, C, C + 1])[:, None], np.eye(model.interface.n_nodes)
    )
    states = {"visited": values}, {"visited": np.minimum(values, 1.0)}
    clipped = makes("mlp", "the MLP maps `visited` to min(1, visited)", model, {1: states})
    yield from map(_labelled, (mean, picked, clipped))


def following(model: Transformer) -> States:
    """All states of the head of layer 2.

    Every set of visited nodes is a query, and every edge at every position is a key.
    """
    interface = model.interface
    n, T = interface.n_nodes, interface.max_length
    visited = np.arange(2**n)[:, None] >> np.arange(n) & 1
    u, v = np.divmod(np.arange(n * n), n)
    codes = np.vstack([np.zeros(n), np.eye(n)[u] - 2 * np.eye(n)[v]])  # 0 for BOS and nodes
    place = np.array([0, *np.repeat(np.arange(1, T + 1), len(codes))])
    code = np.array([0, *np.tile(np.arange(len(codes)), T)])
    leads = np.zeros((2**n, len(codes)), dtype=bool)
    leads[:, 1:] = (visited[:, u] == 1) & (visited[:, v] == 0)
    preference = np.where(leads[:, code], T + 1.0 - place, -np.inf)
    preference[:, 0] = 0.0
    keys = {"edge": codes[code], "j": at_positions(model, "j")["j"][place]}
    queries = {"visited": visited.astype(np.float64)}
    return States(2, queries, keys, preference, place, changed=("visited",))


def small_graphs(run: Run) -> Finding:
    """Checks the decoded nodes on all small graphs from every source, and all directed graphs of 3
    nodes.
    """
    cases = []
    for n in range(1, 4 if run.quick else 5):
        listed = [directed_edges(A) for A in all_graphs(n)]
        if n == 3:
            pairs = directed_edges(np.ones((n, n), dtype=np.int64))
            listed += [pairs[run.rng.permutation(6)[:k]] for k in range(7)]
            listed += [pairs[np.flatnonzero(bits)] for bits in np.ndindex(*[2] * 6)]
        model = follows(run, n).at(n, n * n).model
        graphs = [(edges, source) for edges in listed for source in range(n)]
        cases.append((model, *decoding(model, graphs)))
    name = f"decoded nodes on every graph of at most {n} nodes, from every source"
    return decoded("all-small", name, cases)


def decoding(model: Transformer, graphs: list[Started]) -> tuple[np.ndarray, np.ndarray]:
    """The prompts of graphs with their sources, and the tokens to be decoded from the prompts.

    The prompts have equal lengths: shorter prompts are padded in front by loops at the source.
    """
    n, most = model.interface.n_nodes, max(len(edges) for edges, _ in graphs)
    prompts, wanted = [], []
    for edges, source in announced(graphs, "searches by breadth-first search"):
        loops = np.full((most - len(edges), 2), source)
        prompts.append(model.interface.prompt(np.concatenate([loops, edges]), source))
        found = by_edges(edges, n, source)[1:]
        wanted.append(found + [-1] * (n - len(found)))
    return np.array(prompts), np.array(wanted)


def random_graphs(run: Run, n: int, samples: int) -> list[Started]:
    """Random graphs, a path and two disjoint paths of n nodes, each with a random source.

    The list of edges contains each edge in both directions, in random order.
    """
    listed = [*erdos_renyi(samples, n, min(1.0, 1.5 / n), run.rng), path(n), two_chain(n)]
    return [(run.rng.permutation(directed_edges(A)), int(run.rng.integers(n))) for A in listed]


def whole_component(model: Transformer, graphs: list[Started]) -> Finding:
    """Checks that the decoded nodes are those that breadth-first search reaches, and that ⊥ is
    last.
    """
    interface = model.interface
    components = [reachable(edges, interface.n_nodes, source) for edges, source in graphs]

    def search() -> Iterator[str]:
        pairs = [*zip(graphs, components, strict=True)]
        for (edges, source), wanted in announced(pairs, "decoding of whole components"):
            tokens = model.generate(interface.prompt(edges, source), len(wanted)).tolist()
            if tokens[-1] != -1 or sorted([source, *interface.found(tokens)]) != sorted(wanted):
                yield f"{model.name} from {source} in {edges.tolist()}: {tokens}"

    return no_counterexample(
        "component",
        "decoded nodes, then ⊥, compared with the nodes that breadth-first search reaches",
        search(),
        evidence="float",
        words="equal, and the number of decoded tokens is the number of these nodes, "
        f"{sum(map(len, components))} in all, on {len(graphs)} graphs",
    )


def follows(run: Run, n: int) -> OverTokens:
    """The statement on n nodes: after any tokens the model predicts the next node of the search.

    The next node is the end v of the first edge u → v so far such that u is among the nodes so far
    and v is not.
    """
    return OverTokens(
        LABEL,
        lambda nodes, m: run.build(construction, nodes, m),
        lambda tokens: search_steps(tokens, n).answers,
    )


def _histories(
    run: Run, n: int, model: Transformer, prompts: np.ndarray, wanted: np.ndarray
) -> Iterator[Finding]:
    """Predictions on arbitrary sequences of tokens, not only on those of a search; softmax."""
    two, three, all_of_them = follows(run, 2), follows(run, 3), follows(run, n)
    short = two.at(2, 1 if run.quick else 3).model
    every = all_sequences(short.interface.max_length, 6)
    T = model.interface.max_length
    done = np.concatenate([prompts, np.maximum(wanted, 0)], axis=-1)[:8, :T]
    mixed = np.where(run.rng.random(done.shape) < 0.2, run.rng.integers(n, size=done.shape), done)
    yield answers_equal(
        "histories",
        f"predictions on every sequence of {short.interface.max_length} tokens for 2 nodes",
        two,
        [(short, every)],
    )
    yield margin_kept(two, [(short, every)])
    yield registers_hold(all_of_them, model, mixed, f"({n} nodes, arbitrary tokens)")
    few = three.at(3, 4).model
    rows = run.rng.integers(12, size=(6, few.interface.max_length))
    rows[:, 2] = run.rng.integers(3, size=6)
    yield equal_over_q(three, few, rows, "(3 nodes, arbitrary tokens)")
    yield from softened(model, prompts, wanted, few, rows[:2])
    yield sharpness_at_two_lengths(
        "softmax/sharpness",
        lambda m: follows(run, n).at(n, m).model,
        model.interface.max_length - n,
        leak_bound(0.499 / 4),
        "ln(8/0.499 + 2), where T is the number of edges",
    )
