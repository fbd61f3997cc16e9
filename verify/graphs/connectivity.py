"""The claim `connectivity`: L layers see exactly the pairs of nodes at most 3^L apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import torch

from constructions import disentangled, tripling
from constructions.transformer import Transformer
from theory.checks import InputError
from theory.graphs import (
    all_graphs,
    capacity,
    connected,
    disentangled_polynomial,
    erdos_renyi,
    gram_polynomial,
    least_layers,
    of_graph,
    path,
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
from verify.finding import Evidence, Finding, Verdict, equal, labelled, same
from verify.graphs.exact_outputs import difference, evidence_of, exactly, in_float64, over_q, shown

DEPTHS = 1, 2, 3  # of the models that are run on paths
MOST_NODES, MOST_LAYERS = 40, 4  # of what is run over Q, at a width of 2^(L + 1)·n
FEW = 6  # graphs that are run over Q where float64 would round: two random ones, and those by name


@dataclass(frozen=True)
class Tested:
    """A construction, its entry of the ledger, what its outputs are on graphs (…, n, n), and how
    many registers are there before the first layer."""

    label: str
    entry: str
    build: Callable[[int, int], Transformer]
    outputs: Callable[[int, np.ndarray], np.ndarray]
    begins: int = 1


@claim(
    source="[Ye2026]; proved in constructions/graphs/tripling.py and disentangled.py",
    picture="verify.graphs.connectivity_picture:draw",
    faults_seen=[{"nodes": 5, "layers": 1, "samples": 2}],
)
def connectivity(
    run: Run,
    *,
    nodes: Annotated[int, option("nodes of a random graph", min=2)] = 12,
    layers: Annotated[int, option("layers of the models", min=1)] = 2,
    samples: Annotated[int, option("random graphs", min=1)] = 40,
) -> Iterator[Finding]:
    """L layers of one linear head of width n are positive exactly where dist ≤ 3^L.

    The entries of H ← H + HHᵀH are a polynomial of degree 3^L in the adjacency matrix, with
    coefficients that are not negative.  The disentangled transformer with W = I, of width
    2^(L+1)·n, has the same support.  Clipped to 0 and 1, ⌈log₃D⌉ layers find what is connected
    within distance D.  Products ⟨H_i, H_j⟩ are positive exactly where dist ≤ 2·3^L.
    """
    if nodes > MOST_NODES or layers > MOST_LAYERS:
        raise InputError(
            f"{layers} layers and {nodes} nodes: give at most {MOST_LAYERS} and {MOST_NODES}"
        )
    graphs = drawn(run, nodes, samples)
    for tested in constructions_of(run):
        yield from labelled(tested.label, about(run, tested, graphs, layers))
    yield sums(as_tested(run, "clipped").build(nodes, layers), graphs)
    model = as_tested(run, "tripling").build(nodes, layers)
    yield identity(run, model, nodes, layers)
    yield powers()
    yield beside(run, graphs, layers)
    yield products(run, graphs, layers)
    yield least(run)
    yield short_formats(run)
    run.draw(as_tested(run, "tripling").build)


def constructions_of(run: Run) -> list[Tested]:
    """The three of them, each with the planted fault if there is one."""
    return [
        Tested(
            "tripling",
            "graph-reach",
            lambda n, layers: run.build(tripling, n, layers),
            lambda layers, A: of_graph(tripling_polynomial(layers), A),
        ),
        Tested(
            "clipped",
            "graph-components",
            lambda n, layers: run.build(tripling, n, layers, clipped=True),
            lambda layers, A: within(A, capacity(layers)).astype(int),
        ),
        Tested(
            "disentangled",
            "disentangled-reach",
            lambda n, layers: run.build(disentangled, n, layers),
            lambda layers, A: of_graph(disentangled_polynomial(layers), A),
            begins=2,
        ),
    ]


def as_tested(run: Run, label: str) -> Tested:
    return next(tested for tested in constructions_of(run) if tested.label == label)


def drawn(run: Run, n: int, samples: int) -> np.ndarray:
    """Random graphs of n nodes, and a path, 2Chain, 2Clique and a graph without edges."""
    sparse = erdos_renyi(samples, n, min(1.0, 1.2 / n), run.rng)
    isolated = np.eye(n, dtype=np.int64)
    return np.concatenate([sparse, [path(n), two_chain(n), two_clique(n), isolated]])


def about(run: Run, tested: Tested, graphs: np.ndarray, layers: int) -> Iterator[Finding]:
    """Size; answers and outputs on small and random graphs, over Q, on paths; registers."""
    n = graphs.shape[-1]
    model = tested.build(n, layers)
    yield size(model, tested.entry, n=n, L=layers)
    yield small(run, tested)
    name = f"{len(graphs)} graphs of {n} nodes, {layers} layers"
    yield compared("large", name, tested, layers, graphs)
    few = drawn(run, 5, 2)
    wrong = [difference(over_q(tested.build(5, 2), A), tested.outputs(2, A), A) for A in few]
    yield equal("over-q", "over Q (5 nodes, 2 layers)", next(filter(None, wrong), None))
    yield paths(tested)
    yield registers(model, graphs, tested.begins + layers)


def small(run: Run, tested: Tested) -> Finding:
    """All graphs on few nodes, at one and two layers."""
    most = 4 if run.quick else 5
    wrong, count = None, 0
    for n in range(1, most + 1):
        A = all_graphs(n)
        for layers in (1, 2):
            found = compared("small", "", tested, layers, A)
            wrong, count = wrong or found.detail or None, count + len(A)
    name = f"every graph on at most {most} nodes, 1 and 2 layers"
    return equal("small", name, wrong, words=f"{count} runs")


def compared(id: str, name: str, tested: Tested, layers: int, A: np.ndarray) -> Finding:
    """Outputs are what they should be, and answers are 1 exactly where dist ≤ 3^L."""
    model = tested.build(A.shape[-1], layers)
    some = A if evidence_of(model, A) == "exact" else A[-FEW:]
    wrong = difference(exactly(model, some), tested.outputs(layers, some), some)
    wrong = wrong or difference(model(A).numpy(), within(A, capacity(layers)), A)
    of = "all outputs" if len(some) == len(A) else f"outputs of {len(some)} over Q"
    words = f"{of}, and answers 1 exactly where dist ≤ {capacity(layers)}"
    return equal(id, name, wrong, words=words)


def paths(tested: Tested) -> Finding:
    """How many pairs of paths of diameter 3^L − 1, 3^L and 3^L + 1 are not seen, and the bits of
    the largest output on the last."""
    found, wanted, rounded = dict[str, Any](), dict[str, Any](), False
    for layers in DEPTHS:
        far = capacity(layers)
        unseen = []
        for diameter in (far - 1, far, far + 1):
            A, model = path(diameter + 1), tested.build(diameter + 1, layers)
            unseen.append(int((model(A) == 0).sum()))
        largest = int(in_float64(model, A).max())
        rounded = rounded or evidence_of(model, A) != "exact"
        found[f"L = {layers}"] = [*unseen, largest.bit_length()]
        bits = int(tested.outputs(layers, A).max()).bit_length()
        wanted[f"L = {layers}"] = [0, 0, 2, bits]
    words = "; ".join(
        f"{depth}: {a}, {b}, {c} (of {bits} bits)" for depth, (a, b, c, bits) in found.items()
    )
    name = "pairs not seen on paths of diameter 3^L − 1, 3^L, 3^L + 1"
    evidence: Evidence = "float" if rounded else "exact"
    return same("paths", name, found, wanted, evidence=evidence, words=words, wanted="0, 0, 2")


def registers(model: Transformer, A: np.ndarray, count: int) -> Finding:
    """Every stage, added up over its blocks, is positive exactly as far as it is said to be; and
    there are so many."""
    n, stated = A.shape[-1], len(model.stages)
    wrong = None if stated == count else f"{stated} registers are stated, not {count}"
    passed = list(model.streams(A))
    for stage in model.stages:
        held = passed[stage.after][..., model.stream[stage.register]].numpy()
        sums = held.reshape(*held.shape[:-1], -1, n).sum(-2)
        seen = difference(sums > 0, within(A, stage.holds), A)
        wrong = wrong or (seen and f"{stage}: {seen}")
        if model.at_most and not wrong and held.max() > 1:
            wrong = f"{stage}: {held.max()} is above 1"
    name = "every register reaches as far as the proof says"
    words = f"{len(model.stages)} registers on {len(A)} graphs"
    return equal("registers", name, wrong, evidence=evidence_of(model, A), words=words)


def sums(model: Transformer, A: np.ndarray) -> Finding:
    """What the head of every clipped layer adds, before it is clipped."""
    wrong = None
    for block, H in zip(model.blocks, model.streams(A), strict=False):
        assert block.attn is not None
        added = block.attn(H, A.shape[-1])
        wrong = wrong or difference(added.numpy(), (H @ H.mT @ H).numpy(), A)
    name = "clipped: what a head adds before the clip is RRᵀR"
    return equal("clipped/sums", name, wrong, evidence=evidence_of(model, A))


def identity(run: Run, model: Transformer, n: int, layers: int) -> Finding:
    """The outputs are p_L(A) for all symmetric matrices A, mod a random prime."""
    polynomial = tripling_polynomial(layers)

    def both(domain: Domain, rows: list[list[Entry]]) -> tuple[list[Any], list[Any]]:
        ours = outputs(model, written(model, domain, rows), domain)
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
        f"tripling: all symmetric A (n = {n}, {layers} layers), mod a random 61-bit prime",
        None if ours == theirs else "the output is not p_L(A)",
        evidence="identity",
        words=f"p_{layers}(A), of degree {capacity(layers)}; error probability ≤ {missed:.1e}",
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
    wrong = None
    for layers in range(5):
        far = capacity(layers)
        for name, polynomial, wanted in (
            ("p", tripling_polynomial(layers), range(1, far + 1, 2)),
            ("s", disentangled_polynomial(layers), range(far + 1)),
            ("q", gram_polynomial(layers), range(0, 2 * far + 1, 2)),
        ):
            signs = {power: c > 0 for power, c in enumerate(polynomial) if c}
            if signs != dict.fromkeys(wanted, True):
                wrong = wrong or f"{name}_{layers} has coefficients {polynomial}"
    return equal(
        "powers",
        "no coefficient is negative, and the powers with a positive one are",
        wrong,
        words="odd ones to 3^L (tripling), all to 3^L (disentangled), even to 2·3^L (products)",
        wanted="for L = 0, …, 4; so supports are balls of these radii",
    )


def beside(run: Run, A: np.ndarray, layers: int) -> Finding:
    """hhᵀ of the disentangled transformer after every layer, and what the layers of tripling make
    of I + A²."""
    n, domain, wrong = A.shape[-1], Rational(), None
    ours, theirs = (as_tested(run, each).build(n, layers) for each in ("tripling", "disentangled"))
    few = A[-FEW:]
    for graph in few:
        rows = [[domain.number(int(entry)) for entry in row] for row in graph]
        start = domain.weights(np.eye(n) + graph @ graph)
        tripled = through(ours.blocks, start, n, domain)
        passed = streams(theirs, written(theirs, domain, rows), domain)
        for after, (H, h) in enumerate(zip(tripled, passed, strict=True)):
            if h * h.transpose() != H:
                wrong = wrong or f"after layer {after} on {shown(graph)}"
    return equal(
        "beside",
        "products ⟨h_i, h_j⟩ of the disentangled transformer are I + A², tripled",
        wrong,
        words=f"all entries over Q after each of {layers} layers, on {len(few)} graphs",
    )


def products(run: Run, A: np.ndarray, layers: int) -> Finding:
    """The support of HHᵀ on the graphs, and on paths of diameter 2·3^L and one node more."""
    build, wrong = as_tested(run, "tripling").build, None
    ends = []
    for graphs, depth in ((A, layers), *((path(2 * capacity(d) + 2), d) for d in (1, 2))):
        *_, H = build(graphs.shape[-1], depth).streams(graphs)
        seen = (H @ H.mT).numpy() > 0
        wrong = wrong or difference(seen, within(graphs, 2 * capacity(depth)), graphs)
        ends.append(int((~seen).sum()))
    return equal(
        "products",
        "two read-outs compared, ⟨H_i, H_j⟩, are positive exactly where dist ≤ 2·3^L",
        wrong,
        words=f"{len(A)} graphs; on paths of diameter 2·3^L + 1, {ends[1:]} pairs are not",
    )


def least(run: Run) -> Finding:
    """The number of clipped layers after which a path of this diameter is all connected."""
    diameters = range(1, 11 if run.quick else 29)
    most, build = 4, as_tested(run, "clipped").build
    found, wanted = [], []
    for diameter in diameters:
        A = path(diameter + 1)
        right = [bool((H == 1).all()) for H in build(diameter + 1, most).streams(A)]
        found.append(right.index(True) if True in right else -1)
        wanted.append(least_layers(diameter))
    name = f"clipped layers until a path of diameter D is all connected, D = 1, …, {diameters[-1]}"
    words = f"{found[-1]} for D = {diameters[-1]}"
    return same("least", name, found, wanted, words=words, wanted="⌈log₃D⌉")


def short_formats(run: Run) -> Finding:
    """Pairs that are wrong in short float formats, whose counts are rounded."""
    wrong, build = dict[str, int](), as_tested(run, "tripling").build
    A = side_by_side(path(14), path(14))
    for name in ("float32", "bfloat16"):
        model = deepcopy(build(len(A), 3)).to(getattr(torch, name))
        wrong[name] = int((model(A).numpy() != connected(A)).sum())
    verdict = Verdict.of(not any(wrong.values()))
    name = "rounded counts have the same support (two paths of 14 nodes, 3 layers)"
    words = ", ".join(f"{kind}: {count} pairs wrong" for kind, count in wrong.items())
    wanted = "none: sums and products of what is not negative keep their sign"
    return Finding(
        "short-formats", name, "float", wrong, dict.fromkeys(wrong, 0), verdict, words, wanted
    )
