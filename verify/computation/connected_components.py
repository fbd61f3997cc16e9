"""The claim `components`: connected components, a layer for each step of a parallel machine."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import Annotated

import numpy as np

from constructions.computation import connected_components as construction
from constructions.transformer import Transformer
from theory.checks import InputError
from theory.computation import components, least_labels, shuffled_path
from theory.computation.components import as_inputs, enough_steps, settled_after
from verify.claim import Run, claim, option
from verify.computation.options import MOST_DRAWN
from verify.computation.steps import (
    gaps,
    over_q,
    registers_follow,
    units,
    whole_evidence,
    works_locally,
)
from verify.evidence.size import size
from verify.finding import Finding, each_at_most, equal, labelled

LABEL = "components"
UNITS = 18
QUICK = 20  # vertices of a quick run


@claim(
    source="proved in theory/computation/components.py and constructions/computation/pram.py",
    picture="verify.computation.components_picture:draw",
    faults_seen=[{"vertices": 3, "samples": 2}],
)
def connected_components(
    run: Run,
    *,
    vertices: Annotated[int, option("vertices of a graph", min=2)] = 40,
    samples: Annotated[int, option("random graphs, and as many paths", min=1, max=MOST_DRAWN)] = 5,
) -> Iterator[Finding]:
    """Connected components take one layer of 3 heads, width 18 and 18 units a step, in any order.

    The input are the edges of a graph of n vertices, in any order; each vertex answers with the
    least vertex of its component.  2(n − 1) layers are enough for every graph; shuffled paths
    settle after far fewer, about 2·log₂n as far as was run, for which nothing is proved here.
    """
    n = min(vertices, QUICK) if run.quick else vertices
    model = built(run, n, n)
    found = [size(model, "connected-components", n=n, m=n), units([(model, UNITS)])]
    yield from labelled(LABEL, [*found, small_graphs(run), *large_graphs(run, model, n, samples)])
    few = built(run, 4, 4)
    yield from labelled(LABEL, [rational(run, few)])
    yield from gaps(LABEL, few, components(4, 4))
    tiny = built(run, 2, 1)
    yield from labelled(LABEL, [works_locally(tiny, components(2, 1)), enough(run), steps(run)])
    if run.plot:
        path = shuffled_path(n, run.rng)
        run.draw(built(run, n, n - 1, settled_after(path, n)), path)


def built(run: Run, n: int, m: int, layers: int | None = None) -> Transformer:
    """The model, with the planted fault if any."""
    return run.build(construction, n, m, layers)


def small_graphs(run: Run) -> Finding:
    """All graphs of few vertices, loops among them, each edge once or twice, either way."""
    count, wrong = 0, None
    for n in range(1, 4 if run.quick else 5):
        for edges in all_graphs(n):
            model, count = built(run, n, edges.shape[1]), count + len(edges)
            wrong = wrong or wrong_labels(model, edges)
    return equal(
        "all-small",
        f"every graph of at most {n} vertices, with loops and repeated edges",
        wrong,
        evidence=whole_evidence(model),
        words=f"all labels equal on {count} graphs",
    )


def all_graphs(n: int) -> Iterator[np.ndarray]:
    """All sets of edges on n vertices, by their number: (graphs, edges, 2).  Every second edge runs
    from the larger vertex, and every graph is there once more, with each edge also reversed."""
    pairs = np.array([*combinations_with_replacement(range(1, n + 1), 2)])
    pairs[1::2] = pairs[1::2, ::-1]
    chosen = np.arange(2 ** len(pairs))[:, None] >> np.arange(len(pairs)) & 1
    for m in range(len(pairs) + 1):
        rows = chosen[chosen.sum(1) == m]
        edges = pairs[np.nonzero(rows)[1]].reshape(len(rows), m, 2)
        yield edges
        yield np.concatenate([edges, edges[:, :, ::-1]], axis=1)


def wrong_labels(model: Transformer, edges: np.ndarray) -> str | None:
    """The first of these graphs (graphs, edges, 2) whose labels are not those of a search; None if
    there is none."""
    try:
        labels = model(edges).numpy()
    except InputError as error:
        return f"{model.name}: {error}"
    differs = (labels != least_labels(edges, model.interface.vertices)).any(axis=1)
    if not differs.any():
        return None
    at = int(differs.argmax())
    return f"{model.name}, edges {edges[at].tolist()}: {labels[at].tolist()}"


def large_graphs(run: Run, model: Transformer, n: int, samples: int) -> Iterator[Finding]:
    """Graphs of n vertices: answers by search, registers by the program."""
    families = graphs(run, n, samples)
    wrong = None
    for name, edges in families.items():
        if found := wrong_labels(model, edges):
            wrong = wrong or f"{name}: {found}"
    yield equal(
        "large",
        f"graphs of {n} vertices: {', '.join(families)}",
        wrong,
        evidence=whole_evidence(model),
        words=f"all labels equal on {sum(map(len, families.values()))} graphs",
    )
    program = components(n, n)
    cases = ((model, program, as_inputs(edges, n)) for edges in families.values())
    yield registers_follow(f"every register is the program's (n = {n})", cases)


def graphs(run: Run, n: int, samples: int) -> dict[str, np.ndarray]:
    """Shuffled paths, random graphs and what may be hard, of n vertices and at most n edges:
    (graphs, edges, 2)."""
    at = np.arange(1, n + 1)
    ends = np.where(at % 2, (at + 1) // 2, n + 1 - at // 2)  # 1, n, 2, n − 1, …
    half = max(n // 2, 1)
    cycles = np.stack([at, np.where(at == half, 1, np.where(at == n, half + 1, at + 1))], axis=1)
    return {
        "shuffled paths": np.stack([shuffled_path(n, run.rng) for _ in range(samples)]),
        "random": run.rng.integers(1, n + 1, (samples, n, 2)),
        "sparse": run.rng.integers(1, n + 1, (samples, max(n // 2, 1), 2)),
        "path 1 n 2 n−1 …": np.stack([ends[:-1], ends[1:]], axis=1)[None],
        "sorted path": np.stack([at[:-1], at[1:]], axis=1)[None],
        "star": np.stack([np.full(n - 1, n), at[:-1]], axis=1)[None],
        "two cycles": np.minimum(cycles, n)[None],
        "loops": np.stack([at, at], axis=1)[None],
        "one edge n times": np.tile([[n, 1]], (n, 1))[None],
        "no edge": np.zeros((1, 0, 2), dtype=np.int64),
    }


def rational(run: Run, model: Transformer) -> Finding:
    """Random graphs of 4 vertices over Q."""
    edges = run.rng.integers(1, 5, (3, 4, 2))
    return over_q(model, components(4, 4), as_inputs(edges, 4))


def enough(run: Run) -> Finding:
    """The most steps that a small graph takes, beside 2(n − 1)."""
    most, limits = dict[str, float](), dict[str, float]()
    for n in range(1, 4 if run.quick else 5):
        settled = (slowest(edges, n) for edges in all_graphs(n))
        most[f"n = {n}"], limits[f"n = {n}"] = max(settled), enough_steps(n)
    return _against_limit("enough", "steps of the slowest graph of n vertices", most, limits)


def slowest(edges: np.ndarray, n: int) -> int:
    """The most steps that one of these graphs (graphs, edges, 2) takes."""
    right = least_labels(edges, n)
    program = components(n, edges.shape[1])
    for after, held in enumerate(program.run(*as_inputs(edges, n))):
        if (held["p"][:, :n] == right).all():
            return after
    return program.repeat + 1


def steps(run: Run) -> Finding:
    """Steps on shuffled paths, with looking up and sending at once, and in turn."""
    sizes = (8, 64, 512) if run.quick else (8, 64, 512, 4096)
    paths = {n: shuffled_path(n, run.rng) for n in sizes}
    at_once: dict[str, float] = {f"n = {n}": settled_after(path, n) for n, path in paths.items()}
    in_turn = [settled_after(path, n, overlapped=False) for n, path in paths.items()]
    limits: dict[str, float] = {f"n = {n}": enough_steps(n) for n in sizes}
    found = _against_limit("steps", "steps on a shuffled path", at_once, limits)
    found.words += f" (in turn {', '.join(map(str, in_turn))})"
    return found


def _against_limit(
    id: str, name: str, found: dict[str, float], limits: dict[str, float]
) -> Finding:
    words = ", ".join(f"{key}: {count}" for key, count in found.items())
    wanted = "≤ 2(n − 1), proved"
    return each_at_most(id, name, "exact", found, limits, words=words, wanted=wanted)
