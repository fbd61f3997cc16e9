"""The claim `parity-with-steps`: a parity as a tree that stands in the embedding of positions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from flint import arb
from scipy.stats import binomtest

from constructions.language import parity_with_steps as construction
from constructions.language.parity_with_steps import sharpness_for_steps
from constructions.transformer import Transformer
from theory.kinds import InputError
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

SMALL = (2, 2), (4, 4), (6, 4), (8, 8)  # d and k of which all words are decoded
MOST = 256  # letters
BITS, NARROW = 192, 2.0**-100
BLUNT, LARGE, FAR = 0.5, (64, 32), 0.75  # times κ, d and k, and right parities; guessing has ½

Letters = Annotated[int, option("letters d, and k of them at random", min=2)]
Subset = Annotated[int, option("letters k of the parity, a power of two", min=2)]
Words = Annotated[int, option("random words that are decoded", min=1)]


@claim(
    source="[KimSuzuki2025]; sizes proved in constructions/language/parity_with_steps.py",
    faults_seen=[{"d": 8, "k": 4, "samples": 8}],
)
def parity_with_steps(
    run: Run, *, d: Letters = 64, k: Subset = 32, samples: Words = 100
) -> Iterator[Finding]:
    """One layer of one head generates the parity of k of d bits as k − 1 chain-of-thought tokens.

    For all d and powers of two 2 ≤ k ≤ d the tokens are the nodes of a binary tree, which is in the
    position embedding; the MLP has four ReLUs.  By average-hard attention, or by softmax with any
    inverse temperature β ≥ ln(3.5(d + k)), every token is right.  A sample of words shows that at
    half of that β softmax is at chance.
    """
    if d > MOST:
        raise InputError(f"d is {d}: give at most {MOST}")
    tree_sizes(d, k)
    small = SMALL[: 3 if run.quick else None]
    yield decoded(
        "all-words",
        f"every word of d letters, (d, k) = {', '.join(map(str, small))}",
        [runs(run, *sized, all_sequences(sized[0], 2)) for sized in small],
    )
    letters = run.rng.permutation(d)[:k].tolist()
    statement = says(run, d, letters)
    model = statement.at(2, d).model
    words = run.rng.integers(2, size=(8 if run.quick else samples, d))
    yield size(model, "parity-with-steps", d=d, k=k)
    yield same("units", "ReLU units", units(model), [4], words=f"{sum(units(model))} units")
    yield gap_finding("tree", model, tree_states(model, d, letters))
    yield makes(
        "product",
        "the MLP makes of two equal bits 1, of different ones −1",
        model,
        {1: ({"pair": np.array([-1.0, 0.0, 1.0])}, {"out": np.array([1.0, -1.0, 1.0])})},
    )
    yield decoded("long", f"random words of {d} letters", [runs(run, d, k, words, letters)])
    rows = histories(run, model, words[:4])
    yield margin_kept(statement, [(model, rows)])
    yield equal_over_q(statement, model, rows[:2], f"({d} letters, any steps)")
    yield registers_hold(statement, model, rows, f"({d} letters, any steps)")
    yield from labelled("softmax", softened(run, d, k, words[:8], letters))


def runs(
    run: Run,
    d: int,
    k: int,
    words: np.ndarray,
    letters: list[int] | None = None,
    sharpness: float | None = None,
) -> tuple[Transformer, np.ndarray, np.ndarray]:
    """The model, words and the nodes that are to be decoded; the first k letters if none."""
    tree = parity_tree(d, range(k) if letters is None else letters)
    nodes = (1 - with_steps(tree, 1 - 2 * words)[:, d:]) // 2
    return run.build(construction, d, k, tree.positions, sharpness=sharpness), words, nodes


def says(run: Run, d: int, letters: list[int]) -> OverTokens:
    """The construction beside the tree: nothing at letters, then the product of two tokens,
    whatever was decoded before."""
    tree = parity_tree(d, letters)

    def answers(tokens: np.ndarray) -> np.ndarray:
        product = np.where(means_of_children(tree, 1 - 2 * tokens) == 0, 1, 0)
        return np.where(np.arange(tokens.shape[-1]) < d - 1, -1, product)

    def build(V: int, n: int) -> Transformer:
        return run.build(construction, d, len(letters), letters)

    return OverTokens("tree", build, answers, symbols=2)


def histories(run: Run, model: Transformer, words: np.ndarray) -> np.ndarray:
    """Words and behind them any tokens, whatever the tree would have said."""
    behind = model.interface.max_length - words.shape[1]
    return np.concatenate([words, run.rng.integers(2, size=(len(words), behind))], axis=1)


def tree_states(model: Transformer, d: int, letters: list[int]) -> States:
    """Each position asks for the children of the next node, letters for themselves; it sees
    itself and those before."""
    tree = parity_tree(d, letters)
    n = len(model.pos_embed.W_pos) if model.pos_embed is not None else 0
    wanted = np.vstack([np.eye(n)[: d - 1], tree.scores])
    # Scores of tokens that come later, which causal attention leaves out, are lower as well.
    preference = np.where(wanted > 0, 0.0, -np.inf)
    asking, answering = at_positions(model, "children"), at_positions(model, "pos")
    return States(1, asking, answering, preference, np.arange(n))


def softened(run: Run, d: int, k: int, words: np.ndarray, letters: list[int]) -> Iterator[Finding]:
    """By softmax at the sharpness of the proof: decoded, and exact in balls."""
    beta = float(np.nextafter(sharpness_for_steps(d, k), np.inf))
    found = decoded(
        "decoded", f"at κ = ln(3.5(d + k)) = {beta:.4g}", [runs(run, d, k, words, letters, beta)]
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
    """With scores of half the size no more is right than by guessing."""
    d, k = LARGE
    words = run.rng.integers(2, size=(50 if run.quick else 200, d))
    beta = float(np.nextafter(sharpness_for_steps(d, k), np.inf))
    letters = run.rng.permutation(d)[:k].tolist()
    model, words, nodes = runs(run, d, k, words, letters, beta)
    for attn in model.attentions:
        attn.scale *= BLUNT
    said = np.asarray(model.generate(words, k - 1)[:, -1])
    right = int((said == np.asarray(nodes[:, -1])).sum())
    return at_most(
        "blunt",
        f"parities that are right at κ/2 = {beta / 2:.3f}, {len(words)} words, d = {d}, k = {k}",
        "statistical",
        tuple(binomtest(right, len(words)).proportion_ci()),
        FAR,
        words=f"a share of {right / len(words):.3f}",
        wanted=f"its confidence interval below {FAR:g}; guessing has ½",
    )


def leak(d: int, k: int) -> Finding:
    """ℓ = A/(2 + A) with A ≤ (d + k − 4)e^{−κ}: z is off by at most 2ℓ ≤ ¼, for every prompt."""
    with Ball.precision(BITS):
        A = arb(others(d, k)) / (arb(35) / 10 * (d + k))
        off = 2 * A / (2 + A)
        return at_most(
            "leak",
            f"z at κ = ln(3.5(d + k)), every prompt of d = {d}, k = {k}",
            "proved",
            float(off.upper()),
            0.25,
            words=f"off by at most {float(off):.4f}",
            wanted="¼, within which ψ is flat",
        )


def others(d: int, k: int) -> int:
    """Tokens that a node may see beside its two children."""
    return d + k - 4


def in_balls(model: Transformer, row: np.ndarray, few: tuple[int, int]) -> Iterator[Finding]:
    """The real z and ψ(z) of each step of a word."""
    d, k = few
    means, products = (stage.holds(row)[d - 1 :, 0] for stage in model.stages)
    off, unequal = 0.0, 0.0
    with Ball.precision(BITS):
        *_, last = streams(model, model.prompt(row), Ball())
        held = last.tolist()[d - 1 :]
        pair, out = (model.stream[name].start for name in ("pair", "out"))
        for line, z, y in zip(held, means.tolist(), products.tolist(), strict=True):
            off = max(off, float(abs(line[pair] - arb(z)).upper()))
            unequal = max(unequal, float(abs(line[out] - arb(y)).upper()))
    where = f"(d = {d}, k = {k}, one word, {len(held)} steps)"
    yield at_most(
        "pair",
        f"what softmax leaves of the mean {where}",
        "enclosure",
        off,
        0.25,
        words=f"off by up to {off:.4f}",
        wanted="¼",
    )
    yield Finding(
        "exact",
        f"what the MLP makes of it {where}",
        "enclosure",
        unequal,
        NARROW,
        Verdict.of(unequal <= NARROW),
        f"off by at most {unequal:.1e}",
        "the product: equal, as far as balls of 192 bits say",
    )
