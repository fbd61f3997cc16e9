"""The claim `one-gradient-step`: one step on the nodes of a parity's tree finds the tree."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

import numpy as np
from scipy.stats import binomtest

from constructions.language import parity_with_steps
from constructions.transformer import Transformer
from theory.language import (
    ParityTree,
    enough_samples,
    gradient,
    gradient_by_counting,
    gradient_in_closed_form,
    noise_tolerance,
    one_step,
    parity_tree,
    relations,
    tree_sizes,
    with_steps,
)
from theory.sequences import all_sequences
from verify.claim import Run, claim, option
from verify.finding import Finding, as_stated, at_least, at_most, same, within, within_bounds

CUBES = (8, 4), (8, 8), (12, 8), (16, 8), (16, 16)  # d and k for which the batch is all words
LARGE = 64, 32  # d and k of the noise tolerance; in quick runs QUICK
QUICK = 32, 16
SEEDS = 10
DELTA = 0.001  # the probability of failure of a seed, so that one failure in ten is significant
MOST = 128  # largest number of bits
PERMUTED = 0.1  # largest fraction of children found from permuted labels

# Fewer samples than the bound, by d, k = d/2.  The numbers were stated when results of another
# program were known: with them 9, 10, 10 of ten seeds and 2 of 2 find the tree, and with half of
# them 1, 2, 3 and 0.  The thresholds below were chosen after first runs, in which ten seeds did
# not decide.
FEWER = {16: (1000, 40), 32: (4000, 40), 64: (16_000, 10), 128: (32_000, 10)}  # samples, seeds
MOST_SEEDS = 0.5  # fraction of seeds: above it with these samples, below it with half of them
APART = 64, 4000, 10_000  # d, and two sample sizes at which the largest errors are compared
ROOT = 0.2  # relative tolerance of their ratio: three standard errors of ten seeds, and 2/m


@claim(
    picture="verify.language.one_gradient_step_picture:draw",
    faults_seen=[{"d": 16, "k": 8}],
)
def one_gradient_step(
    run: Run,
    *,
    d: Annotated[int, option("number of bits", min=8, max=MOST)] = 32,
    k: Annotated[
        int, option("number of bits of the parity, a power of two, at most d", min=4, max=MOST)
    ] = 16,
) -> Iterator[Finding]:
    """One gradient step from zero attention scores, on the nodes of the tree of a parity, gives
    the tree: rounded to integers, the scores are 1 at the children of a node and 0 elsewhere.

    The tree is a binary tree of products over k of d bits, with k − 1 inner nodes. The tokens are
    the d bits, as signs ±1, and the nodes. Each node has a score for each of the m tokens before
    it. Softmax attention with these scores averages these tokens, and the prediction is φ(z) for
    the average z.  The target is the product of the two children of the node, under the squared
    loss.  With the step size m²/8 and φ = 4z² − 1, the expected score of token j after the step is
    [j a child] − 2/m − 24r_j/m² + 96R/m³.  Here [j a child] is 1 if token j is a child of the node,
    and 0 otherwise, r_j ≤ 4 is the number of triples of other tokens whose product is token j, and
    R = ¼ Σ_j r_j.  The step gives the tree if the rounded scores are 1 at the two children and 0 at
    all other tokens. The function φ of [KimSuzuki2025] is 4z² − 1 for |z| < ½, and −4z² + 8|z| − 3
    for |z| ≥ ½. For this φ, let t be the smallest distance of an expected score to ½. A rounded
    step on n ≥ 8.7(d + k)t⁻² ln(2(k − 1)(d + k)/δ) samples gives the tree with probability at least
    1 − δ.  In practice, fewer samples suffice: for k = d/2 and d = 16, 32, 64 and 128, 1000, 4000,
    16 000 and 32 000 samples, respectively, suffice for most seeds, and half as many samples do
    not.
    """
    tree_sizes(d, k)
    cubes = [shuffled(run, *sized) for sized in CUBES[: 3 if run.quick else None]]
    yield _closed_form(cubes[:2])
    large = shuffled(run, *(QUICK if run.quick else LARGE))
    yield _relations([*cubes, large])
    yield _counted(cubes)
    yield _rounded(run, cubes)
    yield _tolerance(large)
    tree = shuffled(run, d, k)
    n = enough_samples(tree, DELTA)
    steps = [one_step(tree, signs(run, n, d)) for _ in range(SEEDS)]
    yield _sampled(run, tree, n, steps)
    yield _noise(tree, n, steps)
    yield _permuted(run, tree, n)
    yield from _fewer(run)
    yield _apart(run)
    run.draw(tree, one_step(tree, signs(run, n // 8, d)), n // 8)


def shuffled(run: Run, d: int, k: int) -> ParityTree:
    """The tree of a parity over k of d bits at random positions."""
    return parity_tree(d, run.rng.permutation(d)[:k].tolist())


def signs(run: Run, n: int, d: int) -> np.ndarray:
    """n random words of uniform bits ±1, (n, d)."""
    return 2 * run.rng.integers(2, size=(n, d)) - 1


def cube(tree: ParityTree) -> np.ndarray:
    """All words (2^d, d) of d bits ±1, for a tree over k of d bits."""
    return 1 - 2 * all_sequences(tree.d, 2)


def nodes(tree: ParityTree) -> range:
    """The numbers of the tokens that are nodes of the tree."""
    return range(tree.d, tree.d + tree.k - 1)


def sized(trees: list[ParityTree]) -> str:
    """The sizes (d, k) of the trees, as text."""
    return ", ".join(f"({tree.d}, {tree.k})" for tree in trees)


def _closed_form(trees: list[ParityTree]) -> Finding:
    """The nodes at which the expected step equals its closed form, as fractions."""
    pairs = [(tree, node) for tree in trees for node in nodes(tree)]
    alike = sum(
        gradient(tree, node, cube(tree), printed=False) == gradient_in_closed_form(tree, node)
        for tree, node in pairs
    )
    return same(
        "closed-form",
        "the expected scores after one gradient step with φ = 4z² − 1 equal their closed form "
        "[j a child] − 2/m − 24r_j/m² + 96R/m³ for token j of the m tokens before a node, where "
        "r_j triples of other tokens have the product j and R = ¼ Σ_j r_j; at the nodes of trees "
        f"over k of d bits, (d, k) = {sized(trees)}",
        alike,
        len(pairs),
        words=f"true at {alike} nodes, in fractions",
        wanted=f"equality at all {len(pairs)} nodes",
    )


def _relations(trees: list[ParityTree]) -> Finding:
    """The largest number r_j of relations of a token."""
    most = max(int(relations(tree, node)[0].max()) for tree in trees for node in nodes(tree))
    return at_most(
        "relations",
        "largest number of triples of other tokens whose product is a given token, in trees over "
        f"k of d bits, (d, k) = {sized(trees)}",
        "exact",
        most,
        4,
        words=f"{most}",
        wanted="at most 4 triples",
    )


def _counted(trees: list[ParityTree]) -> Finding:
    """The nodes at which the expected step by polynomials equals the sum over all words."""
    pairs = [(tree, node) for tree in trees[:3] for node in nodes(tree)]
    alike = sum(
        gradient(tree, node, cube(tree)) == gradient_by_counting(tree, node) for tree, node in pairs
    )
    return same(
        "counted",
        "the expected scores after one gradient step with the φ of [KimSuzuki2025], as a sum over "
        "all words, equal those by counting with polynomials, at the nodes of trees over k of d "
        f"bits, (d, k) = {sized(trees[:3])}",
        alike,
        len(pairs),
        words=f"true at {alike} nodes, in fractions",
        wanted=f"equality at all {len(pairs)} nodes",
    )


def _rounded(run: Run, trees: list[ParityTree]) -> Finding:
    """The rounded step on all words, in integers, compared with the scores of the tensors."""
    wrong, least = 0, Fraction(1)
    for tree in trees:
        written = scores(run, tree)
        for node in nodes(tree):
            step = gradient(tree, node, cube(tree))
            rounded = [round(u) for u in step]
            wrong += rounded != written[node - tree.d, :node].tolist()
            least = min(
                least, *(Fraction(1, 2) - abs(u - r) for u, r in zip(step, rounded, strict=True))
            )
    return same(
        "all-words",
        "number of nodes whose rounded scores after one step on all words differ from the scores "
        f"of the construction, in trees over k of d bits, (d, k) = {sized(trees)}",
        wrong,
        0,
        words=f"{wrong}; the smallest distance of a score to ½ is {float(least):.3f}",
        wanted="no node",
    )


def scores(run: Run, tree: ParityTree) -> np.ndarray:
    """The attention scores of the construction for a tree, a row for each node.

    The scores are the rows of W_pos W_Q W_Kᵀ W_posᵀ at the positions that predict nodes.  W_pos is
    the position embedding, and W_Q and W_K are the query and key matrices.
    """
    model: Transformer = run.build(parity_with_steps, tree.d, tree.k, tree.positions)
    attn, pos_embed = model.blocks[0].attn, model.pos_embed
    assert attn is not None
    assert pos_embed is not None
    W_pos = pos_embed.W_pos
    found = W_pos @ attn.W_Q[0] @ attn.W_K[0].T @ W_pos.T
    return np.asarray(found[tree.d - 1 :].numpy())


def _tolerance(tree: ParityTree) -> Finding:
    """The noise tolerance t of a large tree, an exact fraction."""
    t = noise_tolerance(tree)
    return at_least(
        "noise-tolerance",
        "noise tolerance (smallest distance to ½) of the scores after one step on all words, for a "
        f"tree over {tree.k} of {tree.d} bits",
        "proved",
        float(t),
        0.25,
        words=f"{float(t):.4f}, so that {enough_samples(tree, DELTA, t)} samples suffice with "
        f"probability {1 - DELTA:g}",
        wanted="a tolerance of at least ¼",
    )


def _sampled(run: Run, tree: ParityTree, n: int, steps: list[np.ndarray]) -> Finding:
    """The seeds for which one step on n samples, rounded, equals the scores of the construction."""
    written = scores(run, tree)
    off = [float(abs(W - written).max()) for W in steps]
    right = sum(bool((np.round(W) == written).all()) for W in steps)
    finding = same(
        "samples",
        f"seeds for which the rounded scores after one step on {n} samples are the tree, for a "
        f"tree over {tree.k} of {tree.d} bits",
        right,
        len(steps),
        evidence="trained",
        words=f"{right} of {len(steps)} seeds; the largest errors before rounding are "
        + ", ".join(f"{each:.3f}" for each in off),
        wanted=f"all {len(steps)} seeds, each with probability ≥ {1 - DELTA:g}",
    )
    size, scored = tree.d + tree.k, 2 * (tree.k - 1) * (tree.d + tree.k)
    logs = math.log(scored) - math.log(DELTA)
    return as_stated(finding, n, math.ceil(8.7 * size * logs / float(noise_tolerance(tree)) ** 2))


def _noise(tree: ParityTree, n: int, steps: list[np.ndarray]) -> Finding:
    """The mean square of the noise over the entries of a node and all seeds, divided by 4m/n."""
    ratios = []
    for node in nodes(tree):
        square = np.mean([(W[node - tree.d, :node] - expected(tree, node)) ** 2 for W in steps])
        ratios.append(float(square * n / (4 * node)))
    return within_bounds(
        "noise",
        "ratio of the mean square of the noise of a node's scores to its bound 4m/n, for n samples "
        f"and a node that attends to m tokens, over {len(steps)} seeds",
        "trained",
        max(ratios),
        words=f"between {min(ratios):.3f} and {max(ratios):.3f} for all nodes",
        wanted="at most 1, as is proved; independent tokens would give about ½",
    )


def off(run: Run, d: int, n: int, seeds: int = SEEDS) -> list[float]:
    """For each seed, the largest error of a score after one step, compared with the tree.

    The step is on n random words of d bits, and the tree is over d/2 random bits.  The scores of
    the tree are 1 at the two children of a node and otherwise 0.
    """
    found = []
    for _ in range(seeds):
        tree = shuffled(run, d, d // 2)
        found.append(float(abs(one_step(tree, signs(run, n, d)) - tree.scores).max()))
    return found


def _fewer(run: Run) -> Iterator[Finding]:
    """The fraction of seeds that find the tree, over several d."""
    rows = {d: row for d, row in FEWER.items() if d <= 32 or not run.quick}
    of = [seeds for _, seeds in rows.values()]
    for id, part, compare in (("fewer", 1, at_least), ("half-as-many", 2, at_most)):
        right = [
            sum(each < 0.5 for each in off(run, d, n // part, seeds))
            for d, (n, seeds) in rows.items()
        ]
        low, high = binomtest(sum(right), sum(of)).proportion_ci()
        sizes = ", ".join(f"{n // part} (d = {d})" for d, (n, _) in rows.items())
        counts = ", ".join(f"{each}/{seeds}" for each, seeds in zip(right, of, strict=True))
        yield compare(
            id,
            "fraction of seeds for which one step finds the tree over d/2 of d bits, from n = "
            f"{sizes} samples",
            "trained",
            (low, high),
            MOST_SEEDS,
            words=f"{counts} seeds; the 95 % confidence interval of the fraction over all seeds is "
            f"{low:.2f} to {high:.2f}",
            wanted=f"an interval {'above' if part == 1 else 'below'} {MOST_SEEDS:g}",
        )


def _apart(run: Run) -> Finding:
    """The ratio of the largest errors of the step at two numbers of samples."""
    d, few, many = APART
    before, after = off(run, d, few), off(run, d, many)
    root = math.sqrt(many / few)
    ratio = float(np.mean(before) / np.mean(after)) if any(after) else np.nan
    return within(
        "apart",
        f"ratio of the largest errors of the scores after one step on {few} and on {many} samples, "
        f"for {d} bits and the mean of {SEEDS} seeds",
        "trained",
        ratio,
        (root * (1 - ROOT), root * (1 + ROOT)),
        words=f"{ratio:.3f}; the errors are {min(before):.3f} to {max(before):.3f} from {few} and "
        f"{min(after):.3f} to {max(after):.3f} from {many} samples",
        wanted=f"√({many}/{few}) = {root:.3f} within {ROOT:.0%}, as for errors ∝ 1/√samples",
    )


def expected(tree: ParityTree, node: int) -> np.ndarray:
    """The expected scores of a node after one step on all words, in float64."""
    return np.array([float(u) for u in gradient_by_counting(tree, node)])


def _permuted(run: Run, tree: ParityTree, n: int) -> Finding:
    """The null model: a step on the labels of other words."""
    found = []
    for _ in range(SEEDS):
        bits = signs(run, n, tree.d)
        labels = permuted(run, with_steps(tree, bits)[:, tree.d :])
        found.append(float(np.round(one_step(tree, bits, labels))[tree.scores == 1].mean()))
    return at_most(
        "permuted",
        "largest fraction of the children of nodes that one step on permuted labels finds, over "
        f"{SEEDS} seeds",
        "trained",
        max(found),
        PERMUTED,
        words=f"{max(found):.3f}",
        wanted=f"at most {PERMUTED:g}",
    )


def permuted(run: Run, labels: np.ndarray) -> np.ndarray:
    """The `labels` (n, k − 1) of k − 1 nodes, permuted independently for each node."""
    return run.rng.permuted(labels, axis=0)
