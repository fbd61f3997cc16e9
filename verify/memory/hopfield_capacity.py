"""Findings on how many patterns a Hopfield network stores: exact tails, thresholds, α_c."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
from scipy import special

from theory.memory.capacity import (
    clopper_pearson,
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
from verify.finding import Finding, Verdict

FALSE_ALARM = 1e-7  # of a statistical finding, whatever the seed
LOADS = (0.1, 0.2, 0.4)
LARGE = 500  # neurons from which on what thresholds say of d → ∞ is looked for
DIGITS = 40


def capacity_findings(run: Run, d: int, samples: int) -> Iterator[Finding]:
    """Unstable bits, McEliece's thresholds, the critical load and retrieval on either side."""
    yield _every_set_of_patterns(run.quick)
    for load in LOADS[1:2] if run.quick else LOADS:
        yield _unstable_bits(run, load, d, samples)
    yield from _thresholds(run, d, samples)
    yield _critical_load_enclosed()
    yield _critical_load_by_the_mean_field()
    if not run.quick:
        yield from _retrieval(run, 4000)


def _every_set_of_patterns(quick: bool) -> Finding:
    """The exact tail, by counting all 2^{Pd} sets of patterns in which bit 0 of ξ⁰ is unstable.

    By symmetry of the signs ξ⁰ is set to all ones; the chance is then a count over 2^{(P−1)d}.
    """
    sizes = [(2, 4), (3, 3), (3, 5), (4, 4), (5, 3), (7, 2)]
    wrong = None
    for P, d in sizes[: 3 if quick else 6]:
        free, unstable = (P - 1) * d, 0
        for bits in product((-1, 1), repeat=free):
            rows = [(1,) * d, *(bits[d * k : d * (k + 1)] for k in range(P - 1))]
            unstable += sum(row[0] * sum(row[1:]) for row in rows) < 0
        counted, stated = Fraction(unstable, 2**free), unstable_bit_probability(P, d)
        # The stated one is a float of relative error far below 1e-9, the counts are at most 2^12.
        if abs(float(counted) - stated) > 1e-9 * float(counted):
            wrong = f"P = {P}, d = {d}: {counted} = {float(counted)} but stated {stated}"
    return Finding(
        "unstable bits of all sets of patterns, P·d ≤ 16",
        "float",
        "the stated chance is the counted one" if wrong is None else "they differ",
        "P(Bin((P − 1)(d − 1), ½) < (P − 2)(d − 1)/2)",
        Verdict.of(wrong is None),
        wrong or "",
    )


def _unstable_bits(run: Run, load: float, d: int, samples: int) -> Finding:
    """The mean share of unstable bits, of one pattern in each of many independent networks.

    The bits of one pattern are not independent, those of different networks are: so the interval is
    Student's for the mean of the networks' shares.
    """
    P = max(1, round(load * d))
    shares = np.empty(samples)
    for k in run.progress(range(samples), f"unstable bits at α = {load:g}"):
        xi = random_patterns(P, d, run.rng)
        shares[k] = (hebb_fields(xi, xi[0]) * xi[0] < 0).mean()
    # Shares of few unstable bits are skewed; a tenth of the level leaves room for it.
    low, high = mean_interval(shares, 1 - FALSE_ALARM / 10)
    exact = unstable_bit_probability(P, d)
    return Finding(
        f"unstable bits at α = {load:g}, {samples} networks of {d} neurons",
        "statistical",
        f"{shares.mean():.5f}, sure to {max(high - shares.mean(), shares.mean() - low):.1g}",
        f"{exact:.5f}, and Φ(−1/√α) = {unstable_bit_limit(load):.5f} for d → ∞",
        Verdict.of(low <= exact <= high),
        f"the interval is {low:.6f} … {high:.6f}",
    )


