"""The claim `search`: binary and interpolation search as layers, and their accuracy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Annotated

import numpy as np

from constructions import structures as built
from constructions.structures import sort
from constructions.transformer import Transformer
from theory import structures
from theory.structures import (
    Strategy,
    binary_accuracy,
    found,
    hard_points,
    looked_at,
    nearest,
    uniform_points,
)
from theory.waiting import Pace
from verify.claim import Run, claim, option
from verify.evidence.invariants import wrong_in_float64, wrong_over_q
from verify.evidence.size import size
from verify.evidence.statistics import Mean
from verify.finding import Finding, labelled, no_counterexample
from verify.structures.accuracies import DRAWN, accuracies, ahead, beside, published
from verify.structures.moved_points import changed_queries, lookups_of

CHUNK = 1000  # prompts processed at once
SPREAD, MOVED = 10, 7  # distance between points in tests that move points, and size of the moves
STRATEGIES: dict[str, Strategy] = {
    "binary": structures.binary_search,
    "interpolation": structures.interpolation_search(-1, 1),
    "greedy Bayes": structures.greedy_bayes(-1, 1),
}
A, NOISE = 7, 10  # the base a of the hard distribution, and a bound on its noise


@claim(
    picture="verify.structures.search_picture:draw",
    faults_seen=[{"lookups": 2}],
)
def search(
    run: Run,
    *,
    lookups: Annotated[int, option("number M of lookups among 2^M − 1 points", min=2, max=6)] = 3,
    samples: Annotated[int, option("number of uniform queries", min=100, max=10**7)] = 50_000,
) -> Iterator[Finding]:
    """A transformer of M + 1 layers computes M lookups of binary search exactly, and a transformer
    of 3M layers computes M lookups of interpolation search exactly.  The N = 2^M − 1 points are
    distinct integers in any order, and two layers sort them.

    The transformers have width 6 for binary search, 13 for interpolation search and 5 for sorting.
    Sorting and binary search are checked on all orders of 7 points, and interpolation search on all
    sets of 7 integers from 1 to 14, with all queries.  The residual stream at a query depends only
    on the points that have been looked up for this query.  A lookup reveals the point in one of N
    cells, which contain the points in increasing order. The probability that i lookups of binary
    search include the nearest of N uniform points is known exactly. For 2^{i+1} ≤ N + 1, this
    probability is (2^i − 1)/(N + 1). For uniform points, interpolation search is more accurate than
    binary search at every lookup except the last.  In the distribution of
    `theory.structures.hard_points`, which is hard for interpolation search, the scale of the
    distances between points depends on their levels in a binary tree.  For 15 points of this
    distribution, interpolation between the ends of the range is less accurate after three lookups
    than binary search.
    """
    N = 2**lookups - 1
    yield from labelled("sort", _sorted(run, N))
    for label, small, wide in zip(
        ("binary", "interpolation"),
        both(run, lookups, 2 * N + 1),
        both(run, lookups, SPREAD * (N + 1)),
        strict=True,
    ):
        points = 2 * _orders(run, N) if label == "binary" else _sets(run, N)
        yield from labelled(label, _searched(run, small, points))
        yield from labelled(label, [one_cell(run, wide)])
    count = run.limited(4000, samples=samples)
    means: dict[int, dict[str, list[Mean]]] = {}
    yield from labelled("uniform", _uniform(run, count, means))
    yield from labelled("hard", _hard(run, count))
    run.draw(means)


def both(run: Run, M: int, largest: int) -> tuple[Transformer, Transformer]:
    """The model of binary search and the model of interpolation search, with M lookups each."""
    return (
        run.build(built.binary_search, M, largest=largest),
        run.build(built.interpolation_search, 2**M - 1, M, largest=largest),
    )


def _orders(run: Run, N: int) -> np.ndarray:
    """All orders of 1 … N, or a sample of orders."""
    if N <= 7:
        return np.array(list(permutations(range(1, N + 1))))
    return run.rng.permuted(np.tile(np.arange(1, N + 1), (50, 1)), axis=-1)


def _sets(run: Run, N: int) -> np.ndarray:
    """All sets of N integers from 1 to 2N, or a sample of sets, each in a random order."""
    if N <= 7:
        return run.rng.permuted(np.array(list(combinations(range(1, 2 * N + 1), N))), axis=-1)
    return np.stack([run.rng.choice(2 * N, N, replace=False) + 1 for _ in range(50)])


def _sorted(run: Run, N: int) -> Iterator[Finding]:
    model, orders = run.build(sort, N), 2 * _orders(run, N) - N
    yield size(model, "sort", n=N)
    yield no_counterexample(
        "orders",
        f"outputs for {N} points in {len(orders)} orders, compared with the sorted points",
        wrong_in_float64(model, np.sort(orders), orders),
        words="equal; some points are negative",
    )
    few = orders[:: max(1, len(orders) // 4)]
    wrong = (text for row in few for text in wrong_over_q(model, np.sort(row), row))
    yield no_counterexample(
        "rational",
        "outputs over Q, compared with the sorted points",
        wrong,
        words=f"equal for {len(few)} orders",
    )


def first(model: Transformer) -> int:
    """The value of `m` at the first cell: 1 in interpolation search, 0 in binary search."""
    return int(model.construction == "interpolation_search")


def cells(model: Transformer, points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The cells that a model looks up for queries (…, m), (…, m, M), counted from 0."""
    return lookups_of(model, points, queries) - first(model)


