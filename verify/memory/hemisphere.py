"""Findings on open hemispheres: the probability of a start in a hemisphere, and the later rate."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np

from theory.memory.capacity import clopper_pearson
from theory.memory.hemisphere import (
    cone_diameter,
    hemisphere_pole,
    hemisphere_probability,
    hemisphere_rate,
    in_open_hemisphere,
    patterns_in_a_hemisphere,
)
from theory.memory.sphere import (
    INTEGRATION,
    SPHERE_FORMS,
    smallest_inner_product,
    sphere_flow,
    uniform_tokens,
)
from verify.claim import Run
from verify.finding import Finding, as_stated, at_most, no_counterexample, within_bounds
from verify.memory.probabilities import FALSE_ALARM, covers, mostly


def hemisphere_findings(run: Run, n: int, d: int, beta: float, samples: int) -> Iterator[Finding]:
    """Findings on Wendel's formula, and on rates of convergence from an open hemisphere."""
    yield wendel_counted(run.quick)
    yield wendel_sampled(run, n, d, samples)
    yield _exponential(run, n, d, beta)
    yield _late_rate(run, n, d, beta)
    yield _one_cluster(run, n)


def wendel_counted(quick: bool) -> Finding:
    """The finding that Wendel's formula equals the counted fraction of sign vectors.

    For n points x_i in general position, such as (1, t, t², …) for n numbers t, Wendel's formula
    gives the fraction of vectors ε in {−1, 1}^n for which all ε_i x_i lie in an open hemisphere.
    """
    most_n, most_d = (5, 3) if quick else (7, 4)
    sizes = [(n, d) for d in range(1, most_d + 1) for n in range(d, most_n + 1)]
    counted = [(n, 2, Fraction(n, 2 ** (n - 1))) for n in range(1, 60)]  # on the circle
    for n, d in sizes:
        x = np.array([[t**k for k in range(d)] for t in range(-2, n - 2)])
        counted.append((n, d, Fraction(patterns_in_a_hemisphere(x), 2**n)))
    wrong = (
        f"n = {n}, d = {d}: {fraction}, {hemisphere_probability(n, d)}"
        for n, d, fraction in counted
        if fraction != hemisphere_probability(n, d)
    )
    name = (
        f"Wendel's probability against the fraction of sign vectors counted for {len(sizes)} sets "
        "of points, and against n/2^(n−1) on the circle"
    )
    return no_counterexample("wendel/counted", name, wrong, words="all probabilities are equal")


def wendel_sampled(run: Run, n: int, d: int, samples: int) -> Finding:
    """The finding that Wendel's formula agrees with random samples of n points."""
    count = int(in_open_hemisphere(uniform_tokens(run.rng, samples, n, d)).sum())
    low, high = clopper_pearson(count, samples, 1 - FALSE_ALARM)
    wanted = hemisphere_probability(n, d)
    name = f"probability that {n} uniform points of the sphere in R^{d} lie in an open hemisphere"
    words = (
        f"{count} of {samples} samples, with the confidence interval {low:.3f} to {high:.3f} at "
        f"level 1 − {FALSE_ALARM:.0e}"
    )
    stated = f"Wendel's probability {float(wanted):.4g} lies in the interval"
    return covers("wendel/sampled", name, (low, high), float(wanted), words=words, wanted=stated)


def _in_hemisphere(run: Run, n: int, d: int) -> np.ndarray:
    """Uniform points of the hemisphere around the first axis."""
    X = uniform_tokens(run.rng, n, d)
    return X * np.where(X[:, :1] < 0, -1.0, 1.0)


