"""The claim `clustering`: attention as interacting particles, and what they end as."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from theory.checks import InputError
from theory.memory.euclidean import euclidean_flow
from theory.memory.sphere import (
    Kind,
    smallest_inner_product,
    sphere_energy,
    sphere_flow,
    sphere_velocity,
)
from verify.claim import Run, claim, option
from verify.domains import Ball
from verify.finding import Finding, Verdict
from verify.memory.hemisphere import INTEGRATION, hemisphere_findings, uniform_tokens
from verify.memory.orthogonal_start import orthogonal_findings
from verify.memory.sphere_dynamics import EPS, euler_findings

BETAS = 0.01, 5.0  # below, E_β is all 1/(2β) and rounding; above, times grow like e^β
BOOLEAN = 1e-9  # what is taken for 0 in a row of the attention matrix on R¹
KINDS: tuple[Kind, ...] = ("SA", "USA")


@claim(
    source="[Geshkovski2023]; [GLPR2023]; [Wendel1962]; proofs in theory/memory",
    draws=True,
    faults_seen=[{"n": 4, "d": 2, "samples": 20}, {"n": 2, "d": 5, "samples": 20}],
)
def clustering(
    run: Run,
    *,
    n: Annotated[int, option("tokens", min=2)] = 6,
    d: Annotated[int, option("dimension of the tokens", min=2)] = 3,
    beta: Annotated[float, option("inverse temperature β of the attention")] = 1.0,
    samples: Annotated[int, option("sets of uniform points", min=1)] = 200,
) -> Iterator[Finding]:
    """Tokens on the sphere under attention become one cluster, slowly at large β, but not always.

    x_i' = P_i Σ_j e^{β⟨x_i, x_j⟩} x_j / Z_i (SA), 1/n in place of 1/Z_i (USA).  The energy
    (1/(2βn²)) Σ e^{β⟨x_i, x_j⟩} rises along both.  From an open hemisphere convergence is
    exponential; an antipodal pair stays.  From an orthogonal start one equation describes all inner
    products; in SA two tokens take about e^β/(2β) to meet and then approach at the rate 2, whatever
    n and β are.  One layer of a transformer with unit norm is an Euler step.
    """
    if not BETAS[0] <= beta <= BETAS[1]:
        raise InputError(f"beta is {beta:g}: give a number from {BETAS[0]:g} to {BETAS[1]:g}")
    yield from _energy_identity(run, n, d, beta)
    yield _energy_rises(run, n, d, beta)
    yield from _antipodal(run, d)
    yield from hemisphere_findings(run, n, d, beta, 40 if run.quick else samples)
    yield from orthogonal_findings(run)
    yield _leaders(run, n)
    yield _pairs_from_a_point()
    yield from euler_findings(run, uniform_tokens(run.rng, n, d), beta)
    if run.plot:
        from verify.memory.clustering_picture import draw

        draw(run.plot, run.rng)


def rational_tokens(rng: np.random.Generator, n: int, d: int) -> list[list[Any]]:
    """Points of the unit sphere with rational coordinates, by stereographic projection.

    Of numbers with six digits, so that no two of them are equal or opposite.
    """
    from flint import fmpq

    tokens = []
    for _ in range(n):
        pairs = rng.integers(1, 10**6, (d - 1, 2)) * rng.choice([-1, 1], (d - 1, 1))
        t = [fmpq(int(a), abs(int(b))) for a, b in pairs]
        square = sum((q * q for q in t), fmpq(0))
        tokens.append([*(2 * q / (square + 1) for q in t), (square - 1) / (square + 1)])
    return tokens


def _energy_identity(run: Run, n: int, d: int, beta: float) -> Iterator[Finding]:
    """dE/dt, from the power series of E(x + s·x'), against (1/n²)ΣZ_i‖x_i'‖², or (1/n)Σ‖x_i'‖²."""
    from flint import arb, arb_series

    x = rational_tokens(run.rng, n, d)
    floats = np.array([[int(q.p) / int(q.q) for q in row] for row in x])
    # A score has an error of (d + 4)·eps, times β in the exponent, relative; sums add n and d.
    relative = 4 * (2 * beta * (d + 4) + 2 * n + d + 12) * EPS * np.exp(beta)
    with Ball.precision(200):
        b, X = arb(beta), [[arb(q) for q in row] for row in x]
        for kind in KINDS:
            V, factors = _velocity(X, b, kind)
            series = sum(
                (
                    (b * arb_series([_dot(p, q), _dot(u, q) + _dot(p, v)])).exp()
                    for p, u in zip(X, V, strict=True)
                    for q, v in zip(X, V, strict=True)
                ),
                arb_series([0]),
            ) / (2 * b * n * n)
            energy, rise = series[0], series[1]
            stated = sum((z * _dot(v, v) for z, v in zip(factors, V, strict=True)), arb(0)) / n**2
            same = rise.overlaps(stated) and max(rise.rad(), stated.rad()) < 2.0**-100
            off = float(abs(arb(float(sphere_energy(floats, beta))) - energy).upper())
            velocity = sphere_velocity(floats, beta, kind)
            off = max(
                off,
                *(
                    float(abs(a - f).upper())
                    for row, given in zip(V, velocity.tolist(), strict=True)
                    for a, f in zip(row, given, strict=True)
                ),
            )
            holds = bool(same and rise > 0 and off <= relative * max(1.0, float(energy)))
            yield Finding(
                f"{kind}: dE/dt of {n} rational tokens in R^{d}",
                "enclosure",
                f"{float(rise):.6f} from the series of E; "
                f"velocity and energy in float64 off by {off:.1e}",
                f"{'(1/n²)·Σ Z_i' if kind == 'SA' else '(1/n)·Σ '}‖x_i'‖², and above 0; "
                f"{relative * max(1.0, float(energy)):.1e}",
                Verdict.of(holds),
            )


def _velocity(X: list[list[Any]], b: Any, kind: Kind) -> tuple[list[list[Any]], list[Any]]:
    """x_i' in balls, and what u_i was divided by: Z_i or n."""
    V, factors = [], []
    for row in X:
        weights = [(b * _dot(row, other)).exp() for other in X]
        factor = sum(weights) if kind == "SA" else b * 0 + len(X)
        pulled = [_dot(weights, column) / factor for column in zip(*X, strict=True)]
        along = _dot(row, pulled)
        V.append([u - along * q for u, q in zip(pulled, row, strict=True)])
        factors.append(factor)
    return V, factors


def _dot(a: Any, b: Any) -> Any:
    first, *rest = (p * q for p, q in zip(a, b, strict=True))
    return sum(rest, start=first)


def _energy_rises(run: Run, n: int, d: int, beta: float) -> Finding:
    """E at 101 times; its gradient is at most e^β/n per token, so that the error of E is known."""
    starts, times = 2 if run.quick else 8, np.linspace(0, 20, 101)
    least, gained = np.inf, []
    for kind in KINDS:
        tokens = sphere_flow(uniform_tokens(run.rng, starts, n, d), beta, times, kind).tokens
        energies = sphere_energy(tokens, beta)
        least = min(least, float(np.diff(energies, axis=0).min()))
        gained.append(float((energies[-1] - energies[0]).min()))
    slack = 2 * np.exp(beta) * INTEGRATION
    return Finding(
        f"energy along {starts} random flows of each kind",
        "float",
        f"smallest of 100 steps {least:.1e}, smallest gain {min(gained):.3f}",
        f"never falls, up to {slack:.1e}",
        Verdict.of(bool(least >= -slack and min(gained) > slack)),
    )


def _antipodal(run: Run, d: int) -> Iterator[Finding]:
    """x and −x: any weights a, b give P_x(a·x + b·(−x)) = 0, so "one cluster from every start" is
    wrong; but it is an exception, and a start 1e-6 off it is none."""
    x, y = rational_tokens(run.rng, 2, d)
    weights = run.rng.integers(1, 1000, (5, 2)).tolist()
    still = True
    for a, b in weights:
        pulled = [a * q - b * q for q in x]
        along = _dot(x, pulled)
        still = still and all(u - along * q == 0 for u, q in zip(pulled, x, strict=True))
    yield Finding(
        "an antipodal pair is stationary: not every start ends in one cluster",
        "exact",
        f"velocity {'0' if still else 'not 0'} over Q at {len(weights)} pairs of weights",
        "0",
        Verdict.of(still),
    )
    near = np.array([[int(q.p) / int(q.q) for q in row] for row in (x, y)])
    near[1] = -near[0] + 1e-6 * near[1]
    near[1] /= np.linalg.norm(near[1])
    met = float(smallest_inner_product(sphere_flow(near, 1.0, [100.0]).tokens[0]))
    yield Finding(
        "a pair 1e-6 off it, β = 1, at t = 100",
        "float",
        f"inner product {met:.9f}",
        "0.99 and more: it ends in one cluster",
        Verdict.of(met > 0.99),
    )


def _leaders(run: Run, n: int) -> Finding:
    """In R¹ with V, QK > 0, at time 14/V, when tokens have grown by 10^6.

    The order of tokens does not change, so the leaders are known at the start, and the distance of
    two tokens does not shrink: a row whose token is x picks the largest up to
    (n − 1)·e^{−QK·x·g}, g ≥ 1/n being the distance of the two largest at the start.
    """
    starts, most, off, wrong = 3 if run.quick else 10, 0, 0.0, None
    for _ in range(starts):
        x = (np.arange(n) + run.rng.uniform(-0.25, 0.25, n)) * (2 / n) - run.rng.uniform(0, 2)
        V, QK = run.rng.uniform(0.5, 2, 2)
        A = euclidean_flow(x[:, None], [14 / V], V, QK).attention[0]
        distance = 1 - A[:, [0, -1]].max(-1)
        undecided = distance > BOOLEAN
        most, off = max(most, int(undecided.sum())), max(off, float(distance[~undecided].max()))
        if undecided.sum() > 1:
            wrong = f"x = {x.tolist()}, V = {V}, QK = {QK}: {A.tolist()}"
    return Finding(
        f"R¹, V and QK above 0: the attention matrix of {n} tokens at t = 14/V, {starts} starts",
        "float",
        f"1 at the least or the largest token, up to {off:.0e}, in all rows but {most}",
        f"up to {BOOLEAN:g}, in all rows but at most one",
        Verdict.of(wrong is None),
        wrong or "",
    )


def _pairs_from_a_point() -> Finding:
    """From 1 − ⟨x_i, x⟩ ≤ ε for all i follows 1 − ⟨x_i, x_j⟩ ≤ 4ε, not ε as one proof has it.

    ‖x_i − x_j‖ ≤ 2√(2ε) gives 4.  Two tokens on either side of x at the rational angle with cosine
    c = (1 − q²)/(1 + q²) have ε = 1 − c and 1 − ⟨x_i, x_j⟩ = 2(1 − c²) = 2(1 + c)·ε: up to 4.
    """
    from flint import fmpq

    ratios = []
    for k in (1, 2, 3, 10, 1000):
        q = fmpq(1, k)
        c, s = (1 - q * q) / (1 + q * q), 2 * q / (1 + q * q)
        ratios.append((1 - (c * c - s * s)) / (1 - c))
    exact = all(r <= 4 for r in ratios) and ratios[-1] > fmpq(3999, 1000)
    return Finding(
        "from distances to the limit to distances between tokens",
        "exact",
        f"1 − ⟨x_i, x_j⟩ is {', '.join(f'{int(r.p) / int(r.q):.6g}' for r in ratios)} times ε "
        "at 5 rational pairs",
        "above 1, as printed, and at most 4",
        Verdict.of(exact),
    )
