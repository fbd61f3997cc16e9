"""The claim `connectivity`: L layers connect exactly the pairs of nodes at distance ≤ 3^L."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Annotated, Any

import numpy as np
import torch

from constructions import disentangled, tripling
from theory.graphs import (
    all_graphs,
    capacity,
    connected,
    disentangled_polynomial,
    erdos_renyi,
    gram_polynomial,
    least_layers,
    path,
    polynomial_of_graph,
    side_by_side,
    tripling_polynomial,
    two_chain,
    two_clique,
    within,
)
from theory.graphs.tripling import Polynomial
from verify.claim import Run, claim, option
from verify.domains import (
    Domain,
    Modular,
    Rational,
    chance_of_missing,
    outputs,
    random_prime,
    streams,
    through,
    written,
)
from verify.domains.base import Entry
from verify.evidence.size import size
from verify.finding import (
    Evidence,
    Finding,
    Verdict,
    equal,
    labelled,
    no_counterexample,
    same,
)
from verify.graphs.exact_outputs import differences, evidence_of, exactly, in_float64, over_q, shown
from verify.graphs.statement import Case, OverGraphs

DEPTHS = 1, 2, 3  # of the models that are run on paths
MOST_NODES, MOST_LAYERS = 40, 4  # of what is run over Q, at a width of 2^(L + 1)·n
FEW = 6  # graphs that are run over Q where float64 would round: two random ones, and those by name


@claim(
    source="[Ye2026]; proved in constructions/graphs/tripling.py and disentangled.py",
    picture="verify.graphs.connectivity_picture:draw",
    faults_seen=[{"n_nodes": 5, "n_layers": 1, "samples": 2}],
)
def connectivity(
    run: Run,
    *,
    n_nodes: Annotated[int, option("nodes of a random graph", min=2, max=MOST_NODES)] = 12,
    n_layers: Annotated[int, option("layers of the models", min=1, max=MOST_LAYERS)] = 2,
    samples: Annotated[int, option("random graphs", min=1)] = 40,
) -> Iterator[Finding]:
    """L layers of one linear head of width n have positive outputs exactly where dist ≤ 3^L.

    A is an adjacency matrix with ones on its diagonal.  L layers H ← H + HHᵀH from H = A compute a
    polynomial of degree 3^L in A with coefficients ≥ 0: H_ij > 0 iff dist(i, j) ≤ 3^L, and ⟨H_i,
    H_j⟩ > 0 iff dist(i, j) ≤ 2·3^L.  The outputs of the disentangled transformer with W = n·I, of
    width 2^(L+1)·n, are also positive exactly where dist(i, j) ≤ 3^L.  With entries clipped to 0
    and 1 by an MLP, ⌈log₃D⌉ layers give all connected pairs if components have diameter ≤ D.
    """
    graphs = drawn(run, n_nodes, samples)
    tripled, clipped, disentangling = statements = statements_of(run)
    for statement in statements:
        yield from labelled(statement.label, about(run, statement, graphs, n_layers))
    yield sums(clipped.at(n_nodes, n_layers), graphs)
    yield identity(run, tripled.at(n_nodes, n_layers))
    yield powers()
    yield beside(tripled.at(n_nodes, n_layers), disentangling.at(n_nodes, n_layers), graphs)
    yield products(tripled, n_layers, graphs)
    yield least(run, clipped)
    yield short_formats(tripled)
    run.draw(tripled.build)


def statements_of(run: Run) -> tuple[OverGraphs, OverGraphs, OverGraphs]:
    """The three of them, each with the planted fault if there is one."""
    return (
        OverGraphs(
            "tripling",
            "graph-reach",
            lambda n, L: run.build(tripling, n, L),
            lambda A, L: polynomial_of_graph(tripling_polynomial(L), A),
        ),
        OverGraphs(
            "clipped",
            "graph-components",
            lambda n, L: run.build(tripling, n, L, clipped=True),
            lambda A, L: within(A, capacity(L)).astype(int),
        ),
        OverGraphs(
            "disentangled",
            "disentangled-reach",
            lambda n, L: run.build(disentangled, n, L),
            lambda A, L: polynomial_of_graph(disentangled_polynomial(L), A),
        ),
    )


def drawn(run: Run, n: int, samples: int) -> np.ndarray:
    """Random graphs of n nodes, and a path, 2Chain, 2Clique and a graph without edges."""
    sparse = erdos_renyi(samples, n, min(1.0, 1.2 / n), run.rng)
    isolated = np.eye(n, dtype=np.int64)
    return np.concatenate([sparse, [path(n), two_chain(n), two_clique(n), isolated]])


def about(run: Run, statement: OverGraphs, A: np.ndarray, L: int) -> Iterator[Finding]:
    """Size; answers and outputs on small and random graphs, over Q, on paths; registers."""
    case, few = statement.at(A.shape[-1], L), statement.at(5, 2)
    yield size(case.model, statement.theorem, n=case.n, L=L)
    yield small(run, statement)
    yield compared("large", f"{len(A)} graphs of {case.n} nodes, {L} layers", case, A)
    yield no_counterexample(
        "over-q",
        "over Q (5 nodes, 2 layers)",
        (
            wrong
            for graph in drawn(run, 5, 2)
            for wrong in differences(over_q(few.model, graph), few.outputs(graph), graph)
        ),
    )
    yield paths(statement)
    yield registers(case, A)


def small(run: Run, statement: OverGraphs) -> Finding:
    """All graphs on few nodes, at one and two layers."""
    most = 4 if run.quick else 5
    graphs = {n: all_graphs(n) for n in range(1, most + 1)}
    return no_counterexample(
        "small",
        f"every graph on at most {most} nodes, 1 and 2 layers",
        (w for n, A in graphs.items() for L in (1, 2) for w in wrong_pairs(statement.at(n, L), A)),
        words=f"{2 * sum(map(len, graphs.values()))} runs",
    )


def compared(id: str, name: str, case: Case, A: np.ndarray) -> Finding:
    """Outputs are what they should be, and answers are 1 exactly where dist ≤ 3^L."""
    some = len(exactly_run(case, A))
    of = "all outputs" if some == len(A) else f"outputs of {some} over Q"
    words = f"{of}, and answers 1 exactly where dist ≤ {capacity(case.L)}"
    return no_counterexample(id, name, wrong_pairs(case, A), words=words)


def wrong_pairs(case: Case, A: np.ndarray) -> Iterator[str]:
    """Pairs of nodes with another output or answer."""
    some = exactly_run(case, A)
    yield from differences(exactly(case.model, some), case.outputs(some), some)
    yield from differences(case.model(A).numpy(), within(A, capacity(case.L)), A)


def exactly_run(case: Case, A: np.ndarray) -> np.ndarray:
    """All of these graphs, or a few where float64 would round."""
    return A if evidence_of(case.model, A) == "exact" else A[-FEW:]


def paths(statement: OverGraphs) -> Finding:
    """How many pairs of paths of diameter 3^L − 1, 3^L and 3^L + 1 are not seen, and the bits of
    the largest output on the last."""
    found, wanted, rounded = dict[str, Any](), dict[str, Any](), False
    for L in DEPTHS:
        unseen = []
        for diameter in range(capacity(L) - 1, capacity(L) + 2):
            A, case = path(diameter + 1), statement.at(diameter + 1, L)
            unseen.append(int((case.model(A) == 0).sum()))
        largest = int(in_float64(case.model, A).max())
        rounded = rounded or evidence_of(case.model, A) != "exact"
        found[f"L = {L}"] = [*unseen, largest.bit_length()]
        wanted[f"L = {L}"] = [0, 0, 2, int(case.outputs(A).max()).bit_length()]
    words = "; ".join(
        f"{depth}: {a}, {b}, {c} (of {bits} bits)" for depth, (a, b, c, bits) in found.items()
    )
    name = "pairs not seen on paths of diameter 3^L − 1, 3^L, 3^L + 1"
    evidence: Evidence = "float" if rounded else "exact"
    return same("paths", name, found, wanted, evidence=evidence, words=words, wanted="0, 0, 2")


def registers(case: Case, A: np.ndarray) -> Finding:
    """Every register holds what the proof says, or, where float64 rounds, is positive where that
    is; and the stream, added up over its blocks, is positive exactly where dist ≤ 3^l."""
    model, some = case.model, exactly_run(case, A)
    exact = len(some) == len(A)

    def search() -> Iterator[str]:
        silent = {*model.stream} - {stage.register for stage in model.stages}
        layers = {*range(case.L + 1)} - {stage.after for stage in model.stages}
        if silent or layers:
            yield f"nothing is stated of registers {silent}, nor after layers {layers}"
        passed = [H.numpy() for H in model.streams(A)]
        for after, H in enumerate(passed):
            seen = H.reshape(*A.shape[:-1], -1, case.n).sum(-2) > 0
            for wrong in differences(seen, within(A, capacity(after)), A):
                yield f"after layer {after}: {wrong}"
        for stage in model.stages:
            held = passed[stage.after][-len(some) :][..., model.stream[stage.register]]
            wanted = stage.holds(some)
            if not exact:
                held, wanted = held > 0, wanted > 0
            for wrong in differences(held, wanted, some):
                yield f"{stage}: {wrong}"

    return no_counterexample(
        "registers",
        "every register reaches as far as the proof says",
        search(),
        evidence=evidence_of(model, A),
        words=f"{len(model.stages)} registers on {len(A)} graphs",
    )


def sums(case: Case, A: np.ndarray) -> Finding:
    """What the head of every clipped layer adds, before it is clipped."""
    model = case.model

    def search() -> Iterator[str]:
        for block, H in zip(model.blocks, model.streams(A), strict=False):
            assert block.attn is not None
            yield from differences(block.attn(H, case.n).numpy(), (H @ H.mT @ H).numpy(), A)

    name = "clipped: what a head adds before the clip is RRᵀR"
    return no_counterexample("clipped/sums", name, search(), evidence=evidence_of(model, A))


def identity(run: Run, case: Case) -> Finding:
    """The outputs are p_L(A) for all symmetric matrices A, mod a random prime."""
    n, polynomial = case.n, tripling_polynomial(case.L)

    def both(domain: Domain, rows: list[list[Entry]]) -> tuple[list[Any], list[Any]]:
        ours = outputs(case.model, written(case.model, domain, rows), domain)
        theirs = in_domain(polynomial, domain, rows)
        return ours.tolist(), theirs.tolist()

    def sizes(domain: Domain, entry: Entry) -> list[Entry]:
        return [value for each in both(domain, [[entry] * n] * n) for row in each for value in row]

    domain = Modular(random_prime(run.rng))
    entries = domain.random_entries(run.rng, n, n)
    symmetric = [[entries[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]
    ours, theirs = both(domain, symmetric)
    missed = chance_of_missing(sizes)
    return equal(
        "tripling/identity",
        f"tripling: all symmetric A (n = {n}, {case.L} layers), mod a random 61-bit prime",
        None if ours == theirs else "the output is not p_L(A)",
        evidence="identity",
        words=f"p_{case.L}(A), of degree {capacity(case.L)}; error probability ≤ {missed:.1e}",
    )


def in_domain(polynomial: Polynomial, domain: Domain, rows: list[list[Entry]]) -> Any:
    """Σ_k c_k A^k in any number system."""
    A, n = domain.matrix(rows), len(rows)
    total = domain.matrix([[domain.number(0)] * n] * n)
    for coefficient in reversed(polynomial):
        eye = [[domain.number(coefficient * (i == j)) for j in range(n)] for i in range(n)]
        total = A * total + domain.matrix(eye)
    return total


def powers() -> Finding:
    """Which powers of A have a positive coefficient, and none a negative one."""

    def search() -> Iterator[str]:
        for L in range(5):
            far = capacity(L)
            for name, polynomial, wanted in (
                ("p", tripling_polynomial(L), range(1, far + 1, 2)),
                ("s", disentangled_polynomial(L), range(far + 1)),
                ("q", gram_polynomial(L), range(0, 2 * far + 1, 2)),
            ):
                signs = {power: c > 0 for power, c in enumerate(polynomial) if c}
                if signs != dict.fromkeys(wanted, True):
                    yield f"{name}_{L} has coefficients {polynomial}"

    return no_counterexample(
        "powers",
        "no coefficient is negative, and the powers with a positive one are",
        search(),
        words="odd ones to 3^L (tripling), all to 3^L (disentangled), even to 2·3^L (products)",
        wanted="for L = 0, …, 4; so supports are balls of these radii",
    )


def beside(tripled: Case, disentangling: Case, A: np.ndarray) -> Finding:
    """hhᵀ of the disentangled transformer after every layer, and the stream of tripling that starts
    from I + A²."""
    few, domain = A[-FEW:], Rational()

    def search() -> Iterator[str]:
        for graph in few:
            rows = [[domain.number(int(entry)) for entry in row] for row in graph]
            start = domain.weights(np.eye(tripled.n) + graph @ graph)
            gram = through(tripled.model.blocks, start, tripled.n, domain)
            theirs = disentangling.model
            passed = streams(theirs, written(theirs, domain, rows), domain)
            for after, (H, h) in enumerate(zip(gram, passed, strict=True)):
                if h * h.transpose() != H:
                    yield f"after layer {after} on {shown(graph)}"

    return no_counterexample(
        "beside",
        "products ⟨h_i, h_j⟩ of the disentangled transformer follow K ← K + K³ from K = I + A²",
        search(),
        words=f"all entries over Q after each of {tripled.L} layers, on {len(few)} graphs",
    )


def products(statement: OverGraphs, L: int, A: np.ndarray) -> Finding:
    """The support of HHᵀ on the graphs, and on paths of diameter 2·3^L and one node more."""
    seen = list[tuple[np.ndarray, np.ndarray, int]]()
    for graphs, depth in ((A, L), *((path(2 * capacity(d) + 2), d) for d in (1, 2))):
        *_, H = statement.at(graphs.shape[-1], depth).model.streams(graphs)
        seen.append(((H @ H.mT).numpy() > 0, graphs, 2 * capacity(depth)))
    ends = [int((~pairs).sum()) for pairs, *_ in seen[1:]]
    return no_counterexample(
        "products",
        "products ⟨H_i, H_j⟩ of two tokens are positive exactly where dist ≤ 2·3^L",
        (w for pairs, graphs, far in seen for w in differences(pairs, within(graphs, far), graphs)),
        words=f"{len(A)} graphs; on paths of diameter 2·3^L + 1, {ends} pairs are not",
    )


def least(run: Run, clipped: OverGraphs) -> Finding:
    """The number of clipped layers after which a path of this diameter is all connected."""
    diameters = range(1, 11 if run.quick else 29)
    most, found, wanted = 4, [], []
    for diameter in diameters:
        A = path(diameter + 1)
        right = [bool((H == 1).all()) for H in clipped.at(diameter + 1, most).model.streams(A)]
        found.append(right.index(True) if True in right else -1)
        wanted.append(least_layers(diameter))
    name = f"clipped layers until a path of diameter D is all connected, D = 1, …, {diameters[-1]}"
    words = f"{found[-1]} for D = {diameters[-1]}"
    return same("least", name, found, wanted, words=words, wanted="⌈log₃D⌉")


def short_formats(tripled: OverGraphs) -> Finding:
    """Pairs that are wrong in short float formats, whose counts are rounded."""
    wrong = dict[str, int]()
    A = side_by_side(path(14), path(14))
    for name in ("float32", "bfloat16"):
        model = deepcopy(tripled.at(len(A), 3).model).to(getattr(torch, name))
        wrong[name] = int((model(A).numpy() != connected(A)).sum())
    verdict = Verdict.of(not any(wrong.values()))
    name = "rounded counts have the same support (two paths of 14 nodes, 3 layers)"
    words = ", ".join(f"{kind}: {count} pairs wrong" for kind, count in wrong.items())
    wanted = "none: sums and products of what is not negative keep their sign"
    return Finding(
        "short-formats", name, "float", wrong, dict.fromkeys(wrong, 0), verdict, words, wanted
    )
