"""The claim `connectivity-wall`: bounds on the disentangled transformer beyond distance 3^L."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, product, starmap
from typing import Annotated, Any

import numpy as np

from constructions import disentangled, two_cycles
from constructions.transformer import Transformer
from theory.graphs import (
    Channels,
    all_graphs,
    capacity,
    connected,
    cycles,
    disentangled_features,
    disentangled_outputs,
    erdos_renyi,
    jumps,
    kronecker,
    minimal_subgraph,
    path,
    relabelled,
    side_by_side,
    two_channels,
    two_clique,
    walks_with_jumps,
    within,
)
from verify.claim import Run, claim, option
from verify.evidence.size import size
from verify.finding import (
    Finding,
    Verdict,
    at_most,
    each_at_most,
    no_counterexample,
    same,
    shown,
)
from verify.graphs.exact_outputs import differences, exactly, over_q

Weights = tuple[list[np.ndarray], np.ndarray]  # W_l and O, integers
MOST_NODES = 24  # limit of computations in Python integers, at a width of 8n
CONTROLS = 24  # random weights at m = 4, some of which must distinguish one cycle from two
WORDS = [  # steps before, between and after r = 0 … 3 jumps; two layers take at most 9 steps
    *([k] for k in range(4)),
    *([k, m] for k in range(4) for m in range(4)),
    *([k, m, k] for k in range(3) for m in range(3)),
    [9, 0],
    [4, 5],
    [1, 2, 3, 3],
]
LEAST_DRAWN = 4  # weights, some of which must have a positive output at a far pair


@claim(
    picture="verify.graphs.connectivity_wall_picture:draw",
    faults_seen=[{"n_nodes": 11, "samples": 1}],
)
def connectivity_wall(
    run: Run,
    *,
    n_nodes: Annotated[
        int, option("number of nodes of a random graph", min=11, max=MOST_NODES)
    ] = 12,
    samples: Annotated[int, option("number of random weights of each kind", min=1, max=10_000)] = 6,
) -> Iterator[Finding]:
    """L layers of a disentangled transformer are limited at pairs of nodes farther apart than 3^L.

    In a disentangled transformer each layer appends its output to the stream instead of adding it.
    The outputs are numbers at all pairs of nodes, and the model predicts that a pair is connected
    if the output exceeds a threshold.

    (1) Let all weights be ≥ 0 and the threshold 0.  If all outputs at pairs of unconnected nodes of
    all graphs of n nodes are ≤ 0, then all outputs at pairs farther apart than 3^L are ≤ 0.

    (2) Let all weight matrices have the form A ⊗ I + B ⊗ J with entries ≥ 0, where I is the
    identity and J the all-ones matrix on the nodes, and let the threshold be any number.  Consider
    a graph of n nodes with a loop at each node and degrees at most ⌊n/2⌋, where a loop counts as
    1.  The output at a pair farther apart than 3^L is at most the output at a pair of nodes of
    different cliques in the graph of two disjoint cliques of ⌊n/2⌋ and ⌈n/2⌉ nodes.

    (3) For m = 4·3^(L−1), some model of L layers with weights of both signs is right on all pairs
    of a cycle of 2m nodes and on all pairs of two disjoint cycles of m nodes.  For larger m, no
    model with weights A ⊗ I + B ⊗ J of any sign is right on all pairs of both graphs.
    """
    yield by_definition(run, n_nodes)
    yield subgraphs(run, samples)
    yield sound(run, samples)
    yield terms(run, n_nodes)
    yield from cliques(run, n_nodes, samples)
    yield regular(run, samples)
    yield from distinguished(run)
    yield row_sums(run)
    yield closed_bands(run, samples)
    run.draw(built(run, 8, counting(8)), run.build(two_cycles, 1))


def built(run: Run, n: int, weights: Weights) -> Transformer:
    """The disentangled transformer of n nodes with score weights W_l and an unembedding.

    `weights` are the list of all W_l and the unembedding. The model gets n·W_l in place of W_l: it
    divides scores by n, so that its scores are integers.
    """
    W, out = weights
    return run.build(disentangled, n, len(W), [n * each for each in W], out)


def counting(n: int) -> Weights:
    """Weights of one layer in the channels I and J: I sums over neighbours, and J counts walks."""
    W = Channels(np.eye(2, dtype=int), np.diag([0, 1]))
    out = Channels(np.ones((4, 1), dtype=int), np.array([[0], [0], [0], [1]]))
    return [kronecker(W, n)], kronecker(out, n)


def channels(run: Run, n: int, layers: int, low: int, high: int) -> Weights:
    """Random weights A ⊗ I + B ⊗ J with integer entries from low to high, two thirds of them 0.

    J is the n × n all-ones matrix. Each n × n block has one diagonal entry, in the matrix D, and
    one off-diagonal entry, in B. D and B are drawn, and A = D − B, so that A may be negative for
    weights ≥ 0.
    """

    def drawn(rows: int, columns: int) -> np.ndarray:
        entries = run.rng.integers(low, high + 1, (2, rows, columns))
        D, B = entries * (run.rng.random(entries.shape) < 1 / 3)
        return kronecker(Channels(D - B, B), n)

    sizes = [2 ** (layer + 1) for layer in range(layers)]
    return [drawn(size, size) for size in sizes], drawn(2 ** (layers + 1), 1)


def if_seen(seen: bool, finding: Finding) -> Finding:
    """The given finding, but undecided if it holds and no case occurred that could fail."""
    if not seen and finding.verdict is Verdict.HOLDS:
        finding.verdict, finding.detail = Verdict.UNDECIDED, "no case occurred that could fail"
    return finding


def by_definition(run: Run, n: int) -> Finding:
    """Checks that the model equals its definition, for weights in two channels and free weights."""
    drawn = list[tuple[np.ndarray, Weights]]()
    for layers in (1, 2):
        A = erdos_renyi(1, n, 1.5 / n, run.rng)[0]
        W, out = channels(run, n, layers, -2, 2)
        dense = [run.rng.integers(-2, 3, each.shape) for each in (*W, out)]
        drawn += [(A, (W, out)), (A, (dense[:-1], dense[-1]))]

    def search() -> Iterator[str]:
        for A, weights in drawn:
            wanted = disentangled_outputs(A, *weights)
            yield from differences(over_q(built(run, n, weights), A), wanted, A)

    name = (
        "outputs of the disentangled transformer, compared with their definition h_L O, where "
        f"h_0 = [I, A] and h_{{l+1}} = [h_l, relu(h_l W_l h_lᵀ)h_l/n], for n = {n} nodes"
    )
    words = f"all entries equal in rational arithmetic, for {len(drawn)} random weights"
    return no_counterexample("definition", name, search(), words=words)


def subgraphs(run: Run, samples: int) -> Finding:
    """Checks that each positive output of weights ≥ 0 is positive on a subgraph of ≤ 3^L edges.

    L is the number of layers. For positive outputs on paths a minimal subgraph is computed. The
    weights are identity matrices and random dense weights. The outputs are at pairs of nodes at
    distances up to 3^L and above 3^L.
    """
    most, count = dict[str, int](), 0
    for layers, n in ((1, 6), (2, 11)):
        A, sizes = path(n), [2 ** (k + 1) * n for k in range(layers + 1)]
        shapes = [*((size, size) for size in sizes[:-1]), (sizes[-1], n)]
        blocks = np.tile(np.eye(n, dtype=int), (sizes[-1] // n, 1))
        plain = [np.eye(size, dtype=int) for size in sizes[:-1]], blocks
        cases = [(plain, 0, capacity(layers))]
        for _ in range(samples if layers == 1 else 1):
            *W, out = ((run.rng.random(shape) < 0.1).astype(np.int64) for shape in shapes)
            positive = disentangled_outputs(A, W, out) > 0
            for pairs in (positive & far(A, layers), positive & ~far(A, layers)):
                cases += [((W, out), int(i), int(j)) for i, j in np.argwhere(pairs)[:2]]
        for weights, i, j in cases:
            least = minimal_subgraph(A, *weights, i, j)
            edges, key = (int(least.sum()) - n) // 2, f"L = {layers}"
            most[key] = max(most.get(key, 0), edges)
            count += int(far(A, layers)[i, j])
    limits = {key: capacity(int(key[-1])) for key in most}
    sizes_found = ", ".join(f"at most {edges} edges for {key}" for key, edges in most.items())
    return each_at_most(
        "subgraphs",
        "models of L layers with weights ≥ 0: number of edges of minimal subgraphs on which an "
        "output is positive",
        "exact",
        {**most},
        {**limits},
        words=f"{sizes_found}; {count} of the outputs are at pairs beyond distance 3^L",
        wanted="at most 3^L edges",
    )


def sound(run: Run, samples: int) -> Finding:
    """Checks that no sound model with weights ≥ 0 is positive at a pair beyond distance 3.

    The pair is connected, the models have one layer, and the graphs have 5 nodes. A model is sound
    if no output is positive at an unconnected pair of any graph.  The weights are dense, or of the
    form A ⊗ I (identity I), with and without one more random entry.
    """
    n, wrong, reach, right = 5, list[str](), 0, 0
    A = all_graphs(n)
    A = A[far(A, 1).any((-1, -2))]  # other graphs have no pair beyond distance 3
    apart, beyond = connected(A) == 0, far(A, 1) & (connected(A) == 1)
    for kind in ("dense", "stray", "local") * max(samples, LEAST_DRAWN):
        eye = np.eye(n, dtype=np.int64)
        W, out = (
            (run.rng.random((2 * n, 2 * n)) < 0.1).astype(np.int64)
            if kind == "dense"
            else np.kron(run.rng.integers(0, 2, shape), eye)
            for shape in ((2, 2), (4, 1))
        )
        out = out.reshape(4 * n, n)
        if kind == "stray":
            W[tuple(run.rng.integers(0, 2 * n, 2))] += 1
        positive = exactly(built(run, n, ([W], out)), A) > 0
        reaches, wrong_pair = bool((positive & beyond).any()), unsound(positive, apart)
        reach, right = reach + reaches, right + (not wrong_pair)
        if reaches and not wrong_pair:
            wrong.append(f"W = {W.tolist()}, O = {out.tolist()}")
    name = (
        "weights ≥ 0, threshold 0: no model without a positive output at an unconnected pair has a "
        f"positive output at a connected pair beyond distance 3^L (n = {n}, L = 1)"
    )
    words = (
        f"true on {len(A)} graphs; {reach} models have a positive output at a connected pair "
        "beyond "
        f"distance 3, and {right} models have no positive output at an unconnected pair"
    )
    return if_seen(reach > 0 < right, no_counterexample("sound", name, wrong, words=words))


def unsound(positive: np.ndarray, apart: np.ndarray) -> bool:
    """Whether an output is positive at a pair of nodes that is not connected."""
    return bool((positive & apart).any())


def far(A: np.ndarray, layers: int) -> np.ndarray:
    """The pairs (…, n, n) of nodes farther apart than 3^L, L = `layers`, or not connected."""
    return ~within(A, capacity(layers))


def terms(run: Run, n: int) -> Finding:
    """Checks the number of walks of k steps with r jumps between two nodes farther apart than k.

    A jump leads to any other node. In graphs of n nodes whose degrees are at most ⌊n/2⌋, the number
    of walks must be at most the number of walks between two cliques of ⌊n/2⌋ and ⌈n/2⌉ nodes.
    """
    random = erdos_renyi(20, n, 1.5 / n, run.rng)
    given = all_graphs(4 if run.quick else 6), random, np.stack([path(n), cycles(n)])
    sparse = [A[A.sum(-1).max(-1) <= A.shape[-1] // 2] for A in given]
    count = sum(map(len, sparse))

    def search() -> Iterator[str]:
        for A, word in product(sparse, WORDS):
            nodes, k = A.shape[-1], sum(word)
            cliques = two_clique(nodes)
            limit = (nodes // 2) ** k * jumps(nodes, len(word) - 1)
            if (walks_with_jumps(A, word)[~within(A, k)] > limit).any():
                yield f"{nodes} nodes, steps {word}: more than {limit} at a far pair"
            if (walks_with_jumps(cliques, word)[connected(cliques) == 0] < limit).any():
                yield f"{nodes} nodes, steps {word}: fewer than {limit} between two cliques"

    name = (
        "the number of walks of k steps and r jumps to any other node, between two nodes farther "
        "apart than k in a graph of n nodes and degrees ≤ ⌊n/2⌋, is at most the number of such "
        "walks between two cliques"
    )
    words = (
        f"true for {count} graphs and {len(WORDS)} kinds of walks of up to "
        f"{max(map(sum, WORDS))} steps"
    )
    wanted = (
        "at most ⌊n/2⌋^k((n − 1)^r − (−1)^r)/n walks, and between two cliques at least this "
        "number of walks"
    )
    wrong = search() if count else ["no graph"]
    return no_counterexample("terms", name, wrong, words=words, wanted=wanted)


def cliques(run: Run, n: int, samples: int) -> Iterator[Finding]:
    """Checks outputs of random weights A ⊗ I + B ⊗ J ≥ 0 at pairs not within distance 3^L.

    L is the number of layers and J the all-ones matrix. The outputs must be at most the outputs at
    pairs between two cliques.
    """
    sparse = erdos_renyi(3, n, 1.2 / n, run.rng)
    graphs = [path(n), cycles(n), side_by_side(path(n - 4), cycles(4)), *sparse]
    graphs = [A for A in graphs if A.sum(-1).max() <= n // 2]
    for layers in (1, 2):
        pairs, largest, larger, negative = 0, 0.0, 0, 0
        for _ in range(max(samples, LEAST_DRAWN)):
            weights = channels(run, n, layers, 0, 2)
            negative += below_zero(weights, n) > 0
            model = built(run, n, weights)
            across = exactly(model, two_clique(n))[connected(two_clique(n)) == 0]
            for A, outputs in zip(graphs, exactly(model, np.stack(graphs)), strict=True):
                values = outputs[far(A, layers)]
                pairs, larger = pairs + len(values), larger + int((values > across.min()).sum())
                if len(values) and across.min():
                    largest = max(largest, float(values.max() / across.min()))
        found = at_most(
            f"two-clique/{layers}",
            f"models of L layers, L = {layers}, with weights A ⊗ I + B ⊗ J ≥ 0, J all ones: number "
            "of pairs not within distance 3^L whose output exceeds an output at a pair between two "
            "cliques",
            "exact",
            larger,
            0,
            words=f"{larger} of {pairs}; the largest ratio of the two outputs is {largest:.2g}; "
            f"A has a negative entry in {negative} of the models",
            wanted="none, so that a model that connects such a pair also connects the two cliques",
        )
        yield if_seen(largest > 0 < negative, found)


def below_zero(weights: Weights, n: int) -> int:
    """The number of negative entries of A in weights A ⊗ I + B ⊗ J, J the all-ones matrix."""
    W, out = weights
    return sum(int((two_channels(each, n).I < 0).sum()) for each in (*W, out))


def regular(run: Run, samples: int) -> Finding:
    """Checks outputs of weights A ⊗ I + B ⊗ J ≥ 0 on one cycle of 2m nodes and on two cycles.

    The two cycles have m nodes each, L is the number of layers, and J is the all-ones matrix. Pairs
    farther apart than 3^L in the one cycle must have the same output as pairs between the two
    cycles.
    """
    sizes = [(capacity(L) + 1, L) for L in (1, 2) for _ in range(max(samples, LEAST_DRAWN))]
    found = [(of_far_pairs(run, m, L, channels(run, 2 * m, L, 0, 2)), m, L) for m, L in sizes]
    seen = sum(any(values) for values, *_ in found)
    name = (
        "models of L layers with weights A ⊗ I + B ⊗ J ≥ 0, J all ones: outputs at pairs farther "
        "apart than 3^L in a cycle of 2m nodes, compared with outputs at pairs between two cycles "
        "of m nodes"
    )
    words = (
        f"equal for m = 3^L + 1, L = 1, 2 and random weights; {seen} of the models have a "
        "positive output at such a pair"
    )
    wrong = chain.from_iterable(starmap(several, found))
    return if_seen(seen > 0, no_counterexample("regular", name, wrong, words=words))


def of_far_pairs(run: Run, m: int, layers: int, weights: Weights) -> set[Any]:
    """The outputs at pairs farther apart than 3^L in a cycle of 2m nodes, L = `layers`.

    The set also contains the outputs at pairs between two cycles of m nodes.
    """
    one, two, model = cycles(2 * m), cycles(m, m), built(run, 2 * m, weights)
    return {*over_q(model, one)[far(one, layers)], *over_q(model, two)[connected(two) == 0]}


def several(values: set[Any], m: int, layers: int) -> Iterator[str]:
    """Yields a line of text if the set `values` does not have exactly one element."""
    if len(values) != 1:
        yield f"m = {m}, L = {layers}: outputs {sorted(values)[:4]}"


def apart(run: Run, m: int, layers: int, weights: Weights) -> Iterator[str]:
    """Yields a line if the outputs `of_far_pairs` are not all equal."""
    yield from several(of_far_pairs(run, m, layers, weights), m, layers)


def distinguished(run: Run) -> Iterator[Finding]:
    """Checks that `two_cycles` is right on one cycle and on two cycles, with relabelled nodes."""
    for layers in (1, 2):
        m = 4 * capacity(layers - 1)
        model = run.build(two_cycles, layers)
        found = size(model, "two-cycles", L=layers)
        found.id, found.name = f"two-cycles/{layers}/size", f"{model.name}: size of the model"
        yield found
        wrong, outputs = list[str](), dict[str, list[float]]()
        for name, A in (("C_2m", cycles(2 * m)), ("C_m ∪ C_m", cycles(m, m))):
            graph = relabelled(A, run.rng.permutation(2 * m))
            values = model.logits(graph).numpy()
            if layers == 1:
                wrong += differences(over_q(model, graph), values.astype(int), graph)
            wrong += differences(model(graph).numpy(), connected(graph), graph)
            outputs[name] = sorted({*values.ravel().tolist()})
        wanted = {"C_2m": [1.0, 3.0, 4.0], "C_m ∪ C_m": [0.0, 3.0]}
        listed = "; ".join(f"{shown(each)} on {name}" for name, each in outputs.items())
        yield same(
            f"two-cycles/{layers}",
            f"model of L layers, L = {layers}, with signed weights: values of the outputs on a "
            f"cycle C_2m of 2m nodes and on two cycles C_m ∪ C_m of m nodes, for m = {m} > 3^L",
            {**outputs, "wrong": wrong[0] if wrong else None},
            {**wanted, "wrong": None},
            evidence="exact" if layers == 1 else "float",
            words=listed,
            wanted="positive exactly at connected pairs",
            detail="".join(wrong[:1]),
        )


def row_sums(run: Run) -> Finding:
    """Checks the row sums of relu(3J − 2A²), on one cycle and on two cycles.

    J is the all-ones matrix. A is the adjacency matrix of a cycle of 2m nodes or of two cycles of m
    nodes, for m = 4 and 5. A model of one layer computes relu(3J − 2A²) in a register.
    """
    found = {}
    W = Channels(np.diag([0, -2]), np.diag([3, 0]))
    for m in (4, 5):
        n = 2 * m
        model = built(run, n, ([kronecker(W, n)], np.zeros((4 * n, n), dtype=int)))
        *_, H = model.streams(np.stack([cycles(n), cycles(m, m)]))
        S = H[..., model.stream["layer_1"]][..., :n].numpy()
        found[f"m = {m}"] = [sorted({*each.sum(1).tolist()}) for each in S]
    words = ", ".join(f"{shown(a)} and {shown(b)} for {key}" for key, (a, b) in found.items())
    name = (
        "row sums of relu(3J − 2A²), where J is all ones and A the adjacency matrix, of a cycle of "
        "2m nodes and of two cycles of m nodes"
    )
    wanted = {"m = 4": [[11.0], [12.0]], "m = 5": [[17.0], [17.0]]}
    return same("row-sums", name, found, wanted, evidence="float", words=words)


def closed_bands(run: Run, samples: int) -> Finding:
    """Checks outputs of signed weights A ⊗ I + B ⊗ J on one cycle of 2m nodes and on two of m
    nodes.

    L is the number of layers, and J the all-ones matrix. For m = 4·3^(L−1) + 1 and m = 4·3^(L−1) +
    2, pairs farther apart than 3^L in the one cycle must have the same output as pairs between the
    two cycles.
    """
    drawn = list[tuple[int, int, Weights]]()
    for layers, times in ((1, 4 * samples), (2, 1 if run.quick else samples // 2 + 1)):
        for _ in range(times):
            m = 4 * capacity(layers - 1) + 1 + int(run.rng.integers(0, 2))
            drawn.append((m, layers, cutting(run, m, layers)))
    wrong = (w for each in drawn for w in apart(run, *each))
    differ = [any(apart(run, 4, 1, cutting(run, 4, 1))) for _ in range(CONTROLS)]
    name = (
        "models of L layers with signed weights A ⊗ I + B ⊗ J, J all ones: outputs at pairs "
        "farther apart than 3^L in a cycle of 2m nodes, compared with outputs at pairs between two "
        "cycles of m ≥ 4·3^(L−1) + 1 nodes"
    )
    words = (
        f"equal for {len(drawn)} random weights, L = 1, 2; at m = 4, L = 1 the outputs differ for "
        f"{sum(differ)} of {len(differ)} weights"
    )
    return if_seen(any(differ), no_counterexample("signed-cycles", name, wrong, words=words))


def cutting(run: Run, m: int, layers: int) -> Weights:
    """Signed weights A ⊗ I + B ⊗ J with a random constant that makes relu cut off some scores.

    J is the all-ones matrix. In each layer, one entry of B subtracts one of the scores of a cycle
    of 2m nodes from all scores.
    """
    n, W = 2 * m, list[np.ndarray]()
    for layer in range(layers):
        size = 2 ** (layer + 1)
        A, B = run.rng.integers(-2, 3, (size, size)), np.zeros((size, size), dtype=np.int64)
        h = disentangled_features(cycles(n), W)
        band = h @ kronecker(Channels(A, B), n).astype(object) @ h.T
        B[0, 0] = -run.rng.choice(band.ravel())
        W.append(kronecker(Channels(A, B), n))
    size = 2 ** (layers + 1)
    return W, kronecker(Channels(*run.rng.integers(-2, 3, (2, size, 1))), n)
