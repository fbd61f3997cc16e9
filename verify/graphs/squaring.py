"""The claim `squaring`: distances up to 2^L in L layers of softmax attention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from math import log
from typing import Annotated

import numpy as np

from constructions.graphs import squaring as construction
from constructions.transformer import Transformer
from theory.graphs import (
    all_graphs,
    clique,
    cycles,
    distances_by_definition,
    erdos_renyi,
    lean_squaring_sharpness,
    path,
    relabelled,
    side_by_side,
    squaring_sharpness,
    two_chain,
    two_clique,
)
from theory.kinds import Count, read
from verify.claim import Run, claim, option
from verify.domains import Ball, Rational, outputs, streams
from verify.evidence import softmax
from verify.evidence.enclosure import below
from verify.evidence.heads import head_is
from verify.evidence.restoring import ENCLOSED, SEARCHED, makes
from verify.evidence.sequences import exact_evidence
from verify.evidence.size import size
from verify.evidence.softmax import enclosed_error
from verify.finding import Finding, Verdict, as_stated, at_most, labelled, no_counterexample
from verify.graphs.exact_outputs import differences
from verify.graphs.options import Edges, Nodes, adjacency, chosen

FORMS = "lean", "robust"
ENCLOSED_NODES = 8
LARGER = 49  # most nodes of larger graphs; 49·(1/49) is not 1 in float64


@claim(
    faults_seen=[{"n_nodes": 4, "samples": 2}],
)
def squaring(
    run: Run,
    *,
    n_nodes: Nodes = None,
    n_layers: Annotated[
        int | None,
        option(
            "number of layers; by default a number that suffices for all graphs", min=1, max=100
        ),
    ] = None,
    samples: Annotated[int, option("number of random graphs", min=1, max=10**4)] = 20,
    edges: Edges = None,
) -> Iterator[Finding]:
    """For all n and L, L layers of one head output the pairs of nodes at distance at most 2^L in
    every graph of n nodes.

    Lean form of the construction: the width is 2n, with n hidden ReLU neurons.  Token i is node i.
    Average-hard attention has query R_i, key e_j and value R_j, where e_j is the j-th unit vector
    and R_i is the 0/1 vector of the nodes that node i is known to reach (the register `reached`).
    ⌈log₂D⌉ layers output all connected pairs if components have diameter at most D.

    Robust form of the construction: the width is 3n, with 3n hidden ReLU neurons.  Let N =
    2^⌈log₂n⌉.  For every L and every inverse temperature β ≥ ln(8N(n − 1)), softmax gives the same
    logits as average-hard attention, 0 and 1, in exact arithmetic, and the same predictions in
    float64.

    For every inverse temperature β < ln(2(n − 1)((N + ½)^L − 1)), the lean form with softmax is
    wrong on some graph. This bound on β grows with L.
    """
    n, own = chosen(n_nodes, edges, 16)
    L = max(1, (n - 2).bit_length()) if n_layers is None else read(Count, "n_layers", n_layers)
    graphs = families(run, n, samples)
    if own is not None:
        graphs[f"given, {own.name}" if own.name in graphs else own.name] = adjacency(own)[None]
    for form in FORMS:
        model = built(run, n, L, form)
        yield from labelled(form, _found(run, model, graphs, form))
    yield from labelled("softmax", _softmax(run, n, L, graphs))
    yield from labelled("lean", _softmax_of_the_lean_form(run, min(n, ENCLOSED_NODES)))


def built(run: Run, n: int, L: int, form: str) -> Transformer:
    """The squaring model of n nodes and L layers, in the lean or robust form."""
    return run.build(construction, n, L, form=form)


def families(run: Run, n: int, samples: int) -> dict[str, np.ndarray]:
    """Graphs of n nodes by name, (graphs, n, n), with randomly permuted nodes."""
    named = {
        "random": erdos_renyi(samples, n, min(1.0, 1.5 / n), run.rng),
        "path": path(n)[None],
        "2Chain": two_chain(n)[None],
        "2Clique": two_clique(n)[None],
        "clique and isolated node": apart(n)[None],
        "clique and pendant node": pendant(n)[None],
        "no edge": np.eye(n, dtype=np.int64)[None],
    }
    if n > 2:
        named["cycle"] = cycles(n)[None]
    return {name: relabelled(A, run.rng.permutation(n)) for name, A in named.items()}


def apart(n: int) -> np.ndarray:
    """An isolated node and a clique of all other nodes, a graph with the largest softmax errors."""
    return side_by_side(clique(1), clique(n - 1))


def pendant(n: int) -> np.ndarray:
    """A clique of n − 1 nodes, and a node with an edge to one of them.

    For n > 3, the other n − 2 nodes of the clique have the smallest positive output of a head on
    any graph of n nodes: 1 of the n − 1 nodes that they reach has an edge to the last node.
    """
    graph = apart(n)
    graph[0, 1] = graph[1, 0] = 1
    return graph


def _found(
    run: Run, model: Transformer, graphs: dict[str, np.ndarray], form: str
) -> Iterator[Finding]:
    n, L = model.interface.n_nodes, model.n_layers
    N = 2 ** (n - 1).bit_length()
    name = "squaring" if form == "lean" else "squaring-robust"
    yield size(model, name, n=n, L=L)
    into = "reached" if form == "lean" else "found"
    scores, values = {("reached", "node"): 1.0}, {("reached", into): float(N)}
    yield head_is("head", model, range(1, L + 1), scores, values)
    states = dict.fromkeys(range(1, L + 1), _states(n, N, form))
    yield makes("mlp", "the MLP maps the head's output to 0 or 1", model, states)
    most = 4 if run.quick else 5
    small = {k: built(run, k, max(0, k - 2).bit_length(), form) for k in range(1, most + 1)}
    yield within_reach(
        "all-small",
        f"register `reached` after every layer, on every graph of at most {most} nodes",
        [(each, all_graphs(k)) for k, each in small.items()],
    )
    batches = [(model, A) for A in graphs.values()]
    more = max(n, min(3 * n + 1, LARGER))
    if more > n:
        larger = built(run, more, (more - 2).bit_length(), form)
        batches += [(larger, A) for A in families(run, more, 2).values()]
    yield within_reach(
        "large",
        "register `reached` after every layer, on graphs of "
        f"{' and '.join(map(str, sorted({n, more})))} nodes ({', '.join(graphs)})",
        batches,
    )
    k = 3 if run.quick else 4
    yield over_q(small[k], all_graphs(k))


def _states(n: int, N: int, form: str) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """All inputs of the MLP at one node, for every node, and the required outputs.

    Values have steps of ½, so that errors of softmax up to ¼ stay within boxes around them.
    """
    reached, found, wanted = [0.0], [0.0], [0.0]
    for value in np.arange(1, N + 0.25, 0.5):
        for before in (0.0, 1.0):
            reached, found, wanted = [*reached, before], [*found, value], [*wanted, 1.0]
    eye = np.eye(n)

    def everywhere(values: list[float] | np.ndarray) -> np.ndarray:
        return np.kron(np.array(values)[:, None], eye)

    if form == "lean":
        z = np.add(reached, found)
        return {"reached": everywhere(z)}, {"reached": everywhere(wanted)}
    inputs = {"reached": everywhere(reached), "found": everywhere(found)}
    return inputs, {"reached": everywhere(wanted), "found": 0 * everywhere(found)}


def within_reach(id: str, name: str, batches: list[tuple[Transformer, np.ndarray]]) -> Finding:
    """Checks that the register `reached` is 1 exactly at distances ≤ 2^l after each layer l.

    The outputs must equal the values of `reached` after the last layer.
    """
    count = sum(len(A) for _, A in batches)
    return no_counterexample(
        id,
        name,
        (wrong for model, A in batches for wrong in _wrong(model, A)),
        evidence=exact_evidence(batches[-1][0]),
        words=f"all pairs are right on {count} graphs",
    )


def _wrong(model: Transformer, A: np.ndarray) -> Iterator[str]:
    for stage, H in zip(model.stages, model.streams(A), strict=True):
        found, wanted = H[..., model.stream[stage.register]].numpy(), stage.holds(A)
        for wrong in differences(found, wanted, A):
            yield f"{model.name}, {stage}, {wrong}"
    for outputs_of in (model(A), model.logits(A)):
        for wrong in differences(outputs_of.numpy(), squares_to(A, model.n_layers), A):
            yield f"{model.name}, output: {wrong}"


def squares_to(A: np.ndarray, L: int) -> np.ndarray:
    """Whether nodes of graphs A are at distance ≤ 2^L, by breadth-first search: (graphs, n, n)."""
    far = np.stack([distances_by_definition(graph) for graph in A])
    return (far >= 0) & (far <= 2**L)


def over_q(model: Transformer, A: np.ndarray) -> Finding:
    """Checks that the last stream in float64 equals the last stream in rational arithmetic."""
    domain = Rational()

    def search() -> Iterator[str]:
        for graph in A:
            *_, H = streams(model, model.prompt(graph), domain)
            *_, rounded = model.streams(graph)
            if domain.weights(rounded.numpy()) != H:
                yield f"{model.name} on {graph.tolist()}"

    return no_counterexample(
        "rational",
        f"last stream in rational arithmetic and in float64 ({model.interface.n_nodes} nodes)",
        search(),
        words=f"all entries equal on {len(A)} graphs",
    )


def _softmax(run: Run, n: int, L: int, graphs: dict[str, np.ndarray]) -> Iterator[Finding]:
    bound = squaring_sharpness(n)
    depths = L, 4 * L
    betas = sufficient(run, n, depths)
    lean = built(run, n, L, "lean").least_sharpness()
    finding = at_most(
        "sharpness",
        "smallest β found sufficient for softmax to make the predictions of average-hard "
        "attention, "
        f"for n = {n} nodes",
        "float",
        max(betas),
        bound * SEARCHED,
        words=", ".join(
            f"β = {beta:.3g} for L = {k}" for k, beta in zip(depths, betas, strict=True)
        )
        + f" in the robust form; β = {lean:.3g} for L = {L} in the lean form",
        wanted=f"at most ln(8N(n − 1)) = {bound:.3g} in the robust form, N = 2^⌈log₂n⌉",
    )
    N = min(2**power for power in range(n) if 2**power >= n)
    yield as_stated(finding, bound, log(N) + log(8 * n - 8))
    robust = built(run, n, L, "robust")
    beta = robust.least_sharpness()
    soft = robust.sharpened(beta)
    yield no_counterexample(
        "answers",
        f"predictions of softmax at β = {beta:.3g} on graphs of {n} nodes, in float64",
        (
            f"{soft.name} at β = {beta:.3g}, {name}: {wrong}"
            for name, A in graphs.items()
            for wrong in differences(soft(A).numpy(), squares_to(A, L), A)
        ),
        evidence="float",
        words=f"all pairs are right on {sum(map(len, graphs.values()))} graphs",
    )
    k = min(n, ENCLOSED_NODES)
    few = built(run, k, 2, "robust")
    yield enclosed(few, few.least_sharpness(), np.stack([apart(k), path(k)]))
    yield needed(built(run, k, 1, "robust"))


def sufficient(run: Run, n: int, depths: Sequence[int]) -> list[float]:
    """The smallest β found sufficient for the robust form, for each number of layers."""
    return [built(run, n, L, "robust").least_sharpness() for L in depths]


def enclosed(model: Transformer, beta: float, A: np.ndarray) -> Finding:
    """Checks in balls that softmax and average-hard attention have equal logits.

    The two attention weights differ.
    """
    real = enclosed_error(model, beta, A)
    return at_most(
        "restored",
        f"distance of softmax logits at β = {beta:.3g} from the logits of average-hard attention "
        f"({model.interface.n_nodes} nodes, {len(A)} graphs, {model.n_layers} layers)",
        "enclosure",
        real,
        ENCLOSED,
        words=f"at most {real[1]:.2g}",
        wanted="at most 2^−64, the accuracy of the balls",
    )


def needed(model: Transformer) -> Finding:
    """Checks that softmax below the necessary inverse temperature makes a wrong prediction.

    On an isolated node and a clique of all other nodes, all logits of the isolated node for other
    nodes must be above ½, so that it is predicted connected to them.
    """
    n, L = model.interface.n_nodes, model.n_layers
    limit = lean_squaring_sharpness(n, L)
    beta, soft = limit - 2**-4, deepcopy(model)
    for attn in soft.attentions:  # `sharpened` raises for a β without a certificate
        attn.normalise, attn.scale = "softmax", beta
    with Ball.precision(192):
        logits = outputs(soft, soft.prompt(apart(n)), Ball()).tolist()[0][1:]
        half = Ball().number(1, 2)
        verdicts = [below(half, logit) for logit in logits]
    wrong = verdicts.count(Verdict.HOLDS)
    layers = "1 layer" if L == 1 else f"{L} layers"
    return Finding(
        "needed",
        "number of nodes of a clique to which an isolated node is predicted connected by "
        f"softmax at β = {beta:.3g}, for {layers} and n = {n} nodes",
        "enclosure",
        wrong,
        n - 1,
        Verdict.together(verdicts),
        f"{wrong} of {n - 1} nodes have logits above ½",
        f"all, since β is below ln(2(n − 1)((N + ½)^L − 1)) = {limit:.3g}, N = 2^⌈log₂n⌉",
    )


def _softmax_of_the_lean_form(run: Run, n: int) -> Iterator[Finding]:
    """The lean form: its certified β suffices for two layers, in balls, and β must grow with L."""
    few = built(run, n, 2, "lean")
    graphs = np.stack([apart(n), path(n)])
    yield softmax.enclosed(few, few.least_sharpness(), graphs, f"{n} nodes, 2 layers")
    yield needed(few)
