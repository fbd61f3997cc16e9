"""Findings of `modern-hopfield` about retrieval and storage: [Ramsauer2021, Theorems 3–5]."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from flint import arb

from theory.memory.modern_hopfield import required_separation
from theory.memory.modern_hopfield import separation as separations
from theory.memory.retrieval_bounds import cluster_radius
from verify.claim import Run
from verify.domains import Ball
from verify.finding import Finding, Verdict
from verify.memory.hopfield_balls import (
    BITS,
    UNIT,
    Network,
    Vector,
    below,
    inner,
    minus,
    norm,
    shown,
)


def least_beta(X: np.ndarray, i: int) -> float:
    """The least β from which on Δ_i is at least the required separation (which then falls)."""
    N, M, delta = len(X), float(np.linalg.norm(X, axis=1).max()), float(separations(X)[i])
    low = np.e / (2 * (N - 1) * N * M**2)
    high = low
    while required_separation(N, high, M) > delta:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if required_separation(N, middle, M) <= delta else (middle, high)
    return float(high) * (1 + 2.0**-40)


def separation_and_retrieval(run: Run) -> Iterator[Finding]:
    """Separated patterns at the least β that the condition allows, and at larger ones."""
    mapped, theorems = [], {name: ([], []) for name in BOUNDS}  # type: ignore[var-annotated]
    image, steepest, widest = arb(0), arb(0), arb(0)
    sizes = (2, 3, 5) if run.quick else (2, 2, 3, 3, 5, 5, 8, 8)
    with Ball.precision(BITS):
        for N in run.progress(sizes, "separated patterns"):
            X = run.rng.standard_normal((N, 3))
            i = int(separations(X).argmax())
            edge = least_beta(X, i)
            for beta in (edge, 1.5 * edge, 4 * edge):
                network = Network(X, beta)
                x, delta = network.patterns[i], _separation(network, i)
                radius = 1 / (network.beta * N * network.M)
                required = (
                    arb(2) / N + (2 * (N - 1) * N * network.beta * network.M**2).log()
                ) / network.beta
                reach, slope = _image(network, i, radius), network.slope_on(x, radius)
                mapped += [
                    below(required, delta),
                    below(reach, radius),
                    Verdict.HOLDS if slope < 1 else Verdict.UNDECIDED,
                ]
                image = max(image, reach / radius, key=float)
                steepest = max(steepest, slope, key=float)
                # The ball is mapped into itself, so its one fixed point is where it settles.
                z = network.settled(x, arb(2) ** -200)
                error = network.fixed_point_near(z, arb(2) ** -60)
                if error is None:
                    mapped.append(Verdict.UNDECIDED)
                    continue
                widest = max(widest, error, key=float)
                for part in (0.25, 0.5, 1.0, 2.0, 8.0):
                    direction = run.rng.standard_normal(3)
                    offset = part * float(radius) * direction / np.linalg.norm(direction)
                    xi = [(u + arb(float(v))).mid() for u, v in zip(x, offset, strict=True)]
                    for name, (small, large) in _sides(network, i, delta, xi, z, error).items():
                        theorems[name][0].append(below(small, large))
                        theorems[name][1].append(float(small / large) if large > 0 else np.inf)
    yield Finding(
        f"Δ_i ≥ 2/(βN) + ln(2(N−1)NβM²)/β: the ball of radius 1/(βNM) ({len(sizes) * 3} networks)",
        "enclosure",
        f"its image reaches {shown(image)} of the radius, slope at most {shown(steepest)}; "
        f"fixed points enclosed within {shown(widest)}",
        "into itself, slope < 1: one fixed point",
        Verdict.together(mapped),
    )
    for name, (verdicts, shares) in theorems.items():
        yield Finding(
            f"{name} ({len(verdicts)} states)",
            "enclosure",
            f"at most {max(shares, default=np.nan):.1%} of the bound",
            BOUNDS[name],
            Verdict.together(verdicts),
        )


BOUNDS = {
    "Theorem 4, one update from ξ towards x*": "2βNM²(N−1)e^(−β(Δ_i − 2rM))·‖ξ − x*‖",
    "Theorem 4 with 4 in place of 2N": "4βM²(N−1)e^(−β(Δ_i − 2rM))·‖ξ − x*‖",
    "Theorem 5, even with r = ‖ξ − x_i‖": "2(N−1)M·e^(−β(Δ_i − 2rM))",
    "Lemma A4, c = ⟨ξ, x_i⟩ − max_{j≠i}⟨ξ, x_j⟩": "2(N−1)M·e^(−βc)",
}


def _sides(
    network: Network, i: int, delta: arb, xi: Vector, z: Vector, error: arb
) -> dict[str, tuple[arb, arb]]:
    """Both sides of each bound; x* lies within `error` of z."""
    N, M, beta, x = network.N, network.M, network.beta, network.patterns[i]
    image = network.update(xi)
    from_pattern = norm(minus(xi, x))
    farther = from_pattern.max(norm(minus(z, x)) + error * UNIT)
    left = norm(minus(image, z)) + error * UNIT
    start = norm(minus(xi, z)) + error * UNIT
    decay = 2 * (N - 1) * M * (-beta * (delta - 2 * M * farther)).exp()
    near = 2 * (N - 1) * M * (-beta * (delta - 2 * M * from_pattern)).exp()
    gap = min(
        (inner(xi, x) - inner(xi, y) for j, y in enumerate(network.patterns) if j != i), key=float
    )
    four, printed, five, lemma = BOUNDS
    off = norm(minus(image, x))
    return {
        four: (left, beta * N * M * decay * start),
        printed: (left, 2 * beta * M * decay * start),
        five: (off, near),
        lemma: (off, 2 * (N - 1) * M * (-beta * gap).exp()),
    }


def _separation(network: Network, i: int) -> arb:
    x = network.patterns[i]
    gaps = (inner(x, minus(x, y)) for j, y in enumerate(network.patterns) if j != i)
    return min(gaps, key=float)


def _image(network: Network, i: int, radius: arb) -> arb:
    """A bound on ‖f(ξ) − x_i‖ = ‖Σ_{j≠i} p_j(x_j − x_i)‖ over the ball about x_i."""
    x = network.patterns[i]
    p = network.weights_on(x, radius)
    others = [minus(y, x) for y in network.patterns]
    return norm(inner(p, column) for column in zip(*others, strict=True)).abs_upper()


def small_beta() -> Finding:
    """Patterns 1 and −1 at β = 1/20: the condition holds, and both balls hold the same point, 0."""
    X = np.array([[1.0], [-1.0]])
    with Ball.precision(BITS):
        network = Network(X, 0.0625)
        radius = 1 / (2 * network.beta)
        required = (1 + (4 * network.beta).log()) / network.beta
        verdicts = [
            below(required, _separation(network, 0)),
            below(_image(network, 0, radius), radius),
            Verdict.of(network.slope_on(network.patterns[0], radius) < 1),
            Verdict.of(bool(radius > 2)),
            Verdict.of(network.update([arb(0)])[0].contains(0)),
        ]
        return Finding(
            "the condition alone does not separate: patterns 1, −1 at β = 1/16",
            "enclosure",
            f"Δ = 2 ≥ {float(required):.2f}, but the balls of radius {float(radius):g} hold both "
            "patterns and share the fixed point 0",
            "disjoint only if also 2(N−1)NβM² > 1",
            Verdict.together(verdicts),
        )


def two_clusters(rng: np.random.Generator, d: int = 3) -> np.ndarray:
    """Three patterns about 2e₁ and three about −2e₁, within 0.2."""
    offsets = rng.standard_normal((6, d))
    offsets *= 0.2 * rng.uniform(0.3, 1, (6, 1)) / np.linalg.norm(offsets, axis=1, keepdims=True)
    X = np.array(offsets)
    X[:, 0] += np.repeat([2.0, -2.0], 3)
    return X


def regimes(run: Run) -> Finding:
    """The three regimes of two clusters: the fixed point, and the derived bound on its distance.

    The lemma of `theory.memory.retrieval_bounds.cluster_radius` is run again in balls, and the
    fixed point is enclosed apart from it.
    """
    X, verdicts, told = two_clusters(run.rng), [], []
    best = int(separations(X).argmax())
    settings = {
        "global average": (list(range(6)), 0.01),
        "metastable": (list(range(3)), 2.0),
        "single pattern": ([best], 2 * least_beta(X, best)),
    }
    with Ball.precision(BITS):
        for name, (cluster, beta) in settings.items():
            network = Network(X, beta)
            radius = cluster_radius(X, cluster, beta) * (1 + 2.0**-30)
            inside = [network.patterns[k] for k in cluster]
            m = [sum(column, arb(0)) / len(cluster) for column in zip(*inside, strict=True)]
            verdicts.append(below(_cluster_map(network, cluster, m, arb(radius)), arb(radius)))
            z = network.settled(m, arb(2) ** -150)
            error = network.fixed_point_near(z, arb(2) ** -40)
            distance = norm(minus(z, m)) + (error if error is not None else arb("nan"))
            verdicts.append(below(distance, arb(radius)))
            told.append(f"{name} (β = {beta:.3g}): {shown(distance)} ≤ {radius:.3g}")
    return Finding(
        "three regimes: distance of the fixed point from the cluster's mean",
        "enclosure",
        "; ".join(told),
        "the derived radius",
        Verdict.together(verdicts),
    )


def _cluster_map(network: Network, cluster: list[int], m: Vector, r: arb) -> arb:
    """The lemma's g(r): a bound on ‖f(ξ) − m‖ for ‖ξ − m‖ ≤ r."""
    inside = [network.patterns[k] for k in cluster]
    others = [x for j, x in enumerate(network.patterns) if j not in cluster]
    spread = max((norm(minus(x, m)).abs_upper() for x in inside), key=float)
    image = network.beta * spread * spread * (norm(m) + r)
    if others:
        away = max((norm(minus(x, m)).abs_upper() for x in others), key=float)
        gap = min((inner(m, minus(m, x)) for x in others), key=float)
        share = arb(len(others)) / len(inside) * (-network.beta * (gap - r * away)).exp()
        image += (away + spread) * share
    return image
