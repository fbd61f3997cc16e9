"""Findings on the capacity of Hopfield networks: exact tails, thresholds, critical load."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
from flint import arb, fmpq
from scipy import special

from theory.balls import UNIT
from theory.memory.capacity import (
    critical_load,
    mceliece_patterns,
    unstable_bit_limit,
    unstable_bit_probability,
)
from theory.memory.capacity_curve import mean_interval
from theory.memory.hopfield import hebb_fields, hebb_synchronous_run
from theory.memory.patterns import overlap, random_patterns
from verify.claim import Run
from verify.domains import Ball
from verify.evidence.enclosure import interval
from verify.finding import Finding, Verdict, as_stated, at_least, at_most
from verify.memory.probabilities import FALSE_ALARM, covers, mostly

LOADS = (0.1, 0.2, 0.4)
LARGE = 500  # smallest d for which the thresholds for d → ∞ are compared with measurements
DIGITS = 40


def capacity_findings(run: Run, d: int, samples: int) -> Iterator[Finding]:
    """Findings on unstable bits, McEliece's thresholds, the critical load and retrieval."""
    yield every_set_of_patterns(run.quick)
    for load in LOADS[1:2] if run.quick else LOADS:
        yield unstable_bits(run, load, d, samples)
    yield from _thresholds(run, d, samples)
    yield critical_load_enclosed()
    yield _critical_load_by_the_mean_field()
    if not run.quick:
        yield from _retrieval(run, 4000)


def every_set_of_patterns(quick: bool) -> Finding:
    """The finding that `unstable_bit_probability` equals a fraction over all sets of patterns.

    All sets of P patterns of d bits are listed, and the fraction of sets in which bit 0 of the
    first pattern is unstable is counted. By symmetry the first pattern can be all ones, so
    2^{(P−1)d} sets suffice.
    """
    sizes, off = [(2, 4), (3, 3), (3, 5), (4, 4), (5, 3), (7, 2)], []
    for P, d in sizes[: 3 if quick else 6]:
        free = product((-1, 1), repeat=(P - 1) * d)
        sets = ([bits[d * k : d * (k + 1)] for k in range(P - 1)] for bits in free)
        unstable = sum(d - 1 + sum(row[0] * sum(row[1:]) for row in rows) < 0 for rows in sets)
        counted, stated = Fraction(unstable, 2 ** ((P - 1) * d)), unstable_bit_probability(P, d)
        error = abs(float(counted) - stated) / float(counted) if counted else stated
        off.append((error, f"P = {P}, d = {d}: {counted} = {float(counted)} but stated {stated}"))
    worst, where = off[int(np.argmax([error for error, _ in off]))]
    name = (
        "relative error of the probability P(Bin((P − 1)(d − 1), ½) < (P − 2)(d − 1)/2) of an "
        "unstable bit, compared with counts over all sets of P patterns with P·d ≤ 16"
    )
    return at_most("unstable-bits/all", name, "float", worst, 1e-9, detail=where)


def unstable_bits(run: Run, load: float, d: int, samples: int) -> Finding:
    """The finding that the mean fraction of unstable bits agrees with the exact probability.

    One pattern is measured in each of many independent networks of d neurons. The bits of a
    pattern are dependent, but the networks are independent. So the interval is Student's interval
    for the mean of the fractions, one fraction for each network.
    """
    P = max(1, round(load * d))
    fractions = np.empty(samples)
    for k in run.progress(range(samples), f"unstable bits at α = {load:g}"):
        xi = random_patterns(P, d, run.rng)
        fractions[k] = (hebb_fields(xi, xi[0]) * xi[0] < 0).mean()
    # Small fractions have a skewed distribution; a tenth of the error probability allows for this.
    low, high = mean_interval(fractions, 1 - FALSE_ALARM / 10)
    mean, exact = fractions.mean(), unstable_bit_probability(P, d)
    name = f"fraction of unstable bits at load α = {load:g}, in {samples} networks of {d} neurons"
    words = f"{mean:.5f} ± {max(high - mean, mean - low):.1g}"
    limit = f"{unstable_bit_limit(load):.5f}"
    wanted = f"the exact probability {exact:.5f}, which tends to Φ(−1/√α) = {limit} as d → ∞"
    id = f"unstable-bits/{load:g}"
    found = covers(id, name, (low, high), exact, words=words, wanted=wanted)
    return as_stated(found, unstable_bit_limit(load), math.erfc((2 * load) ** -0.5) / 2)


