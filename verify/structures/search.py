"""The claim `search`: binary and interpolation search as layers, and how they do by lookup."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
from verify.domains import Rational, outputs, streams
from verify.evidence.size import size
from verify.evidence.statistics import Mean
from verify.finding import Finding, equal, labelled
from verify.structures.accuracies import DRAWN, accuracies, ahead, beside, published

CHUNK = 1000  # prompts at once
SPREAD, MOVED = 10, 7  # points are so far apart where some are moved, and moved so far
STRATEGIES: dict[str, Strategy] = {
    "binary": structures.binary_search,
    "interpolation": structures.interpolation_search(-1, 1),
    "greedy Bayes": structures.greedy_bayes(-1, 1),
}
A, NOISE = 7, 10  # of the hard distribution; more than its noise is


@dataclass(frozen=True)
class Searched:
    """A model of lookups beside its strategy; `m` is `first` at cell 0."""

    model: Transformer
    strategy: Strategy
    first: int

    def cells(self, points: np.ndarray, queries: np.ndarray) -> np.ndarray:
        """The cells that the model looks at, (…, m, M)."""
        passed, span = list(self.model.streams(points, queries)), self.model.stream["m"]
        held = [passed[s.after][..., points.shape[-1] :, span] for s in self.model.stages]
        return np.concatenate([each.numpy() for each in held], axis=-1) - self.first

    def wanted(self, points: np.ndarray, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The cells (…, m, M) and the answers (…, m) by definition."""
        ordered, M = np.sort(points), len(self.model.stages)
        cells = looked_at(self.strategy, ordered, queries, M)
        below = (ordered[..., None, :] <= queries[..., :, None]).sum(-1)
        return cells, cells[..., -1] if self.first else below


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
    """Layers of one-cell lookups are binary search, in M + 1 of them, and interpolation search, in
    3M, exactly; on uniform points the second is ahead at every lookup but the last.

    Width 6 and 13.  All orders of 7 points and all sets of 7 from 1 to 14, each with all queries.
    What is not looked at changes nothing.  Binary search finds the nearest of N uniform points in i
    lookups with a probability that is known exactly, about (2^i − 1)/(N + 1).  On the hard
    distribution interpolation between the ends of the range is behind binary search at the third of
    three lookups in 15 points.
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


def both(run: Run, M: int, largest: int) -> tuple[Searched, Searched]:
    """The two models of M lookups, with the planted fault if any."""
    N, ends = 2**M - 1, structures.interpolation_search(0, largest)
    return (
        Searched(run.build(built.binary_search, M, largest=largest), structures.binary_search, 0),
        Searched(run.build(built.interpolation_search, N, M, largest=largest), ends, 1),
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
    wrong = list(orders[(model(orders).numpy() != np.sort(orders)).any(-1)])
    yield equal(
        "orders",
        f"points in {len(orders)} orders come out in ascending order",
        f"not {wrong[0].tolist()}" if wrong else None,
        words=f"{N} points, among them numbers below 0",
    )
    few = orders[:: max(1, len(orders) // 4)]
    differ = [row.tolist() for row in few if sorted(row.tolist()) != _over_q(model, row)]
    yield equal("rational", "over Q", f"not {differ[0]}" if differ else None, words=f"{len(few)}")


def _over_q(model: Transformer, *inputs: np.ndarray) -> list[float]:
    said = outputs(model, model.prompt(*inputs), Rational()).tolist()
    return [float(row[0]) for row in said]


def _searched(run: Run, each: Searched, points: np.ndarray) -> Iterator[Finding]:
    """Cells and answers beside the strategy, with every query of the range."""
    model, N = each.model, points.shape[-1]
    M, top = len(model.stages), model.interface.largest
    name = "interpolation-search" if each.first else "binary-search"
    yield size(model, name, **({"N": N, "M": M} if each.first else {"M": M}))
    queries, wrong = np.arange(top + 1), None
    for start in run.progress(range(0, len(points), CHUNK), name):
        some = points[start : start + CHUNK]
        asked = np.tile(queries, (len(some), 1))
        cells, answers = each.wanted(some, asked)
        differs = (each.cells(some, asked) != cells).any(-1)
        differs |= model(some, asked).numpy() != answers
        if differs.any() and wrong is None:
            row, query = map(int, np.argwhere(differs)[0])
            wrong = f"{model.name}: query {query} in {some[row].tolist()}"
    yield equal(
        "cells",
        f"every lookup and the answer are the algorithm's: {len(points)} rows of {N} points, "
        f"{top + 1} queries",
        wrong,
        words=f"{M * (top + 1) * len(points)} lookups equal",
    )
    few = points[:: max(1, len(points) // 3)]
    yield equal(
        "rational",
        "over Q lookups and answers are the same",
        next((f"{model.name} on {row}" for row in few if not _same_over_q(each, row)), None),
        words=f"{len(few)} rows of points",
    )


def _same_over_q(each: Searched, points: np.ndarray) -> bool:
    queries, N = np.arange(each.model.interface.largest + 1), len(points)
    cells, answers = each.wanted(points, queries)
    passed = list(streams(each.model, each.model.prompt(points, queries), Rational()))
    span = each.model.stream["m"]
    held = [
        [float(row[span][0]) - each.first for row in passed[stage.after].tolist()[N:]]
        for stage in each.model.stages
    ]
    said = _over_q(each.model, points, queries)
    return bool((cells == np.array(held).T).all() and (np.array(said) == answers).all())


def one_cell(run: Run, each: Searched) -> Finding:
    """Points in the cells that are not looked at are moved, in the same order: a query holds the
    same numbers after every layer."""
    N, largest = each.model.interface.cells, each.model.interface.largest
    queries = np.arange(0, largest + 1, 3)[:, None]
    rank = run.rng.permuted(np.tile(np.arange(N), (len(queries), 1)), axis=-1)
    points = SPREAD * (rank + 1)
    cells, _ = each.wanted(points, queries)
    seen = (rank[..., None] == cells).any(-1)
    moved = points + np.where(seen, 0, MOVED)
    pairs = zip(
        each.model.streams(points, queries), each.model.streams(moved, queries), strict=True
    )
    same = np.array([(a[..., -1, :] == b[..., -1, :]).all(-1).numpy() for a, b in pairs])
    wrong = f"{each.model.name}: query {queries[~same.all(0)][0]}" if not same.all() else None
    return equal(
        "one-cell",
        "what stands in cells that are not looked at changes nothing that a query holds",
        wrong,
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