def _thresholds(run: Run, d: int, samples: int) -> Iterator[Finding]:
    """What the exact tail proves below the thresholds, and what is seen above them.

    P(a pattern is no fixed point) ≤ d·p and P(not all are) ≤ P·d·p, p the chance of an unstable
    bit; so the numbers of networks are at most binomial with these chances.
    """
    every, almost = (max(1, int(mceliece_patterns(max(d, 2), e))) for e in (True, False))
    networks = max(1, samples // 4)
    not_all = _unstable_networks(run, every, d, networks, every)
    one = _unstable_networks(run, almost, d, samples, 1)
    for name, P, trials, count, looked in (
        (f"d/(4 ln d) = {every} patterns: all are fixed points", every, networks, not_all, every),
        (f"d/(2 ln d) = {almost} patterns: a given one is a fixed point", almost, samples, one, 1),
    ):
        bound = min(1.0, looked * d * unstable_bit_probability(P, d))
        exceeded = special.bdtrc(np.arange(trials + 1), trials, bound)  # P(more than k)
        most = int((exceeded > FALSE_ALARM).sum())
        yield Finding(
            f"{name}, d = {d}",
            "statistical",
            f"not so in {count} of {trials} networks",
            f"at most {most}: the chance is at most {bound:.2g}, by the exact tail",
            Verdict.of(count <= most),
        )
    if d < LARGE:
        return
    for name, P, trials, looked in (
        ("twice d/(4 ln d): not all are fixed points", 2 * every, networks, 2 * every),
        ("twice d/(2 ln d): a given one is no fixed point", 2 * almost, samples, 1),
    ):
        count = _unstable_networks(run, P, d, trials, looked)
        yield Finding(
            f"{name}, {P} patterns, d = {d}",
            "statistical",
            f"so in {count} of {trials} networks",
            "more than half (observed: no bound is known here)",
            mostly(count, trials, 0.5),
        )


def _unstable_networks(run: Run, P: int, d: int, networks: int, looked: int) -> int:
    """Networks of P patterns in which the first so many patterns are not all fixed points."""
    count = 0
    for _ in range(networks):
        xi = random_patterns(P, d, run.rng)
        count += int((hebb_fields(xi, xi[:looked]) * xi[:looked] < 0).any())
    return count


def mostly(successes: int, trials: int, share: float) -> Verdict:
    """Whether more than this share succeeded; it fails only if the true chance is surely below.

    By Clopper–Pearson, so that what was merely observed fails at no seed where it is true.
    """
    if successes > share * trials:
        return Verdict.HOLDS
    _, high = clopper_pearson(successes, trials, 1 - 2 * FALSE_ALARM)
    return Verdict.FAILS if high < share else Verdict.UNDECIDED


def _critical_load_enclosed() -> Finding:
    """α'(y) changes sign within 10^{−DIGITS} of y*, where it can do so only once; see `theory`."""
    from flint import arb, fmpq

    solved = critical_load(DIGITS + 5)
    with Ball.precision(4 * DIGITS + 64):

        def slope(y: arb) -> arb:
            return 2 / arb.pi().sqrt() * (-y * y).exp() * (y + 2 * y**3) - y.erf()

        def exactly(value: mpmath.mpf) -> arb:
            sign, mantissa, exponent, _ = value._mpf_
            return arb((-1) ** sign * int(mantissa)) * arb(2) ** int(exponent)

        y, reach = exactly(solved.y), arb(fmpq(1, 10**DIGITS))
        around = y.union(y - reach).union(y + reach)
        alpha = (around.erf() / around - 2 / arb.pi().sqrt() * (-around * around).exp()) ** 2 / 2
        m, wide = around.erf(), arb(fmpq(1, 10 ** (DIGITS - 2)))
        holds = (
            slope(y - reach) > 0
            and slope(y + reach) < 0
            and y - reach > 1
            and bool(alpha.contains(exactly(solved.load)))
            and bool(m.contains(exactly(solved.overlap)))
            and bool(alpha.rad() < wide)
            and bool(m.rad() < wide)
        )
        measured = f"α_c = {alpha.str(35, radius=False)}, m_c = {m.str(35, radius=False)}"
    return Finding(
        f"critical load, within 10^−{DIGITS - 2}",
        "enclosure",
        measured,
        "the one maximum of α(y): α' changes sign in the ball",
        Verdict.of(bool(holds)),
        told=True,
    )


def _critical_load_by_the_mean_field() -> Finding:
    """The three equations for (m, C, r), and α at which their Jacobian is singular."""
    with mpmath.workdps(DIGITS + 10):
        pi, erf, exp, sqrt = mpmath.pi, mpmath.erf, mpmath.exp, mpmath.sqrt

        def system(m: Any, C: Any, r: Any, alpha: Any) -> list[Any]:
            u = m / sqrt(2 * alpha * r)
            bell, share = 2 / sqrt(pi) * exp(-u * u), sqrt(2 / (pi * alpha * r)) * exp(-u * u)
            jacobian = mpmath.matrix(
                [
                    [bell * u / m - 1, 0, -bell * u / (2 * r)],
                    [-2 * u * u / m * share, -1, share * (u * u - mpmath.mpf(1) / 2) / r],
                    [0, 2 / (1 - C) ** 3, -1],
                ]
            )
            return [erf(u) - m, share - C, (1 - C) ** -2 - r, mpmath.det(jacobian)]

        m, _, _, alpha = mpmath.findroot(system, (0.97, 0.18, 1.5, 0.138))
        solved = critical_load(DIGITS)
        apart = max(abs(alpha - solved.load), abs(m - solved.overlap))
        holds = bool(apart < mpmath.mpf(10) ** -(DIGITS - 5))
        measured = f"apart by {mpmath.nstr(apart, 2)}"
    return Finding(
        "critical load from the mean-field equations in m, C, r, where they turn singular",
        "float",
        measured,
        f"1e-{DIGITS - 5} from the maximum of α(y)",
        Verdict.of(holds),
    )


def _retrieval(run: Run, d: int) -> Iterator[Finding]:
    """Below α_c a network stays at its pattern, above it does not: seen with d neurons."""
    for load, low, high in ((0.12, 0.95, 1.0), (0.18, -1.0, 0.5)):
        xi = random_patterns(round(load * d), d, run.rng)
        ends = hebb_synchronous_run(xi, xi[:7], max_steps=200).states
        median = float(np.median(np.diagonal(overlap(ends, xi[:7]))))
        yield Finding(
            f"started at a pattern, α = {load:g} {'<' if low > 0 else '>'} α_c, d = {d}",
            "statistical",
            f"median overlap {median:.3f} of 7 patterns",
            f"above {low:g} (observed)" if low > 0 else f"below {high:g} (observed)",
            Verdict.of(low < median <= high),
        )
