"""The claim `clustering`: attention as interacting particles, and where they converge."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Annotated

import numpy as np
from flint import arb, arb_series

from theory.balls import inner
from theory.kinds import InputError
from theory.memory.euclidean import euclidean_flow
from theory.memory.sphere import (
    INTEGRATION,
    SPHERE_FORMS,
    SphereForm,
    smallest_inner_product,
    sphere_energy,
    sphere_flow,
    sphere_velocity,
    uniform_tokens,
)
from theory.memory.sphere_balls import rational_tokens, tangential, velocity
from verify.claim import Run, claim, option
from verify.domains import Ball
from verify.evidence.enclosure import all_hold, apart, same
from verify.evidence.rounding import UNIT_ROUNDOFF
from verify.finding import Finding, Verdict, at_least, at_most, labelled, no_counterexample
from verify.memory.hemisphere import hemisphere_findings
from verify.memory.orthogonal_start import orthogonal_findings
from verify.memory.sphere_dynamics import euler_findings

BETAS = 0.01, 5.0  # for smaller β, E_β is 1/(2β) up to rounding; for larger β, times grow like e^β
BOOLEAN = 1e-9  # entries of the attention matrix on R¹ below this value count as 0
Points = list[list[arb]]


@claim(
    picture="verify.memory.clustering_picture:draw",
    faults_seen=[{"n": 4, "d": 2, "samples": 40}, {"n": 2, "d": 5, "samples": 40}],
)
def clustering(
    run: Run,
    *,
    n: Annotated[int, option("number of tokens", min=2, max=1000)] = 6,
    d: Annotated[int, option("dimension of the tokens", min=2, max=1000)] = 3,
    beta: Annotated[
        float,
        option(f"inverse temperature β of the attention, from {BETAS[0]:g} to {BETAS[1]:g}"),
    ] = 1.0,
    samples: Annotated[int, option("number of sets of uniform points", min=1, max=10**5)] = 200,
) -> Iterator[Finding]:
    """Under attention, tokens on the sphere that start in one open hemisphere converge to one
    point.

    In the flow of softmax attention (SA), n tokens x_i on the unit sphere move with velocities x_i'
    = P_i Σ_j e^{β⟨x_i, x_j⟩} x_j / Z_i. P_i is the projection onto the tangent space of the sphere
    at x_i, and Z_i = Σ_j e^{β⟨x_i, x_j⟩}. In the flow of unnormalised attention (USA), Z_i is
    replaced by n. The energy (1/(2βn²)) Σ_{ij} e^{β⟨x_i, x_j⟩} increases along both flows. If all
    tokens start in one open hemisphere, they converge to one point exponentially fast. Two
    antipodal tokens do not move. If the tokens start pairwise orthogonal, all pairs have the same
    inner product at every time. This inner product satisfies a scalar differential equation. In SA
    two orthogonal tokens need a time (1 + o(1))·e^β/(2β), as β → ∞, to reach a fixed inner product
    in (0, 1). In SA the gap 1 − ⟨x_i, x_j⟩ of n tokens that start orthogonal decays exponentially,
    at a rate that tends to 2 as the time tends to infinity, for all n and β. One layer of a
    transformer with a residual stream of unit norm is an Euler step of SA.
    """
    if not BETAS[0] <= beta <= BETAS[1]:
        raise InputError(f"beta is {beta}: give a beta from {BETAS[0]:g} to {BETAS[1]:g}")
    for form in SPHERE_FORMS:
        yield from labelled(form, _energy_identity(run, n, d, beta, form))
    yield _energy_rises(run, n, d, beta)
    yield from _antipodal(run, d)
    samples = run.limited(40, samples=samples)
    yield from labelled("hemisphere", hemisphere_findings(run, n, d, beta, samples))
    yield from labelled("orthogonal start", orthogonal_findings(run))
    yield _leaders(run, n)
    yield from labelled("Euler", euler_findings(run, uniform_tokens(run.rng, n, d), beta))
    run.draw(run.rng)


def _energy_identity(run: Run, n: int, d: int, beta: float, form: SphereForm) -> Iterator[Finding]:
    """dE/dt of rational tokens, from the power series of E(x + s·x'), equals the formula in x'."""
    tokens = rational_tokens(run.rng, n, d)
    with Ball.precision(200):
        X = [[arb(q) for q in row] for row in tokens]
        V, Z = velocity(X, arb(beta), form)
        energy, rise = _energy_along(X, V, arb(beta))
        stated = inner(Z, [inner(v, v) for v in V]) / n**2
        verdicts = [same(rise, stated), Verdict.of(rise > 0)]
        x = np.array(tokens, dtype=float)
        in_floats = [*sphere_velocity(x, beta, form).tolist(), [float(sphere_energy(x, beta))]]
        off = apart([*V, [energy]], in_floats)
    formula = "(1/n)·Σ_i ‖x_i'‖²"
    if form == "SA":
        formula = "(1/n²)·Σ_i Z_i‖x_i'‖² with Z_i = Σ_j e^(β⟨x_i, x_j⟩)"
    name = f"derivative dE/dt of the energy E against {formula}, for {n} rational tokens in R^{d}"
    words = f"both are {float(rise):.6f}; dE/dt is a coefficient of the power series of E"
    yield all_hold("energy/rate", name, verdicts, words=words)
    # Scores have errors of (d + 4)·eps, and exponentials have relative errors of β(d + 4)·eps; the
    # sums contribute n·eps and d·eps.
    relative = 4 * (2 * beta * (d + 4) + 2 * n + d + 12) * UNIT_ROUNDOFF * np.exp(beta)
    bound = float(relative * max(1.0, float(energy)))
    name = "largest float64 error of the velocities and of the energy"
    yield at_most("energy/float", name, "float", off, bound)


def _energy_along(X: Points, V: Points, b: arb) -> tuple[arb, arb]:
    """The coefficients of 1 and s in the series of E = (1/(2βn²)) Σ e^{β⟨x_i, x_j⟩} at x + s·v."""
    moving = list(zip(X, V, strict=True))
    scores = (
        arb_series([inner(p, q), inner(u, q) + inner(p, v)])
        for (p, u), (q, v) in product(moving, repeat=2)
    )
    series = sum(((b * score).exp() for score in scores), arb_series([0])) / (2 * b * len(X) ** 2)
    return series[0], series[1]


def _energy_rises(run: Run, n: int, d: int, beta: float) -> Finding:
    """E increases between 101 times along flows; its gradient (≤ e^β/n per token) bounds errors."""
    starts, times = 2 if run.quick else 8, np.linspace(0, 20, 101)
    steps, gains = [], []
    for form in SPHERE_FORMS:
        tokens = sphere_flow(uniform_tokens(run.rng, starts, n, d), beta, times, form).tokens
        energies = sphere_energy(tokens, beta)
        steps.append(np.diff(energies, axis=0).min())
        gains.append((energies[-1] - energies[0]).min())
    least, gain = float(np.min(steps)), float(np.min(gains))
    slack = float(2 * np.exp(beta) * INTEGRATION)
    measured = {"smallest step": least, "smallest gain": gain}
    bound = {"smallest step": -slack, "smallest gain": slack}
    verdict = Verdict.together(
        at_least(key, key, "float", value, bound[key]).verdict for key, value in measured.items()
    )
    words = f"at least {least:.1e} in a step, and at least {gain:.3f} in a flow"
    wanted = f"at least −{slack:.1e} in every step, and at least {slack:.1e} in every flow"
    name = (
        f"increase of the energy along {starts} random flows of self-attention "
        f"(SA) and {starts} of unnormalised attention (USA), each of "
        "100 steps"
    )
    return Finding("energy/rises", name, "float", measured, bound, verdict, words, wanted)


def _antipodal(run: Run, d: int) -> Iterator[Finding]:
    """An antipodal pair is stationary: P_x(a·x + b·(−x)) = 0 for all weights a, b.

    So "one cluster from every start" is false.  From a start at distance 1e-6 the tokens cluster.
    """
    x, y = rational_tokens(run.rng, 2, d)
    weights = run.rng.integers(1, 1000, (5, 2)).tolist()
    moved = [tangential(x, [(a - b) * q for q in x]) for a, b in weights]
    wrong = (f"x moves by {v}" for v in moved if any(v))
    name = "velocity of two antipodal tokens, which do not converge to one point"
    words = f"exactly 0 for {len(weights)} pairs of attention weights"
    yield no_counterexample("antipodal/stationary", name, wrong, words=words)
    near = np.array([x, y], dtype=float)
    near[1] = -near[0] + 1e-6 * near[1]
    near[1] /= np.linalg.norm(near[1])
    met = float(smallest_inner_product(sphere_flow(near, 1.0, [100.0]).tokens[0]))
    name = "inner product at t = 100 of two nearly antipodal tokens (distance 1e-6), β = 1"
    yield at_least("antipodal/near", name, "float", met, 0.99)


def _leaders(run: Run, n: int) -> Finding:
    """The attention matrix in R¹ with V, QK > 0 at time 14/V, when tokens are 10^6 times longer.

    The order of tokens does not change, so the leaders are the initial ones, and the distance of
    two tokens does not decrease.  So the row of a token x > 0 has weight 1 at the largest token up
    to (n − 1)·e^{−QK·x·g}, with g ≥ 1/n the initial distance of the two largest tokens.
    """
    starts, rows, off = 3 if run.quick else 10, [], []
    for _ in range(starts):
        x = (np.arange(n) + run.rng.uniform(-0.25, 0.25, n)) * (2 / n) - run.rng.uniform(0, 2)
        V, QK = run.rng.uniform(0.5, 2, 2)
        A = euclidean_flow(x[:, None], [14 / V], V, QK).attention[0]
        distance = 1 - A[:, [0, -1]].max(-1)
        undecided = distance > BOOLEAN
        rows.append((int(undecided.sum()), f"x = {x.tolist()}, V = {V}, QK = {QK}: {A.tolist()}"))
        off.append(distance[~undecided].max(initial=0.0) if np.isfinite(A).all() else np.nan)
    most, where = max(rows) if np.isfinite(off).all() else (np.nan, "the attention is NaN")
    name = (
        f"number of rows of the attention matrix of {n} tokens in R, with V > 0 and QK > 0, that "
        f"do not select the smallest or the largest token at t = 14/V ({starts} starts)"
    )
    words = f"at most {most}; in all other rows the weight of one of these two tokens is 1 within "
    words += f"{np.max(off):.0e}"
    wanted = "at most 1 row"
    return at_most("leaders", name, "float", most, 1, words=words, wanted=wanted, detail=where)
