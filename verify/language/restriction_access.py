"""The claim `restriction-access`: learning decision trees and DNF from random restrictions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

import numpy as np

from theory.kinds import InputError
from theory.language import (
    Term,
    Tree,
    enough_for_terms,
    enough_restrictions,
    random_tree,
    restricted,
    restricted_terms,
    restrictions,
    terms_by_restriction,
    tree_by_restriction,
    tree_value,
)
from theory.sequences import all_sequences
from verify.claim import Run, claim, option
from verify.finding import Finding, as_stated, at_least, at_most, labelled, same
from verify.language.bounds import never_wrong

FEW = 0, 1, 3, 10, 30  # restrictions after which all outputs for small trees are checked
SMALL = 8, 6  # variables and leaves of small trees
MU, DELTA = 0.3, 0.001  # δ so small that one failure in five seeds is significant
SEEDS, MOST_SEEDS = 5, 3
WIDTH, TERMS = 3, 6  # literals of a term, and terms of a formula
FROM, OVER = {8: 2000, 32: 8000}, 40  # leaves: restrictions, and variables
PART = 10  # a tenth of the sufficient samples: each of six terms is seen with probability ½
APART = 3  # with more than 3w variables, few terms share variables, so that they are seen apart


@claim(
    faults_seen=[{"d": 20, "n_leaves": 5}],
)
def restriction_access(
    run: Run,
    *,
    d: Annotated[int, option("number of variables", min=3, max=64)] = 40,
    n_leaves: Annotated[int, option("leaves of a random decision tree", min=2, max=41)] = 8,
    width: Annotated[int, option("literals of a term, tested after 3", min=1, max=8)] = 5,
) -> Iterator[Finding]:
    """Decision trees and DNF formulas are learned exactly from random restrictions.

    A restriction leaves each of d variables free with probability μ (here 0.3), and sets the others
    to random bits. The learner receives the restrictions and the restricted trees or formulas. With
    probability at least 1 − δ, a tree of s leaves over the d variables is learned from n ≥
    ln(2sd/δ)/(μ²((1 + μ)/2)^depth) restrictions, where depth is the depth of the tree.  If a tree
    is learned from fewer restrictions, its values on some words may remain unknown, but all values
    that are output are right.  With probability at least 1 − δ, a DNF formula of s terms of at most
    w literals, in which no term contains another, is learned from n ≥ μ^(−w) ln(s/δ) restrictions.
    """
    if n_leaves > d + 1:
        raise InputError(f"n_leaves is {n_leaves} and d is {d}: give at most {d + 1} leaves")
    if width > d:
        raise InputError(f"width is {width} and d is {d}: give a width of at most {d}")
    yield from labelled("trees", _trees(run, d, n_leaves))
    yield _large(run)
    yield from labelled("terms", _terms(run, d, WIDTH))
    if width != WIDTH:
        yield from labelled("wide", _terms(run, d, width))


def _trees(run: Run, d: int, n_leaves: int) -> Iterator[Finding]:
    """Outputs of learned trees are right, and trees are learned from the sufficient samples."""
    wrong, outputs, words = 0, 0, all_sequences(SMALL[0], 2)
    for _ in range(SEEDS):
        tree = random_tree(*SMALL, run.rng)
        truth = [tree_value(tree, word) for word in words]
        for n in FEW:
            values = values_of(of_restrictions(run, tree, SMALL[0], n), words)
            wrong += sum(a is not None and a != b for a, b in zip(values, truth, strict=True))
            outputs += sum(a is not None for a in values)
    yield never_wrong(
        "right", f"values of learned trees, for {SEEDS} trees and all words", wrong, outputs
    )
    found, sizes, stated = 0, list[int](), list[int]()
    for _ in range(SEEDS):
        tree = random_tree(d, n_leaves, run.rng)
        sizes.append(enough_restrictions(d, n_leaves, depth(tree), MU, DELTA))
        reached = MU**2 * (0.5 + MU / 2) ** depth(tree)  # probability that a sample is useful
        stated.append(math.ceil((math.log(2 * n_leaves) + math.log(d / DELTA)) / reached))
        found += of_restrictions(run, tree, d, sizes[-1]) == tree
    finding = same(
        "found",
        f"seeds for which the tree of {n_leaves} leaves over {d} variables is learned from the "
        f"sufficient number of restrictions, with variables free with probability {MU:g}",
        found,
        SEEDS,
        evidence="statistical",
        words=f"{found} of {SEEDS} seeds, from {', '.join(map(str, sizes))} restrictions",
        wanted=f"all {SEEDS} seeds, each with probability ≥ {1 - DELTA:g}",
    )
    yield as_stated(finding, sizes, stated)


def _large(run: Run) -> Finding:
    """Larger trees of any depth are learned from a fixed number of restrictions."""
    rows = {s: n for s, n in FROM.items() if s == min(FROM) or not run.quick}
    found = []
    for s, n in rows.items():
        trees = [random_tree(OVER, s, run.rng) for _ in range(SEEDS)]
        found.append(sum(of_restrictions(run, tree, OVER, n) == tree for tree in trees))
    return at_least(
        "sizes",
        f"seeds for which a tree of {' and of '.join(map(str, rows))} leaves over {OVER} variables "
        f"is learned from {' and from '.join(map(str, rows.values()))} restrictions",
        "statistical",
        min(found),
        MOST_SEEDS,
        words=", ".join(f"{each} of {SEEDS} seeds" for each in found),
        wanted=f"at least {MOST_SEEDS} seeds",
    )


def values_of(tree: Tree, words: np.ndarray) -> list[int | None]:
    """The values of a tree on each of the words; None where the subtree is unknown."""
    return [tree_value(tree, word) for word in words]


def of_restrictions(run: Run, tree: Tree, d: int, n: int) -> Tree:
    """The tree over d variables that is learned from n random restrictions of `tree`."""
    rows = restrictions(d, MU, n, run.rng)
    return tree_by_restriction(d, [(row, restricted(tree, row)) for row in rows])


def depth(tree: Tree) -> int:
    """The number of tests on the longest path of a decision tree."""
    return 1 + max(depth(tree[1]), depth(tree[2])) if isinstance(tree, tuple) else 0


def _terms(run: Run, d: int, width: int) -> Iterator[Finding]:
    """DNF formulas are learned from the sufficient samples, and not from a tenth of them.

    If terms of w literals share variables, as with at most 3w variables, a restriction reveals
    several of them, and a tenth of the samples may suffice; so no finding states the contrary.
    """
    n = enough_for_terms(width, TERMS, MU, DELTA)
    found = sum(formula_found(run, d, width, n) for _ in range(SEEDS))
    what = (
        f"seeds for which a DNF of {TERMS} terms of {width} literals over {d} variables is learned"
    )
    finding = same(
        "found",
        f"{what} from {n} restrictions, a sufficient number",
        found,
        SEEDS,
        evidence="statistical",
        words=f"{found} of {SEEDS} seeds",
        wanted=f"all {SEEDS} seeds, each with probability ≥ {1 - DELTA:g}",
    )
    yield as_stated(finding, n, math.ceil(math.log(TERMS / DELTA) / MU**width))
    if d <= APART * width:
        return
    found = sum(formula_found(run, d, width, n // PART) for _ in range(SEEDS))
    yield at_most(
        "too-few",
        f"{what} from {n // PART} restrictions, 1/{PART} of the sufficient number",
        "statistical",
        found,
        SEEDS - MOST_SEEDS,
        words=f"{found} of {SEEDS} seeds",
        wanted=f"at most {SEEDS - MOST_SEEDS} seeds",
    )


def formula_found(run: Run, d: int, width: int, n: int) -> bool:
    """Whether a random DNF formula over d variables is learned from n random restrictions.

    Each term has `width` literals.
    """
    terms = set[Term]()
    while len(terms) < TERMS:
        variables = run.rng.permutation(d)[:width].tolist()
        terms.add(frozenset((v, int(run.rng.integers(2))) for v in variables))
    rows = restrictions(d, MU, n, run.rng)
    return terms_by_restriction(restricted_terms(terms, row) for row in rows) == terms
