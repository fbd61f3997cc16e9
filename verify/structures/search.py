"""The claim `search`: binary and interpolation search as layers, and how they do by lookup."""

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
from verify.claim import Run, claim, option
from verify.evidence.invariants import wrong_in_float64, wrong_over_q
from verify.evidence.size import size
from verify.evidence.statistics import Mean
from verify.finding import Finding, labelled, no_counterexample
from verify.structures.accuracies import DRAWN, accuracies, ahead, beside, published
from verify.structures.moved_points import lookups_of, noticed

CHUNK = 1000  # prompts at once
SPREAD, MOVED = 10, 7  # points are so far apart where some are moved, and moved so far
STRATEGIES: dict[str, Strategy] = {
    "binary": structures.binary_search,
    "interpolation": structures.interpolation_search(-1, 1),
    "greedy Bayes": structures.greedy_bayes(-1, 1),
}
A, NOISE = 7, 10  # of the hard distribution; more than its noise is


@claim(
    source="proved in constructions/structures/binary_search.py, interpolation_search.py, sort.py",
    picture="verify.structures.search_picture:draw",
    faults_seen=[{"lookups": 2}],
)
def search(
    run: Run,
    *,
    lookups: Annotated[int, option("lookups M of 2^M − 1 points", min=2, max=6)] = 3,
    samples: Annotated[int, option("uniform queries", min=100, max=10**7)] = 50_000,
) -> Iterator[Finding]:
    """Transformers of M + 1 and of 3M layers compute M lookups of binary search (N = 2^M − 1
    points) and of interpolation search exactly, on distinct integers in any order; two layers sort.

    Width 6, 13 and 5.  All orders of 7 points and all sets of 7 from 1 to 14, each with all
    queries.  The stream of a query depends on no point but those it has looked at.  Binary search
    finds the nearest of N uniform points in i lookups with a probability that is known exactly,
    (2^i − 1)/(N + 1) for 2^{i+1} ≤ N + 1; interpolation search is above it but for the last lookup.
    On the hard distribution interpolation between the ends of the range is below binary search at
    the third of three lookups in 15 points.
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
    count = 4000 if run.quick else samples
    means: dict[int, dict[str, list[Mean]]] = {}
    yield from labelled("uniform", _uniform(run, count, means))
    yield from labelled("hard", _hard(run, count))
    run.draw(means)


def both(run: Run, M: int, largest: int) -> tuple[Transformer, Transformer]:
    """The two models of M lookups, with the planted fault if any."""
    return (
        run.build(built.binary_search, M, largest=largest),
        run.build(built.interpolation_search, 2**M - 1, M, largest=largest),
    )


def _orders(run: Run, N: int) -> np.ndarray:
    """All orders of 1 … N, or some."""
    if N <= 7:
        return np.array(list(permutations(range(1, N + 1))))
    return run.rng.permuted(np.tile(np.arange(1, N + 1), (50, 1)), axis=-1)


def _sets(run: Run, N: int) -> np.ndarray:
    """All sets of N from 1 to 2N, or some, each in a random order."""
    if N <= 7:
        return run.rng.permuted(np.array(list(combinations(range(1, 2 * N + 1), N))), axis=-1)
    return np.stack([run.rng.choice(2 * N, N, replace=False) + 1 for _ in range(50)])


def _sorted(run: Run, N: int) -> Iterator[Finding]:
    model, orders = run.build(sort, N), 2 * _orders(run, N) - N
    yield size(model, "sort", n=N)
    yield no_counterexample(
        "orders",
        f"points in {len(orders)} orders come out in ascending order",
        wrong_in_float64(model, np.sort(orders), orders),
        words=f"{N} points, among them numbers below 0",
    )
    few = orders[:: max(1, len(orders) // 4)]
    wrong = (text for row in few for text in wrong_over_q(model, np.sort(row), row))
    yield no_counterexample("rational", "over Q", wrong, words=f"{len(few)}")


def first(model: Transformer) -> int:
    """What `m` is at the first cell: interpolation search counts from 1."""
    return int(model.construction == "interpolation_search")


def cells(model: Transformer, points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The cells (…, m, M) at which lookups are, from 0."""
    return lookups_of(model, points, queries) - first(model)


