"""The claim `dense-memory`: energies of degree n and exponential, and their capacities."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Annotated

import numpy as np
from flint import arb

from theory.memory.capacity import dense_patterns, exponential_load
from theory.memory.capacity_curve import fixed_points
from theory.memory.dense import (
    Degree,
    dense_energy,
    dense_preferred,
    dense_preferred_by_definition,
    dense_synchronous_update,
    dense_update,
    exponential_log_energy,
)
from theory.memory.hopfield import asynchronous_update, hebb, synchronous_update
from theory.memory.patterns import flipped, random_patterns, with_overlaps
from theory.memory.small_networks import all_states
from verify.claim import Run, claim, option
from verify.domains import Ball
from verify.finding import Finding, Verdict, no_counterexample
from verify.memory.probabilities import mostly

SIZES = ((2, 200), (3, 60), (4, 40))  # degrees and neurons at which thresholds are measured


@claim(
    picture="verify.memory.capacity_picture:draw_dense",
)
def dense_memory(
    run: Run,
    *,
    samples: Annotated[
        int, option("number of networks measured at each size", min=1, max=10**4)
    ] = 60,
) -> Iterator[Finding]:
    """A dense memory lowers its energy and stores d^{n−1}/(2 (2n−3)!! ln d) patterns at degree n.

    The state s and the patterns ξ^μ are vectors of ±1 with d entries (neurons). The energy of the
    state s is E = −Σ_μ F(⟨ξ^μ, s⟩), with F(x) = xⁿ for a memory of degree n, and F(x) = eˣ for the
    exponential memory. Neurons are updated one at a time. An update sets the neuron to the value of
    lower energy, and does not change the neuron if both values give the same energy. So no update
    raises E. For degree n the energies are integers, which are compared exactly. The memory of
    degree 2 is the classical Hopfield network under Hebb's rule. The library compares logarithms of
    the terms of E, so that nothing overflows. If rounding leaves the sign of a difference of
    energies undecided, this sign is computed exactly.

    For random patterns, the number of patterns in the first line is a threshold as d → ∞. If the
    number of stored patterns is at most c times this threshold, for a fixed c < 1, a given pattern
    is a fixed point with probability → 1. Memories with small d are measured at half and at twice
    the threshold.

    Let I(a) = ½((1 + a) ln(1 + a) + (1 − a) ln(1 − a)) be the rate function of uniform signs, and
    let α < ½ I(1 − 2ρ). If e^{αd} + 1 random patterns are stored, one synchronous update of the
    exponential memory recovers, with probability → 1 as d → ∞, a given pattern in which ρd randomly
    chosen bits are wrong.
    """
    name = "updates choose the value of lower energy, in all states of small memories (degree ≤ 41)"
    yield no_counterexample("rule", name, _wrong_values(run))
    name = "updates and runs of memories of degree 2 and of classical networks, from all states"
    words = "the memories and the networks give equal results"
    yield no_counterexample("degree-two", name, _unlike_classical(run), words=words)
    name = "the energy decreases in every sweep with a flip, and all final states are stable"
    yield no_counterexample("energy", name, _rising_sweeps(run))
    yield _near_ties(run)
    yield _exponential_signs(run)
    sizes = SIZES[:2] if run.quick else SIZES
    networks = run.limited(30, samples=samples)
    for degree, d in run.progress(sizes, "thresholds"):
        yield from _thresholds(run, degree, d, networks)
    yield _recovery(run, 30 if run.quick else 40, networks)
    yield _no_overflow(run, 2000 if run.quick else 10_000)
    run.draw(run.rng, SIZES)


def _described(xi: np.ndarray, s: np.ndarray, degree: Degree) -> str:
    return f"degree {degree}, patterns {xi.tolist()}, s = {s.tolist()}"


def _wrong_values(run: Run) -> Iterator[str]:
    """Cases where the preferred value differs from sgn(E(s_i = −1) − E(s_i = +1))."""
    sizes = ((1, 1), (1, 3), (4, 3), (3, 4), (6, 5))
    for degree, (N, d) in product((2, 3, 4, 7, 40, 41), sizes):
        xi, s = random_patterns(N, d, run.rng), all_states(d)
        energies = -(xi @ s.T).astype(object).__pow__(degree).sum(axis=0)
        wanted = dense_preferred(xi, s, degree)
        if (energies != dense_energy(xi, s, degree)).any():
            yield f"energies: {_described(xi, s, degree)}"
        if wanted[0].tolist() != dense_preferred_by_definition(xi, s[0], degree):
            yield f"by definition: {_described(xi, s[0], degree)}"
        for i in range(d):
            rise = energies[np.arange(len(s)) ^ (1 << i)] - energies  # if neuron i is flipped
            for k in np.flatnonzero(wanted[:, i] != s[:, i] * np.sign(rise).astype(int)):
                yield f"{_described(xi, s[k], degree)}, neuron {i}"


def _unlike_classical(run: Run) -> Iterator[str]:
    for N, d in ((1, 1), (2, 3), (3, 4), (4, 6), (7, 6)):
        xi, s = random_patterns(N, d, run.rng), all_states(d)
        order, weights = run.rng.permutation(d), hebb(xi)
        dense, classical = dense_update(xi, s, 2, order), asynchronous_update(weights, s, order)
        synchronous = dense_synchronous_update(xi, s, 2), synchronous_update(weights, s)
        pairs = (synchronous, (dense.states, classical.states), (dense.flips, classical.flips))
        if not all(np.array_equal(ours, theirs) for ours, theirs in pairs):
            yield f"patterns {xi.tolist()}, order {order.tolist()}"


def _rising_sweeps(run: Run) -> Iterator[str]:
    """Cases where a sweep of a random memory raises E, or where the final state is not stable."""
    for degree, N, d in ((2, 9, 40), (3, 60, 30), (4, 200, 20), (30, 20, 40)):
        xi, now = random_patterns(N, d, run.rng), random_patterns(4, d, run.rng)
        converged = False
        while not converged:
            after = dense_update(xi, now, degree, run.rng, sweeps=1)
            drop = dense_energy(xi, now, degree) - dense_energy(xi, after.states, degree)
            if ((drop > 0) != (after.flips > 0)).any() or (drop < 0).any():
                yield f"{_described(xi, now, degree)}: E falls by {drop.tolist()}"
            now, converged = after.states, bool(after.converged.all())
        if ((dense_preferred(xi, now, degree) * now) < 0).any():
            yield f"the final state is not stable: {_described(xi, now, degree)}"


def _near_ties(run: Run) -> Finding:
    """The sign is exact even if terms cancel except for one term that is too small for float64."""
    wrong, in_floats, d = [], [], 41
    s = np.ones(d, dtype=np.int64)
    for degree, small, bit in product((20, 21, 60), range(-8, 9, 2), (-1, 1)):
        signs = [(1, 30), (bit, small), (-1, 30)]
        xi = with_overlaps(signs, d, run.rng)
        found = int(dense_preferred(xi, s, degree)[0])
        terms = [b * ((u + 1) ** degree - (u - 1) ** degree) for b, u in signs]
        exact = int(np.sign(sum(terms)))
        if (found, dense_preferred_by_definition(xi, s, degree)[0]) != (exact, exact):
            wrong.append(f"{_described(xi, s, degree)}: {found} instead of {exact}")
        in_floats.append(np.sign(np.sum([float(t) / 31.0**degree for t in terms])) == exact)
    name = "signs of sums of integers that nearly cancel, for memories of degree 20, 21 and 60"
    lost = f"in {in_floats.count(False)} of these cases a float64 sum has the wrong sign"
    words = f"exact in {len(in_floats)} cases; {lost}"
    return no_counterexample("signs/near-ties", name, wrong, words=words)


def _exponential_signs(run: Run) -> Finding:
    """For F = exp the signs equal those of sums of powers of e in balls, also in (near) ties."""
    wrong, exact, d = [], [], 61
    s = np.ones(d, dtype=np.int64)
    for case in range(30 if run.quick else 100):
        # Pairs of terms that cancel, and a few much smaller terms.
        totals = 2 * run.rng.integers(-30, 31, 1 + case % 3)
        bits = 2 * run.rng.integers(0, 2, case % 4) - 1
        few = zip(bits, 2 * run.rng.integers(-30, 0, case % 4), strict=True)
        pairs = [(int(b), int(u)) for b, u in (*product((1, -1), totals), *few)]
        signs = [pairs[k] for k in run.rng.permutation(len(pairs))]
        xi = with_overlaps(signs, d, run.rng)
        found = int(dense_preferred(xi, s, "exp")[0])
        exact.append(_sign_by_balls(signs))
        if found != exact[-1]:
            wrong.append(f"{_described(xi, s, 'exp')}: {found} instead of {exact[-1]}")
    name = "signs of sums Σ ± e^u of the exponential memory against signs of balls of 400 bits"
    ties = f"in {exact.count(0)} of these cases all terms cancel, and the sign is 0"
    words = f"equal in {len(exact)} cases; {ties}"
    return no_counterexample("signs/exponential", name, wrong, words=words)


def _sign_by_balls(signs: list[tuple[int, int]]) -> int | None:
    """The sign of Σ bit·eᵘ, or None if 400 bits do not decide it.

    e is transcendental, so the sum is 0 only if all terms cancel.
    """
    if all(sum(b for b, v in signs if v == u) == 0 for _, u in signs):
        return 0
    with Ball.precision(400):
        total = sum((b * arb(u).exp() for b, u in signs), arb(0))
        return 1 if total > 0 else -1 if total < 0 else None


def _thresholds(run: Run, degree: int, d: int, networks: int) -> Iterator[Finding]:
    """How often a pattern is a fixed point at half and at twice the stated number of patterns."""
    stated, odd = dense_patterns(d, degree), math.prod(range(1, 2 * degree - 2, 2))
    for factor, id, fraction, what in ((0.5, "half", 0.8, "are"), (2.0, "twice", 0.2, "are not")):
        N, formula = round(factor * stated), f"d^{degree - 1}/({2 * odd} ln d)"
        fixed = fixed_points(run.rng, N, d, degree, networks)
        yield mostly(
            f"threshold/{degree}/{id}",
            f"memories of degree {degree} with d = {d} neurons and {N} patterns, which is "
            f"{factor:g} times {formula}",
            fixed if factor < 1 else networks - fixed,
            networks,
            fraction,
            words=f"tested patterns {what} fixed points",
        )


def _recovery(run: Run, d: int, networks: int) -> Finding:
    """One synchronous update recovers patterns from ρd flipped bits, as in the theorem."""
    rho = 0.1
    alpha, flips, recovered = 0.75 * exponential_load(rho), round(rho * d), 0
    N = round(math.exp(alpha * d)) + 1
    for _ in range(networks):
        xi = random_patterns(N, d, run.rng)
        start = flipped(xi[0], flips, run.rng)
        recovered += int((dense_synchronous_update(xi, start, "exp") == xi[0]).all())
    name = (
        f"exponential memories with d = {d} neurons and {N} = e^(αd) + 1 patterns, where "
        f"α = ⅜ I(1 − 2ρ), with {flips} = ρd flipped bits"
    )
    words = "patterns are recovered by one update"
    wanted = "more than half, as observed; the probability tends to 1 for α < ½ I(1 − 2ρ)"
    return mostly("recovery", name, recovered, networks, 0.5, words=words, wanted=wanted)


def _no_overflow(run: Run, d: int) -> Finding:
    """ln(−E) = d to the last place of float64 at a pattern for which e^d overflows."""
    with np.errstate(over="ignore"):
        first = next(k for k in range(200) if np.isinf(np.exp(np.float32(k))))
        overflows = np.isinf(np.exp(np.float64(d)))
    xi = random_patterns(4, d, run.rng)
    end = dense_update(xi, flipped(xi[0], d // 4, run.rng), "exp", run.rng, sweeps=1).states
    log_energy = float(exponential_log_energy(xi, xi[0]))
    # Each other pattern adds less than e^{d/2}, which changes ln(−E) by far less than half an ulp.
    holds = first == 89 and overflows and (end == xi[0]).all() and log_energy == d
    verdict = Verdict.of(bool(holds))
    name = f"exponential memory with {d} neurons, from a pattern with a quarter of the bits flipped"
    exceeds = f"e^{d} overflows float64, and e^{first} is the first power that overflows float32"
    words = f"one sweep recovers the pattern, where ln(−E) = {log_energy:g}; {exceeds}"
    wanted = f"recovery, ln(−E) = {d}, overflow of e^{d}, and e^89 as the first power"
    return Finding("no-overflow", name, "float", log_energy, d, verdict, words, wanted)
