"""The claim `connectivity`: L layers output exactly the pairs of nodes at distance ≤ 3^L."""

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
    miss_probability,
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
    rounded_up,
    same,
)
from verify.graphs.exact_outputs import differences, evidence_of, exactly, in_float64, over_q, shown
from verify.graphs.statement import Case, OverGraphs

DEPTHS = 1, 2, 3  # layers of the models that run on paths
MOST_NODES, MOST_LAYERS = 40, 4  # limits of the runs over Q, at a width of 2^(L + 1)·n
LARGER = 48, 2  # most nodes, and layers, of the models on larger graphs
FEW = 6  # graphs that run over Q if float64 would round: two random and four named graphs


@claim(
    picture="verify.graphs.connectivity_picture:draw",
    faults_seen=[{"n_nodes": 5, "n_layers": 1, "samples": 2}],
)
def connectivity(
    run: Run,
    *,
    n_nodes: Annotated[
        int, option("number of nodes of a random graph", min=2, max=MOST_NODES)
    ] = 12,
    n_layers: Annotated[int, option("number of layers of the models", min=1, max=MOST_LAYERS)] = 2,
    samples: Annotated[int, option("number of random graphs", min=1, max=10**5)] = 40,
) -> Iterator[Finding]:
    """L layers of one linear head have positive outputs exactly at pairs of nodes at distance ≤
    3^L.

    Let A be the adjacency matrix of a graph of n nodes, with ones on the diagonal.  L layers of
    width n, each H ← H + HHᵀH, compute from H = A a polynomial of degree 3^L in A with coefficients
    ≥ 0:

        H_ij > 0 iff dist(i, j) ≤ 3^L,   and   ⟨H_i, H_j⟩ > 0 iff dist(i, j) ≤ 2·3^L.

    In a disentangled transformer the output of each layer is appended to the stream instead of
    added to it, so the width after L layers is 2^(L+1)·n.  With all score matrices W = n·I, its
    outputs are also positive exactly where dist(i, j) ≤ 3^L.

    If an MLP after each layer replaces each entry of H by its minimum with 1, ⌈log₃D⌉ layers output
    all connected pairs of every graph whose components have diameter at most D.
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
    """The statements on tripling, clipped tripling and the disentangled transformer."""
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
    """Random graphs of n nodes, followed by a path, 2Chain, 2Clique and a graph without edges."""
    sparse = erdos_renyi(samples, n, min(1.0, 1.2 / n), run.rng)
    isolated = np.eye(n, dtype=np.int64)
    return np.concatenate([sparse, [path(n), two_chain(n), two_clique(n), isolated]])


def about(run: Run, statement: OverGraphs, A: np.ndarray, L: int) -> Iterator[Finding]:
    """The findings on one statement, for L layers and graphs A: size, outputs, predictions,
    registers.
    """
    case, few = statement.at(A.shape[-1], L), statement.at(5, 2)
    yield size(case.model, statement.theorem, n=case.n, L=L)
    yield small(run, statement)
    name = f"outputs and predictions of {L} layers, on {len(A)} graphs of {case.n} nodes"
    yield compared("large", name, case, A)
    n, layers = min(4 * case.n, LARGER[0]), LARGER[1]
    more = drawn(run, n, 2)
    name = f"outputs and predictions of {layers} layers, on {len(more)} graphs of {n} nodes"
    yield compared("larger", name, statement.at(n, layers), more)
    yield no_counterexample(
        "over-q",
        "outputs in rational arithmetic (5 nodes, 2 layers)",
        (
            wrong
            for graph in drawn(run, 5, 2)
            for wrong in differences(over_q(few.model, graph), few.outputs(graph), graph)
        ),
        words="equal to the definition",
    )
    yield paths(statement)
    yield registers(case, A)


def small(run: Run, statement: OverGraphs) -> Finding:
    """Checks outputs and predictions of models of one and two layers on all small graphs."""
    most = 4 if run.quick else 5
    graphs = {n: all_graphs(n) for n in range(1, most + 1)}
    return no_counterexample(
        "small",
        f"outputs and predictions of 1 and 2 layers, on every graph of at most {most} nodes",
        (w for n, A in graphs.items() for L in (1, 2) for w in wrong_pairs(statement.at(n, L), A)),
        words=f"equal to the definition in {2 * sum(map(len, graphs.values()))} runs",
    )


def compared(id: str, name: str, case: Case, A: np.ndarray) -> Finding:
    """Checks that outputs equal their definition, and predictions are 1 exactly where dist ≤ 3^L.

    The model has L layers, and A (…, n, n) are the graphs; dist is the distance of two nodes.
    """
    some = len(exactly_run(case, A))
    of = "all outputs" if some == len(A) else f"outputs on {some} graphs, over Q,"
    words = f"{of} equal the definition; predictions are 1 exactly where dist ≤ {capacity(case.L)}"
    return no_counterexample(id, name, wrong_pairs(case, A), words=words)


def wrong_pairs(case: Case, A: np.ndarray) -> Iterator[str]:
    """Yields the pairs of nodes of graphs A with a wrong output or a wrong prediction."""
    some = exactly_run(case, A)
    yield from differences(exactly(case.model, some), case.outputs(some), some)
    yield from differences(case.model(A).numpy(), within(A, capacity(case.L)), A)


def exactly_run(case: Case, A: np.ndarray) -> np.ndarray:
    """The graphs of A whose outputs are compared exactly: all, or a few if float64 would round."""
    return A if evidence_of(case.model, A) == "exact" else A[-FEW:]


def paths(statement: OverGraphs) -> Finding:
    """Checks the number of pairs with output 0 on paths of diameter 3^L − 1, 3^L and 3^L + 1.

    L is the number of layers.  The finding also states the number of bits of the largest output on
    the last of these paths.
    """
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
        f"{a}, {b}, {c} pairs for {depth}, where the number of bits of the largest output is {bits}"
        for depth, (a, b, c, bits) in found.items()
    )
    name = (
        "number of pairs with output 0 of L layers, on paths of diameter 3^L − 1, 3^L and 3^L + 1"
    )
    evidence: Evidence = "float" if rounded else "exact"
    return same(
        "paths", name, found, wanted, evidence=evidence, words=words, wanted="0, 0, 2 pairs"
    )


def registers(case: Case, A: np.ndarray) -> Finding:
    """Checks that every register equals its layer invariant on graphs A.

    If float64 rounds, only the signs of the entries are compared. The stream consists of n × n
    blocks; their sum after layer l must also be positive exactly at pairs of nodes at distance ≤
    3^l.
    """
    model, some = case.model, exactly_run(case, A)
    evidence = evidence_of(model, A)

    def search() -> Iterator[str]:
        silent = {*model.stream} - {stage.register for stage in model.stages}
        layers = {*range(case.L + 1)} - {stage.after for stage in model.stages}
        if silent or layers:
            yield f"no invariant is stated for registers {silent} or after layers {layers}"
        passed = [H.numpy() for H in model.streams(A)]
        for after, H in enumerate(passed):
            seen = H.reshape(*A.shape[:-1], -1, case.n).sum(-2) > 0
            for wrong in differences(seen, within(A, capacity(after)), A):
                yield f"after layer {after}: {wrong}"
        for stage in model.stages:
            values = passed[stage.after][-len(some) :][..., model.stream[stage.register]]
            wanted = stage.holds(some)
            if evidence == "float":
                values, wanted = values > 0, wanted > 0
            for wrong in differences(values, wanted, some):
                yield f"{stage}: {wrong}"

    return no_counterexample(
        "registers",
        "registers compared with their layer invariants; the sum of blocks of the stream after "
        "layer l is positive exactly at distances ≤ 3^l",
        search(),
        evidence=evidence,
        words=f"true for all {len(model.stages)} invariants on {len(A)} graphs",
    )


def sums(case: Case, A: np.ndarray) -> Finding:
    """Checks on graphs A that the head of every clipped layer adds RRᵀR to the stream R."""
    model = case.model

    def search() -> Iterator[str]:
        for block, H in zip(model.blocks, model.streams(A), strict=False):
            assert block.attn is not None
            yield from differences(block.attn(H, case.n).numpy(), (H @ H.mT @ H).numpy(), A)

    return no_counterexample(
        "clipped/sums",
        "clipped: output of the head compared with RRᵀR, for the stream R before the head",
        search(),
        evidence=evidence_of(model, A),
        words="equal in every layer",
    )


def identity(run: Run, case: Case) -> Finding:
    """Checks that the outputs are p_L(A) for all symmetric A, as polynomials mod a random prime.

    p_L is the `tripling_polynomial` of L layers.
    """
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
    missed = miss_probability(sizes)
    return equal(
        "tripling/identity",
        f"tripling: outputs of L = {case.L} layers compared with p_L(A), where p_0(x) = x and "
        f"p_{{l+1}} = p_l + p_l³, for all symmetric {n} × {n} matrices A, modulo a random prime",
        None if ours == theirs else "the output is not p_L(A)",
        evidence="identity",
        words=f"equal polynomials of degree {capacity(case.L)}, with error probability at most "
        f"{rounded_up(missed):.1e}",
    )


def in_domain(polynomial: Polynomial, domain: Domain, rows: list[list[Entry]]) -> Any:
    """The matrix Σ_k c_k A^k in a number system, for c_k = `polynomial[k]` and A = `rows`."""
    A, n = domain.matrix(rows), len(rows)
    total = domain.matrix([[domain.number(0)] * n] * n)
    for coefficient in reversed(polynomial):
        eye = [[domain.number(coefficient * (i == j)) for j in range(n)] for i in range(n)]
        total = A * total + domain.matrix(eye)
    return total


def powers() -> Finding:
    """Checks that coefficients of three polynomials are positive at the stated powers, and 0
    elsewhere.

    The polynomials are `tripling_polynomial`, `disentangled_polynomial` and `gram_polynomial`.
    """

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
        "powers of the adjacency matrix A with positive coefficients in three polynomials, for "
        "L = 0, …, 4 layers; all other coefficients are 0",
        search(),
        words="for outputs of tripling, the odd powers up to 3^L; for outputs of the "
        "disentangled transformer, all powers up to 3^L; for its inner products of tokens, the "
        "even powers up to 2·3^L",
        wanted="these powers, so that entries are positive exactly at distances up to 3^L, 3^L "
        "and 2·3^L",
    )


def beside(tripled: Case, disentangling: Case, A: np.ndarray) -> Finding:
    """Checks that h hᵀ, for the stream h of the disentangled transformer, follows tripling.

    After every layer h hᵀ must equal the stream of the tripling model with input I + A² in place of
    the adjacency matrix A.
    """
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
        "inner products ⟨h_i, h_j⟩ of tokens of the disentangled transformer, compared with "
        "the iteration K ← K + K³ from K = I + A², A the adjacency matrix",
        search(),
        words=f"all entries equal in rational arithmetic after each of {tripled.L} layers, on "
        f"{len(few)} graphs",
    )


def products(statement: OverGraphs, L: int, A: np.ndarray) -> Finding:
    """Checks that HHᵀ, for the stream H after L layers, is positive exactly where dist ≤ 2·3^L.

    The graphs are A and paths of diameter 2·3^L + 1.
    """
    seen = list[tuple[np.ndarray, np.ndarray, int]]()
    for graphs, depth in ((A, L), *((path(2 * capacity(d) + 2), d) for d in (1, 2))):
        *_, H = statement.at(graphs.shape[-1], depth).model.streams(graphs)
        seen.append(((H @ H.mT).numpy() > 0, graphs, 2 * capacity(depth)))
    ends = [int((~pairs).sum()) for pairs, *_ in seen[1:]]
    return no_counterexample(
        "products",
        "inner products ⟨H_i, H_j⟩ of tokens in tripling are positive exactly where "
        "dist(i, j) ≤ 2·3^L",
        (w for pairs, graphs, far in seen for w in differences(pairs, within(graphs, far), graphs)),
        words=f"true on {len(A)} graphs, and on paths of diameter 2·3^L + 1, L = 1, 2, which have "
        f"{ends[0]} and {ends[1]} pairs beyond distance 2·3^L",
    )


def least(run: Run, clipped: OverGraphs) -> Finding:
    """Checks the smallest number of clipped layers that connects all pairs of a path."""
    diameters = range(1, 11 if run.quick else 29)
    most, found, wanted = 4, [], []
    for diameter in diameters:
        A = path(diameter + 1)
        right = [bool((H == 1).all()) for H in clipped.at(diameter + 1, most).model.streams(A)]
        found.append(right.index(True) if True in right else -1)
        wanted.append(least_layers(diameter))
    name = (
        "smallest number of clipped layers that connects all pairs of a path of diameter D, for "
        f"D = 1 … {diameters[-1]}"
    )
    words = f"for example {found[-1]} layers for D = {diameters[-1]}"
    return same("least", name, found, wanted, words=words, wanted="⌈log₃D⌉")


def short_formats(tripled: OverGraphs) -> Finding:
    """Checks that float32 and bfloat16 models, which round sums, predict all pairs right."""
    wrong = dict[str, int]()
    A = side_by_side(path(14), path(14))
    for name in ("float32", "bfloat16"):
        model = deepcopy(tripled.at(len(A), 3).model).to(getattr(torch, name))
        wrong[name] = int((model(A).numpy() != connected(A)).sum())
    verdict = Verdict.of(not any(wrong.values()))
    name = (
        "number of wrongly predicted pairs in dtypes that round sums, on two paths of 14 nodes, "
        "with 3 layers of tripling"
    )
    words = ", ".join(f"{count} in {kind}" for kind, count in wrong.items())
    wanted = "none, since rounding preserves the sign of sums and products of nonnegative numbers"
    return Finding(
        "short-formats", name, "float", wrong, dict.fromkeys(wrong, 0), verdict, words, wanted
    )
