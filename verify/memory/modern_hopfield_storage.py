"""Findings of `modern-hopfield` on storage: Theorem 3, and the capacity on the same sphere."""

from __future__ import annotations

from collections.abc import Iterator

import mpmath
import numpy as np
from flint import arb
from scipy.special import bdtr, bdtrc

from theory.memory.hopfield_balls import expected_failures, storage_constants
from theory.memory.modern_hopfield import required_separation
from theory.memory.modern_hopfield import separation as separations
from theory.memory.retrieval_bounds import stored_patterns_bound, union_bound_patterns
from verify.claim import Run
from verify.domains import Ball
from verify.evidence.enclosure import BITS, all_hold, below, interval
from verify.finding import Finding, Verdict, at_least, within
from verify.memory.probabilities import FALSE_ALARM

# Each example has (d, β, K, p), the printed constant c and the printed count.
EXAMPLES = (((20, 1.0, 3.0, 1e-3), "3.15461"), ((75, 1.0, 1.0, 1e-3), "1.37188"))
MANY = 10_000  # number of patterns that the reference calls separated in the first example
SETS = 150  # sets of 1000 patterns that are searched for pairs that are too close


def storage(run: Run) -> Iterator[Finding]:
    """Findings on [Ramsauer2021, Theorem 3], and on the number of stored random patterns."""
    for example, printed in EXAMPLES:
        yield _example(*example, printed)
    yield _shared_fixed_point()
    yield _many(run)
    yield _separated_patterns(run)


def _example(d: int, beta: float, K: float, p: float, printed: str) -> Finding:
    """Five digits of c agree with the printed value, and 28 digits with the theory package."""
    bound, union = stored_patterns_bound(d, beta, K, p), union_bound_patterns(d, beta, K, p)
    with Ball.precision(BITS):
        c, count = storage_constants(d, beta, K, p)
        pairs = ((c, bound.c), (count, bound.n_patterns))
        equal = all(abs(u / arb(v) - 1) < 1e-28 for u, v in pairs)
        verdicts = [
            Verdict.of(f"{float(c):.5f}" == printed and bound.applies and equal),
            below(expected_failures(int(mpmath.ceil(bound.n_patterns)), d, beta, K), arb(p)),
            below(expected_failures(union, d, beta, K), arb(p)),
            below(arb(p), expected_failures(union + 1, d, beta, K)),
        ]
    name = (
        f"number of patterns guaranteed by [Ramsauer2021, Theorem 3] for β = {beta:g}, K = {K:g}, "
        f"d = {d} and p = {p:g}"
    )
    words = (
        f"{float(count):.1f} patterns, with c = {float(c):.5f} as printed; a union bound over "
        f"pairs guarantees {union} patterns"
    )
    return all_hold(f"theorem-3/K={K:g}", name, verdicts, words=words)


def _shared_fixed_point() -> Finding:
    """Theorem 3 as printed guarantees, at β = 1/100, patterns that cannot be stored.

    The Jacobian of the update f is β times a covariance of patterns of norm M, so its norm is at
    most βM² < 1.  So f is a contraction of R^d with one fixed point, and disjoint balls cannot each
    contain a fixed point.  As β → 0 the guarantee grows like 1/√(2e·βM²).
    """
    d, beta, K, p = 3, 0.01, 0.5, 1e-3
    with Ball.precision(BITS):
        slope, (_, count) = arb(beta) * arb(K) ** 2 * (d - 1), storage_constants(d, beta, K, p)
        applies = stored_patterns_bound(d, beta, K, p).applies
        shown, found = Verdict.of(bool(applies and slope < 1 and count > 2)), interval(count)
    name = (
        f"number of patterns stored by [Ramsauer2021, Theorem 3] for the small β = {beta:g}, with "
        f"K = {K:g}, d = {d} and p = {p:g}"
    )
    why = f"all patterns share one fixed point, as ‖Jacobian‖ ≤ βM² = {float(slope):.3g}"
    words = f"{float(count):.1f} patterns, but {why}"
    wanted = "more than 1 pattern by the theorem, although only 1 pattern can be stored"
    return Finding("theorem-3/small-beta", name, "enclosure", found, 1, shown, words, wanted)


def _many(run: Run) -> Finding:
    """The number of sets of 1000 patterns with a pair closer than the separation for 10 000.

    Let q be the probability that a pair is too close, and C = C(1000, 2) the number of pairs in a
    set.  Pairs on a sphere are pairwise independent, also two pairs that share a point.  So by
    Bonferroni's inequality a set contains such a pair with probability between Cq − (Cq)²/2 and Cq.
    Let V be the number of such pairs of all 10 000 patterns.  Its mean is μ and its variance is
    below μ, so P(V = 0) ≤ 1/μ (Chebyshev).
    """
    d, beta, K, _ = EXAMPLES[0][0]
    with Ball.precision(BITS):
        mean = float(expected_failures(MANY, d, beta, K))
    size, sets = 1000, 10 if run.quick else SETS
    expected = mean * size * (size - 1) / (MANY * (MANY - 1))
    required = float(required_separation(MANY, beta, K * np.sqrt(d - 1)))
    drawn = (_on_sphere(run, size, d, K) for _ in range(sets))
    hit = sum(bool((separations(X) < required).any()) for X in drawn)
    counts = np.arange(sets + 1)
    low = int((bdtr(counts, sets, expected - expected**2 / 2) > FALSE_ALARM / 2).argmax())
    high = int((bdtrc(counts, sets, expected) <= FALSE_ALARM / 2).argmax())
    name = (
        f"number of sets of {size} random patterns with a pair that is closer than the separation "
        f"required for {MANY} patterns, for β = 1, K = 3, d = 20"
    )
    of_all = f"{MANY} patterns contain {mean:.1f} such pairs on average"
    words = (
        f"{hit} of {sets} sets; {of_all}, and no such pair with probability at most {1 / mean:.1%}"
    )
    wanted = f"{low} to {high} of the sets, except with probability {FALSE_ALARM:g}"
    return within("too-close", name, "statistical", hit, (low, high), words=words, wanted=wanted)


def _separated_patterns(run: Run) -> Finding:
    """Random patterns are separated; their number is the union bound at p = FALSE_ALARM."""
    d, beta, K, _ = EXAMPLES[1][0]
    N = union_bound_patterns(d, beta, K, FALSE_ALARM)
    required = float(required_separation(N, beta, K * np.sqrt(d - 1)))
    least = float(separations(_on_sphere(run, N, d, K)).min())
    name = (
        f"smallest separation of {N} random patterns for β = 1, K = 1, d = 75, compared with the "
        f"required separation (error probability {FALSE_ALARM:g})"
    )
    return at_least("separated", name, "statistical", least, required)


def _on_sphere(run: Run, N: int, d: int, K: float) -> np.ndarray:
    X = run.rng.standard_normal((N, d))
    return X * (K * np.sqrt(d - 1) / np.linalg.norm(X, axis=1, keepdims=True))
