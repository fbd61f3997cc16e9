"""The claim `parity-with-steps`: a parity by chain of thought, from a tree in the positions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from flint import arb
from scipy.stats import binomtest

from constructions.language import parity_with_steps as construction
from constructions.language.parity_with_steps import sharpness_for_steps
from constructions.transformer import Transformer
from theory.language import parity_tree, tree_sizes, with_steps
from theory.language.parity_tree import means_of_children
from theory.sequences import all_sequences
from verify.claim import Run, claim, option
from verify.computation.decoding import decoded
from verify.domains import Ball, streams
from verify.evidence.gaps import States, at_positions, gap_finding
from verify.evidence.restoring import makes
from verify.evidence.sequences import equal_over_q, margin_kept, registers_hold
from verify.evidence.size import size, units
from verify.evidence.statement import OverTokens
from verify.finding import Finding, Verdict, at_most, labelled, same

SMALL = (2, 2), (4, 4), (6, 4), (8, 8)  # d and k for which all words are decoded
MOST = 256  # largest number of bits
BITS, NARROW = 192, 2.0**-100
BLUNT, LARGE, FAR = 0.5, (64, 32), 0.75  # factor of κ, d and k, and the largest accuracy

BitCount = Annotated[int, option("number of bits", min=2, max=MOST)]
Subset = Annotated[int, option("number of bits of the parity, a power of two", min=2, max=MOST)]
Words = Annotated[int, option("number of random words to decode", min=1, max=10**5)]


@claim(
    faults_seen=[{"d": 8, "k": 4, "samples": 8}],
)
def parity_with_steps(
    run: Run, *, d: BitCount = 64, k: Subset = 32, samples: Words = 100
) -> Iterator[Finding]:
    """One layer with one head generates the parity of k of d bits by a chain of thought.

    The number k is a power of two from 2 to d.  The chain has k − 1 tokens. The tokens are the
    nodes of a binary tree, as signs ±1. Each node is the product of its two children. The tree is
    stored in the position embedding.  The MLP has four ReLUs.  With average-hard attention, or with
    softmax of any inverse temperature β ≥ ln(3.5(d + k)), every token is right.  With softmax of
    inverse temperature ½ ln(3.5(d + k)), only about half of the parities of a sample are right.
    """
    tree_sizes(d, k)
    small = SMALL[: 3 if run.quick else None]
    yield decoded(
        "all-words",
        f"decoding all words of d bits, for (d, k) = {', '.join(map(str, small))}",
        [runs(run, *sized, all_sequences(sized[0], 2)) for sized in small],
    )
    positions = run.rng.permutation(d)[:k].tolist()
    statement = specified(run, d, positions)
    model = statement.at(2, d).model
    words = run.rng.integers(2, size=(run.limited(8, samples=samples), d))
    yield size(model, "parity-with-steps", d=d, k=k)
    yield same("units", "number of ReLUs", units(model), [4], words=f"{sum(units(model))}")
    yield gap_finding("tree", model, tree_states(model, d, positions))
    yield makes(
        "product",
        "the MLP maps equal bits to 1 and different bits to −1",
        model,
        {1: ({"pair": np.array([-1.0, 0.0, 1.0])}, {"out": np.array([1.0, -1.0, 1.0])})},
    )
    yield decoded("long", f"decoding random words of {d} bits", [runs(run, d, k, words, positions)])
    rows = histories(run, model, words[:4])
    yield margin_kept(statement, [(model, rows)])
    yield equal_over_q(statement, model, rows[:2], f"({d} bits, arbitrary nodes)")
    yield registers_hold(statement, model, rows, f"({d} bits, arbitrary nodes)")
    yield from labelled("softmax", softened(run, d, k, words[:8], positions))


def runs(
    run: Run,
    d: int,
    k: int,
    words: np.ndarray,
    positions: list[int] | None = None,
    sharpness: float | None = None,
) -> tuple[Transformer, np.ndarray, np.ndarray]:
    """The construction, the words, and the nodes that the model must generate from the words.

    The leaves of the tree are the bits at `positions`, by default the first k bits.
    """
    tree = parity_tree(d, range(k) if positions is None else positions)
    nodes = (1 - with_steps(tree, 1 - 2 * words)[:, d:]) // 2
    return run.build(construction, d, k, tree.positions, sharpness=sharpness), words, nodes


def specified(run: Run, d: int, positions: list[int]) -> OverTokens:
    """The construction with its specification: the next token after every history of tokens.

    The answer is ⊥ at the first d − 1 bits, and then the product of the two children of the next
    node.  The tokens after the bits are arbitrary, so that nodes may be wrong.
    """
    tree = parity_tree(d, positions)

    def answers(tokens: np.ndarray) -> np.ndarray:
        product = np.where(means_of_children(tree, 1 - 2 * tokens) == 0, 1, 0)
        return np.where(np.arange(tokens.shape[-1]) < d - 1, -1, product)

    def build(V: int, n: int) -> Transformer:
        return run.build(construction, d, len(positions), positions)

    return OverTokens("tree", build, answers, symbols=2)


def histories(run: Run, model: Transformer, words: np.ndarray) -> np.ndarray:
    """Words followed by random tokens in place of the nodes."""
    behind = model.interface.max_length - words.shape[1]
    return np.concatenate([words, run.rng.integers(2, size=(len(words), behind))], axis=1)


def tree_states(model: Transformer, d: int, positions: list[int]) -> States:
    """The specification of the head's scores: the next node's children have the largest scores.

    At the first d − 1 positions, of bits, the position itself has the largest score.  Attention is
    causal.
    """
    tree = parity_tree(d, positions)
    n = len(model.pos_embed.W_pos) if model.pos_embed is not None else 0
    wanted = np.vstack([np.eye(n)[: d - 1], tree.scores])
    # Later tokens, which causal attention excludes, have lower scores as well.
    preference = np.where(wanted > 0, 0.0, -np.inf)
    queries, keys = at_positions(model, "children"), at_positions(model, "pos")
    return States(1, queries, keys, preference, np.arange(n))


def softened(
    run: Run, d: int, k: int, words: np.ndarray, positions: list[int]
) -> Iterator[Finding]:
    """The findings on softmax at the inverse temperature of the proof: decoding, and enclosures."""
    beta = float(np.nextafter(sharpness_for_steps(d, k), np.inf))
    found = decoded(
        "decoded",
        f"decoding random words by softmax of inverse temperature ln(3.5(d + k)) = {beta:.4g}",
        [runs(run, d, k, words, positions, beta)],
    )
    found.evidence = "float"
    yield found
    yield leak(d, k)
    few = min(d, 16), min(k, 8)
    beta = float(np.nextafter(sharpness_for_steps(*few), np.inf))
    model, _, nodes = runs(run, *few, words[:1, : few[0]], None, beta)
    row = np.concatenate([words[0, : few[0]], nodes[0, :-1]])
    yield from in_balls(model, row, few)
    yield blunt(run)


def blunt(run: Run) -> Finding:
    """The accuracy, close to guessing, at half of the inverse temperature of the proof."""
    d, k = LARGE
    words = run.rng.integers(2, size=(50 if run.quick else 200, d))
    beta = float(np.nextafter(sharpness_for_steps(d, k), np.inf))
    positions = run.rng.permutation(d)[:k].tolist()
    model, words, nodes = runs(run, d, k, words, positions, beta)
    for attn in model.attentions:
        attn.scale *= BLUNT
    found = np.asarray(model.generate(words, k - 1)[:, -1])
    right = int((found == np.asarray(nodes[:, -1])).sum())
    return at_most(
        "blunt",
        f"accuracy of the parity of {k} of {d} bits by softmax of half of the inverse temperature "
        f"of the proof, {beta / 2:.3f}, on {len(words)} words",
        "statistical",
        tuple(binomtest(right, len(words)).proportion_ci()),
        FAR,
        words=f"{right / len(words):.3f}",
        wanted=f"a confidence interval of the accuracy below {FAR:g}; guessing has accuracy ½",
    )


def leak(d: int, k: int) -> Finding:
    """The bound on the error of the mean z of two children by softmax, for every prompt.

    The error is at most 2A/(2 + A) for A = (d + k − 4)e^{−κ}, where κ = ln(3.5(d + k)) is the
    inverse temperature.
    """
    with Ball.precision(BITS):
        A = arb(others(d, k)) / (arb(35) / 10 * (d + k))
        off = 2 * A / (2 + A)
        return at_most(
            "leak",
            "error of the mean z of two children by softmax of inverse temperature ln(3.5(d + k)), "
            f"for every prompt, d = {d}, k = {k}",
            "proved",
            float(off.upper()),
            0.25,
            words=f"at most {float(off):.4f}",
            wanted="at most ¼, as the MLP is constant within this distance",
        )


def others(d: int, k: int) -> int:
    """The largest number of tokens that a node attends to in addition to its two children."""
    return d + k - 4


def in_balls(model: Transformer, row: np.ndarray, few: tuple[int, int]) -> Iterator[Finding]:
    """The findings on enclosures of the errors at the nodes of one word, for (d, k) = `few`.

    The errors are the error of the mean z of the two children of a node, and the error of the
    product ψ(z) of these children.
    """
    d, k = few
    means, products = (stage.holds(row)[d - 1 :, 0] for stage in model.stages)
    off, unequal = 0.0, 0.0
    with Ball.precision(BITS):
        *_, last = streams(model, model.prompt(row), Ball())
        nodes = last.tolist()[d - 1 :]
        pair, out = (model.stream[name].start for name in ("pair", "out"))
        for line, z, y in zip(nodes, means.tolist(), products.tolist(), strict=True):
            off = max(off, float(abs(line[pair] - arb(z)).upper()))
            unequal = max(unequal, float(abs(line[out] - arb(y)).upper()))
    where = f"at the {len(nodes)} nodes of one word, d = {d}, k = {k}"
    yield at_most(
        "pair",
        f"error of the mean of two children by softmax {where}",
        "enclosure",
        off,
        0.25,
        words=f"at most {off:.4f}",
        wanted="at most ¼",
    )
    yield Finding(
        "exact",
        f"error of the product of two children by softmax and MLP {where}",
        "enclosure",
        unequal,
        NARROW,
        Verdict.of(unequal <= NARROW),
        f"at most {unequal:.1e}, in balls of {BITS} bits",
        f"at most {NARROW:.1e}",
    )
