"""Learning decision trees and DNF formulas from random restrictions [Dvir2012].

A restriction leaves each of d variables free with probability μ, independently, and sets the other
variables to random bits.  A sample is a restriction together with the restricted tree or formula.

**Trees.**  A tree tests no variable twice on a path.  In the restricted tree the tests of set
variables are contracted, and equal children are not merged.  The root variable is at the root of
every sample in which it is free.  Any other variable is ruled out by a sample that leaves both this
variable and the root variable free (probability μ²).  A node is recognised as a leaf if all
variables are ruled out.  A sample passes to both children of a free root and to one child of a set
root, so to each child with probability (1 + μ)/2.  **Every output is right**: where more than one
variable is possible, the output is None.  A node at depth ℓ of a tree of s leaves is found with
probability 1 − δ/2s from n samples with n((1 + μ)/2)^ℓ μ² ≥ ln(2sd/δ) (`enough_restrictions`).

**DNF formulas** have s terms of at most w literals, and no term contains another.  A term that is
not falsified is restricted to its free literals, and all its literals are free with probability at
least μ^w.  So after n ≥ μ^{−w} ln(s/δ) samples, with probability ≥ 1 − δ, the maximal observed
terms are the terms of the formula (`terms_by_restriction`), since every observed term is contained
in a term of the formula.  From fewer samples the output may be wrong, without any indication.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeAlias

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
"""A leaf 0 or 1; a triple (variable, subtree at 0, subtree at 1); or None for an unknown tree."""

Term = frozenset[tuple[int, int]]
"""The conjunction of literals (variable, value)."""

FREE = -1
MOST_SAMPLES = 10**12
MOST_GROWN = 10**6  # largest number of leaves times variables of a random tree
Restriction: TypeAlias = Annotated[Any, Integers("d", Within(least=FREE, most=1))]
"""The value of each variable, 0 or 1, or −1 where it is free, shape (d,)."""
Word: TypeAlias = Annotated[Any, Integers("d", Within(least=0, most=1))]
"""0 and 1, shape (d,)."""


@checked
def random_tree(d: Count, n_leaves: CountFrom2, seed: Seed) -> Tree:
    """A random decision tree with `n_leaves` leaves over d binary variables.

    No variable repeats on a path from the root to a leaf, and two leaves with the same parent have
    different values.  Raises `ValueError` unless n_leaves ≤ d + 1 and d·n_leaves ≤ 10^6.
    """
    if n_leaves > d + 1 or d * n_leaves > MOST_GROWN:
        raise InputError(
            f"n_leaves is {n_leaves} and d is {d}: give n_leaves ≤ d + 1, and d times n_leaves "
            f"≤ {MOST_GROWN}"
        )

    rng = np.random.default_rng(seed)

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
    d: Counted, mu: OpenUnit, count: Annotated[Steps, Within(most=10**15)], seed: Seed
) -> np.ndarray:
    """Random restrictions (count, d) of d variables, each of them free with probability μ = `mu`.

    An entry is −1 if the variable is free.  Otherwise it is the value of the variable, a uniformly
    random bit.  Raises `ValueError` if the restrictions do not fit in memory.
    """
    machine.fits_in_memory(
        f"{count:.3g} restrictions of {d:.3g} variables",
        25 * d * count,
        "give a smaller d or count",
    )
    rng = np.random.default_rng(seed)
    return np.where(rng.random((count, d)) < mu, FREE, rng.integers(2, size=(count, d)))


@checked
def restricted(tree: Tree, restriction: Restriction) -> Tree:
    """The decision tree under a restriction, without the tests of variables that are set.

    The restriction is an array (d,) for d variables.  An entry is 0 or 1 if the variable is set to
    this value, and −1 if it is free.  Raises `ValueError` unless all variables of the tree are
    among these d variables.
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
            f"a tree tests {tree[0] if tree else 'nothing'}: give a tree (variable, subtree at 0, "
            f"subtree at 1) with variables from 0 to {len(values) - 1}"
        )
    return tree


def _leaf(tree: Tree) -> int | None:
    leaf: int | None = read(Literal[0, 1] | None, "a leaf", tree)
    return leaf


@checked
def tree_by_restriction(
    d: Annotated[Count, Within(most=MOST_GROWN)], samples: Iterable[tuple[np.ndarray, Tree]]
) -> Tree:
    """The part of a decision tree over d variables that samples of restrictions determine.

    A sample is a pair of a restriction (d,) and the tree under this restriction.  An entry of the
    restriction is −1 if the variable is free, and otherwise its value 0 or 1.  In the result,
    undetermined subtrees are None.  Raises `ValueError` if samples have another form.  Also raises
    `ValueError` if the samples agree with no tree in which every path tests each variable at most
    once.
    """
    kind = Integers(str(d), Within(least=FREE, most=1))
    found = list[tuple[np.ndarray, Tree]]()
    for i, sample in enumerate(samples):
        if len(sample) != 2:
            raise InputError(f"samples[{i}] has {len(sample)} parts: give a restriction and a tree")
        found.append((kind.read(f"the restriction of samples[{i}]", sample[0]), sample[1]))
    return _learned(set(range(d)), found)


