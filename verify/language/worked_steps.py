"""The claim `worked-steps`: circuits and formulas learned from what happens inside them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated

import numpy as np

from theory.language import (
    Circuit,
    GateLearner,
    Term,
    Tree,
    enough_examples,
    enough_for_terms,
    enough_restrictions,
    hypotheses,
    random_circuit,
    random_tree,
    restricted,
    restricted_terms,
    restrictions,
    says,
    terms_by_restriction,
    tree_by_restriction,
)
from theory.sequences import all_sequences
from verify.claim import Run, claim, option
from verify.finding import Finding, at_least, at_most, labelled, same

SMALL = 6, 8  # inputs and gates of circuits that are asked on all inputs
FEW = 0, 1, 3, 10, 30  # examples or restrictions after which all answers are compared
SIZES = 3, 2, 0.2, 0.01  # inputs, gates, ε and δ of circuits that are learned from enough examples
ASKED = 500  # random inputs of large circuits
MU, DELTA = 0.3, 0.01
SEEDS = 5
WIDTH, TERMS, BITS = 3, 6, 20  # literals of a term, terms, and variables of a formula


@claim(
    source="[RivestSloan1988], [Dvir2012] for the models of learning; sizes proved in "
    "theory/language/gates.py and restriction.py",
    draws=True,
    faults_seen=[{"inputs": 8, "gates": 10, "examples": 60, "leaves": 5}],
)
def worked_steps(
    run: Run,
    *,
    inputs: Annotated[int, option("inputs of a random circuit", min=2, max=64)] = 32,
    gates: Annotated[int, option("gates of the circuit", min=1, max=128)] = 64,
    examples: Annotated[int, option("examples of all of its wires", min=1)] = 80,
    leaves: Annotated[int, option("leaves of a random decision tree", min=2, max=41)] = 8,
) -> Iterator[Finding]:
    """Who sees the steps learns circuits and decision trees, and is never wrong on the way.

    Gate by gate, what all hypotheses agree on is right whatever the examples are, and
    (G|H|/ε) ln(G|H|/δ) of them leave at most a share ε of inputs open.  From random restrictions a
    tree of s leaves is learned by ln(2sd/δ)/(μ²((1 + μ)/2)^depth) samples, and terms of w literals
    by μ^{−w} ln(s/δ).
    """
    yield from labelled("gates", _gates(run, inputs, gates, examples))
    yield from labelled("trees", _trees(run, leaves))
    yield from labelled("terms", _terms(run))
    if run.plot:
        from verify.language.gates_picture import draw

        draw(run.plot, run.rng, inputs, gates)


def _gates(run: Run, inputs: int, gates: int, examples: int) -> Iterator[Finding]:
    wrong, said = 0, 0
    everything = all_sequences(SMALL[0], 2)
    for _ in range(SEEDS):
        circuit = random_circuit(*SMALL, run.rng)
        truth = circuit.wires(everything)
        for n in FEW:
            answers = learned(circuit, truth[run.rng.permutation(len(truth))[:n]])(everything)
            wrong += wrong_ones(answers, truth)
            said += int((answers >= 0).sum())
    yield _never("right", f"values of gates, {SEEDS} circuits, all inputs", wrong, said)
    few, size, epsilon, delta = SIZES
    N = enough_examples(few, size, epsilon, delta)
    shares = [decided(run, random_circuit(few, size, run.rng), N, 2**few) for _ in range(SEEDS)]
    yield at_least(
        "enough",
        f"inputs that are decided after N = {N} examples, {few} inputs and {size} gates",
        "statistical",
        min(shares),
        1 - epsilon,
        words=f"a share of {min(shares):g} at least, {SEEDS} circuits",
        wanted=f"1 − ε = {1 - epsilon:g}, each with probability ≥ {1 - delta:g}",
    )
    circuit = random_circuit(inputs, gates, run.rng)
    shares = growing(run, circuit, examples)
    lost = max((before - after for before, after in pairwise(shares)), default=np.nan)
    bound = enough_examples(inputs, gates, epsilon, delta)
    yield at_most(
        "grows",
        f"values of {gates} gates over {inputs} inputs that more examples leave open again",
        "exact",
        lost,
        0.0,
        words=f"none: shares of {', '.join(f'{share:.2f}' for share in shares)} are decided after "
        f"⅛, ¼, ½ and all of {examples} examples",
        wanted=f"none; with |H| = {hypotheses(inputs, gates)} the bound asks {bound:.2g} examples",
    )


def growing(run: Run, circuit: Circuit, examples: int) -> list[float]:
    """The share of values of gates that is decided, as examples are added."""
    seen = circuit.wires(run.rng.integers(2, size=(examples, circuit.inputs)))
    words = run.rng.integers(2, size=(ASKED, circuit.inputs))
    answers = [learned(circuit, seen[: examples // part])(words) for part in (8, 4, 2, 1)]
    return [float((each[:, circuit.inputs :] >= 0).mean()) for each in answers]


def learned(circuit: Circuit, wires: np.ndarray) -> GateLearner:
    """The learner after examples of all wires."""
    return GateLearner(circuit.inputs, wires)


def wrong_ones(answers: np.ndarray, truth: np.ndarray) -> int:
    """How many answers are given and not right."""
    return int(((answers >= 0) & (answers != truth)).sum())


def decided(run: Run, circuit: Circuit, examples: int, asked: int) -> float:
    """The share of random inputs on which every gate is decided."""
    seen = run.rng.integers(2, size=(examples, circuit.inputs))
    words = run.rng.integers(2, size=(asked, circuit.inputs))
    answers = learned(circuit, circuit.wires(seen))(words)
    return float((answers >= 0).all(axis=1).mean())


def _never(id: str, name: str, wrong: int, said: int) -> Finding:
    """Undecided if nothing was said."""
    bound = 0 if said else np.nan
    words = f"{wrong} of {said} that are said"
    return at_most(id, f"wrong {name}", "exact", wrong, bound, words=words, wanted="none")


def _trees(run: Run, leaves: int) -> Iterator[Finding]:
    d, wrong, said = leaves + 1, 0, 0
    words = all_sequences(min(d, 8), 2)
    for _ in range(SEEDS):
        tree = random_tree(words.shape[1], min(leaves, 6), run.rng)
        truth = [says(tree, word) for word in words]
        for n in FEW:
            answers = said_by(of_restrictions(run, tree, words.shape[1], n), words)
            wrong += sum(a is not None and a != b for a, b in zip(answers, truth, strict=True))
            said += sum(a is not None for a in answers)
    yield _never("right", f"answers of trees, {SEEDS} trees, all words", wrong, said)
    found, sizes = 0, list[int]()
    for _ in range(SEEDS):
        tree = random_tree(d, leaves, run.rng)
        sizes.append(enough_restrictions(d, leaves, depth(tree), MU, DELTA))
        found += of_restrictions(run, tree, d, sizes[-1]) == tree
    yield same(
        "found",
        f"trees of {leaves} leaves over {d} variables, from random restrictions, μ = {MU:g}",
        found,
        SEEDS,
        evidence="statistical",
        words=f"{found} found whole from {', '.join(map(str, sizes))} restrictions",
        wanted=f"all, each with probability ≥ {1 - DELTA:g}",
    )


def said_by(tree: Tree, words: np.ndarray) -> list[int | None]:
    """The answers of a tree that may be unknown in parts."""
    return [says(tree, word) for word in words]


def of_restrictions(run: Run, tree: Tree, d: int, n: int) -> Tree:
    """What is learned from n random restrictions."""
    rows = restrictions(d, MU, n, run.rng)
    return tree_by_restriction(d, [(row, restricted(tree, row)) for row in rows])


def depth(tree: Tree) -> int:
    """Tests on the longest path."""
    return 1 + max(depth(tree[1]), depth(tree[2])) if isinstance(tree, tuple) else 0


def _terms(run: Run) -> Iterator[Finding]:
    n, found = enough_for_terms(WIDTH, TERMS, MU, DELTA), 0
    for _ in range(SEEDS):
        terms = set[Term]()
        while len(terms) < TERMS:
            variables = run.rng.permutation(BITS)[:WIDTH].tolist()
            terms.add(frozenset((v, int(run.rng.integers(2))) for v in variables))
        rows = restrictions(BITS, MU, n, run.rng)
        found += terms_by_restriction(restricted_terms(terms, row) for row in rows) == terms
    yield same(
        "found",
        f"formulas of {TERMS} terms of {WIDTH} literals over {BITS} variables, from {n} random "
        f"restrictions, μ = {MU:g}",
        found,
        SEEDS,
        evidence="statistical",
        words=f"{found} found whole",
        wanted=f"all, each with probability ≥ {1 - DELTA:g}",
    )
