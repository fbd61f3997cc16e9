"""Findings on hemispheres: how often tokens start in one, and how fast they cluster from there."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise, permutations

import numpy as np

from theory.memory.hemisphere import (
    cone_diameter,
    hemisphere_pole,
    hemisphere_probability,
    hemisphere_rate,
    in_open_hemisphere,
)
from theory.memory.sphere import Kind, smallest_inner_product, sphere_flow
from verify.claim import Run
from verify.finding import Finding, Verdict

FALSE_ALARM = 1e-7  # the chance that a statistical finding fails although what it says is true
INTEGRATION = 1e-9  # allowed for the error of an integration in steps of error 1e-12


def hemisphere_findings(run: Run, n: int, d: int, beta: float, samples: int) -> Iterator[Finding]:
    """Wendel's formula, by counting and by sampling; the proved rate and the late one."""
    yield _wendel_counted(run.quick)
    yield _wendel_sampled(run, n, d, samples)
    yield _exponential(run, n, d, beta)
    yield _late_rate(run, n, d, beta)
    yield _one_cluster(run, n)


def uniform_tokens(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Uniform points of the unit sphere, (…, n, d)."""
    X = rng.standard_normal(shape)
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


def patterns_in_a_hemisphere(x: np.ndarray) -> int:
    """For how many of the 2^n signs ε are all ε_i x_i in an open hemisphere; integers x (n, d).

    x in general position, n ≥ d.  The cone of such points has a facet through d − 1 of them, with
    all others strictly on one side; and if there are d − 1 such points, tilting the plane a little
    puts them on that side too.  So the signs on a facet are free, and those of the others are given
    by its normal, which is a vector of minors: whole numbers decide.
    """
    n, d = x.shape
    found = set()
    for facet in combinations(range(n), d - 1):
        others = [i for i in range(n) if i not in facet]
        sides = [_determinant([*(x[j] for j in facet), x[i]]) for i in others]
        if 0 in sides:
            raise ValueError(f"points {facet} and another lie in one plane through 0")
        for side in (1, -1):
            for free in range(2 ** (d - 1)):
                signs = [0] * n
                for i, value in zip(others, sides, strict=True):
                    signs[i] = side if value > 0 else -side
                for place, j in enumerate(facet):
                    signs[j] = 1 if free >> place & 1 else -1
                found.add(tuple(signs))
    return len(found)


def _determinant(rows: list[np.ndarray]) -> int:
    total = 0
    for order in permutations(range(len(rows))):
        inversions = sum(a > b for a, b in combinations(order, 2))
        product = (-1) ** inversions
        for row, column in zip(rows, order, strict=True):
            product *= int(row[column])
        total += product
    return total


def _wendel_counted(quick: bool) -> Finding:
    """The lines of points in general position do not matter, so any will do; all signs are as
    likely.  Points (1, t, t², …) are in general position (Vandermonde)."""
    most_n, most_d = (5, 3) if quick else (7, 4)
    wrong, counted = [], 0
    for d in range(1, most_d + 1):
        for n in range(d, most_n + 1):
            x = np.array([[t**k for k in range(d)] for t in range(-2, n - 2)])
            share = Fraction(patterns_in_a_hemisphere(x), 2**n)
            counted += 1
            if share != hemisphere_probability(n, d):
                wrong.append(f"n = {n}, d = {d}: {share}, {hemisphere_probability(n, d)}")
    circle = all(hemisphere_probability(n, 2) == Fraction(n, 2 ** (n - 1)) for n in range(1, 60))
    return Finding(
        f"Wendel's probability, all signs of {counted} sets of n ≤ {most_n} points, d ≤ {most_d}",
        "exact",
        wrong[0] if wrong else "equal, and n/2^(n−1) on the circle",
        "2^(−(n−1)) Σ_{k<d} C(n−1, k)",
        Verdict.of(not wrong and circle),
    )


def _wendel_sampled(run: Run, n: int, d: int, samples: int) -> Finding:
    """Uniform points, each set decided by a linear program."""
    count = int(in_open_hemisphere(uniform_tokens(run.rng, samples, n, d)).sum())
    low, high = clopper_pearson(count, samples)
    wanted = hemisphere_probability(n, d)
    return Finding(
        f"{n} uniform points of the sphere in R^{d} lie in an open hemisphere",
        "statistical",
        f"{count} of {samples}: {low:.3f} to {high:.3f} at level 1 − {FALSE_ALARM:.0e}",
        f"{wanted} = {float(wanted):.4f}",
        Verdict.of(bool(low <= wanted <= high)),
    )


def clopper_pearson(count: int, samples: int) -> tuple[float, float]:
    """The exact confidence interval of a probability at level 1 − FALSE_ALARM [Clopper1934]."""
    from scipy.stats import beta

    low = beta.ppf(FALSE_ALARM / 2, count, samples - count + 1) if count else 0.0
    high = beta.isf(FALSE_ALARM / 2, count + 1, samples - count) if count < samples else 1.0
    return float(low), float(high)


def _in_hemisphere(run: Run, n: int, d: int) -> np.ndarray:
    """Uniform points of the hemisphere about the first axis."""
    X = uniform_tokens(run.rng, n, d)
    return X * np.where(X[:, :1] < 0, -1.0, 1.0)


def _exponential(run: Run, n: int, d: int, beta: float) -> Finding:
    """D(t) ≤ D(0)·e^{−λt} for random Q and K; theory/memory/hemisphere.py proves it."""
    share, rates = 0.0, []
    kinds: tuple[Kind, ...] = ("SA", "USA")
    for kind in kinds:
        Q, K = run.rng.standard_normal((2, d, d)) / np.sqrt(d)
        QK = Q.T @ K / np.linalg.norm(Q.T @ K, 2)
        X = _in_hemisphere(run, n, d)
        w, _ = hemisphere_pole(X)
        rate = hemisphere_rate(X, beta, w, kind, QK)
        times = np.linspace(0, 10, 21)
        flow = sphere_flow(X, beta, times, kind, QK)
        size = cone_diameter(flow.tokens, w)
        bound = size[0] * np.exp(-rate * times)
        share = max(share, float((size / (bound + INTEGRATION))[1:].max()))
        rates.append(rate)
    return Finding(
        f"start in a hemisphere, random Q and K, β = {beta:g}",
        "float",
        f"SA and USA: spread at most {share:.1%} of its bound at 20 times; "
        f"λ = {', '.join(f'{rate:.2g}' for rate in rates)}",
        "D(0)·e^(−λt), λ = m·e^(−2β‖QᵀK‖) in SA, m·e^(−β‖QᵀK‖) in USA",
        Verdict.of(bool(share <= 1 + INTEGRATION)),
    )


def _late_rate(run: Run, n: int, d: int, beta: float) -> Finding:
    """Between two times, −(ln D)' is in [m·e^{−βδ}, e^{βδ}/m], so 1 − min⟨x_i, x_j⟩ falls like
    e^{−2t}.

    With δ = 1 − min⟨x_i, x_j⟩ ≤ 1 and m = min⟨w, x_i⟩ at the earlier time, all n·A_ij lie in
    [e^{−βδ}, e^{βδ}] and all s_j/s_i in [m, 1/m] in D' of theory/memory/hemisphere.py, and remain
    there: m does not fall, and at the pair with the smallest inner product ρ ≥ 0

        ρ' ≥ Σ_k A_ik (⟨x_k, x_j⟩ − ⟨x_i, x_k⟩ρ) + the same for j ≥ 0,   as ⟨x_k, x_j⟩ ≥ ρ.
    """
    start = _in_hemisphere(run, n, d)
    start = start + 2 * np.eye(d)[0]
    start /= np.linalg.norm(start, axis=-1, keepdims=True)
    times = np.arange(0.0, 8.5)
    tokens = sphere_flow(start, beta, times).tokens
    outside, rate = -np.inf, np.nan
    for (early, before), (late, after) in pairwise(zip(times, tokens, strict=True)):
        w = before.mean(0) / np.linalg.norm(before.mean(0))
        gap, m = 1 - smallest_inner_product(before), (before @ w).min()
        sizes = cone_diameter(before, w), cone_diameter(after, w)
        rate = float(np.log(sizes[0] / sizes[1]) / (late - early))
        slack = 2 * INTEGRATION / sizes[1] / (late - early)
        low, high = m * np.exp(-beta * gap), np.exp(beta * gap) / m
        outside = max(outside, float(low - slack - rate), float(rate - high - slack))
    return Finding(
        f"late rate from a random start, {n} tokens in R^{d}, β = {beta:g}",
        "float",
        f"2·{rate:.7f} at t = {times[-1]:g}, inside its bounds at {len(times) - 1} times"
        if outside <= 0
        else f"outside its bounds by {outside:.1e}",
        "twice [m·e^(−βδ), e^(βδ)/m], which tends to 2",
        Verdict.of(bool(outside <= 0)),
    )


def _one_cluster(run: Run, n: int) -> Finding:
    """Random starts on S² that have come into an open hemisphere, from where on it is proved."""
    betas, starts = (0.0, 1.0, 3.0), 5 if run.quick else 20
    arrived = []
    for beta in betas:
        X = uniform_tokens(run.rng, starts, n, 3)
        tokens = sphere_flow(X, beta, [20.0]).tokens[0]
        arrived.append(int(in_open_hemisphere(tokens).sum()))
    count, total = sum(arrived), starts * len(betas)
    low, _ = clopper_pearson(count, total)
    return Finding(
        f"random starts of {n} tokens on S², β = {', '.join(f'{beta:g}' for beta in betas)}",
        "statistical",
        f"{count} of {total} in an open hemisphere at t = 20, from where one cluster is certain: "
        f"probability at least {low:.2f}",
        "all; those that have not come so far decide nothing",
        Verdict.HOLDS if count == total else Verdict.UNDECIDED,
    )