def _exponential(run: Run, n: int, d: int, beta: float) -> Finding:
    """D(t) ≤ D(0)·e^{−λt} holds for random Q and K (proof: theory/memory/hemisphere.py)."""
    fractions, rates, computed, stated = [], [], list[float](), list[float]()
    for form in SPHERE_FORMS:
        Q, K = run.rng.standard_normal((2, d, d)) / np.sqrt(d)
        QK = Q.T @ K / np.linalg.norm(Q.T @ K, 2)
        X = _in_hemisphere(run, n, d)
        w, _ = hemisphere_pole(X)
        rate = hemisphere_rate(X, beta, w, form, QK)
        times = np.linspace(0, 10, 21)
        flow = sphere_flow(X, beta, times, form, QK)
        size = cone_diameter(flow.tokens, w)
        bound = size[0] * np.exp(-rate * times)
        fractions.append((size / (bound + INTEGRATION))[1:])
        rates.append(rate)
        computed += [rate, float(size[0] / (1 + size[0]))]
        axis = w / np.linalg.norm(w)  # ‖QᵀK‖ = 1, and a softmax is a ratio of two exponentials
        stated.append(min(axis @ x for x in X) / np.exp(beta) ** (1 + (form == "SA")))
        apart = max(np.linalg.norm(x / (axis @ x) - y / (axis @ y)) for x in X for y in X)
        stated.append(float(apart / (1 + apart)))
    fraction = float(np.max(fractions))
    name = (
        "diameter D(t) of the tokens as a fraction of its bound D(0)·e^(−λt), for random Q and K, "
        f"β = {beta:g} and 20 times t"
    )
    words = (
        f"at most {fraction:.1%}, where λ is {rates[0]:.2g} for self-attention "
        f"and {rates[1]:.2g} for unnormalised attention"
    )
    wanted = "at most 100%"
    found = within_bounds("exponential", name, "float", fraction, words=words, wanted=wanted)
    return as_stated(found, computed, stated, terms=1.0)


def _late_rate(run: Run, n: int, d: int, beta: float) -> Finding:
    """Between two times, −(ln D)' is in [m·e^{−βδ}, e^{βδ}/m], so 1 − min⟨x_i, x_j⟩ decays like
    e^{−2t}.

    Let δ = 1 − min⟨x_i, x_j⟩ ≤ 1 and m = min⟨w, x_i⟩ at the earlier time.  Consider the formula for
    D' in theory/memory/hemisphere.py.  All n·A_ij lie in [e^{−βδ}, e^{βδ}] and all s_j/s_i in
    [m, 1/m].  They remain in these intervals, because m does not fall, and the smallest inner
    product ρ ≥ 0 does not fall: at the pair that attains ρ

        ρ' ≥ Σ_k A_ik (⟨x_k, x_j⟩ − ⟨x_i, x_k⟩ρ) + the same for j ≥ 0,   as ⟨x_k, x_j⟩ ≥ ρ.
    """
    start = _in_hemisphere(run, n, d)
    start = start + 2 * np.eye(d)[0]
    start /= np.linalg.norm(start, axis=-1, keepdims=True)
    times = np.arange(0.0, 8.5)
    tokens = sphere_flow(start, beta, times).tokens
    outside, rate = [], np.nan
    for (early, before), (late, after) in pairwise(zip(times, tokens, strict=True)):
        w = before.mean(0) / np.linalg.norm(before.mean(0))
        gap, m = 1 - smallest_inner_product(before), (before @ w).min()
        sizes = cone_diameter(before, w), cone_diameter(after, w)
        rate = float(np.log(sizes[0] / sizes[1]) / (late - early))
        slack = 2 * INTEGRATION / sizes[1] / (late - early)
        low, high = m * np.exp(-beta * gap), np.exp(beta * gap) / m
        outside += [low - slack - rate, rate - high - slack]
    worst = float(np.max(outside))
    name = (
        f"decay rate of the diameter of {n} tokens in R^{d} with β = {beta:g}, compared with the "
        "interval from m·e^(−βδ) to e^(βδ)/m, where δ = 1 − min⟨x_i, x_j⟩ and m = min⟨w, x_i⟩"
    )
    words = (
        f"inside the interval, at least {-worst:.1e} from its ends; the rate is {rate:.7f} at "
        f"t = {times[-1]:g}"
    )
    wanted = "inside the interval"
    return at_most("late-rate", name, "float", worst, 0.0, words=words, wanted=wanted)


def _one_cluster(run: Run, n: int) -> Finding:
    """Sampled starts on S² that reach an open hemisphere, from which they converge to one point.

    It is observed in float64 that the tokens are in a hemisphere at t = 20 of a numerical flow;
    convergence from a hemisphere is proved.
    """
    betas, starts = (0.0, 1.0, 3.0), 5 if run.quick else 20
    count, total = 0, starts * len(betas)
    for beta in betas:
        X = uniform_tokens(run.rng, starts, n, 3)
        count += int(in_open_hemisphere(sphere_flow(X, beta, [20.0]).tokens[0]).sum())
    name = f"random starts of {n} tokens on S², for β = {', '.join(f'{beta:g}' for beta in betas)}"
    words = "starts lead to tokens in an open hemisphere at t = 20"
    return mostly("one-cluster", name, count, total, 0.9, words=words)
