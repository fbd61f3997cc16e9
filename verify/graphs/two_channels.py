"""The claim `two-channels`: what weights say of a graph whatever the names of its nodes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from typing import Annotated

import numpy as np

from constructions import disentangled
from constructions.transformer import Transformer
from theory.checks import InputError
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
from verify.finding import Evidence, Finding, equal, same
from verify.graphs.exact_outputs import difference, evidence_of, over_q

GRIDS = (2, 2), (4, 4), (4, 1)  # blocks of W_0, of W_1, and of a read-out of one layer

MOST_NODES = 5


@claim(
    source="proved in theory/graphs/two_channels.py; for two blocks by two, as told, in [Ye2026]",
    faults_seen=[{"nodes": 3}],
)
def two_channels(
    run: Run, *, nodes: Annotated[int, option("nodes, at most 5", min=3)] = 4
) -> Iterator[Finding]:
    """Averaged over all names of nodes, weights are A ⊗ I + B ⊗ J: an orthogonal projection.

    Block by block, at every depth.  I and J are not orthogonal, so ‖W‖² is split into diagonals,
    off-diagonals and the rest.  Models of such weights do not depend on names.  The channel I
    composes neighbourhoods; J counts walks: A J A = deg degᵀ.
    """
    n = nodes
    if n > MOST_NODES:
        raise InputError(f"nodes is {n}, of which there are {n}! orders: give at most {MOST_NODES}")
    drawn = {grid: random_weights(run, n, *grid) for grid in GRIDS}
    yield projection(drawn, n)
    yield split(drawn, n)
    yield shares(drawn, n)
    yield from names(run, n)
    yield counting(run)


def random_weights(run: Run, n: int, rows: int, columns: int) -> np.ndarray:
    """Random fractions (rows·n, columns·n)."""
    entries = run.rng.integers(-9, 10, (rows * n, columns * n))
    return np.vectorize(lambda entry: Fraction(int(entry), 7), otypes=[object])(entries)


def projection(drawn: dict[tuple[int, int], np.ndarray], n: int) -> Finding:
    """A ⊗ I + B ⊗ J, and the average over all n! relabellings."""
    wrong = None
    for grid, W in drawn.items():
        if (kronecker(channels_of(W, n), n) != two_channels_by_definition(W, n)).any():
            wrong = wrong or f"{grid[0]} × {grid[1]} blocks differ"
    name = f"the average over all relabellings of {n} nodes is A ⊗ I + B ⊗ J, block by block"
    words = f"all entries over Q, {' and '.join(f'{a} × {b}' for a, b in drawn)} blocks"
    return equal("projection", name, wrong, words=words)


def split(drawn: dict[tuple[int, int], np.ndarray], n: int) -> Finding:
    """The parts of the split, by projections of their own, and their sum."""
    wrong = None
    for grid, W in drawn.items():
        average = two_channels_by_definition(W, n)
        same_node = np.kron(np.ones(grid, dtype=int), np.eye(n, dtype=int))
        parts = squared(average * same_node), squared(average * (1 - same_node))
        if orthogonal_split(W, n) != (*parts, squared(W - average)) or squared(W) != sum(
            orthogonal_split(W, n)
        ):
            wrong = wrong or f"{grid[0]} × {grid[1]} blocks: {orthogonal_split(W, n)}"
    name = "‖W‖² = diagonals n Σa² + off-diagonals n(n − 1) Σb² + the rest"
    return equal("split", name, wrong, words="three orthogonal parts, over Q")


def squared(W: np.ndarray) -> Fraction:
    """‖W‖²."""
    return Fraction((W * W).sum())


def shares(drawn: dict[tuple[int, int], np.ndarray], n: int) -> Finding:
    """How far n‖A‖² + n²‖B‖² is from the squared length of A ⊗ I + B ⊗ J."""
    found, wanted = [], []
    for W in drawn.values():
        A, B = channels_of(W, n)
        whole = squared(two_channels_by_definition(W, n))
        found.append(whole - n * squared(A) - n * n * squared(B))
        wanted.append(2 * n * Fraction((A * B).sum()))
    missing = min(map(abs, found)) > 0
    return same(
        "shares",
        "shares n‖A‖² and n²‖B‖² do not add up, as ⟨I, J⟩ = n",
        {"left": [str(each) for each in found], "some": missing},
        {"left": [str(each) for each in wanted], "some": True},
        words=f"2n⟨A, B⟩ is left, such as {float(found[0]):.3g}",
        wanted="2n⟨A, B⟩",
    )


def built(run: Run, n: int, weights: list[np.ndarray]) -> Transformer:
    """The model of W_0, …, O, with the planted fault if there is one."""
    *W, out = weights
    return run.build(disentangled, n, len(W), [n * each for each in W], out)


def names(run: Run, n: int) -> Iterator[Finding]:
    """Outputs on a path in every order of its nodes: of two-channel weights, and of others."""
    A, orders, wrong = path(n), list(permutations(range(n))), None
    for grids in (((2, 2), (4, 4), (8, 1)), ((2, 2), (4, 1))):
        drawn = [Channels(*run.rng.integers(-3, 4, (2, *grid))) for grid in grids]
        alike = [kronecker(each, n) for each in drawn]
        said = disentangled_outputs(A, alike[:-1], alike[-1])
        model = built(run, n, alike)
        for order in map(list, orders):
            graph = relabelled(A, order)
            wrong = wrong or difference(over_q(model, graph), said[order][:, order], graph)
    yield equal(
        "names",
        f"outputs of weights A ⊗ I + B ⊗ J move with the nodes (a path of {n}, 1 and 2 layers)",
        wrong,
        words=f"over Q, in all {len(orders)} orders",
    )
    other = [run.rng.integers(-3, 4, each.shape) for each in alike]
    said = disentangled_outputs(A, other[:1], other[1])
    model = built(run, n, other)
    moved = [(over_q(model, relabelled(A, o)) == said[o][:, o]).all() for o in map(list, orders)]
    yield same(
        "names/other",
        "those of other weights do not",
        {"order as given": bool(moved[0]), "every order": bool(all(moved))},
        {"order as given": True, "every order": False},
        words=f"{len(moved) - sum(moved)} of {len(moved)} orders give other outputs",
        wanted="some do, and the order as given does not",
    )


def counting(run: Run) -> Finding:
    """A head that asks with A, through J, and is answered by A."""
    wrong, count, rounded = None, 0, False
    for n in range(2, 5 if run.quick else 6):
        A, J = all_graphs(n), Channels(np.zeros((2, 2), dtype=int), np.diag([0, 1]))
        model = built(run, n, [kronecker(J, n), np.zeros((4 * n, n))])
        *_, H = model.streams(A)
        S = H[..., model.stream["layer_1"]][..., :n].numpy()
        degrees = A.sum(-1)
        wrong = wrong or difference(S, degrees[..., :, None] * degrees[..., None, :], A)
        count, rounded = count + len(A), rounded or evidence_of(model, A) != "exact"
    name = "A J A = deg degᵀ: the channel J depends on degrees alone"
    words = f"all entries on {count} graphs, all on few nodes"
    evidence: Evidence = "float" if rounded else "exact"
    return equal("counting", name, wrong, evidence=evidence, words=words)