def outputs(model: Transformer, points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The outputs (…, m) that a model should have.

    The output is the last cell that is looked up in interpolation search, and the number of
    points ≤ the query in binary search.
    """
    if first(model):
        return cells(model, points, queries)[..., -1]
    return np.asarray((points[..., None, :] <= queries[..., :, None]).sum(-1))


def _searched(run: Run, model: Transformer, points: np.ndarray) -> Iterator[Finding]:
    """Cells and outputs are those of the algorithm, for every query in the range."""
    N, M, top = points.shape[-1], len(model.stages), model.interface.largest
    name = "interpolation-search" if first(model) else "binary-search"
    yield size(model, name, **({"N": N, "M": M} if first(model) else {"M": M}))
    queries = np.arange(top + 1)

    def wrong() -> Iterator[str]:
        for start in run.progress(range(0, len(points), CHUNK), name):
            some = points[start : start + CHUNK]
            tiled = np.tile(queries, (len(some), 1))
            yield from wrong_in_float64(model, outputs(model, some, tiled), some, tiled)

    yield no_counterexample(
        "cells",
        f"lookups and outputs, compared with the algorithm, for {len(points)} rows of {N} points "
        f"and {top + 1} queries",
        wrong(),
        words=f"{M * (top + 1) * len(points)} lookups equal",
    )
    few = points[:: max(1, len(points) // 3)]
    yield no_counterexample(
        "rational",
        "lookups and outputs over Q, compared with those in float64",
        (x for row in few for x in wrong_over_q(model, outputs(model, row, queries), row, queries)),
        words=f"equal for {len(few)} rows of points",
    )


def one_cell(run: Run, model: Transformer) -> Finding:
    """The finding that points in cells that are not looked up do not affect a query.

    The points that are not looked up are moved without changing the order of the points; no
    register of the query may change.
    """
    N, largest = model.interface.n_points, model.interface.largest
    queries = np.arange(0, largest + 1, 3)[:, None]
    rank = run.rng.permuted(np.tile(np.arange(N), (len(queries), 1)), axis=-1)
    points = SPREAD * (rank + 1)
    seen = (rank[..., None] == cells(model, points, queries)).any(-1)
    moved = points + np.where(seen, 0, MOVED)
    return no_counterexample(
        "one-cell",
        "registers of a query before and after moves of points in cells that are not looked up",
        changed_queries(model, points, moved, queries),
        words=f"equal after every layer, for {len(queries)} queries and {(~seen).sum()} moved "
        "points",
    )


def drawn(run: Run, method: str, N: int, M: int, samples: int, pace: Pace) -> list[Mean]:
    """The accuracy of a method in per cent after each of M lookups, on N uniform points.

    There are `samples` sets of points, and each set has one query. `pace` counts the lookups.
    """
    right = []
    for start in range(0, samples, CHUNK * 10):
        sets = uniform_points(min(CHUNK * 10, samples - start), N, 1, run.rng)
        right.append(_found(STRATEGIES[method], *sets, M))
        pace.done(len(right[-1]) * M)
    return accuracies(np.concatenate(right))


def _found(strategy: Strategy, x: np.ndarray, q: np.ndarray, M: int) -> np.ndarray:
    return found(looked_at(strategy, x, q, M), nearest(x, q))[:, 0]


def _uniform(run: Run, samples: int, means: dict[int, dict[str, list[Mean]]]) -> Iterator[Finding]:
    """Findings on the accuracies of all strategies by N; `means` is filled for the picture."""
    sizes = {16: 4} if run.quick else {16: 4, 32: 5, 50: 4, 64: 6, 100: 7}
    lookups = samples * sum(M * len(_tried(N)) for N, M in sizes.items())
    pace = Pace(f"search on uniform points, {samples} sets", lookups)
    for N, M in sizes.items():
        exact = [100 * float(p) for p in binary_accuracy(N, M)]
        means[N] = {name: drawn(run, name, N, M, samples, pace) for name in _tried(N)}
        by_halves, interpolation = means[N]["binary"], means[N]["interpolation"]
        name = f"accuracy of binary search after each lookup, {N} uniform points"
        yield beside(f"binary-{N}", f"{name}, sampled", by_halves, exact)
        figures = published("binary", N)
        known = [Mean(p, 0.0) for p in exact]
        yield beside(f"table-{N}", f"{name}, by the exact formula", known, figures, DRAWN)
        yield _as_published("interpolation", N, interpolation)
        yield ahead(
            f"ahead-{N}",
            "(accuracy of interpolation search) − (accuracy of binary search) after each of "
            f"lookups 1 to {M - 1}, {N} uniform points",
            interpolation[:-1],
            known[:-1],
        )
        if "greedy Bayes" in means[N]:
            yield _as_published("greedy Bayes", N, means[N]["greedy Bayes"])


def _tried(N: int) -> list[str]:
    """The strategies tried for N points; greedy Bayes is too slow for many points."""
    return [name for name in STRATEGIES if name != "greedy Bayes" or N <= 32]


def _as_published(method: str, N: int, measured: list[Mean]) -> Finding:
    called = "interpolation search" if method == "interpolation" else method
    name = f"accuracy of {called} after each lookup, {N} uniform points"
    id = f"{method.partition(' ')[0]}-{N}"
    return beside(id, name, measured, published(method, N), DRAWN)


def _hard(run: Run, samples: int) -> Iterator[Finding]:
    """Findings on accuracies on the hard distribution.

    The ends of interpolation's range are reached if all steps from the root go to one side, plus a
    bound on the noise.
    """
    for levels in (3, 4):
        x, q = hard_points(samples, levels, 1, run.rng, A)
        N, steps = x.shape[1], float(sum(A**k for k in range(1, levels)))
        binary = accuracies(_found(structures.binary_search, x, q, 3))
        name = f"{N} points of the hard distribution"
        label = f"accuracy of binary search after each lookup, {name}"
        yield beside(f"binary-{N}", label, binary, published("hard binary", N), DRAWN)
    ends = -steps - NOISE, A**levels + steps + NOISE
    by_values = accuracies(_found(structures.interpolation_search(*ends), x, q, 3))
    figures = published("hard interpolation", N)
    label = f"accuracy of interpolation search after each lookup, {name}"
    yield beside(f"interpolation-{N}", label, by_values, figures, DRAWN)
    yield ahead(
        "ahead",
        f"(accuracy of binary search) − (accuracy of interpolation search) after lookup 3, {name}",
        binary[2:],
        by_values[2:],
    )
