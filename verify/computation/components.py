"""The claim `components`: connected components, with one layer for each step of a PRAM program."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Annotated

import numpy as np

from constructions.computation import connected_components as construction
from constructions.transformer import Transformer
from theory.computation import components as program_for
from theory.computation import least_labels, shuffled_path
from theory.computation.components import as_inputs, enough_steps, settled_after, slowest
from theory.computation.edge_lists import all_graphs, families
from theory.kinds import InputError
from verify.claim import Run, claim, option
from verify.computation.options import MOST_DRAWN
from verify.computation.pram import (
    FOLLOW,
    gaps,
    over_q,
    registers_follow,
    units,
    whole_evidence,
    works_locally,
)
from verify.evidence.size import size
from verify.finding import Finding, each_at_most, labelled, no_counterexample

LABEL = "components"
UNITS = 18
QUICK = 20  # nodes of a graph in a quick run


@claim(
    picture="verify.computation.components_picture:draw",
    faults_seen=[{"n_nodes": 3, "samples": 2}],
)
def components(
    run: Run,
    *,
    n_nodes: Annotated[int, option("number of nodes of a graph", min=2, max=200)] = 40,
    samples: Annotated[
        int, option("number of random graphs, and of shuffled paths", min=1, max=MOST_DRAWN)
    ] = 5,
) -> Iterator[Finding]:
    """For all n ≥ 2 and m, 2(n − 1) layers of 3 heads, width 18 and 18 ReLUs per layer compute, for
    each node, the smallest node of its connected component, in every graph of n nodes and at most m
    edges.

    The edges are given in any order.  The model is also run on paths of n nodes whose nodes are
    numbered in random order.  There all outputs are right after far fewer layers, about 2·log₂n in
    the runs of this claim.  This number of layers is observed, not proved.
    """
    n = run.limited(QUICK, n_nodes=n_nodes)
    model = built(run, n, n)
    stated = [size(model, "connected-components", n=n, m=n), units([(model, UNITS)])]
    yield from labelled(LABEL, stated)
    yield from labelled(LABEL, [small_graphs(run)])
    yield from labelled(LABEL, large_graphs(run, model, n, samples))
    few = built(run, 4, 4)
    yield from labelled(LABEL, [rational(run, few)])
    yield from gaps(LABEL, few, program_for(4, 4))
    tiny = built(run, 2, 1)
    yield from labelled(LABEL, [works_locally(tiny, program_for(2, 1)), enough(run), steps(run)])
    if run.plot:
        path = shuffled_path(n, run.rng)
        run.draw(built(run, n, n - 1, settled_after(path, n)), path)


def built(run: Run, n: int, m: int, n_layers: int | None = None) -> Transformer:
    """The model `connected_components`, whose weights the self-test may change."""
    return run.build(construction, n, m, n_layers)


def small_graphs(run: Run) -> Finding:
    """Checks the labels on all graphs of few nodes, also with loops and repeated edges."""
    most = 3 if run.quick else 4
    cases = [(n, edges) for n in range(1, most + 1) for edges in all_graphs(n)]
    models = [built(run, n, edges.shape[1]) for n, edges in cases]
    found = (wrong_labels(model, edges) for model, (_, edges) in zip(models, cases, strict=True))
    return no_counterexample(
        "all-small",
        f"every graph of at most {most} nodes, with loops and repeated edges",
        chain.from_iterable(found),
        evidence=whole_evidence(models[-1]),
        words="all labels equal those of a graph search on "
        f"{sum(len(edges) for _, edges in cases)} graphs",
    )


def wrong_labels(model: Transformer, edges: np.ndarray) -> Iterator[str]:
    """Yields a line for each graph on which the model's labels differ from a graph search.

    The graphs are an array of edges, (graphs, edges, 2).
    """
    try:
        labels = model(edges).numpy()
    except InputError as error:
        yield f"{model.name}: {error}"
        return
    differs = (labels != least_labels(edges, model.interface.n_nodes)).any(axis=1)
    for at in np.flatnonzero(differs):
        yield f"{model.name}, edges {edges[at].tolist()}: {labels[at].tolist()}"


def large_graphs(run: Run, model: Transformer, n: int, samples: int) -> Iterator[Finding]:
    """Compares the model with a graph search and with the PRAM program, on graphs of n nodes.

    Labels are compared with the labels of the search, and registers with the registers of the
    program.
    """
    named = families(n, samples, run.rng)
    yield no_counterexample(
        "large",
        f"graphs of {n} nodes ({', '.join(named)})",
        (
            f"{name}: {wrong}"
            for name, edges in named.items()
            for wrong in wrong_labels(model, edges)
        ),
        evidence=whole_evidence(model),
        words=f"all labels equal those of a graph search on {sum(map(len, named.values()))} graphs",
    )
    program = program_for(n, n)
    cases = ((model, program, as_inputs(edges, n)) for edges in named.values())
    yield registers_follow(f"{FOLLOW}, for graphs of {n} nodes", cases)


def rational(run: Run, model: Transformer) -> Finding:
    """Compares registers over ℚ with the PRAM program's registers, on random graphs of 4 nodes."""
    edges = run.rng.integers(1, 5, (3, 4, 2))
    return over_q(model, program_for(4, 4), as_inputs(edges, 4))


def enough(run: Run) -> Finding:
    """Checks that the PRAM program takes at most 2(n − 1) steps on small graphs of n nodes."""
    most, limits = dict[str, float](), dict[str, float]()
    for n in range(1, 4 if run.quick else 5):
        settled = (slowest(edges, n) for edges in all_graphs(n))
        most[f"n = {n}"], limits[f"n = {n}"] = max(settled), enough_steps(n)
    return _against_limit(
        "enough",
        "number of steps of the PRAM program until all labels are final, for the slowest graph of "
        "n nodes",
        most,
        limits,
    )


def steps(run: Run) -> Finding:
    """Checks that the PRAM program takes at most 2(n − 1) steps on shuffled paths of n nodes.

    The program is checked in both forms: with overlapped steps and with separate steps.
    """
    sizes = (8, 64, 512) if run.quick else (8, 64, 512, 4096)
    paths = {n: shuffled_path(n, run.rng) for n in sizes}
    overlapped: dict[str, float] = {f"n = {n}": settled_after(path, n) for n, path in paths.items()}
    separate = [settled_after(path, n, overlapped=False) for n, path in paths.items()]
    limits: dict[str, float] = {f"n = {n}": enough_steps(n) for n in sizes}
    found = _against_limit(
        "steps",
        "number of steps of the PRAM program until all labels are final, for a shuffled path of n "
        "nodes",
        overlapped,
        limits,
    )
    numbers = ", ".join(map(str, separate))
    found.words += f"; {numbers} for the program in which looking up and sending do not overlap"
    return found


def _against_limit(
    id: str, name: str, found: dict[str, float], limits: dict[str, float]
) -> Finding:
    words = ", ".join(f"{count} for {key}" for key, count in found.items())
    wanted = "at most 2(n − 1), as proved"
    return each_at_most(id, name, "exact", found, limits, words=words, wanted=wanted)
