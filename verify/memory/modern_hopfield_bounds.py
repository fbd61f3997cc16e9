"""Findings of `modern-hopfield` on retrieval and storage: [Ramsauer2021, Theorems 3–5]."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from flint import arb

from theory.balls import UNIT, exactly, minus, norm
from theory.memory.hopfield_balls import ModernNetwork, Vector
from theory.memory.hopfield_balls import required_separation as required_in_balls
from theory.memory.modern_hopfield import basin_radius, required_separation
from theory.memory.modern_hopfield import separation as separations
from theory.memory.retrieval_bounds import (
    cluster_radius,
    contraction_bound,
    gap_error_bound,
    least_beta,
    retrieval_error_bound,
)
from verify.claim import Run
from verify.domains import Ball
from verify.evidence.enclosure import BITS, all_hold, below
from verify.evidence.rounding import UNIT_ROUNDOFF
from verify.finding import Finding, Verdict, rounded_up, within_bounds

Compared = tuple[arb, Any, float]  # enclosed value, value in float64, bound on their distance


BOUNDS = {
    "theorem-4": "the inequality ‖f(ξ) − x*‖ ≤ 2βNM²(N−1)e^(−β(Δ_i − 2rM))·‖ξ − x*‖ with "
    "r = max{‖ξ − x_i‖, ‖x* − x_i‖} of [Ramsauer2021, Theorem 4]",
    "theorem-4-sharper": "the inequality of [Ramsauer2021, Theorem 4] with the factor 4 in place "
    "of 2N",
    "theorem-5": "the inequality ‖f(ξ) − x_i‖ ≤ 2(N−1)M·e^(−β(Δ_i − 2rM)) with r = ‖ξ − x_i‖ of "
    "[Ramsauer2021, Theorem 5]",
    "lemma-A4": "the inequality ‖f(ξ) − x_i‖ ≤ 2(N−1)M·e^(−βc) with "
    "c = ⟨ξ, x_i⟩ − max_{j≠i}⟨ξ, x_j⟩ of [Ramsauer2021, Lemma A4]",
}


def separation_and_retrieval(run: Run) -> Iterator[Finding]:
    """Findings on fixed points and retrieval errors if the patterns are separated."""
    mapped, seen, library = [], [(0.0, 0.0, 0.0)], []
    sides: dict[str, list[tuple[arb, arb]]] = {id: [] for id in BOUNDS}
    sizes = (2, 3, 5) if run.quick else (2, 2, 3, 3, 5, 5, 8, 8)
    with Ball.precision(BITS):
        for N in run.progress(sizes, "separated patterns"):
            X = run.rng.standard_normal((N, 3))
            i = int(separations(X).argmax())
            edge = least_beta(X, i)
            for beta in (edge, 1.5 * edge, 4 * edge):
                network = ModernNetwork(X, beta)
                x, radius = network.patterns[i], 1 / (network.beta * N * network.M)
                reach, slope = network.image(i, radius), network.slope_on(x, radius)
                required = required_in_balls(N, network.beta, network.M**2)
                library += _library_sizes(X, i, network)
                mapped += [
                    below(required, network.gap(network.patterns[i], i)),
                    _is_least(X, i, edge),
                    below(reach, radius),
                    Verdict.HOLDS if slope < 1 else Verdict.UNDECIDED,
                ]
                # The ball is mapped into itself, so the iteration converges to the unique fixed
                # point in the ball.
                z = network.settled(x, arb(2) ** -200)
                error = network.fixed_point_near(z, arb(2) ** -60)
                if error is None:
                    mapped.append(Verdict.UNDECIDED)
                    continue
                seen.append((float(reach / radius), float(slope), float(error)))
                for part in (0.25, 0.5, 1.0, 2.0, 8.0):
                    direction = run.rng.standard_normal(3)
                    offset = part * float(radius) * direction / np.linalg.norm(direction)
                    xi = [(u + v).mid() for u, v in zip(x, exactly(offset), strict=True)]
                    for id, pair in _sides(network, i, xi, z, error).items():
                        sides[id].append(pair)
                    library += _library_bounds(X, i, network, xi, z)
    image, steepest, widest = (rounded_up(max(each), 3) for each in zip(*seen, strict=True))
    name = (
        "number of fixed points within 1/(βNM) of a pattern with the separation "
        f"Δ_i ≥ 2/(βN) + ln(2(N−1)NβM²)/β ({len(sizes) * 3} networks)"
    )
    words = (
        f"exactly one, as the update maps this ball into a ball of {image:.3g} times the radius, "
        f"and ‖Jacobian‖ ≤ {steepest:.3g} < 1; the fixed points are enclosed within {widest:.3g}"
    )
    yield all_hold("separation", name, mapped, words=words)
    fraction = float(
        np.max([float(abs(a - float(b)).upper()) / allowed for a, b, allowed in library])
    )
    name = (
        "float64 errors of separation, required separation, radius and retrieval bounds in "
        f"theory.memory, as fractions of their bounds ({len(library)} values)"
    )
    words, wanted = f"at most {fraction:.1%}", "at most 100%"
    yield within_bounds("bound/library", name, "float", fraction, words=words, wanted=wanted)
    for id, name in BOUNDS.items():
        fractions = [float((a / b).upper()) if b > 0 else np.inf for a, b in sides[id]]
        fraction, name = max(fractions, default=np.nan), f"{name} ({len(fractions)} states)"
        verdict = Verdict.together(below(a, b) for a, b in sides[id])
        words, wanted = f"the left side is at most {fraction:.1%} of the right side", "at most 100%"
        yield Finding(f"bound/{id}", name, "enclosure", fraction, 1.0, verdict, words, wanted)


def _is_least(X: np.ndarray, i: int, beta: float) -> Verdict:
    """Whether pattern i is not separated enough at β(1 − 2^−20).

    This is not required if the required separation does not decrease at this β.
    """
    N = len(X)
    network = ModernNetwork(X, beta * (1 - 2.0**-20))
    M_squared = network.M**2
    if network.beta * (2 * (N - 1) * N) * M_squared < arb(1).exp():
        return Verdict.HOLDS
    return below(network.gap(network.patterns[i], i), required_in_balls(N, network.beta, M_squared))


def _sides(
    network: ModernNetwork, i: int, xi: Vector, z: Vector, error: arb
) -> dict[str, tuple[arb, arb]]:
    """The two sides of each bound; x* lies within `error` of z."""
    N, M, beta, x = network.N, network.M, network.beta, network.patterns[i]
    image, delta = network.update(xi), network.gap(network.patterns[i], i)
    near, off = norm(minus(xi, x)), norm(minus(image, x))
    farther = near.max(norm(minus(z, x)) + error * UNIT)
    left, start = (norm(minus(at, z)) + error * UNIT for at in (image, xi))
    gap = network.gap(xi, i)

    decay = network.leak(delta - 2 * M * farther)
    return {
        "theorem-4": (left, beta * N * M * decay * start),
        "theorem-4-sharper": (left, 2 * beta * M * decay * start),
        "theorem-5": (off, network.leak(delta - 2 * M * near)),
        "lemma-A4": (off, network.leak(gap)),
    }


def _library_sizes(X: np.ndarray, i: int, network: ModernNetwork) -> list[Compared]:
    """Δ_i, required separation and radius: enclosed, in float64, and a bound on the distance.

    Δ_i is a difference of two inner products.  The required separation is a sum of terms whose
    absolute values add up to `terms`."""
    (N, d), M, beta = X.shape, float(network.M), float(network.beta)
    stated = required_in_balls(N, network.beta, network.M**2)
    terms = 2 / N + sum(abs(np.log(u)) for u in (2 * (N - 1), N, beta, M * M))
    radius = 1 / (network.beta * N * network.M)
    return [
        (
            network.gap(network.patterns[i], i),
            separations(X)[i],
            2 * (d + 2) * UNIT_ROUNDOFF * M**2,
        ),
        (stated, required_separation(N, beta, M), 16 * UNIT_ROUNDOFF * terms / beta),
        (radius, basin_radius(N, beta, M), 8 * UNIT_ROUNDOFF * float(radius)),
    ]


def _library_bounds(
    X: np.ndarray, i: int, network: ModernNetwork, xi: Vector, z: Vector
) -> list[Compared]:
    """The three bounds; exponents are sums of terms of total `size`, each rounded a few times."""
    N, M, beta, x = network.N, network.M, network.beta, network.patterns[i]
    delta = network.gap(network.patterns[i], i)
    near, far = norm(minus(xi, x)), norm(minus(z, x)).max(norm(minus(xi, x)))
    gap = network.gap(xi, i)
    numbers = N, float(beta), float(M)
    found = []
    for stated, made, size in (
        (network.leak(gap), gap_error_bound(*numbers, float(gap)), abs(gap)),
        (
            network.leak(delta - 2 * M * near),
            retrieval_error_bound(*numbers, float(delta), float(near)),
            abs(delta) + 2 * M * near,
        ),
        (
            beta * N * M * network.leak(delta - 2 * M * far),
            contraction_bound(*numbers, float(delta), float(far)),
            abs(delta) + 2 * M * far,
        ),
    ):
        relative = 8 * UNIT_ROUNDOFF * (2 + float(beta * size))
        found.append((stated, made, relative * float(stated)))
    return found


def small_beta() -> Finding:
    """The finding that the separated patterns 1 and −1 share a fixed point at β = 1/16."""
    with Ball.precision(BITS):
        network = ModernNetwork(np.array([[1.0], [-1.0]]), 0.0625)
        radius, required = 1 / (2 * network.beta), required_in_balls(2, network.beta, arb(1))
        zero = network.update([arb(0)])[0]
        verdicts = [
            below(required, network.gap(network.patterns[0], 0)),
            below(network.image(0, radius), radius),
            Verdict.of(network.slope_on(network.patterns[0], radius) < 1),
            Verdict.of(bool(radius > 2 and zero.contains(0))),
        ]
    name = "separation Δ of the patterns 1 and −1, which share a fixed point at β = 1/16"
    balls = (
        f"the balls of radius {float(radius):g} contain both patterns and share the fixed point 0"
    )
    words = f"Δ = 2 is above the required separation {float(required):.2f}, but {balls}"
    wanted = "balls that are not disjoint, as 2(N−1)NβM² ≤ 1"
    return all_hold("separation/small-beta", name, verdicts, words=words, wanted=wanted)


def two_clusters(rng: np.random.Generator, d: int = 3) -> np.ndarray:
    """Six patterns in R^d, of which three are within 0.2 of 2e₁, and three within 0.2 of −2e₁."""
    offsets = rng.standard_normal((6, d))
    offsets *= 0.2 * rng.uniform(0.3, 1, (6, 1)) / np.linalg.norm(offsets, axis=1, keepdims=True)
    offsets[:, 0] += np.repeat([2.0, -2.0], 3)
    return offsets


def regimes(run: Run) -> Iterator[Finding]:
    """Findings on the three regimes of retrieval, for patterns in two clusters."""
    X = two_clusters(run.rng)
    best = int(separations(X).argmax())
    yield _regime("global average", X, [0, 1, 2, 3, 4, 5], 0.01)
    yield _regime("metastable", X, [0, 1, 2], 2.0)
    yield _regime("single pattern", X, [best], 2 * least_beta(X, best))


def _regime(name: str, X: np.ndarray, cluster: list[int], beta: float) -> Finding:
    """The distance of a cluster's fixed point from the cluster's mean is within the derived bound.

    The bound of `theory.memory.retrieval_bounds.cluster_radius` is recomputed in balls, and the
    fixed point is enclosed independently.
    """
    with Ball.precision(BITS):
        network = ModernNetwork(X, beta)
        radius = arb(cluster_radius(X, cluster, beta))
        m = [sum(column) / len(cluster) for column in zip(*exactly(X[cluster]), strict=True)]
        z = network.settled(m, arb(2) ** -150)
        error = network.fixed_point_near(z, arb(2) ** -40)
        distance = norm(minus(z, m)) + (error if error is not None else arb("nan"))
        smaller = radius * (1 - arb(2) ** -20)
        verdicts = (
            below(network.cluster_map(cluster, m, radius), radius),
            below(distance, radius),
            below(smaller, network.cluster_map(cluster, m, smaller)),
        )
    words = f"{float(distance):.3g} ≤ {float(radius):.3g}, the derived radius"
    id = f"regime/{name.replace(' ', '-')}"
    of = {6: "all patterns", 3: "three patterns", 1: "a pattern"}[len(cluster)]
    what = "from a pattern" if len(cluster) == 1 else f"from the mean of {of}"
    name = f"distance of the fixed point {what}, in the regime {name}, β = {beta:.3g}"
    return all_hold(id, name, verdicts, words=words)
