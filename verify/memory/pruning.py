"""What `retrieve` leaves out, beside what it says that it leaves out: part of `modern-hopfield`."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from flint import arb

from verify.claim import Run
from verify.domains import Ball
from verify.evidence.enclosure import BITS, exactly, interval
from verify.finding import Finding, Verdict
from verify.memory.updates import definition
from verify.memory.vectors import minus, norm

COUNT, QUERIES, DIMENSION, BETA = 2048, 64, 8, 20.0


def pruning_findings(run: Run) -> Iterator[Finding]:
    """The distance of pruned updates from the exact ones, in balls, under the tolerance.

    All patterns but one lie just outside the window and on the same side: the weight that is left
    out is as large as it can be, so the bound is nearly met, and an error below a quarter of it
    means that nothing was left out.
    """
    from constructions import retrieve

    for tolerance in (1e-2, 1e-5) if run.quick else (1e-2, 1e-5, 1e-8):
        patterns, queries = worst_case(run.rng, tolerance)
        found = retrieve(patterns, queries, BETA, tolerance=tolerance).numpy()
        with Ball.precision(BITS):
            # The states differ where all patterns are 0: they have one update.
            (exact,) = definition(patterns, queries[:1], BETA, 1)
            longest, error = max(map(norm, exactly(patterns)), key=float), arb(0)
            for row in exactly(found):
                error = error.max(norm(minus(row, exact)))
            share = error / longest / tolerance
        yield Finding(
            f"pruning/{tolerance:g}",
            f"retrieve: error of pruning at tolerance {tolerance:g}, worst case of {COUNT} "
            f"patterns, {QUERIES} states",
            "enclosure",
            interval(share),
            (0.25, 1.0),
            Verdict.of(bool(0.25 < share <= 1)),
            f"{float(share.upper()):.0%} of the bound",
            "tolerance · max‖x‖, and above a quarter of it",
        )


def worst_case(rng: np.random.Generator, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Patterns (N, d) and states (m, d), scores 1 once and else just below the window.

    The states differ where all patterns are 0.
    """
    window = math.log(2 * COUNT / tolerance) / BETA
    patterns, states = np.zeros((COUNT, DIMENSION)), np.zeros((QUERIES, DIMENSION))
    patterns[:, 0], patterns[:, 1] = 1 - window - 1e-9, -1.0
    patterns[rng.integers(COUNT // 2), :2] = 1.0
    states[:, 0], states[:, 2:] = 1.0, rng.standard_normal((QUERIES, DIMENSION - 2))
    return patterns, states
