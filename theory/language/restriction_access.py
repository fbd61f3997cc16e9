"""Learning decision trees and DNF formulas from random restrictions [Dvir2012].

A restriction leaves each of d variables free with probability μ, independently, and sets the others
to random bits; the learner sees what is left of the formula, and the restriction.

**Trees** read no variable twice on a path.  What is left is the tree with the tests of set
variables contracted; equal children stay apart.  The root is the one variable that is the root
whenever it is free: any other is not, in a sample that leaves both free (probability μ²).  A leaf
is recognised in the same way: no variable is possible.  A sample passes to both children of a free
root, and to one of a set one: to each with probability (1 + μ)/2.  What is returned is **never
wrong**: where more than one variable is possible the output is None.  A node at depth ℓ is found
with probability 1 − δ/2s by n((1 + μ)/2)^ℓ μ² ≥ ln(2sd/δ) samples, s leaves
(`enough_restrictions`).

**DNF** of terms of at most w literals, none inside another.  What is left of a term that is not
falsified are its free literals.  A term is seen whole with probability at least μ^w; so after
n ≥ μ^{−w} ln(s/δ) samples the largest of the observed terms are the formula with probability
≥ 1 − δ (`terms_by_restriction`): every observed term is part of one.  Before, what is returned
may be wrong, and it cannot tell.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory import machine
from theory.kinds import (
    Count,
    CountFrom2,
    InputError,
    Integers,
    OpenUnit,
    Seed,
    Steps,
    Within,
    checked,
    read,
)
from theory.language.distributions import Counted

Tree: TypeAlias = int | tuple[Any, ...] | None
"""A leaf 0 or 1; (variable, its subtree at 0, at 1); or None where it is not known."""

Term = frozenset[tuple[int, int]]
"""Literals (variable, value): all of the variables have these values."""

FREE = -1
MOST_SAMPLES = 10**12
MOST_GROWN = 10**6  # leaves times variables of a random tree
Restriction: TypeAlias = Annotated[Any, Integers("d", Within(least=FREE, most=1))]
"""Of each variable 0, 1, or −1 where it is free, shape (d,)."""
Word: TypeAlias = Annotated[Any, Integers("d", Within(least=0, most=1))]
"""0 and 1, shape (d,)."""


@checked
def random_tree(d: Count, n_leaves: CountFrom2, rng: Seed) -> Tree:
    """Leaves are shared out at random below variables that are not above; sibling leaves differ.

    Raises `ValueError` unless n_leaves ≤ d + 1 and d·n_leaves ≤ 10^6.
    """
    if n_leaves > d + 1 or d * n_leaves > MOST_GROWN:
        raise InputError(
            f"n_leaves is {n_leaves} and d is {d}: give at most d + 1 leaves, and d times n_leaves "
            f"of at most {MOST_GROWN}"
        )

    def grown(leaves: int, left: list[int]) -> Tree:
        variable = int(rng.choice(left))
        low = int(rng.integers(1, leaves))
        rest = [v for v in left if v != variable]
        bit = int(rng.integers(2))
        sizes = low, leaves - low
        below = [bit ^ side if size == 1 else grown(size, rest) for side, size in enumerate(sizes)]
        return variable, below[0], below[1]

    return grown(n_leaves, list(range(d)))


@checked
def restrictions(
    d: Counted, mu: OpenUnit, count: Annotated[Steps, Within(most=10**15)], rng: Seed
) -> np.ndarray:
    """Random restrictions (count, d): −1 where a variable is free, else its bit.

    Raises `ValueError` for more than the memory holds.
    """
    machine.fits_in_memory(
        f"{count:.3g} restrictions of {d:.3g} variables", 25 * d * count, "give fewer"
    )
    return np.where(rng.random((count, d)) < mu, FREE, rng.integers(2, size=(count, d)))


@checked
def restricted(tree: Tree, restriction: Restriction) -> Tree:
    """What is left of the tree under a restriction (d,): tests of set variables are contracted.

    Raises `ValueError` for what is no tree over its variables.
    """
    given = restriction.tolist()

    def left(tree: Tree) -> Tree:
        if not isinstance(tree, tuple):
            return _leaf(tree)
        variable, low, high = _test(tree, given)
        if given[variable] == FREE:
            return variable, left(low), left(high)
        return left(high if given[variable] else low)

    return left(tree)


def _test(tree: tuple[Any, ...], values: list[int]) -> tuple[Any, ...]:
    if len(tree) != 3 or read(Steps, "a variable", tree[0]) >= len(values):
        raise InputError(
            f"a tree tests {tree[0] if tree else 'nothing'}: give (variable, at 0, at 1), and "
            f"variables from 0 to {len(values) - 1}"
        )
    return tree


def _leaf(tree: Tree) -> int | None:
    if tree not in (0, 1, None):
        raise InputError(f"a leaf is {tree!r}: give 0, 1, or None where it is not known")
    return tree


@checked
def tree_by_restriction(
    d: Annotated[Count, Within(most=MOST_GROWN)], samples: Iterable[tuple[np.ndarray, Tree]]
) -> Tree:
    """The tree that is consistent with these restrictions (d,) and restricted trees, with None in
    place of every subtree that they do not determine.

    Raises `ValueError` for what are no such pairs, and samples that no tree of this kind has.
    """
    kind = Integers(str(d), Within(least=FREE, most=1))
    found = list[tuple[np.ndarray, Tree]]()
    for i, sample in enumerate(samples):
        if len(sample) != 2:
            raise InputError(f"samples[{i}] has {len(sample)} parts: give a restriction and a tree")
        found.append((kind.read(f"the restriction of samples[{i}]", sample[0]), sample[1]))
    return _learned(set(range(d)), found)


def _learned(variables: set[int], samples: list[tuple[np.ndarray, Tree]]) -> Tree:
    # Every variable that was free and not the root is not the root.
    possible = set(variables)
    for restriction, left in samples:
        root = left[0] if isinstance(left, tuple) else FREE
        possible = {v for v in possible if restriction[v] != FREE or v == root}
    whole = any(isinstance(left, tuple) for _, left in samples)
    if not possible:
        values = {left for _, left in samples}
        if whole or len(values) != 1:
            raise InputError(
                "no variable is the root whenever it is free: give samples of one tree"
            )
        return values.pop()
    # Of samples that are leaves, the last variable that was never free may be the root, or none.
    if len(possible) > 1 or not whole:
        return None
    (root,) = possible
    below: list[Tree] = []
    for bit in (0, 1):
        passed = []
        for restriction, left in samples:
            if restriction[root] == FREE:
                assert isinstance(left, tuple)
                passed.append((restriction, left[1 + bit]))
            elif restriction[root] == bit:
                passed.append((restriction, left))
        below.append(_learned(variables - {root}, passed))
    return root, below[0], below[1]


@checked
def says(tree: Tree, word: Word) -> int | None:
    """The answer of a tree that may be unknown in parts, to a word (d,) of 0 and 1; None there.

    Raises `ValueError` for what is no tree over its variables.
    """
    bits = word.tolist()
    while isinstance(tree, tuple):
        tree = _test(tree, bits)[1 + bits[tree[0]]]
    return _leaf(tree)


@checked
def enough_restrictions(
    d: Counted,
    n_leaves: Counted,
    depth: Annotated[Steps, Within(most=10**9)],
    mu: OpenUnit,
    delta: OpenUnit,
) -> int:
    """n with n((1 + μ)/2)^depth μ² ≥ ln(2sd/δ): a tree of s leaves and this depth is learned whole
    with probability ≥ 1 − δ.

    A wrong variable survives at a node only if no sample that reaches it leaves it and the root
    free; fewer than 2s nodes have fewer than d wrong variables each.  Raises `ValueError` for more
    than 10^12 samples.
    """
    reached = ((1 + mu) / 2) ** depth * mu**2
    wanted = math.log(2 * n_leaves * d / delta)
    if wanted > MOST_SAMPLES * reached:
        raise InputError(
            f"trees of depth {depth} take more than {MOST_SAMPLES:g} samples at mu = {mu:g}: "
            "give a smaller depth or a larger mu"
        )
    return math.ceil(wanted / reached)


@checked
def restricted_terms(terms: Iterable[Term], restriction: Restriction) -> set[Term]:
    """What is left of a DNF: terms that are not falsified, without the literals that are set.

    Raises `ValueError` for what are no terms of its variables.
    """
    given, formula = restriction.tolist(), _terms(terms)
    if any(v >= len(given) for term in formula for v, _ in term):
        raise InputError(f"terms have variables above {len(given) - 1}: restrict all of them")
    return {
        frozenset((v, b) for v, b in term if given[v] == FREE)
        for term in formula
        if all(given[v] in (FREE, b) for v, b in term)
    }


def _terms(terms: Iterable[Term]) -> list[Term]:
    """Sets of pairs (variable, 0 or 1)."""
    found = list(terms)
    for term in found:
        for literal in term:
            known = len(literal) == 2 and literal[1] in (0, 1)
            if not known or read(Steps, "a variable", literal[0]) < 0:
                raise InputError(f"a literal is {literal!r}: give (variable, 0 or 1)")
    return found


@checked
def terms_by_restriction(samples: Iterable[set[Term]]) -> set[Term]:
    """The observed terms that are inside no other; `ValueError` for what are no sets of terms."""
    observed = set[Term]().union(*map(_terms, samples))
    return {term for term in observed if not any(term < other for other in observed)}


@checked
def enough_for_terms(width: Counted, n_terms: Counted, mu: OpenUnit, delta: OpenUnit) -> int:
    """n ≥ μ^{−w} ln(s/δ): each of s terms of at most w literals is seen whole with probability
    ≥ 1 − δ, as (1 − μ^w)^n ≤ δ/s.

    Raises `ValueError` for more than 10^12 samples.
    """
    wanted = math.log(n_terms / delta)
    if width * math.log(mu) + math.log(MOST_SAMPLES) < math.log(wanted):
        raise InputError(
            f"terms of width {width} take more than {MOST_SAMPLES:g} samples at mu = {mu:g}: "
            "give shorter terms or a larger mu"
        )
    return math.ceil(mu**-width * wanted)