def _learned(variables: set[int], samples: list[tuple[np.ndarray, Tree]]) -> Tree:
    # A variable that is free in a sample, but not at its root, is ruled out.
    possible = set(variables)
    for restriction, left in samples:
        root = left[0] if isinstance(left, tuple) else FREE
        possible = {v for v in possible if restriction[v] != FREE or v == root}
    whole = any(isinstance(left, tuple) for _, left in samples)
    if not possible:
        values = {left for _, left in samples}
        if whole or len(values) != 1:
            raise InputError("samples have no common root variable: give samples of one tree")
        return values.pop()
    # If all samples are leaves, a variable that was never free may or may not be the root.
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
def tree_value(tree: Tree, word: Word) -> int | None:
    """The value of a decision tree at a word of bits; None if the word leads to no known leaf.

    The word is an array (d,) of 0 and 1, with the values of d variables.  A part of the tree may be
    unknown.  Raises `ValueError` unless all variables of the tree are among these d variables.
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
    """A number of random restrictions from which a decision tree is learned completely.

    A restriction sets some variables to random values and leaves the others free, and a sample is
    the decision tree under the restriction.  μ = `mu` is the probability that a variable is free,
    and δ = `delta`.  The tree has s = `n_leaves` leaves over d variables, and depth `depth`.  The
    result is the smallest n with n((1 + μ)/2)^depth μ² ≥ ln(2sd/δ).  From n samples,
    `tree_by_restriction` learns the tree with probability ≥ 1 − δ.

    Proof: The learner excludes a wrong variable at a node if a sample that reaches the node leaves
    both the wrong variable and the right variable free.  There are fewer than 2s nodes, and fewer
    than d wrong variables for each node.  Raises `ValueError` for more than 10^12 samples.
    """
    reached = ((1 + mu) / 2) ** depth * mu**2
    wanted = math.log(2 * n_leaves * d) - math.log(delta)
    if wanted > MOST_SAMPLES * reached:
        raise InputError(
            f"depth is {depth} and mu is {mu:g}, which require over {MOST_SAMPLES:g} samples: "
            "give a smaller depth or a larger mu"
        )
    return math.ceil(wanted / reached)


@checked
def restricted_terms(terms: Iterable[Term], restriction: Restriction) -> set[Term]:
    """The terms of a DNF formula under a restriction (d,) of its d variables.

    An entry of the restriction is 0 or 1 if the variable is set to this value, and −1 if it is
    free.  Terms that the set variables make false are omitted.  Every other term is reduced to its
    literals of free variables.  A term is a set of literals, and a literal is a pair (variable, 0
    or 1).  Raises `ValueError` unless all variables of the terms are among these d variables.
    """
    given, formula = restriction.tolist(), _terms(terms)
    if any(v >= len(given) for term in formula for v, _ in term):
        raise InputError(
            f"terms have variables above {len(given) - 1}: give a restriction of all variables"
        )
    return {
        frozenset((v, b) for v, b in term if given[v] == FREE)
        for term in formula
        if all(given[v] in (FREE, b) for v, b in term)
    }


def _terms(terms: Iterable[Term]) -> list[Term]:
    """The terms as a list; raises `ValueError` unless literals are pairs (variable, 0 or 1)."""
    found = list(terms)
    for term in found:
        for literal in term:
            if len(literal) != 2 or literal[1] not in (0, 1):
                raise InputError(f"a literal is {literal!r}: give literals (variable, 0 or 1)")
            read(Steps, "a variable", literal[0])
    return found


@checked
def terms_by_restriction(samples: Iterable[set[Term]]) -> set[Term]:
    """The terms of a DNF formula that are learned from samples: the maximal observed terms.

    A sample is the set of the terms of the formula under a random restriction, which sets some
    variables.  A term is a set of literals, and an observed term is maximal if no other observed
    term contains it.  Raises `ValueError` unless the samples are sets of terms.
    """
    observed = set[Term]().union(*map(_terms, samples))
    return {term for term in observed if not any(term < other for other in observed)}


@checked
def enough_for_terms(width: Counted, n_terms: Counted, mu: OpenUnit, delta: OpenUnit) -> int:
    """A number of random restrictions from which a DNF formula is learned.

    A restriction sets some variables and leaves the others free, and a sample is the set of terms
    of the formula under the restriction.  μ = `mu` is the probability that a variable is free, and
    δ = `delta`.  The formula has s = `n_terms` terms of at most w = `width` literals.  The result
    is the smallest n ≥ μ^{−w} ln(s/δ).  Then with probability ≥ 1 − δ, every term is observed with
    all its literals in some sample, as (1 − μ^w)^n ≤ δ/s.  Raises `ValueError` for more than 10^12
    samples.
    """
    wanted = math.log(n_terms) - math.log(delta)
    if width * math.log(mu) + math.log(MOST_SAMPLES) < math.log(wanted):
        raise InputError(
            f"width is {width} and mu is {mu:g}, which require over {MOST_SAMPLES:g} samples: "
            "give a smaller width or a larger mu"
        )
    return math.ceil(mu**-width * wanted)
