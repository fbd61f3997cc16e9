"""The excess loss of a model that gives a set of outcomes too much or too little probability.

    g_s ∝ s·g on A, g elsewhere        d/ds CE(p, g_s) at s = 1 is g(A) − p(A)
    CE(p, g) − min_s CE(p, g_s) = kl(p(A)‖g(A)) ≥ 2δ²,   δ = |g(A) − p(A)|

since the g_s are a log-linear family with the feature 1_A: its best member gives A the mass p(A).
The inequality is Pinsker's.  Rescaling all sets of a partition at once gains the KL divergence of p
and g on these sets, which is at least 2·Mis², Mis their total variation distance there; for the
level sets of g, Mis is the miscalibration of g.

One s for all prompts c of weights μ also gains at least 2δ², δ = |Σ μ (g(A|c) − p(A|c))|: the loss
is convex in t = ln s, with slope ±δ at 0 and curvature Σ μ·g(1 − g) ≤ ¼, so that a step of ∓4δ
gains at least 4δ² − 16δ²/8.

So a model that is within ε nats of its best rescaling on the population has δ ≤ √(ε/2).

All functions raise `ValueError` for distributions on different sets, and if A is not a set of
outcomes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Annotated

import numpy as np

from theory.kinds import Exact, InputError, Steps, Within, checked
from theory.language.distributions import (
    Distribution,
    PositiveExact,
    check_alike,
    mass,
    outcomes,
)
from theory.language.logs import Log, binary_kl, kl


@checked
def rescaled(g: Distribution, A: Iterable[Steps], s: PositiveExact) -> tuple[Fraction, ...]:
    """The distribution g_s ∝ s·g on A and g elsewhere, for a set A of outcomes and exact s > 0."""
    chosen = outcomes("A", A, len(g))
    weights = [each * (s if y in chosen else 1) for y, each in enumerate(g)]
    return tuple(each / sum(weights) for each in weights)


@checked
def best_scale(p: Distribution, g: Distribution, A: Iterable[Steps]) -> Fraction:
    """The s = p(A)(1 − g(A))/((1 − p(A))g(A)) that minimises CE(p, g_s).

    Raises `ValueError` unless 0 < p(A) < 1 and 0 < g(A) < 1, as no s is best otherwise.
    """
    check_alike(p=p, g=g)
    chosen = outcomes("A", A, len(g))
    a, b = mass(p, chosen), mass(g, chosen)
    if not (0 < a < 1 and 0 < b < 1):
        raise InputError(f"p(A) is {a} and g(A) is {b}: give a set with both between 0 and 1")
    return a * (1 - b) / ((1 - a) * b)


@checked
def rescaling_gain(p: Distribution, g: Distribution, A: Iterable[Steps]) -> Log:
    """The gain kl(p(A)‖g(A)) of the best s; raises `ValueError` if it is infinite."""
    check_alike(p=p, g=g)
    chosen = outcomes("A", A, len(g))
    return binary_kl(mass(p, chosen), mass(g, chosen))


@checked
def over_confidence(
    p: Distribution, g: Distribution, threshold: Exact
) -> tuple[frozenset[int], Fraction]:
    """The set A = {g > τ} and its over-confidence δ⁺ = (g(A) − p(A))⁺."""
    check_alike(p=p, g=g)
    above = frozenset(y for y, each in enumerate(g) if each > threshold)
    return above, max(Fraction(0), mass(g, above) - mass(p, above))


@checked
def level_sets(g: Distribution) -> list[list[int]]:
    """The sets on which g is constant, by decreasing value."""
    return [[y for y, each in enumerate(g) if each == v] for v in sorted(set(g), reverse=True)]


@checked
def miscalibration(p: Distribution, g: Distribution) -> Fraction:
    """Mis = ½ Σ_B |g(B) − p(B)| over the level sets B of g."""
    check_alike(p=p, g=g)
    apart = (abs(mass(g, B) - mass(p, B)) for B in level_sets(g))
    return sum(apart, start=Fraction(0)) / 2


@checked
def calibration_gain(p: Distribution, g: Distribution) -> Log:
    """The gain of rescaling each level set of g optimally: KL(p‖g) on the level sets."""
    check_alike(p=p, g=g)
    sets = level_sets(g)
    return kl([mass(p, B) for B in sets], [mass(g, B) for B in sets])


@checked
def common_scale_loss(
    weights: Distribution,
    p: Sequence[Annotated[Exact, Within(above=0, below=1)]],
    g: Sequence[Annotated[Exact, Within(above=0, below=1)]],
    s: PositiveExact,
) -> Log:
    """The change Σ_c μ_c (kl(p_c‖g_{s,c}) − kl(p_c‖g_c)) of the loss by one s for all prompts.

    Here p and g are the probabilities p(A|c) and g(A|c) for each prompt c.  The change depends on
    nothing else, since g_s ∝ g within A and outside A.  Raises `ValueError` unless each prompt has
    one weight, one p and one g.
    """
    if not len(weights) == len(p) == len(g):
        raise InputError(
            f"there are {len(weights)} weights, {len(p)} p and {len(g)} g: give equal numbers"
        )
    moved = [s * each / (1 + (s - 1) * each) for each in g]
    changes = (binary_kl(x, z) - binary_kl(x, y) for x, y, z in zip(p, g, moved, strict=True))
    return sum((m * change for m, change in zip(weights, changes, strict=True)), start=Log())


@checked
def closest_common_scale(delta: Annotated[Exact, Within(least=-1, most=1)]) -> Fraction:
    """A rational s near e^{−4δ}, the step of the proof, δ = Σ μ (g(A|c) − p(A|c))."""
    from math import exp

    return Fraction(exp(-4 * delta)).limit_denominator(1000)


def uniform_fraction(g: np.ndarray, outcomes: int) -> float:
    """The maximum-likelihood weight s of a uniform component: argmax_s Σ ln((1 − s)g + s/|Y|).

    g are the model's probabilities of the samples and |Y| = `outcomes`.  The sum is concave in s;
    the root of its derivative is found by bisection.
    """
    uniform, low, high = 1 / outcomes, 0.0, 1.0
    for _ in range(50):
        s = (low + high) / 2
        slope = ((uniform - g) / ((1 - s) * g + s * uniform)).mean()
        low, high = (s, high) if slope > 0 else (low, s)
    return s
