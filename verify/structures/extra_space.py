"""The claim `extra-space`: a table of extra cells as a transformer, and one large cell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from constructions.structures import bucket_table
from constructions.transformer import Transformer
from theory.structures import (
    cell_bits,
    nearest,
    packed,
    table_accuracy,
    table_lookup,
    uniform_points,
    unpacked,
)
from verify.claim import Run, claim, option
from verify.evidence.invariants import wrong_in_float64, wrong_over_q
from verify.evidence.size import size
from verify.evidence.statistics import Mean
from verify.finding import Finding, at_most, labelled, no_counterexample, same
from verify.structures.accuracies import DRAWN, accuracies, beside
from verify.structures.moved_points import changed_queries

# Accuracies of the second lookup, sampled to ±0.2 points.  The largest distance from the integral
# is 0.39, at N = 16 and T = 8.
FIGURES = {
    16: {4: 36.5, 8: 60.0, 16: 77.8, 32: 88.4, 64: 94.2},
    50: {2: 5.9, 4: 11.7, 8: 23.7, 16: 44.0, 32: 65.8, 64: 81.8, 128: 90.7},
}
# Printed figures for 50 points and T = 2 … 128, to a tenth; the number of queries is not stated.
PRINTED = [5.9, 11.7, 23.6, 44.5, 65.8, 81.1, 89.5]
NEAR = 1.1  # percentage points from the integral; chosen after both were known
SPREAD, MOVED = 10, 4  # distance between points in tests that move points, and size of the moves


@claim(
    picture="verify.structures.extra_space_picture:draw",
    faults_seen=[{"n_points": 5, "n_cells": 3}],
)
def extra_space(
    run: Run,
    *,
    n_points: Annotated[int, option("number N of points", min=2, max=12)] = 7,
    n_cells: Annotated[int, option("number T of extra cells", min=1, max=64)] = 5,
    samples: Annotated[int, option("number of uniform queries", min=100, max=10**6)] = 20_000,
) -> Iterator[Finding]:
    """A transformer of four layers computes a table of T buckets, and the two lookups in it,
    exactly.  The table finds the point nearest to a query, among N uniform points, with a
    probability that is given by an integral: 36 to 94 % for N = 16 and T = 4 to 64.

    The N points are in N cells.  The range of the queries is divided into T buckets of equal
    length.  Each bucket has one extra cell, which contains the number of the cell whose point is
    nearest to the middle of the bucket.  If two points are equally near, the lower point is used.
    The first lookup is at the extra cell of the query's bucket, and the second lookup is at the
    cell that is found there.

    If the points are N integers below B, one extra cell of N log₂ B bits can contain all points in
    order, and two lookups find every nearest neighbour.  Therefore a lower bound on the number of
    lookups, in terms of the number of extra cells, must also depend on the number of bits of a
    cell.
    """
    yield from labelled("table", _as_layers(run, n_points, n_cells))
    yield from labelled("uniform", _uniform(run, run.limited(4000, samples=samples)))
    yield from labelled("one cell", _one_cell(run))
    run.draw(FIGURES, run.rng)


def _as_layers(run: Run, N: int, T: int) -> Iterator[Finding]:
    top = 4 * N
    model = run.build(bucket_table, N, T, largest=top)
    yield size(model, "bucket-table", N=N, T=T)
    sets = np.stack([run.rng.choice(top - 1, N, replace=False) + 1 for _ in range(200)])
    queries = np.tile(np.arange(top + 1), (len(sets), 1))
    wanted = table_lookup(np.sort(sets), queries, T, 0, top)
    yield no_counterexample(
        "cells",
        "second lookup (cell and point), compared with the algorithm, for "
        f"{len(sets)} sets of {N} points in any order and {top + 1} queries",
        wrong_in_float64(model, points_in(sets, wanted), sets, queries),
        words=f"{queries.size} lookups equal",
    )
    few = zip(sets[:3], points_in(sets, wanted), strict=False)
    wrong = (text for row, each in few for text in wrong_over_q(model, each, row, queries[0]))
    yield no_counterexample(
        "rational",
        "lookups and outputs over Q, compared with the algorithm",
        wrong,
        words="equal for 3 rows of points",
    )
    yield _moved(run, run.build(bucket_table, N, T, largest=SPREAD * (N + 1)))


def points_in(points: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """The points in the given cells, (…, m) for cells (…, m).

    `points` (…, N) are in any order; cell c contains the point of rank c.
    """
    return np.take_along_axis(np.sort(points), cells, axis=-1)


def _moved(run: Run, model: Transformer) -> Finding:
    """Moves of other points that leave its table entry unchanged change no register of a query."""
    N, top, T = model.interface.n_points, model.interface.largest, model.interface.n_cells
    points = SPREAD * (run.rng.permuted(np.tile(np.arange(N), (400, 1)), axis=-1) + 1)
    queries = run.rng.integers(top + 1, size=(400, 1))
    cell = table_lookup(np.sort(points), queries, T, 0, top)
    by = run.rng.integers(-MOVED, MOVED + 1, points.shape)
    by[points == points_in(points, cell)] = 0
    same_entry = table_lookup(np.sort(points + by), queries, T, 0, top)[:, 0] == cell[:, 0]
    before, after, unchanged = points[same_entry], (points + by)[same_entry], queries[same_entry]
    # In layer 2 a query reads the mean over all cells, which the MLP subtracts.
    return no_counterexample(
        "one-cell",
        "registers of a query before and after moves of points that leave the two lookups of the "
        "query unchanged",
        changed_queries(model, before, after, unchanged),
        words=f"equal after every layer, for {same_entry.sum()} queries with {N - 1} moved points "
        "each",
    )


def drawn(run: Run, N: int, T: int, samples: int) -> list[Mean]:
    """The accuracy of the second lookup in per cent, for N uniform points and T extra cells.

    There are `samples` sets of points, and each set has one query.
    """
    x, q = uniform_points(samples, N, 1, run.rng, low=0.0, high=1.0)
    return accuracies(table_lookup(x, q, T, 0.0, 1.0) == nearest(x, q))


def _uniform(run: Run, samples: int) -> Iterator[Finding]:
    for N, figures in FIGURES.items():
        exact = [100 * table_accuracy(N, T) for T in figures]
        found = [drawn(run, N, T, samples)[0] for T in run.progress(figures, f"{N} points")]
        sizes = ", ".join(map(str, figures))
        name = f"accuracy of tables of T = {sizes} cells, {N} uniform points"
        yield beside(f"law-{N}", f"{name}, sampled", found, exact)
        integral = [Mean(value, 0.0) for value in exact]
        published = list(figures.values())
        yield beside(f"figures-{N}", f"{name}, by the integral", integral, published, DRAWN)
    # From here on, `exact` is the accuracy for 50 points.
    away = [abs(value - printed) for value, printed in zip(exact, PRINTED, strict=True)]
    yield at_most(
        "printed",
        f"|printed accuracy − accuracy by the integral| in percentage points, for the {name}",
        "float",
        max(away),
        NEAR,
        words=f"at most {max(away):.2f}; the printed accuracies are "
        f"{', '.join(map(str, PRINTED))} %",
        wanted=f"at most {NEAR:g}",
    )


def _one_cell(run: Run) -> Iterator[Finding]:
    """For T = 1 the first lookup reveals all points, and the second is at the nearest point."""
    N, base = 16, 2**20
    x = np.sort(run.rng.choice(base, size=(200, N), replace=False))
    q = run.rng.integers(base, size=(200, 50))
    read = np.stack([unpacked(packed(row, base), N, base) for row in x])
    cells = abs(read[:, None, :] - q[..., None]).argmin(-1)
    yield same(
        "all",
        "number of queries whose nearest neighbour is found in two lookups with one extra cell, "
        f"{N} points of {base.bit_length() - 1} bits each",
        int((cells == nearest(x, q)).sum()),
        q.size,
        words=f"all of {q.size}",
        wanted=f"all {q.size} queries",
    )
    yield same(
        "bits",
        f"number of bits of an extra cell that contains all {N} points of "
        f"{base.bit_length() - 1} bits each",
        cell_bits(N, base),
        N * (base.bit_length() - 1),
        wanted=f"{N}·{base.bit_length() - 1}, the number of bits of all points",
    )