def answers(model: Transformer, points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The answers (…, m) by definition: the last cell, or how many points are not above."""
    if first(model):
        return cells(model, points, queries)[..., -1]
    return np.asarray((points[..., None, :] <= queries[..., :, None]).sum(-1))


def _searched(run: Run, model: Transformer, points: np.ndarray) -> Iterator[Finding]:
    """Cells and answers beside the strategy, with every query of the range."""
    N, M, top = points.shape[-1], len(model.stages), model.interface.largest
    name = "interpolation-search" if first(model) else "binary-search"
    yield size(model, name, **({"N": N, "M": M} if first(model) else {"M": M}))
    queries = np.arange(top + 1)

    def wrong() -> Iterator[str]:
        for start in run.progress(range(0, len(points), CHUNK), name):
            some = points[start : start + CHUNK]
            asked = np.tile(queries, (len(some), 1))
            yield from wrong_in_float64(model, answers(model, some, asked), some, asked)

    yield no_counterexample(
        "cells",
        f"every lookup and the answer are the algorithm's: {len(points)} rows of {N} points, "
        f"{top + 1} queries",
        wrong(),
        words=f"{M * (top + 1) * len(points)} lookups equal",
    )
    few = points[:: max(1, len(points) // 3)]
    yield no_counterexample(
        "rational",
        "over Q lookups and answers are the same",
        (x for row in few for x in wrong_over_q(model, answers(model, row, queries), row, queries)),
        words=f"{len(few)} rows of points",
    )


def one_cell(run: Run, model: Transformer) -> Finding:
    """Points in the cells that are not looked at are moved, in the same order: a query holds the
    same numbers after every layer."""
    N, largest = model.interface.n_points, model.interface.largest
    queries = np.arange(0, largest + 1, 3)[:, None]
    rank = run.rng.permuted(np.tile(np.arange(N), (len(queries), 1)), axis=-1)
    points = SPREAD * (rank + 1)
    seen = (rank[..., None] == cells(model, points, queries)).any(-1)
    moved = points + np.where(seen, 0, MOVED)
    return no_counterexample(
        "one-cell",
        "what stands in cells that are not looked at changes nothing that a query holds",
        noticed(model, points, moved, queries),
        words=f"{(~seen).sum()} points moved, {len(queries)} queries, after every layer",
    )


def drawn(run: Run, method: str, N: int, M: int, samples: int) -> list[Mean]:
    """The accuracy of each lookup in per cent, a query to each set of points."""
    right = []
    for start in range(0, samples, CHUNK * 10):
        sets = uniform_points(min(CHUNK * 10, samples - start), N, 1, run.rng)
        right.append(_found(STRATEGIES[method], *sets, M))
    return accuracies(np.concatenate(right))


def _found(strategy: Strategy, x: np.ndarray, q: np.ndarray, M: int) -> np.ndarray:
    return found(looked_at(strategy, x, q, M), nearest(x, q))[:, 0]


def _uniform(run: Run, samples: int, means: dict[int, dict[str, list[Mean]]]) -> Iterator[Finding]:
    """Of all strategies by N; `means` is filled, for the picture."""
    sizes = {16: 4} if run.quick else {16: 4, 32: 5, 50: 4, 64: 6, 100: 7}
    for N, M in sizes.items():
        exact = [100 * float(share) for share in binary_accuracy(N, M)]
        means[N] = {name: drawn(run, name, N, M, samples) for name in _tried(N)}
        by_halves, interpolation = means[N]["binary"], means[N]["interpolation"]
        yield beside(f"binary-{N}", f"binary, {N} uniform points", by_halves, exact)
        figures = published("binary", N)
        known = [Mean(share, 0.0) for share in exact]
        yield beside(f"table-{N}", f"binary, {N} uniform points, exactly", known, figures, DRAWN)
        yield _as_published("interpolation", N, interpolation)
        yield ahead(
            f"ahead-{N}",
            f"interpolation is ahead of binary search at lookups 1 to {M - 1}, {N} points",
            interpolation[:-1],
            known[:-1],
        )
        if "greedy Bayes" in means[N]:
            yield _as_published("greedy Bayes", N, means[N]["greedy Bayes"])


def _tried(N: int) -> list[str]:
    """The strategies; the likeliest cell is slow to tabulate for many points."""
    return [name for name in STRATEGIES if name != "greedy Bayes" or N <= 32]


def _as_published(method: str, N: int, measured: list[Mean]) -> Finding:
    name = f"{method}, {N} uniform points"
    id = f"{method.partition(' ')[0]}-{N}"
    return beside(id, name, measured, published(method, N), DRAWN)


def _hard(run: Run, samples: int) -> Iterator[Finding]:
    """Where points and queries cannot be: all steps from the root to one side, and the noise."""
    for levels in (3, 4):
        x, q = hard_points(samples, levels, 1, run.rng, A)
        N, steps = x.shape[1], float(sum(A**k for k in range(1, levels)))
        binary = accuracies(_found(structures.binary_search, x, q, 3))
        name = f"{N} points of the hard distribution"
        yield beside(f"binary-{N}", f"binary, {name}", binary, published("hard binary", N), DRAWN)
    ends = -steps - NOISE, A**levels + steps + NOISE
    by_values = accuracies(_found(structures.interpolation_search(*ends), x, q, 3))
    figures = published("hard interpolation", N)
    yield beside(f"interpolation-{N}", f"interpolation, {name}", by_values, figures, DRAWN)
    yield ahead("ahead", f"binary search is ahead at lookup 3, {name}", binary[2:], by_values[2:])
