"""Findings of `modern-hopfield` on the energy: its range, gradient, descent and fixed points."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement

import numpy as np
from flint import arb

from theory.balls import exactly, floats, inner, mean, minus, norm
from theory.memory.hopfield_balls import HALF, ModernNetwork, Vector
from theory.memory.modern_hopfield import jacobian, modern_hopfield_energy, modern_hopfield_step
from theory.memory.retrieval_bounds import update_rounding
from verify.claim import Run
from verify.domains import Ball
from verify.evidence.enclosure import BITS, WIDTH, all_hold, apart, below, same
from verify.evidence.rounding import UNIT_ROUNDOFF
from verify.finding import Finding, Verdict, as_stated, within_bounds

Instances = list[tuple[ModernNetwork, list[Vector]]]


def energy(run: Run, N: int, d: int) -> Iterator[Finding]:
    """Findings on the energy of random networks: range, gradient, decrease and convergence."""
    betas = (0.1, 1.0, 8.0, 1e6) if not run.quick else (1.0, 1e6)
    with Ball.precision(BITS):
        networks = [
            (ModernNetwork(X, beta), exactly(states[:1] if run.quick else states))
            for X, states in instances(run.rng, min(N, 6), min(d, 3)).values()
            for beta in betas
        ]
    yield library(networks)
    yield _range(run, networks)
    yield _gradient(networks)
    yield from _descent(run, networks)
    yield _convergence(run, networks)


def library(networks: Instances) -> Finding:
    """The finding that energy, update and Jacobian of `theory.memory` have bounded float64 errors.

    The float64 values are compared with enclosures. Let x_j be the N patterns in R^d,
    M = max‖x_j‖, p the weights of the patterns at the state ξ, f the updated state, and
    ρ = `update_rounding`/M. The weights have a relative error of at most ρ, and the update has an
    error of at most Mρ. The vector √p_j(x_j − f) has a norm of at most 2√p_j·M, so its error is at
    most 3√p_j·Mρ. An entry of the Jacobian is a sum of products of entries of these vectors, so
    its error is at most βM²(16ρ + 9ρ²), including the rounding of the sum. The energy is computed
    relative to the pattern x_k of largest weight. It contains squares of up to (M + ‖ξ‖)², with d
    + 6 roundings, and 1/β times the logarithm of a mean that is at least 1/N.
    """
    fractions = []
    with Ball.precision(BITS):
        for network, states in networks:
            X, beta = floats(network.patterns), float(network.beta)
            for xi in states:
                state, (N, d), M = floats([xi])[0], X.shape, float(network.M)
                size = float(np.linalg.norm(state))
                rho = update_rounding(N, d, beta, M, size, 2 * UNIT_ROUNDOFF) / M
                p = network.weights(xi)
                roundings = 3 * (d + 6) * (M + size) ** 2 + 2 * N * (N + 4) / beta
                update = modern_hopfield_step(X, state, beta)
                energy, J = modern_hopfield_energy(X, state, beta), jacobian(X, state, beta)
                for exact, found, bound in (
                    (network.energy(xi), float(energy), roundings * UNIT_ROUNDOFF),
                    (mean(p, network.patterns), update.tolist(), M * rho),
                    (network.jacobian(p), J.tolist(), beta * M**2 * (16 * rho + 9 * rho**2)),
                ):
                    fractions.append(apart(exact, found) / bound)
    fraction = float(np.max(fractions))
    name = (
        "float64 errors of energy, update and Jacobian in theory.memory, as fractions of their "
        f"bounds ({len(fractions)} values)"
    )
    words, wanted = f"at most {fraction:.1%}", "at most 100%"
    finding = within_bounds("library", name, "float", fraction, words=words, wanted=wanted)
    sizes = (5, 3, 0.5, 2.0, 1.5), (2, 40, 8.0, 0.75, 3.0)
    with Ball.precision(BITS):
        bounds = [update_rounding(*each, 2 * UNIT_ROUNDOFF) for each in sizes]
        return as_stated(finding, bounds, [float(rounding_of_update(*each)) for each in sizes])


def rounding_of_update(N: int, d: int, beta: float, M: float, size: float) -> arb:
    """The bound of `update_rounding` in float64, for exponents with errors below 1."""
    u = arb(2) ** -53

    def gamma(n: int) -> arb:
        return 1 / (1 / (n * u) - 1)

    weight = (beta * M * size * (2 * gamma(d + 8) + 5 * u)).exp() * (1 + 40 * u)
    off = 2 * (weight - 1) / (2 - weight)
    return M * (off + gamma(2 * N + 6) * (1 + off) + N * arb(-80).exp())


def _range(run: Run, networks: Instances) -> Finding:
    """½(‖ξ‖ − M)² ≤ E everywhere, and E ≤ 2M² if ‖ξ‖ ≤ M; both bounds are attained."""
    verdicts = []
    with Ball.precision(BITS):
        for network, states in networks:
            M = network.M
            for xi in states:
                over = norm(xi) - M
                verdicts.append(below(HALF * over * over, network.energy(xi)))
                factor = M / norm(xi) * arb(float(run.rng.uniform()))
                inside = [(u * factor).mid() for u in xi]  # still inside: the factor is below 1
                if not norm(inside) <= M:
                    verdicts.append(Verdict.UNDECIDED)
                E = network.energy(inside)
                verdicts += [below(arb(0), E), below(E, 2 * M * M)]
        equal = ModernNetwork(np.ones((3, 1)), 2.0)
        verdicts += [same(equal.energy([arb(sign)]), arb(1 - sign)) for sign in (1, -1)]
    name = "0 ≤ E(ξ) ≤ 2M² for ‖ξ‖ ≤ M = max‖x_j‖, and E(ξ) ≥ ½(‖ξ‖ − M)² for all ξ"
    words = "all bounds hold, and networks of equal patterns attain the bounds"
    return all_hold("range", name, verdicts, words=words)


def _gradient(networks: Instances) -> Finding:
    """Power series of E along lines give E' = ⟨ξ − f(ξ), v⟩ and E'' = ‖v‖² − vᵀJv."""
    verdicts = []
    with Ball.precision(BITS):
        for network, (xi, *_) in networks:
            p = network.weights(xi)
            step, J = minus(xi, mean(p, network.patterns)), network.jacobian(p)
            for a, b in combinations_with_replacement(range(network.d), 2):
                v = [arb(int(i == a) + int(i == b)) for i in range(network.d)]
                _, first, second = network.energy_along(xi, v)
                curve = inner(v, v) - inner(v, mean(v, J))
                verdicts += [same(first, inner(step, v)), same(2 * second, curve)]
    name = "update f(ξ) against ξ − ∇E(ξ), and Jacobian βXᵀ(diag p − ppᵀ)X against I − ∇²E(ξ)"
    words = f"equal within 2^{WIDTH}; derivatives are coefficients of power series of E"
    return all_hold("gradient", name, verdicts, words=words)


