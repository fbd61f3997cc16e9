"""Findings on tokens that start orthogonal: the scalar equation, its late rate, its slow phase."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from flint import arb, fmpq

from theory.memory.orthogonal_start import escape_time, orthogonal_gap, orthogonal_start
from theory.memory.sphere import INTEGRATION, SPHERE_FORMS, sphere_flow
from theory.memory.sphere_balls import escape_ratio_bounds, escape_time_ball
from verify.claim import Run
from verify.domains import Ball
from verify.evidence.enclosure import all_hold, below, interval
from verify.finding import Finding, Verdict, at_most, within_bounds

AGREEMENT = 1e-8  # largest distance of inner products of n tokens from the scalar equation
# β: (time from another program, half its last unit)
KNOWN_TIMES = {4.0: (9.67, 0.005), 9.0: (465.5, 0.05)}


def orthogonal_findings(run: Run) -> Iterator[Finding]:
    """Findings on tokens that start orthogonal, and the scalar equation for their inner product."""
    yield all_tokens(run)
    yield tanh()
    yield late_rate(run.quick)
    yield from slow_phase()
    yield _asymptotic_time()


def all_tokens(run: Run) -> Finding:
    """The finding that `orthogonal_start` is the inner product of any two of n tokens."""
    sizes = ((2, 4.0), (5, 1.0), (8, 2.0), (3, 0.0))[: 1 if run.quick else 4]
    errors, cases = [], []
    for (n, beta), form in product(sizes, SPHERE_FORMS):
        # USA is faster by a factor of at least e^β/n.
        end = 1.2 * escape_time(beta, n, 0.999, form, digits=15)
        times = np.linspace(0, end, 25)
        basis, _ = np.linalg.qr(run.rng.standard_normal((n, n)))
        tokens = sphere_flow(basis, beta, times, form).tokens
        products = (tokens @ tokens.swapaxes(-1, -2))[:, ~np.eye(n, dtype=bool)]
        errors.append(abs(products - orthogonal_start(n, beta, times, form)[:, None]).max())
        cases.append(f"n = {n}, β = {beta:g}, {form}")
    worst, where = float(np.max(errors)), cases[int(np.argmax(errors))]
    name = (
        "distance of the inner products of n tokens from the solution γ(t) of the scalar equation "
        f"({2 * len(sizes)} cases)"
    )
    words = f"at most {worst:.1e}, attained for {where}"
    return at_most("equation", name, "float", worst, AGREEMENT, words=words)


def tanh() -> Finding:
    """The finding that two tokens that start orthogonal have the inner product tanh t at β = 0."""
    times = np.linspace(0, 10, 101)
    computed = np.array([orthogonal_start(2, 0.0, times, form) for form in SPHERE_FORMS])
    error = float(abs(computed - np.tanh(times)).max())
    name = "distance of γ(t) from tanh t for n = 2 tokens and β = 0"
    return at_most("tanh", name, "float", error, 1e-10)


def late_rate(quick: bool) -> Finding:
    """The finding that the mean rate −(ln(1 − γ))' over an interval is in [2 − Cδ, 2].

    γ is the inner product of n tokens that start orthogonal and move under softmax attention (SA)
    at inverse temperature β. For an interval of times, δ is the value of 1 − γ at the start of the
    interval, and C = (2/n)(n − 1 + βe^{βδ}). The proof is in theory/memory/orthogonal_start.py.
    """
    cases = [(2, 4.0), (16, 1.0)] if quick else list(product((2, 5, 16), (0.0, 1.0, 4.0)))
    least, last, fractions = [], [], []
    for n, beta in cases:
        times = escape_time(beta, n, digits=15) + np.linspace(0, 8, 17)
        gap = orthogonal_gap(n, beta, times)
        rate = -np.diff(np.log(gap)) / np.diff(times)
        slack = 2 * INTEGRATION / np.diff(times)
        below = (2 / n) * (n - 1 + beta * np.exp(beta * gap[:-1])) * gap[:-1]
        fractions += [(2 - rate) / (below + slack), (rate - 2) / slack]
        guaranteed = orthogonal_start(n, beta, [1 / n])[0] / (2 * n * np.exp(2 * beta))
        least.append((rate / guaranteed).min())
        last.append(rate[-1])
    name = (
        "difference 2 − r ≥ 0 for the decay rate r = −(ln δ)' of δ = 1 − γ in "
        "self-attention, as a fraction of "
        "its bound (2/n)(n − 1 + β·e^(βδ))·δ"
    )
    fraction, above = (
        float(np.max(fractions)),
        f"{np.min(least):.0f} times the guaranteed rate γ(1/n)/(2n·e^(2β))",
    )
    bounded = f"r is at least {above}, and at least {np.min(last):.9f} at the last time"
    words = f"at most {fraction:.0%}; {bounded}"
    wanted = "at most 100%"
    return within_bounds("late-rate", name, "float", fraction, words=words, wanted=wanted)


def slow_phase() -> Iterator[Finding]:
    """Findings on the time at which two tokens that start orthogonal have the inner product .99."""
    for beta, (known, half_digit) in KNOWN_TIMES.items():
        computed = escape_time(beta)
        with Ball.precision(128):
            time = escape_time_ball(beta, arb(fmpq(99, 100)))
            # The library computes with 30 digits, but its .99 is a float64; at this γ the slope
            # 1/γ' of the time is below 60.
            near = below(abs(time - computed), 2.0**-52 * (60 + time))
            as_known = below(abs(time - known), arb(half_digit))
        verdict = Verdict.together([near, as_known])
        id = f"slow-phase/{beta:g}"
        name = (
            "time at which two tokens have the inner product .99 in self-attention "
            f"with β = {beta:g}"
        )
        words = f"{computed:.4f}, by an enclosure"
        wanted = f"{known:g} ± {half_digit:g}, by a numerical solution in another program"
        yield Finding(id, name, "enclosure", interval(time), known, verdict, words, wanted)


def _asymptotic_time() -> Finding:
    """t·2β/e^β satisfies its bounds, so it tends to 1."""
    betas, verdicts, ratios = (4.0, 9.0, 16.0, 30.0, 100.0, 1000.0), [], []
    for beta in betas:
        with Ball.precision(256):
            gamma, b = arb(fmpq(99, 100)), arb(beta)
            ratio = escape_time_ball(beta, gamma) * 2 * b * (-b).exp()
            low, high = escape_ratio_bounds(b, gamma)
            verdicts += [below(low, ratio), below(ratio, high)]
            verdicts.append(Verdict.of(ratio.rad() < 2.0**-60))
            ratios.append(f"{float(ratio):.6f}")
    id, words = "slow-phase/asymptotic", ", ".join(ratios)
    values = ", ".join(f"{beta:g}" for beta in betas)
    name = (
        "time at which two tokens have the inner product γ = .99 in "
        "self-attention, divided by e^β/(2β), for "
        f"β = {values}"
    )
    wanted = "from 1 − e^(−βγ) to 1 + 8/(3β²) + β(e^(−β/2) + e^(−β))·artanh γ, which tend to 1"
    return all_hold(id, name, verdicts, words=words, wanted=wanted)
