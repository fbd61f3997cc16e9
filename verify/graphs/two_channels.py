"""The claim `two-channels`: the projection of weights onto those invariant under relabelling."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from typing import Annotated

import numpy as np

from constructions import disentangled
from constructions.transformer import Transformer
from theory.graphs import (
    Channels,
    all_graphs,
    disentangled_outputs,
    kronecker,
    orthogonal_split,
    path,
    relabelled,
    two_channels_by_definition,
)
from theory.graphs import two_channels as channels_of
from verify.claim import Run, claim, option
from verify.finding import Evidence, Finding, no_counterexample, same
from verify.graphs.exact_outputs import differences, evidence_of, over_q

GRIDS = (2, 2), (4, 4), (4, 1)  # blocks of W_0, of W_1, and of the unembedding of one layer

MOST_NODES = 5  # limit, as all n! orders of nodes are tried


@claim(
    faults_seen=[{"n_nodes": 3}],
)
def two_channels(
    run: Run, *, n_nodes: Annotated[int, option("number of nodes", min=3, max=MOST_NODES)] = 4
) -> Iterator[Finding]:
    """For every matrix W whose blocks are n × n matrices, the mean of W over all relabellings of
    the n nodes is A ⊗ I + B ⊗ J, the orthogonal projection of W onto the matrices of this form.

    I and J are the n × n identity matrix and the n × n all-ones matrix, and n ≥ 2. A relabelling
    permutes the rows and the columns of all blocks in the same way. Each block X determines one
    entry of A and one entry of B, namely

        B = (1ᵀX1 − tr X)/(n(n − 1)),   A = tr X/n − B.

    I and J are not orthogonal. However, the squared Frobenius norm ‖W‖² is the sum of three terms:
    n Σ a² for the means a of the diagonals of the blocks, n(n − 1) Σ b² for the means b of their
    off-diagonal entries, and the squared norm of W − A ⊗ I − B ⊗ J.

    Models with weights A ⊗ I + B ⊗ J are equivariant: relabelling the nodes relabels the outputs.
    For the adjacency matrix G of an undirected graph, G J G = deg degᵀ, where deg is the vector of
    the row sums of G, that is, of the degrees. So the part B ⊗ J of the weights uses only degrees.
    """
    n = n_nodes
    drawn = {grid: random_weights(run, n, *grid) for grid in GRIDS}
    yield projection(drawn, n)
    yield split(drawn, n)
    yield shares(drawn, n)
    yield from names(run, n)
    yield counting(run)


def random_weights(run: Run, n: int, rows: int, columns: int) -> np.ndarray:
    """A matrix (rows·n, columns·n) of random fractions."""
    entries = run.rng.integers(-9, 10, (rows * n, columns * n))
    return np.vectorize(lambda entry: Fraction(int(entry), 7), otypes=[object])(entries)


def projection(drawn: dict[tuple[int, int], np.ndarray], n: int) -> Finding:
    """Checks that A ⊗ I + B ⊗ J equals the average of a matrix W over all n! relabellings.

    J is the all-ones matrix; A and B are the `two_channels` of W, for each matrix W of n × n blocks
    in `drawn`.
    """
    wrong = (
        f"{grid[0]} × {grid[1]} blocks differ"
        for grid, W in drawn.items()
        if (kronecker(channels_of(W, n), n) != two_channels_by_definition(W, n)).any()
    )
    name = (
        f"average of a matrix W of blocks over all relabellings of {n} nodes, compared with the "
        "projection A ⊗ I + B ⊗ J of W, J all ones"
    )
    blocks = ", ".join(f"{a} × {b}" for a, b in drawn)
    words = f"all entries equal in rational arithmetic, for {blocks} blocks"
    return no_counterexample("projection", name, wrong, words=words)


def split(drawn: dict[tuple[int, int], np.ndarray], n: int) -> Finding:
    """Checks that the parts of ‖W‖² equal squared norms of projections of W, and sum to ‖W‖².

    `drawn` contains the matrices W of n × n blocks.
    """

    def search() -> Iterator[str]:
        for grid, W in drawn.items():
            average, parts = two_channels_by_definition(W, n), orthogonal_split(W, n)
            same_node = np.kron(np.ones(grid, dtype=int), np.eye(n, dtype=int))
            wanted = squared(average * same_node), squared(average * (1 - same_node))
            if parts != (*wanted, squared(W - average)) or squared(W) != sum(parts):
                yield f"{grid[0]} × {grid[1]} blocks: {parts}"

    name = (
        "‖W‖² compared with n Σa² + n(n − 1) Σb² + the rest, where a and b are the means of the "
        "diagonal and of the other entries of each block"
    )
    words = "equal in rational arithmetic, and the three parts are orthogonal"
    return no_counterexample("split", name, search(), words=words)


def squared(W: np.ndarray) -> Fraction:
    """The squared norm ‖W‖², exactly."""
    return Fraction((W * W).sum())


def shares(drawn: dict[tuple[int, int], np.ndarray], n: int) -> Finding:
    """Checks that ‖A ⊗ I + B ⊗ J‖² − n‖A‖² − n²‖B‖² equals 2n⟨A, B⟩ and is not 0.

    J is the all-ones matrix; A and B are the `two_channels` of each matrix of n × n blocks in
    `drawn`.
    """
    found, wanted = [], []
    for W in drawn.values():
        A, B = channels_of(W, n)
        whole = squared(two_channels_by_definition(W, n))
        found.append(whole - n * squared(A) - n * n * squared(B))
        wanted.append(2 * n * Fraction((A * B).sum()))
    missing = min(map(abs, found)) > 0
    return same(
        "shares",
        "‖A ⊗ I + B ⊗ J‖² − n‖A‖² − n²‖B‖², J all ones",
        {"left": [str(each) for each in found], "some": missing},
        {"left": [str(each) for each in wanted], "some": True},
        words=f"equal to 2n⟨A, B⟩ and not 0; for one W it is {float(found[0]):.3g}",
        wanted="2n⟨A, B⟩, since ⟨I, J⟩ = n",
    )


def built(run: Run, n: int, weights: list[np.ndarray]) -> Transformer:
    """The disentangled transformer of n nodes with weights `weights`, the last for unembedding."""
    *W, out = weights
    return run.build(disentangled, n, len(W), [n * each for each in W], out)


def names(run: Run, n: int) -> Iterator[Finding]:
    """Checks which weights are equivariant, on a path with its nodes in every order.

    Weights A ⊗ I + B ⊗ J, where J is the all-ones matrix, must be equivariant: relabelling the
    nodes relabels the outputs. Random other weights must not be equivariant.
    """
    A, orders = path(n), [list(order) for order in permutations(range(n))]
    two, one = (
        [kronecker(Channels(*run.rng.integers(-3, 4, (2, *grid))), n) for grid in grids]
        for grids in (((2, 2), (4, 4), (8, 1)), ((2, 2), (4, 1)))
    )

    def search() -> Iterator[str]:
        for alike in (two, one):
            wanted = disentangled_outputs(A, alike[:-1], alike[-1])
            model = built(run, n, alike)
            for order in orders:
                graph = relabelled(A, order)
                yield from differences(over_q(model, graph), wanted[order][:, order], graph)

    yield no_counterexample(
        "names",
        "models of 1 and 2 layers with weights A ⊗ I + B ⊗ J, J all ones, are equivariant on a "
        f"path of {n} nodes",
        search(),
        words=f"outputs are relabelled as the nodes are, in all {len(orders)} orders of the nodes",
    )
    other = [run.rng.integers(-3, 4, each.shape) for each in one]
    outputs = disentangled_outputs(A, other[:1], other[1])
    model = built(run, n, other)
    moved = [(over_q(model, relabelled(A, o)) == outputs[o][:, o]).all() for o in orders]
    yield same(
        "names/other",
        "models with random weights, not of the form A ⊗ I + B ⊗ J, are not equivariant on this "
        "path",
        {"order as given": bool(moved[0]), "every order": bool(all(moved))},
        {"order as given": True, "every order": False},
        words="outputs differ from the relabelled outputs in "
        f"{len(moved) - sum(moved)} of {len(moved)} orders of the nodes",
        wanted="they differ in some order, and are equal in the given order",
    )


def counting(run: Run) -> Finding:
    """Checks that a head with query A J and key A, J all ones, has scores deg(i)·deg(j)."""
    J = Channels(np.zeros((2, 2), dtype=int), np.diag([0, 1]))
    graphs = [all_graphs(n) for n in range(2, 5 if run.quick else 6)]
    models = [
        built(run, n, [kronecker(J, n), np.zeros((4 * n, n))])
        for n in (A.shape[-1] for A in graphs)
    ]

    def search() -> Iterator[str]:
        for model, A in zip(models, graphs, strict=True):
            *_, H = model.streams(A)
            S = H[..., model.stream["layer_1"]][..., : A.shape[-1]].numpy()
            degrees = A.sum(-1)
            yield from differences(S, degrees[..., :, None] * degrees[..., None, :], A)

    name = (
        "A J A compared with deg degᵀ, where A is the adjacency matrix, J all ones, and deg the "
        "column of degrees, on all graphs of 2 to "
        f"{graphs[-1].shape[-1]} nodes"
    )
    words = f"all entries equal on {sum(map(len, graphs))} graphs"
    exact = all(evidence_of(*each) == "exact" for each in zip(models, graphs, strict=True))
    evidence: Evidence = "exact" if exact else "float"
    return no_counterexample("counting", name, search(), evidence=evidence, words=words)