def _descent(run: Run, networks: Instances) -> Iterator[Finding]:
    """E(ξ) − E(ξ′) − ½‖ξ′ − ξ‖² = KL(p ‖ p′)/β, ξ′ = f(ξ), and KL ≥ 0.

    Proof.  L = lse is convex with ∇L = f, and E = ½‖ξ‖² − L.  So the left side is
    L(ξ′) − L(ξ) − ⟨∇L(ξ), ξ′ − ξ⟩, the Bregman divergence of L.  Since
    ln p_j = β⟨x_j, ξ⟩ − βL(ξ), this equals Σ_j p_j(ln p_j − ln p′_j)/β.
    """
    equal, slacks, ratios = [], [], []
    with Ball.precision(BITS):
        for network, states in run.progress(networks, "energy"):
            for xi in states:
                energy, p = network.energy(xi), network.weights(xi)
                for _ in range(8):
                    following = mean(p, network.patterns)
                    lower, q = network.energy(following), network.weights(following)
                    step = minus(following, xi)
                    square = inner(step, step)
                    slacks.append(energy - lower - HALF * square)
                    divergence = inner(p, (u.log() - v.log() for u, v in zip(p, q, strict=True)))
                    equal.append(same(slacks[-1], divergence / network.beta))
                    if square > 0:
                        ratios.append(float((energy - lower) / square))
                    if square < 2.0**-120:
                        break
                    xi, p, energy = following, q, lower
    name = (
        "E(t) − E(t+1) − ½‖Δξ‖² against KL(p ‖ p′)/β, for updates by Δξ with weights p before and "
        "p′ after the update"
    )
    words = f"equal within 2^{WIDTH}"
    yield all_hold("divergence", name, equal, words=words)
    strict, rising = sum(slack > 0 for slack in slacks), any(slack < 0 for slack in slacks)
    least = min(ratios, default=np.inf)
    verdict = Verdict.FAILS if rising else Verdict.together(equal)
    name = f"decrease E(t) − E(t+1) of the energy in an update by Δξ ({len(slacks)} updates)"
    others = (
        f"undecided at {BITS} bits in {len(slacks) - strict} updates, in which KL ≥ 0 proves at "
        "least ½‖Δξ‖²"
    )
    words = f"at least {least:.3f}·‖Δξ‖²; the decrease is above ½‖Δξ‖² in {strict} updates, and "
    words += others
    wanted = "at least ½‖Δξ‖²"
    yield Finding("descent", name, "enclosure", least, float(HALF), verdict, words, wanted)