def _thresholds(run: Run, d: int, samples: int) -> Iterator[Finding]:
    """Findings below the thresholds, from a bound by the exact tail, and observations above them.

    Let p be the probability of an unstable bit.  A given pattern is not a fixed point with
    probability at most d·p, and not all patterns are fixed points with probability at most P·d·p.
    So the numbers of such networks are stochastically at most binomial with these probabilities.
    """
    for every in (True, False):
        P = max(1, int(mceliece_patterns(max(d, 2), every)))
        trials, looked = (max(1, samples // 4), P) if every else (samples, 1)
        bound = min(1.0, looked * d * unstable_bit_probability(P, d))
        exceeded = special.bdtrc(np.arange(trials + 1), trials, bound)  # P(more than k)
        most = int((exceeded > FALSE_ALARM).sum())
        count, id = _unstable_networks(run, P, d, trials, looked), "every" if every else "one"
        number = f"d/({4 if every else 2} ln d)"
        what = "some pattern" if every else "a given pattern"
        name = f"networks of d = {d} neurons with {number} = {P} patterns"
        words = f"{what} is not a fixed point in {count} of {trials} networks"
        wanted = f"at most {most} networks, as the probability is at most {bound:.2g}"
        found = at_most(
            f"threshold/{id}/below", name, "statistical", count, most, words=words, wanted=wanted
        )
        threshold, at_least_2 = mceliece_patterns(max(d, 2), every), max(d, 2)
        yield as_stated(found, threshold, at_least_2 / math.log(at_least_2 ** (4 if every else 2)))
        if d >= LARGE:
            count = _unstable_networks(run, 2 * P, d, trials, 2 * looked if every else 1)
            yield mostly(
                f"threshold/{id}/above",
                f"networks of d = {d} neurons with 2·{number} = {2 * P} patterns, in which {what} "
                "is not a fixed point",
                count,
                trials,
                0.5,
                words="networks",
                wanted="more than half of the networks, as observed; no bound is known",
            )


def _unstable_networks(run: Run, P: int, d: int, networks: int, looked: int) -> int:
    """The number of networks of P patterns in which the first `looked` are not all fixed points."""
    drawn = (random_patterns(P, d, run.rng) for _ in range(networks))
    return sum(bool((hebb_fields(xi, xi[:looked]) * xi[:looked] < 0).any()) for xi in drawn)


def critical_load_enclosed() -> Finding:
    """The finding that the load α(y) has only one maximum, within 10^{−DIGITS} of y*.

    The load α(y) is `theory.memory.load_at`, and y* is the maximiser that `critical_load` returns.
    """
    solved = critical_load(DIGITS + 5)
    with Ball.precision(4 * DIGITS + 64):
        y, reach, two = arb(solved.y), arb(fmpq(1, 10**DIGITS)), 2 / arb.pi().sqrt()

        def slope(y: arb) -> arb:
            return two * (-y * y).exp() * (y + 2 * y**3) - y.erf()

        around, narrow = y + reach * UNIT, arb(fmpq(1, 10 ** (DIGITS - 2)))
        m = around.erf()
        alpha = (m / around - two * (-around * around).exp()) ** 2 / 2
        holds = slope(y - reach) > 0 > slope(y + reach) and y - reach > 1
        for ball, stated in ((alpha, solved.load), (m, solved.overlap)):
            holds = holds and ball.contains(arb(stated)) and ball.rad() < narrow
        words = f"α_c = {alpha.str(35, radius=False)}, m_c = {m.str(35, radius=False)}"
    return Finding(
        "critical-load/enclosed",
        f"critical load α_c and overlap m_c of the classical network, within 10^−{DIGITS - 2}",
        "enclosure",
        interval(alpha),
        float(solved.load),
        Verdict.of(bool(holds)),
        words,
        "α_c is the only maximum of the load α(y), because α' changes sign only in the enclosure",
        detailed=True,
    )


def _critical_load_by_the_mean_field() -> Finding:
    """The three equations for (m, C, r) have a singular Jacobian at the critical load."""
    with mpmath.workdps(DIGITS + 10):
        pi, erf, exp, sqrt = mpmath.pi, mpmath.erf, mpmath.exp, mpmath.sqrt

        def system(m: Any, C: Any, r: Any, alpha: Any) -> list[Any]:
            u = m / sqrt(2 * alpha * r)
            bell, fraction = 2 / sqrt(pi) * exp(-u * u), sqrt(2 / (pi * alpha * r)) * exp(-u * u)
            jacobian = [
                [bell * u / m - 1, 0, -bell * u / (2 * r)],
                [-2 * u * u / m * fraction, -1, fraction * (u * u - mpmath.mpf(1) / 2) / r],
                [0, 2 / (1 - C) ** 3, -1],
            ]
            singular = mpmath.det(mpmath.matrix(jacobian))
            return [erf(u) - m, fraction - C, (1 - C) ** -2 - r, singular]

        m, _, _, alpha = mpmath.findroot(system, (0.97, 0.18, 1.5, 0.138))
        solved = critical_load(DIGITS)
        distance = float(max(abs(alpha - solved.load), abs(m - solved.overlap)))
    what = "distance of (α_c, m_c) from the point at which the mean-field equations are singular"
    id, bound = "critical-load/mean-field", 10.0 ** (5 - DIGITS)
    return at_most(id, what, "float", distance, bound)


def _retrieval(run: Run, d: int) -> Iterator[Finding]:
    """Observed with d neurons: a network stays near its pattern below α_c, but not above α_c."""
    for load, side, check, bound in ((0.12, "<", at_least, 0.95), (0.18, ">", at_most, 0.5)):
        xi = random_patterns(round(load * d), d, run.rng)
        ends = hebb_synchronous_run(xi, xi[:7], max_steps=200).states
        median = float(np.median(np.diagonal(overlap(ends, xi[:7]))))
        name = (
            f"median overlap of the pattern with the final state of 7 runs from patterns, at "
            f"α = {load:g} {side} α_c, with d = {d} neurons"
        )
        yield check(f"retrieval/{load:g}", name, "statistical", median, bound)
