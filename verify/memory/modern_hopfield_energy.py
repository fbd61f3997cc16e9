"""Findings of `modern-hopfield` about the energy: its range, gradient, descent and fixed points."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from flint import arb

from verify.claim import Run
from verify.domains import Ball
from verify.finding import Finding, Verdict
from verify.memory.hopfield_balls import (
    BITS,
    HALF,
    WIDTH,
    Network,
    below,
    exactly,
    inner,
    instances,
    minus,
    norm,
    same,
    shown,
)

Instances = list[tuple[str, np.ndarray, np.ndarray, float]]


def _instances(run: Run, N: int, d: int) -> Instances:
    """Name, patterns, states and β; one state each when quick."""
    betas = (0.1, 1.0, 8.0, 1e6) if not run.quick else (1.0, 1e6)
    return [
        (f"{name}, β = {beta:g}", X, states[:1] if run.quick else states, beta)
        for name, (X, states) in instances(run.rng, min(N, 6), min(d, 3)).items()
        for beta in betas
    ]


def energy(run: Run, N: int, d: int) -> Iterator[Finding]:
    """The energy of networks of all kinds: its range, its gradient, its descent and its rest."""
    instances = _instances(run, N, d)
    yield _energy_bounds(run, instances)
    yield _gradient(instances)
    yield from _descent(run, instances)
    yield _convergence(run, instances)


def _energy_bounds(run: Run, instances: Instances) -> Finding:
    """½(‖ξ‖ − M)² ≤ E everywhere, E ≤ 2M² where ‖ξ‖ ≤ M; both ends are attained."""
    verdicts = []
    with Ball.precision(BITS):
        for _, X, states, beta in instances:
            network = Network(X, beta)
            for xi in exactly(states):
                low = HALF * (norm(xi) - network.M) * (norm(xi) - network.M)
                verdicts.append(below(low, network.energy(xi)))
                factor = network.M / norm(xi) * arb(float(run.rng.uniform()))
                inside = [(u * factor).mid() for u in xi]  # still inside: the factor is below 1
                if not norm(inside) <= network.M:
                    verdicts.append(Verdict.UNDECIDED)
                verdicts.append(below(arb(0), network.energy(inside)))
                verdicts.append(below(network.energy(inside), 2 * network.M * network.M))
        equal = Network(np.ones((3, 1)), 2.0)
        ends = [same(equal.energy([arb(sign)]), arb(1 - sign)) for sign in (1, -1)]
    return Finding(
        f"0 ≤ E ≤ 2M² for ‖ξ‖ ≤ M, E ≥ ½(‖ξ‖ − M)² ({len(verdicts)} inequalities)",
        "enclosure",
        "equal patterns attain both ends",
        "[0, 2M²]",
        Verdict.together([*verdicts, *ends]),
    )


def _gradient(instances: Instances) -> Finding:
    """Power series of E along lines: E' = ⟨ξ − f(ξ), v⟩ and E'' = ‖v‖² − vᵀJv."""
    verdicts = []
    with Ball.precision(BITS):
        for _, X, states, beta in instances:
            network = Network(X, beta)
            for xi in exactly(states[:1]):
                p = network.weights(xi)
                f, J = network.mean(p), network.jacobian(p)
                for a in range(network.d):
                    for b in range(a + 1):
                        v = [arb(int(i == a) + int(i == b)) for i in range(network.d)]
                        _, first, second = network.energy_along(xi, v)
                        slope = inner(xi, v) - inner(f, v)
                        curve = inner(v, v) - inner(v, [inner(row, v) for row in J])
                        verdicts += [same(first, slope), same(2 * second, curve)]
    return Finding(
        f"f = ξ − ∇E and J = I − ∇²E = βXᵀ(diag p − ppᵀ)X ({len(verdicts)} coefficients)",
        "enclosure",
        f"equal to the power series of E within 2^{WIDTH}",
        "equal",
        Verdict.together(verdicts),
    )