def _convergence(run: Run, networks: Instances) -> Finding:
    """Residuals tend to 0, and there is a fixed point near a state with a small residual.

    Since ½Σ‖Δξ‖² ≤ E(0), the smallest of T residuals is at most √(2E(0)/T).  E is analytic and
    ∇E = −Δξ, so the iterates converge (Łojasiewicz), not only along subsequences.
    """
    verdicts, enclosed = [], []
    with Ball.precision(BITS):
        for network, (xi, *_) in run.progress(networks, "fixed points"):
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
                enclosed.append((float(error), t))
    widest, most = map(max, zip(*enclosed, strict=True)) if enclosed else (np.inf, 0)
    slow, found = len(verdicts) - len(enclosed), Verdict.HOLDS if enclosed else Verdict.UNDECIDED
    name = (
        "convergence of updates to a fixed point, and the bound √(2E(0)/t) on the smallest of the "
        "first t residuals [Ramsauer2021, Theorems 1 and 2]"
    )
    after = (
        f"by Banach's theorem after at most {most} updates; no fixed point is enclosed for {slow} "
        "states"
    )
    words = f"{len(enclosed)} fixed points are enclosed within {widest:.3g} {after}"
    return all_hold("rest", name, [*verdicts, found], words=words)


def instances(rng: np.random.Generator, N: int, d: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Named pairs of patterns (N, d) and states (3, d).

    The patterns are random, in two clusters, nearly tied, or in opposite pairs, as the name
    states.
    """
    normal = rng.standard_normal
    centres = 1.5 * normal((2, d))
    clustered = centres[np.arange(N) % 2] + 0.2 * normal((N, d))
    tied = normal((N, d))
    tied[-1] = tied[0] + 2.0**-20 * normal(d)
    # A state near the bisector of two distant patterns approaches one of them only after long.
    opposed = normal((N, d))
    opposed[-1] = -opposed[0]
    return {
        "random": (normal((N, d)), normal((3, d))),
        "clustered": (clustered, centres[[0, 1, 0]] + normal((3, d)) * [[0.1], [0.1], [1.0]]),
        "nearly tied": (tied, tied[[0, 0, -1]] + normal((3, d)) * [[2.0**-20], [0.1], [1.0]]),
        "opposed": (opposed, 2.0**-20 * normal((3, d))),
    }
