"""Run time of data structures, in a minute: `python benchmarks/structures.py`.

First the harness: queries per second of complete searches over sets of N uniform points, in numpy,
with the cells of the strategy checked in every lookup, against `numpy.searchsorted` of each set.

Then kd-trees in the plane, laid out and searched for the nearest neighbour of all queries: the
layout (`kd_order`, many sets at once, and one), and a fixed number of lookups (`kd_search`),
against scipy's `cKDTree`, in C, which searches until the neighbour is proved to be nearest.

Then the bound on comparisons by recursion, N < 40, M ≤ 5, and the number of bounds as stated.

Last, training steps of lookup networks and of a sketch, against a plain loop (`training.py`), which
draws the sets of every step separately, uses the default settings of the optimiser, and reads every
loss. One thread; medians over turns in which each is run once.
"""

# ruff: noqa: E402 (the number of threads is read when numpy is first imported)
import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import tempfile
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import torch
from scipy.spatial import cKDTree
from timing import in_turn, ratio
from training import Plain

from constructions.trained import preset
from constructions.trained.group import Group
from constructions.trained.process import Process
from constructions.trained.state import State
from constructions.trained.training import AT_ONCE, advance
from theory.structures import (
    accuracy_by_lookup,
    best_trees,
    binary_search,
    in_order,
    interpolation_search,
    kd_order,
    kd_search,
    looked_at,
    most_by_roots,
    most_found,
    nearest_in_cloud,
    perfect_trees,
    uniform_cloud,
    uniform_points,
)

QUERIES, PART = 160_000, 16_000


def searches(N: int, M: int) -> None:
    x, q = uniform_points(QUERIES // PART, N, PART, np.random.default_rng(N))
    interpolation = interpolation_search(-1, 1)
    calls = {
        # Set by set, so that the arrays of a search stay in the cache.
        "binary": lambda: [looked_at(binary_search, *each, M) for each in zip(x, q, strict=True)],
        "interpolation": lambda: [
            looked_at(interpolation, *each, M) for each in zip(x, q, strict=True)
        ],
        "searchsorted": lambda: [np.searchsorted(*each) for each in zip(x, q, strict=True)],
    }
    times = in_turn(calls, 5)
    rates = (f"{name} {QUERIES / median(each) / 1e6:6.2f}" for name, each in times.items())
    print(f"N = {N:4}, {M} lookups, millions of queries a second:  {'  '.join(rates)}", flush=True)


def trees(N: int, M: int, sets: int) -> None:
    rng = np.random.default_rng(N)
    x, q = uniform_cloud(sets, N, 2, 10_000 // sets, rng)
    laid_out = in_order(x, kd_order(x))
    built = [cKDTree(points) for points in x]
    calls = {
        "layout": partial(kd_order, x),
        "cKDTree": lambda: [cKDTree(points) for points in x],
        "search": partial(kd_search, laid_out, q, M),
        "query": lambda: [tree.query(each) for tree, each in zip(built, q, strict=True)],
    }
    times = in_turn(calls, 5)
    ms = {name: 1e3 * median(each) for name, each in times.items()}
    found = accuracy_by_lookup(kd_search(laid_out, q, M), nearest_in_cloud(laid_out, q))[-1]
    print(
        f"{sets:5} sets of {N:5} points: laid out {ms['layout']:8.1f} ms, cKDTree "
        f"{ms['cKDTree']:8.1f} ms ({ratio(times, 'layout', 'cKDTree'):5.1f} ×);  {q[..., 0].size} "
        f"queries, {M} lookups, {found:.0%} found {ms['search']:8.1f} ms, cKDTree, all found "
        f"{ms['query']:8.1f} ms ({ratio(times, 'search', 'query'):5.1f} ×)",
        flush=True,
    )


def bounds() -> int:
    """The number of recursions below 40 cells that equal the stated bounds."""
    sizes = [(N, M) for M in range(1, 6) for N in range(1, 40)]
    agree = sum(most_by_roots(*size) == most_found(*size) for size in sizes)
    full = [(N, M) for N, M in sizes if N >= 2**M - 1]
    return agree + sum(perfect_trees(*size) == best_trees(*size) for size in full)


def training(task: str, size: str) -> None:
    made = preset(task, size)
    with tempfile.TemporaryDirectory() as folder:
        group, plain = Group([State.begin(made, Path(folder), Process.join("cpu"))]), Plain(made)
        calls = {
            "ours": lambda: [*advance(group, AT_ONCE)],
            "plain": plain.advance,
        }
        times = in_turn(calls, 3)
    print(
        f"{size:12} {AT_ONCE / median(times['ours']):8.1f} steps a second "
        f"{ratio(times, 'plain', 'ours'):5.2f} × a plain loop",
        flush=True,
    )


def main() -> None:
    torch.set_num_threads(1)
    for N, M in ((15, 4), (127, 7), (1023, 10)):
        searches(N, M)
    for N, M, sets in ((100, 6, 1000), (100, 20, 1000), (10_000, 30, 1)):
        trees(N, M, sets)
    start = perf_counter()  # once: the recursions are memoised
    agree = bounds()
    print(
        f"bounds on comparisons, N < 40, M ≤ 5: {agree} as stated, {perf_counter() - start:.3f} s"
    )
    for size in ("uniform-16", "plane-32", "extra-16", "compare-7", "hard-15"):
        training("search", size)
    training("counts", "sketch-32")


if __name__ == "__main__":
    main()