def _descent(run: Run, instances: Instances) -> Iterator[Finding]:
    """E(ξ) − E(ξ′) − ½‖ξ′ − ξ‖² = KL(p ‖ p′)/β, ξ′ = f(ξ), and KL is ≥ 0.

    With L = lse, convex with ∇L = f: E = ½‖ξ‖² − L, so the left side is
    L(ξ′) − L(ξ) − ⟨∇L(ξ), ξ′ − ξ⟩, the Bregman divergence of L; and ln p_j = β⟨x_j, ξ⟩ − βL(ξ)
    makes it Σ_j p_j(ln p_j − ln p′_j)/β.
    """
    equal, strict, rising, least = [], 0, 0, np.inf
    with Ball.precision(BITS):
        for _, X, states, beta in run.progress(instances, "energy"):
            network = Network(X, beta)
            for xi in exactly(states):
                energy, p = network.energy(xi), network.weights(xi)
                for _ in range(8):
                    following = network.mean(p)
                    lower, q = network.energy(following), network.weights(following)
                    step = minus(following, xi)
                    square = inner(step, step)
                    slack = energy - lower - HALF * square
                    terms = (u * (u.log() - v.log()) for u, v in zip(p, q, strict=True))
                    equal.append(same(slack, sum(terms, arb(0)) / network.beta))
                    strict += slack > 0
                    rising += slack < 0
                    if square > 0:
                        least = min(least, float((energy - lower) / square))
                    if square < 2.0**-120:
                        break
                    xi, p, energy = following, q, lower
    identity = Verdict.together(equal)
    yield Finding(
        f"E(t) − E(t+1) − ½‖Δξ‖² = KL(p ‖ p′)/β ({len(equal)} steps)",
        "enclosure",
        f"equal within 2^{WIDTH}",
        "equal",
        identity,
    )
    yield Finding(
        f"E(t) − E(t+1) ≥ ½‖Δξ‖² ({len(equal)} steps)",
        "enclosure",
        f"at least {least:.3f}·‖Δξ‖²; {strict} strict, "
        f"{len(equal) - strict} equal in {BITS} bits, where Gibbs' inequality KL ≥ 0 decides",
        "½‖Δξ‖²",
        Verdict.FAILS if rising else identity,
    )


def _convergence(run: Run, instances: Instances) -> Finding:
    """Residuals tend to 0, and where they are small there is a fixed point.

    ½Σ‖Δξ‖² ≤ E(0) bounds the least of T residuals by √(2E(0)/T); E is analytic and
    ∇E = −Δξ, so the iterates converge (Łojasiewicz), not only along subsequences.
    """
    verdicts, widest, most, count = [], arb(0), 0, 0
    with Ball.precision(BITS):
        for _, X, states, beta in run.progress(instances, "fixed points"):
            network = Network(X, beta)
            for xi in exactly(states[:1]):
                allowed = (2 * network.energy(xi)).sqrt()
                least, t = arb(2) ** 60, 0
                while t < 300 and not least < 2.0**-70:
                    z = [u.mid() for u in xi]
                    xi, t = network.update(z), t + 1
                    least = min(least, norm(minus(xi, z)), key=float)
                # Midpoints move the iterates by less than 2^-200.
                verdicts.append(below(least * arb(t).sqrt(), allowed + arb(2) ** -200))
                error = network.fixed_point_near(z, arb(2) ** -40)
                if error is not None:
                    count, most, widest = count + 1, max(most, t), max(widest, error, key=float)
    return Finding(
        f"Theorems 1–2: iterates come to rest at a fixed point ({len(verdicts)} starts)",
        "enclosure",
        f"{count} fixed points enclosed within {shown(widest)} by Banach's bound after at most "
        f"{most} updates, {len(verdicts) - count} slower or at no contraction",
        "least of t residuals ≤ √(2E(0)/t)",
        Verdict.together([*verdicts, Verdict.HOLDS if count else Verdict.UNDECIDED]),
    )
