"""Findings of `modern-hopfield` on `constructions.retrieve`: the errors of pruning and rounding.

An adversary places patterns such that pruning has a large error.  It does not receive the window of
scores that pruning selects, but finds the window by bisection.  It puts all patterns except one
just outside the window, on the other side of the origin, where the dropped weight has the largest
effect.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch
from flint import arb

from constructions import retrieve
from constructions.memory.retrieve import GROUP
from theory.balls import exactly, minus, norm
from theory.memory.hopfield_balls import updated
from theory.memory.retrieval_bounds import longest, rounding_bound
from verify.claim import Run
from verify.domains import Ball
from verify.evidence.enclosure import BITS, interval
from verify.finding import Finding, within, within_bounds

N_PATTERNS, N_QUERIES, DIMENSION = 2048, 64, 8  # of the pruned instances
FAR = 64.0  # the norm of the states; scores differ by 1 although patterns differ only by 1/FAR
NEAREST = 0.95  # fraction of the bound that must be attained
NOTHING = 1e-14  # smaller than the weight of a selected pattern, larger than rounding errors


def pruning(run: Run) -> Iterator[Finding]:
    """Findings on the errors of pruning in `retrieve`, for patterns chosen by an adversary."""
    for tolerance in (1e-2, 1e-5) if run.quick else (1e-2, 1e-5, 1e-8):
        found, width = _adversary(run, tolerance, 20.0, 1)
        name = (
            f"pruning error of retrieve at tolerance {tolerance:g}, for {N_PATTERNS} patterns that "
            f"are just pruned, as their scores are {width:.4g} below the largest score"
        )
        yield within(
            f"pruning/{tolerance:g}",
            name,
            "enclosure",
            found,
            (NEAREST, 1.0),
            words=f"{found[1]:.1%} of tolerance · max‖x‖",
            wanted=f"at most 100%, and above {NEAREST:.0%}",
        )
    # In the second update the first pattern has half of the weight and the others have the other
    # half, so the Jacobian has norm β.
    found, width = _adversary(run, 1e-4, math.log(N_PATTERNS - 1) / 2, 2)
    yield within(
        "pruning/two-updates",
        "pruning error of retrieve after two updates, of which the second has a Jacobian of norm "
        f"βM², for scores {width:.4g} below the largest score",
        "enclosure",
        found,
        (NEAREST / 2, 0.5),
        words=f"{found[1]:.1%} of tolerance · max‖x‖",
        wanted=f"at most 50%, as the second update prunes no pattern, and above {NEAREST / 2:.1%}",
    )


def _adversary(
    run: Run, tolerance: float, beta: float, steps: int
) -> tuple[tuple[float, float], float]:
    """The enclosed ratio error/(tolerance · max‖x_j‖), and the window at which it is attained."""
    noise = run.rng.standard_normal((N_QUERIES + DIMENSION, DIMENSION))
    low, high = 0.0, 8 * math.log(N_PATTERNS / tolerance) / beta
    while high - low > 1e-9 * high:
        gap = (low + high) / 2
        low, high = (low, gap) if _is_pruned(gap, noise, tolerance, beta, steps) else (gap, high)
    patterns, states = _crowd(high, noise)
    found = _retrieved(patterns, states, tolerance, beta, steps)
    with Ball.precision(BITS):
        # States differ only in coordinates where all patterns are 0, so their updates are equal.
        (exact,) = updated(patterns, states[:1], beta, steps)
        size, error = max(map(norm, exactly(patterns)), key=float), arb(0)
        for row in exactly(found):
            error = error.max(norm(minus(row, exact)))
        return interval(error / size / tolerance), high


def _crowd(gap: float, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Patterns (N, d) and states (m, d) with score 1 of the first pattern and 1 − gap of others.

    The patterns in the group of the first pattern, which are selected with it, have much lower
    scores; one of them has half the length.  The states differ only in coordinates where all
    patterns are 0.  Patterns and states are rotated, so that single entries reveal nothing.
    """
    patterns, states = np.zeros((N_PATTERNS, DIMENSION)), noise[:N_QUERIES].copy()
    patterns[:, 0], patterns[:, 1] = (1 - gap) / FAR, -1.0
    patterns[:GROUP, :2] = -0.5, -0.8
    patterns[:2, :2] = (1 / FAR, 1.0), (-0.5, 0.0)
    states[:, 0], states[:, 1] = FAR, 0.0
    rotation, _ = np.linalg.qr(noise[N_QUERIES:])
    return patterns @ rotation, states @ rotation


def _is_pruned(gap: float, noise: np.ndarray, tolerance: float, beta: float, steps: int) -> bool:
    """Whether the first update returns the first pattern, so that all others were dropped."""
    patterns, states = _crowd(gap, noise)
    found = _retrieved(patterns, states, tolerance, beta, steps)
    alone = np.broadcast_to(patterns[0], states.shape)
    alone = _retrieved(patterns, alone, tolerance, beta, steps - 1)
    return bool(abs(found - alone).max() < NOTHING)


def _retrieved(
    patterns: np.ndarray, states: np.ndarray, tolerance: float, beta: float, steps: int
) -> np.ndarray:
    return np.asarray(retrieve(patterns, states, beta, steps, tolerance=tolerance).numpy())


def in_float32(run: Run) -> Finding:
    """The finding that the error of `retrieve` in float32 is at most its bound.

    The inverse temperatures β are so large that most of the error is β times the rounding errors
    of the scores.
    """
    worst, limit, eps = 0.0, 0.0, float(torch.finfo(torch.float32).eps)
    for beta in (1.0, 3000.0):
        X = run.rng.standard_normal((N_PATTERNS, DIMENSION))
        X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
        states = (X[:N_QUERIES] + X[1 : N_QUERIES + 1]) / 2  # at equal distance from two patterns
        found = exactly(retrieve(X, states, beta).numpy()[:8].astype(float))
        with Ball.precision(BITS):
            exact = updated(X.astype(float), states[:8].astype(float), beta, 1)
            off = [float(norm(minus(u, v)).upper()) for u, v in zip(found, exact, strict=True)]
        size, M = longest(states.astype(float)), longest(X.astype(float))
        bound = rounding_bound(X.astype(float), beta, 1, size, eps) + eps * M
        worst, limit = float(np.max([worst, *np.divide(off, bound)])), max(limit, bound)
    name = (
        "float32 error of retrieve for β up to 3000, as a fraction of its bound tolerance · max‖x‖ "
        "+ update_rounding"
    )
    words = f"at most {worst:.1%} of the bound, which is at most {limit:.1e}"
    wanted = "at most 100%"
    return within_bounds("retrieve/float32", name, "float", worst, words=words, wanted=wanted)
