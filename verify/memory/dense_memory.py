"""The claim `dense-memory`: energies of degree n and the exponential one, and what they store."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

import numpy as np

from theory.memory.capacity import dense_patterns, exponential_load
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
from theory.memory.patterns import flipped, random_patterns
from verify.claim import Run, claim, option
from verify.finding import Finding, Verdict
from verify.memory.hopfield import all_states, exact_comparison
from verify.memory.hopfield_capacity import mostly

SIZES = ((2, 200), (3, 60), (4, 40))  # degrees and neurons at which thresholds are measured


@claim(source="[KrotovHopfield2016]; [Demircigil2017]", draws=True)
def dense_memory(
    run: Run,
    *,
    samples: Annotated[int, option("networks measured at each size", min=1)] = 60,
) -> Iterator[Finding]:
    """A dense memory never raises its energy; degree n stores d^{n−1}/(2 (2n−3)!! ln d) patterns.

    E = −Σ_μ F(⟨ξ^μ, s⟩), F = xⁿ or eˣ, one neuron at a time, a tie keeping the old value. Energies
    are whole numbers, compared exactly; degree 2 is the classical network under Hebb's rule. In the
    log domain nothing overflows, and a sign that rounding leaves open is found exactly. The stated
    thresholds belong to d → ∞ and are seen on either side at small d; the exponential memory
    recovers e^{αd} + 1 patterns from ρd wrong bits for α < ½ I(1 − 2ρ).
    """
    yield _every_state(run)
    yield _degree_two(run)
    yield _runs(run)
    yield _near_ties(run)
    yield _exponential_signs(run)
    sizes = SIZES[:2] if run.quick else SIZES
    networks = min(samples, 30) if run.quick else samples
    for degree, d in run.progress(sizes, "thresholds"):
        yield from _thresholds(run, degree, d, networks)
    yield _recovery(run, 30 if run.quick else 40, networks)
    yield _no_overflow(run, 2000 if run.quick else 10_000)
    if run.plot:
        from verify.memory.capacity_picture import draw_dense

        draw_dense(run.plot, run.rng)


def _described(xi: np.ndarray, s: np.ndarray, degree: Degree) -> str:
    return f"degree {degree}, patterns {xi.tolist()}, s = {s.tolist()}"


def _every_state(run: Run) -> Finding:
    """The preferred value of a neuron is that of lower energy, by the energies themselves."""
    wrong, compared, ties = None, 0, 0
    for degree in (2, 3, 4, 7, 40, 41):
        for N, d in ((1, 1), (1, 3), (4, 3), (3, 4), (6, 5)):
            xi, s = random_patterns(N, d, run.rng), all_states(d)
            energies = -(xi @ s.T).astype(object).__pow__(degree).sum(axis=0)
            wanted = dense_preferred(xi, s, degree)
            if (energies != dense_energy(xi, s, degree)).any():
                wrong = f"energies: {_described(xi, s, degree)}"
            for i in range(d):
                other = np.arange(len(s)) ^ (1 << i)
                up = np.where(s[:, i] > 0, energies, energies[other])
                down = np.where(s[:, i] > 0, energies[other], energies)
                lower = (down > up).astype(int) - (down < up)
                differ = np.flatnonzero(wanted[:, i] != lower)
                if len(differ):
                    wrong = _described(xi, s[differ[0]], degree) + f", neuron {i}"
                compared, ties = compared + len(s), ties + int((lower == 0).sum())
            if wanted[0].tolist() != dense_preferred_by_definition(xi, s[0], degree):
                wrong = f"by definition: {_described(xi, s[0], degree)}"
    return exact_comparison(
        "the rule lowers the energy: all states of small memories, degrees up to 41",
        f"the value of lower energy in {compared} cases, {ties} of them ties",
        "sgn(E(s_i = −1) − E(s_i = +1)), 0 at ties",
        wrong,
    )


def _degree_two(run: Run) -> Finding:
    wrong, compared = None, 0
    for N, d in ((1, 1), (2, 3), (3, 4), (4, 6), (7, 6)):
        xi, s = random_patterns(N, d, run.rng), all_states(d)
        order, weights = run.rng.permutation(d), hebb(xi)
        dense, classical = dense_update(xi, s, 2, order), asynchronous_update(weights, s, order)
        if (
            (dense_synchronous_update(xi, s, 2) != synchronous_update(weights, s)).any()
            or (dense.states != classical.states).any()
            or (dense.flips != classical.flips).any()
        ):
            wrong = f"patterns {xi.tolist()}, order {order.tolist()}"
        compared += len(s)
    return exact_comparison(
        "degree 2 is the classical network",
        f"the same updates and runs from {compared} states",
        "equal from all states",
        wrong,
    )


def _runs(run: Run) -> Finding:
    """Sweep after sweep of random memories the exact energy falls, and the end is stable."""
    wrong, sweeps = None, 0
    for degree, N, d in ((2, 9, 40), (3, 60, 30), (4, 200, 20), (30, 20, 40)):
        xi, now = random_patterns(N, d, run.rng), random_patterns(4, d, run.rng)
        while True:
            after = dense_update(xi, now, degree, run.rng, sweeps=1)
            drop = dense_energy(xi, now, degree) - dense_energy(xi, after.states, degree)
            sweeps += len(now)
            if ((drop > 0) != (after.flips > 0)).any() or (drop < 0).any():
                wrong = f"{_described(xi, now, degree)}: E falls by {drop.tolist()}"
            if wrong or after.converged.all():
                break
            now = after.states
        if ((dense_preferred(xi, after.states, degree) * after.states) < 0).any():
            wrong = wrong or f"the end is not stable: {_described(xi, after.states, degree)}"
    return exact_comparison(
        "energy along asynchronous sweeps, in whole numbers",
        f"it falls in every sweep with a flip ({sweeps} sweeps); all ends are stable",
        "never rises",
        wrong,
    )


def _pattern(bit: int, total: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """A pattern whose first bit is `bit` and whose other d − 1 add up to `total`."""
    rest = np.where(np.arange(d - 1) < (d - 1 + total) // 2, 1, -1)
    return np.concatenate([[bit], rng.permutation(rest)])


def _near_ties(run: Run) -> Finding:
    """Terms that cancel except for one too small for float64: the sign is still the exact one."""
    wrong, lost, cases, d = None, 0, 0, 41
    s = np.ones(d, dtype=np.int64)
    for degree in (20, 21, 60):
        for small in range(-8, 9, 2):
            for bit in (-1, 1):
                signs = [(1, 30), (bit, small), (-1, 30)]
                xi = np.stack([_pattern(b, total, d, run.rng) for b, total in signs])
                found = int(dense_preferred(xi, s, degree)[0])
                exact = sum(b * ((u + 1) ** degree - (u - 1) ** degree) for b, u in signs)
                wanted = (exact > 0) - (exact < 0)
                if found != wanted or dense_preferred_by_definition(xi, s, degree)[0] != wanted:
                    wrong = f"{_described(xi, s, degree)}: {found} instead of {wanted}"
                floats = sum(
                    float(b * ((u + 1) ** degree - (u - 1) ** degree)) / 31.0**degree
                    for b, u in signs
                )
                lost, cases = lost + int(np.sign(floats) != wanted), cases + 1
    return exact_comparison(
        "near ties at degrees 20, 21 and 60",
        f"the exact sign in {cases} cases, {lost} of which float64 sums get wrong",
        "the sign of whole numbers",
        wrong,
    )


def _exponential_signs(run: Run) -> Finding:
    """F = exp against sums of powers of e in balls, near ties and ties among them."""
    wrong, ties, cases, d = None, 0, 0, 61
    s = np.ones(d, dtype=np.int64)
    for case in range(30 if run.quick else 100):
        # Pairs that cancel, then a few terms far below them.
        totals = [2 * int(v) for v in run.rng.integers(-30, 31, 1 + case % 3)]
        signs = [(b, u) for u in totals for b in (1, -1)]
        signs += [
            (int(b), 2 * int(u))
            for b, u in zip(
                2 * run.rng.integers(0, 2, case % 4) - 1,
                run.rng.integers(-30, 0, case % 4),
                strict=True,
            )
        ]
        signs = [signs[k] for k in run.rng.permutation(len(signs))]
        xi = np.stack([_pattern(b, total, d, run.rng) for b, total in signs])
        found, wanted = int(dense_preferred(xi, s, "exp")[0]), _sign_by_balls(signs)
        if found != wanted:
            wrong = f"{_described(xi, s, 'exp')}: {found} instead of {wanted}"
        ties, cases = ties + (wanted == 0), cases + 1
    return exact_comparison(
        "F = exp: signs against balls of 400 bits",
        f"equal in {cases} cases of cancelling terms, {ties} of them exact ties",
        "the sign of Σ ± e^u; 0 only if all terms cancel, as e is transcendental",
        wrong,
    )


def _sign_by_balls(signs: list[tuple[int, int]]) -> int | None:
    """The sign of Σ bit·eᵘ; None if 400 bits do not tell."""
    from flint import arb

    from verify.domains import Ball

    if all(sum(b for b, v in signs if v == u) == 0 for _, u in signs):
        return 0
    with Ball.precision(400):
        total = sum((b * arb(u).exp() for b, u in signs), arb(0))
        return 1 if total > 0 else -1 if total < 0 else None


def _thresholds(run: Run, degree: int, d: int, networks: int) -> Iterator[Finding]:
    """How often a pattern is a fixed point at half and at twice the stated number of patterns.

    One pattern of each network, so that they are independent.
    """
    stated = dense_patterns(d, degree)
    for factor in (0.5, 2.0):
        N, fixed = round(factor * stated), 0
        for _ in range(networks):
            xi = random_patterns(N, d, run.rng)
            fixed += int((dense_preferred(xi, xi[0], degree) * xi[0] >= 0).all())
        lost = networks - fixed
        verdict = mostly(fixed, networks, 0.8) if factor < 1 else mostly(lost, networks, 0.2)
        yield Finding(
            f"degree {degree}, d = {d}: {factor:g} times d^{degree - 1}/"
            f"({2 * math.prod(range(1, 2 * degree - 2, 2))} ln d), {N} patterns",
            "statistical",
            f"{fixed} of {networks} are fixed points",
            f"{'above' if factor < 1 else 'below'} 0.8 (observed)",
            verdict,
        )


def _recovery(run: Run, d: int, networks: int) -> Finding:
    """One update of every neuron, as the theorem has it, from ρd flips."""
    rho = 0.1
    alpha, flips, recovered = 0.75 * exponential_load(rho), round(rho * d), 0
    N = round(math.exp(alpha * d)) + 1
    for _ in range(networks):
        xi = random_patterns(N, d, run.rng)
        start = flipped(xi[0], flips, run.rng)
        recovered += int((dense_synchronous_update(xi, start, "exp") == xi[0]).all())
    return Finding(
        f"F = exp, d = {d}: {N} = e^(αd) + 1 patterns, {flips} bits flipped, α = ⅜ I(1 − 2ρ)",
        "statistical",
        f"{recovered} of {networks} recovered by one update",
        "more than half (observed); chance → 1 as d → ∞ for α < ½ I(1 − 2ρ)",
        mostly(recovered, networks, 0.5),
    )


def _no_overflow(run: Run, d: int) -> Finding:
    """e^d against its logarithm."""
    with np.errstate(over="ignore"):
        first = next(k for k in range(200) if np.isinf(np.exp(np.float32(k))))
        at_d = np.exp(np.float64(d))
    xi = random_patterns(4, d, run.rng)
    end = dense_update(xi, flipped(xi[0], d // 4, run.rng), "exp", run.rng, sweeps=1).states
    log_energy = float(exponential_log_energy(xi, xi[0]))
    # Other patterns add less than e^{d/2} each, far below half a unit of d's last place.
    holds = first == 89 and np.isinf(at_d) and (end == xi[0]).all() and log_energy == d
    return Finding(
        f"no overflow: a quarter of {d} bits flipped, F = exp",
        "exact",
        f"recovered in one sweep; ln(−E) = {log_energy:g}, where e^{d} exceeds float64, and "
        f"e^{first} float32",
        f"the pattern, ln(−E) = {d}, and 89",
        Verdict.of(bool(holds)),
    )
