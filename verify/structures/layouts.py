"""The claim `layouts`: kd-trees as layers, and the accuracy of layouts of the plane."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import permutations
from typing import Annotated

import numpy as np

from constructions.structures import kd_descent, kd_layout
from constructions.transformer import Transformer
from theory.structures import (
    band_order,
    found,
    found_at_once,
    found_by_depth,
    hard_cloud,
    in_order,
    kd_order,
    kd_search,
    most_by_weight,
    most_found,
    nearest_in_cloud,
    row_order,
    treap_depths,
    treap_found,
    uniform_cloud,
    zipf,
)
from verify.claim import Run, claim, option
from verify.evidence.invariants import wrong_in_float64, wrong_over_q
from verify.evidence.size import size
from verify.evidence.statistics import Mean
from verify.finding import Finding, at_least, at_most, labelled, no_counterexample, same
from verify.structures.accuracies import accuracies, ahead, below, beside, in_per_cent
from verify.structures.moved_points import changed_queries, lookups_of

# Published accuracies in the plane, rounded to a tenth; two standard errors are 0.7 points.
KD = {32: [3.2, 9.2, 20.8, 40.6, 77.7], 100: [0.9, 2.8, 6.4, 13.5, 27.4, 51.7]}
BANDS = {32: [18.6, 33.7, 46.4, 56.7, 64.9], 100: [10.2, 20.7, 28.6, 37.2, 43.6, 49.8]}
DRAWN = 0.35
ROWS = {32: 4, 100: 7}  # by number of points
HARD = 5  # levels of the tree on the hard plane
ZIPF, KEYS, RANKINGS, FEW = 1.2, 100, 400, 20
ROUNDED, AHEAD = 1e-12, 1e-9  # rounding error of sums of 100 probabilities; a larger lead, points
SPREAD, MOVED = 10, 7  # distance between points in tests that move points, and size of the moves


@claim(
    picture="verify.structures.layouts_picture:draw",
    faults_seen=[{"levels": 3, "samples": 5000}],
)
def layouts(
    run: Run,
    *,
    levels: Annotated[
        int, option("number L of levels of a tree of 2^L − 1 points", min=2, max=4)
    ] = 3,
    samples: Annotated[
        int, option("number of sets of points in the plane", min=500, max=10**5)
    ] = 10_000,
) -> Iterator[Finding]:
    """A transformer of L − 1 layers maps N = 2^L − 1 points of Z^d to their cells in a kd-tree, and
    a transformer of L layers searches the kd-tree from the root to a leaf, both exactly.  In the
    plane, if points are arranged in rows with equal numbers of points, and lookups are chosen only
    from the query, more nearest neighbours are found than by the search of a kd-tree.

    The width is d + L + 2 for the first transformer and 3d + 3 for the second.  The transformers
    are checked on all 5040 orders of 7 points and on points with equal coordinates.  Of two points
    with equal coordinates, the point given first counts as lower.

    For N points of the plane, three arrangements of the points in N cells are compared.  The first
    is the kd-tree.  The second divides the plane into bands of equal height, and the third into
    rows with equal numbers of points; both are traversed in alternating directions.  For bands and
    rows, lookups are at the cells that most probably contain the nearest neighbour of the query.
    Among 32 uniform points, the kd-tree finds 3 to 78 % of nearest neighbours in 1 to 5 lookups,
    bands find 19 to 65 %, and rows of 8 points find 31 to 83 %.  Among 100 points the kd-tree,
    bands and rows find 52, 49 and 76 % in 6 lookups.

    If every point is queried once, the kd-tree finds, after every lookup, the largest number of
    points that a strategy that only compares can find.  Now let the points be queried with unequal
    frequencies, which are assigned to the points in random order.  The treap is the search tree in
    which no point is queried more frequently than its parent.  After every lookup except the last,
    the treap has answered more queries than binary search; this is computed from the exact
    distribution of depths.  No strategy that only compares answers more queries than the best
    decision tree.
    """
    yield from labelled("layout", _laid_out(run, levels))
    yield from labelled("descent", _descent(run, levels))
    sets = run.limited(5000, samples=samples)
    found = plane(run, 32, 5, sets)
    yield from _plane(found, 32)
    if not run.quick:
        yield from _plane(plane(run, 100, 6, sets // 2), 100)
    yield from _hard(run, sets)
    yield from labelled("zipf", _zipf(run))
    run.draw(found, run.rng)


def _laid_out(run: Run, levels: int) -> Iterator[Finding]:
    N = 2**levels - 1
    model = run.build(kd_layout, N, 2, largest=2 * N)
    yield size(model, "kd-layout", N=N, d=2)
    if N <= 7:
        second = np.array(list(permutations(range(N))))
    else:
        second = run.rng.permuted(np.tile(np.arange(N), (300, 1)), axis=-1)
    points = np.stack([np.broadcast_to(np.arange(N), second.shape), second], axis=-1)
    yield _as_the_order("orders", model, run.rng.permuted(points, axis=0) - N // 2)
    # On a grid of 4 × 4 some coordinates are equal, and some points are equal.
    yield _as_the_order("ties", model, run.rng.integers(4, size=(500, N, 2)))
    in_space = run.build(kd_layout, N, 3, largest=2 * N)
    yield _as_the_order("space", in_space, run.rng.integers(-N, N, size=(500, N, 3)))
    few = run.rng.integers(-N, N, size=(4, N, 2))
    wrong = (text for x in few for text in wrong_over_q(model, _cells(x), x))
    yield no_counterexample(
        "rational",
        "cells of points over Q, compared with the kd-tree",
        wrong,
        words=f"equal for {len(few)} sets of points",
    )


def _cells(points: np.ndarray) -> np.ndarray:
    """The cell of each point (…, N) in the layout."""
    return kd_order(points).argsort(axis=-1)


def _as_the_order(id: str, model: Transformer, points: np.ndarray) -> Finding:
    what = {
        "orders": "distinct coordinates",
        "ties": "some coordinates and points equal",
        "space": "three dimensions",
    }[id]
    name = f"cells of points, compared with the kd-tree, for {len(points)} sets of points ({what})"
    wrong = wrong_in_float64(model, _cells(points), points)
    return no_counterexample(id, name, wrong, words=f"{len(points)} layouts equal")


def _descent(run: Run, levels: int) -> Iterator[Finding]:
    N = 2**levels - 1
    top = 2 * N + 1 if N <= 7 else N
    model = run.build(kd_descent, levels, 2, largest=top)
    yield size(model, "kd-descent", M=levels, d=2)
    drawn = run.rng.integers(1, top, size=(20, N, 2))
    points = in_order(drawn, kd_order(drawn))
    grid = np.stack(np.meshgrid(*[np.arange(top + 1)] * 2), axis=-1).reshape(-1, 2)
    queries = np.broadcast_to(grid, (len(points), *grid.shape))
    yield no_counterexample(
        "cells",
        "lookups and outputs, compared with the descent of the kd-tree, for "
        f"{len(points)} sets of points with ties and all {len(grid)} queries",
        wrong_in_float64(model, cells_before(points, queries, levels), points, queries),
        words=f"{levels * len(points) * len(grid)} lookups equal",
    )
    some = grid[:: max(1, len(grid) // 30)]
    wrong = wrong_over_q(model, cells_before(points[0], some, levels), points[0], some)
    yield no_counterexample(
        "rational",
        "lookups and outputs over Q, compared with the descent of the kd-tree",
        wrong,
        words=f"equal for {len(some)} queries",
    )
    yield one_cell(run, run.build(kd_descent, levels, 2, largest=SPREAD * (N + 1)))


def cells_before(points: np.ndarray, queries: np.ndarray, levels: int) -> np.ndarray:
    """The number of cells before the leaf region of each query, by definition.

    This number is computed from the cell of the leaf and the comparison of the query with the leaf.
    """
    leaf = kd_search(points, queries, levels)[..., -1]
    axis = (levels - 1) % points.shape[-1]
    at = np.take_along_axis(points[..., axis], leaf, axis=-1)
    return leaf + (at <= queries[..., axis])


def one_cell(run: Run, model: Transformer) -> Finding:
    """The finding that points in cells that are not looked up do not affect a query.

    Moves of these points change no register of the query.
    """
    N, d, top = model.interface.n_points, model.interface.dimension, model.interface.largest
    points = run.rng.integers(1, N + 1, size=(200, N, d)) * SPREAD
    queries = run.rng.integers(top + 1, size=(200, 1, d))
    at = lookups_of(model, points, queries)[:, 0]
    seen = (np.arange(N)[:, None] == at[:, None]).any(-1)
    moved = points + np.where(seen[..., None], 0, MOVED)
    return no_counterexample(
        "one-cell",
        "registers of a query before and after moves of points in cells that are not looked up",
        changed_queries(model, points, moved, queries),
        words=f"equal after every layer, for {len(queries)} queries and {(~seen).sum()} moved "
        "points",
    )


def kd(run: Run, N: int, M: int, sets: int) -> list[Mean]:
    """The accuracy of the kd-tree after each of M lookups, on N uniform points of the plane.

    There are `sets` sets of points, and each set has one query.
    """
    right = []
    for start in range(0, sets, 1000):
        x, q = uniform_cloud(min(1000, sets - start), N, 2, 1, run.rng)
        x = in_order(x, kd_order(x))
        right.append(found(kd_search(x, q, M), nearest_in_cloud(x, q))[:, 0])
    return accuracies(np.concatenate(right))


def plane(run: Run, N: int, M: int, sets: int) -> dict[str, list[Mean]]:
    """The accuracies after each of M lookups on N points of the plane, by method.

    The methods are the kd-tree, and bands and rows with cells that are chosen at once.  The kd-tree
    is evaluated on four times as many sets, because its evaluation is faster.
    """
    at_once = {
        name: accuracies(found_at_once(partial(order, n_rows=ROWS[N]), N, M, sets, run.rng))
        for name, order in run.progress([("bands", band_order), ("rows", row_order)], "rows")
    }
    return {"kd-tree": kd(run, N, M, 4 * sets), **at_once}


def _plane(found: dict[str, list[Mean]], N: int) -> Iterator[Finding]:
    tree = f"accuracy of the kd-tree after each lookup, {N} points"
    yield beside(f"kd-{N}", tree, found["kd-tree"], KD[N], DRAWN)
    bands = (
        f"accuracy after each lookup if points are ordered in {ROWS[N]} bands of alternating "
        f"directions and all cells are chosen at once, {N} points"
    )
    yield beside(f"bands-{N}", bands, found["bands"], BANDS[N], DRAWN)
    name = (
        f"(accuracy in {ROWS[N]} rows of equal size, all cells chosen at once) − (accuracy of the "
        f"kd-tree) after each lookup, {N} points"
    )
    finding = ahead(f"rows-{N}", name, found["rows"], found["kd-tree"])
    finding.words += f"; the accuracies are {in_per_cent(found['rows'])} % in rows, and "
    finding.words += f"{in_per_cent(found['kd-tree'])} % for the kd-tree"
    yield finding


def _hard(run: Run, sets: int) -> Iterator[Finding]:
    """Findings on the hard plane: each lookup of the kd-tree's descent compares one coordinate.

    If queries are points, the descent finds as many as the best comparisons.  The nearest neighbour
    of another query may be on the other side of a plane.
    """
    x, q = hard_cloud(sets, HARD, 2, 1, run.rng)
    x = in_order(x, kd_order(x))
    N, few = x.shape[1], x[:100]
    counted = found(kd_search(few, few, HARD), nearest_in_cloud(few, few)).sum(1)
    yield same(
        "hard/points",
        f"number of {N} points of the hard plane that a kd-tree finds after each lookup, if every "
        "point is queried",
        np.unique(counted, axis=0).tolist(),
        [[most_found(N, i) for i in range(1, HARD + 1)]],
        words=f"the same in all {len(few)} sets",
        wanted="min(N, 2^i − 1) after i lookups, the maximum for comparisons",
    )
    right = found(kd_search(x, q, HARD), nearest_in_cloud(x, q))[:, 0]
    most = [100 * most_found(N, i) / N for i in range(1, HARD + 1)]
    name = (
        f"accuracy of the kd-tree after each lookup, {N} points of the hard plane, random queries"
    )
    yield below("hard/beside", name, accuracies(right), most, "the maximum for comparisons")


def _zipf(run: Run) -> Iterator[Finding]:
    """In random order of frequency, binary search finds min(N, 2^i − 1)/N in i lookups."""
    weights, M = zipf(KEYS, ZIPF), KEYS.bit_length()
    ranked = [run.rng.permutation(weights) for _ in range(RANKINGS)]
    treap = np.array([found_by_depth(treap_depths(w), w, M) for w in ranked])
    best = np.array([most_by_weight(w, M) for w in ranked[:FEW]])
    keys = f"{KEYS} keys with Zipf frequencies (exponent {ZIPF:g})"
    yield at_most(
        "best",
        "(total frequency of the keys that the treap finds) − (maximum of this frequency over all "
        f"trees), {keys}, {FEW} orders",
        "float",
        float((treap[:FEW] - best).max()),
        ROUNDED,
        words=f"in {M} lookups the treap finds {100 * treap[:FEW, -1].mean():.1f} %, and the best "
        f"tree {100 * best[:, -1].mean():.1f} %",
        wanted="at most 0, up to rounding",
    )
    expected = 100 * treap_found(weights, M)
    # The root of the treap is the most frequent key in every order.
    name = f"accuracy of the treap after lookups 2 to {M}, {keys}, {RANKINGS} random orders"
    yield beside("law", name, accuracies(treap)[1:], expected[1:].tolist())
    halves = np.array([100 * most_found(KEYS, i) / KEYS for i in range(1, M + 1)])
    for id, name, lead in (
        (
            "treap",
            "(accuracy of the treap) − (accuracy of binary search) before the last lookup",
            expected - halves,
        ),
        (
            "last",
            "(accuracy of binary search) − (accuracy of the treap) at the last lookup",
            halves - expected,
        ),
    ):
        at = slice(-1) if id == "treap" else slice(-1, None)
        yield at_least(
            id,
            f"{name}, {keys}, by the exact distribution",
            "float",
            float(lead[at].min()),
            AHEAD,
            words=f"at least {lead[at].min():.1f} points",
            wanted="above 0",
        )
