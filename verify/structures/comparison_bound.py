"""The claim `comparison-bound`: the maximum number of targets found by comparisons and values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from theory.structures import (
    best_fixed,
    best_trees,
    decision_trees,
    depths,
    first_interpolated,
    found_at,
    most_by_branches,
    most_by_roots,
    most_found,
    perfect_trees,
)
from verify.claim import Run, claim
from verify.evidence.statistics import Mean
from verify.finding import Finding, at_most, same
from verify.structures.accuracies import DRAWN, beside, published

BELOW = 40  # upper limit of the number of cells in recursions
BRANCHES = [1, 5, 12, 15]  # targets found of 15, in 1 to 4 lookups
NEAR = 0.002  # as a fraction of all queries: 0.2 percentage points


@claim(
    faults_seen=[{}],
)
def comparison_bound(run: Run) -> Iterator[Finding]:
    """M lookups with outcomes <, = and > find at most min(N, 2^M − 1) of N targets.  For N ≥ 2^M −
    1, exactly C(N, 2^M − 1) decision trees of M lookups find 2^M − 1 targets, where C is the
    binomial coefficient.

    N cells contain N points in ascending order, and the target is one of the points.  A lookup at a
    cell reveals whether the target is below, in or above this cell.  All decision trees over at
    most 7 cells are run.  A best tree is a tree that finds the maximum number of targets.  For N ≥
    2^M − 1 and i ≤ M, every best tree has found 2^i − 1 targets after i lookups.  Binary search is
    the only best tree if and only if N = 2^M − 1.

    Let the cells be the nodes of a balanced binary search tree of 15 nodes.  Lookups that also
    reveal the depth of the lowest common ancestor of cell and target find at most 1, 5, 12 and 15
    of the 15 targets in 1 to 4 lookups.  Lookups that reveal only comparisons find at most 1, 3, 7
    and 15.  In the hard distribution (`theory.structures.hard_points`) with parameter a > 1, the
    value of a node at depth k differs from that of its parent by a uniform number below a^(4−k).
    As a → ∞, the query and the value in the cell reveal the depth of the common ancestor, with
    probability → 1.

    If all M cells are chosen from the query before any lookup, the M cells that most probably
    contain the nearest point are optimal.  Among 16 uniform points, the 1, 2, 3 or 4 most probable
    cells contain the nearest point with probability 33, 54, 70 or 81 %.
    """
    most, levels = (5, 2) if run.quick else (7, 3)
    sizes = [(N, M) for M in range(1, levels + 1) for N in range(1, most + 1)]
    found = {(N, M): found_at(decision_trees(N, M), N) for N, M in run.progress(sizes, "trees")}
    many = {size: (at > 0).sum(-1) for size, at in found.items()}
    trees = sum(map(len, many.values()))
    yield same(
        "most",
        f"maximum number of targets that a decision tree of M ≤ {levels} lookups finds in "
        f"N ≤ {most} cells",
        {f"{N}, {M}": int(count.max()) for (N, M), count in many.items()},
        {f"{N}, {M}": most_found(N, M) for N, M in sizes},
        words=f"equal to the formula, by enumeration of {trees} trees",
        wanted="min(N, 2^M − 1)",
    )
    full = [(N, M) for N, M in sizes if N >= 2**M - 1]
    best = {size: found[size][many[size] == many[size].max()] for size in full}
    yield same(
        "optima",
        "number of decision trees of M lookups that find the maximum number of N targets",
        {f"{N}, {M}": len(at) for (N, M), at in best.items()},
        {f"{N}, {M}": best_trees(N, M) for N, M in full},
        words=f"equal to the formula for N ≥ 2^M − 1; {sum(map(len, best.values()))} trees in all",
        wanted="C(N, 2^M − 1)",
    )
    yield _every_lookup(best)
    yield _only_one(best)
    yield _recursion()
    yield _branches()
    yield _first(16 if run.quick else 100)
    yield from map(_at_once, (16,) if run.quick else (16, 32, 50, 64, 100))


def _every_lookup(best: dict[tuple[int, int], np.ndarray]) -> Finding:
    """The number of targets found in lookup i is the same for all best trees."""
    counted = {}
    for (N, M), at in best.items():
        each = np.stack([(at == i).sum(-1) for i in range(1, M + 1)], axis=-1)
        counted[f"{N}, {M}"] = np.unique(each, axis=0).tolist()
    return same(
        "every-lookup",
        "number of targets that a decision tree with the maximum number of targets finds in lookup "
        "i",
        counted,
        {f"{N}, {M}": [[2**i for i in range(M)]] for N, M in best},
        words="the same for all such trees",
        wanted="2^{i − 1} for every i",
    )


def _only_one(best: dict[tuple[int, int], np.ndarray]) -> Finding:
    """At N = 2^M − 1 the best tree finds each cell in the same lookup as binary search."""
    only = {M: at for (N, M), at in best.items() if N == 2**M - 1}
    return same(
        "only-one",
        "decision trees of M lookups that find all N = 2^M − 1 targets",
        {M: at.tolist() for M, at in only.items()},
        {M: [depths(2**M - 1).tolist()] for M in only},
        words=f"one tree for each M ≤ {max(only)}",
        wanted="only the tree that finds each target in the same lookup as binary search",
    )


def _recursion() -> Finding:
    """The recursions over roots equal the formulas, for larger N."""
    sizes = [(N, M) for M in range(1, 6) for N in range(1, BELOW)]
    full = [(N, M) for N, M in sizes if N >= 2**M - 1]
    return same(
        "recursion",
        "maximum number of targets and number of trees that attain it, by recursion over the root, "
        f"N < {BELOW}, M ≤ 5",
        [[most_by_roots(*size) for size in sizes], [perfect_trees(*size) for size in full]],
        [[most_found(*size) for size in sizes], [best_trees(*size) for size in full]],
        words=f"maximum equal to the formula for {len(sizes)} pairs (N, M), number of trees equal "
        f"to the formula for {len(full)} pairs (N, M)",
        wanted="maximum min(N, 2^M − 1), number of trees C(N, 2^M − 1)",
    )


def _branches() -> Finding:
    lookups = range(1, 5)
    return same(
        "branches",
        "maximum number of 15 targets found in 1 to 4 lookups that reveal the depth of the lowest "
        "common ancestor",
        [most_by_branches(4, M) for M in lookups],
        BRANCHES,
        words="equal to the required numbers, over all strategies",
        wanted=f"{', '.join(map(str, BRANCHES))}; comparisons find at most "
        f"{', '.join(str(most_found(15, M)) for M in lookups)}",
    )


def _at_once(N: int) -> Finding:
    """The accuracy of lookups chosen at once, from integrals, agrees with published figures.

    The figures exceed these optimal values by up to 0.42 points (N = 64) through sampling errors.
    """
    figures = published("best non-adaptive", N)
    most = [Mean(100 * float(p), 0.0) for p in best_fixed(N, len(figures))]
    name = (
        "accuracy after each lookup if the cells of the most probable ranks given the query are "
        f"looked up, {N} uniform points"
    )
    return beside(f"at-once-{N}", name, most, figures, DRAWN)


def _first(N: int) -> Finding:
    """The first lookup of interpolation search is nearly as good as the most probable one."""
    best, first = float(best_fixed(N, 1)[0]), first_interpolated(N)
    return at_most(
        "first",
        "(accuracy of the most probable cell) − (accuracy of the first lookup of interpolation "
        f"search), {N} uniform points",
        "float",
        best - first,
        NEAR,
        words=f"{100 * (best - first):.2f} points, the difference of {100 * best:.2f} % and "
        f"{100 * first:.2f} %",
        wanted=f"at most {100 * NEAR:g} points",
    )
