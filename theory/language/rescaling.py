"""What a model loses by giving a set of outcomes too large or too small a probability.

    g_s ∝ s·g on A, g elsewhere        d/ds CE(p, g_s) at s = 1 is g(A) − p(A)
    CE(p, g) − min_s CE(p, g_s) = kl(p(A)‖g(A)) ≥ 2δ²,   δ = |g(A) − p(A)|

as the g_s are a log-linear family with the feature 1_A, whose member of the moment p(A) rescales A
to it; the inequality is Pinsker's.  All sets of a partition at once gain KL of the two on its sets,
≥ 2·Mis², Mis the total variation there: for the level sets of g, what its calibration lacks.

One s for all prompts c, of weights μ, gains ≥ 2δ² too, δ = |Σ μ (g(A|c) − p(A|c))|: the loss is
convex in t = ln s, with slope δ at 0 and curvature Σ μ·g(1 − g) ≤ ¼, so that a step of ∓4δ gains
4δ² − 16δ²/8.

So whoever is within ε nats of its best rescaling has δ ≤ √(ε/2), if p is the population.

All raise `ValueError` for distributions on different sets, and for sets A of what are no outcomes.
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
    """g_s, s > 0, of a distribution g, a set A of its outcomes 0, 1, …, and an exact number s."""
    chosen = outcomes("A", A, len(g))
    weights = [each * (s if y in chosen else 1) for y, each in enumerate(g)]
    return tuple(each / sum(weights) for each in weights)


@checked
def best_scale(p: Distribution, g: Distribution, A: Iterable[Steps]) -> Fraction:
    """The s of least CE(p, g_s): p(A)(1 − g(A))/((1 − p(A))g(A)).

    Raises `ValueError` unless 0 < p(A), g(A) < 1, where there is none.
    """
    check_alike(p=p, g=g)
    chosen = outcomes("A", A, len(g))
    a, b = mass(p, chosen), mass(g, chosen)
    if not (0 < a < 1 and 0 < b < 1):
        raise InputError(f"p(A) is {a} and g(A) {b}: give a set that both have in part")
    return a * (1 - b) / ((1 - a) * b)


@checked
def rescaling_gain(p: Distribution, g: Distribution, A: Iterable[Steps]) -> Log:
    """kl(p(A)‖g(A)), the gain of the best s; `ValueError` as `best_scale` where it is infinite."""
    check_alike(p=p, g=g)
    chosen = outcomes("A", A, len(g))
    return binary_kl(mass(p, chosen), mass(g, chosen))


@checked
def over_confidence(
    p: Distribution, g: Distribution, threshold: Exact
) -> tuple[frozenset[int], Fraction]:
    """A = {g > τ} and δ⁺ = (g(A) − p(A))⁺."""
    check_alike(p=p, g=g)
    above = frozenset(y for y, each in enumerate(g) if each > threshold)
    return above, max(Fraction(0), mass(g, above) - mass(p, above))


@checked
def level_sets(g: Distribution) -> list[list[int]]:
    """The sets on which g is constant, by falling value."""
    return [[y for y, each in enumerate(g) if each == v] for v in sorted(set(g), reverse=True)]


@checked
def miscalibration(p: Distribution, g: Distribution) -> Fraction:
    """Mis = ½ Σ_B |g(B) − p(B)| over the level sets B of g."""
    check_alike(p=p, g=g)
    apart = (abs(mass(g, B) - mass(p, B)) for B in level_sets(g))
    return sum(apart, start=Fraction(0)) / 2


@checked
def calibration_gain(p: Distribution, g: Distribution) -> Log:
    """KL of p and g on the level sets of g: what rescaling each of them at best gains."""
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
    """Σ_c μ_c (kl(p_c‖g_{s,c}) − kl(p_c‖g_c)): what one s for all prompts adds to the loss.

    p, g: the probabilities p(A|c), g(A|c) of each prompt; only they matter, as g_s is g within A
    and outside of it.  Raises `ValueError` for other than one of each for every prompt.
    """
    if not len(weights) == len(p) == len(g):
        raise InputError(
            f"there are {len(weights)} weights, {len(p)} p and {len(g)} g: give as many"
        )
    moved = [s * each / (1 + (s - 1) * each) for each in g]
    changes = (binary_kl(x, z) - binary_kl(x, y) for x, y, z in zip(p, g, moved, strict=True))
    return sum((m * change for m, change in zip(weights, changes, strict=True)), start=Log())


@checked
def closest_common_scale(delta: Annotated[Exact, Within(least=-1, most=1)]) -> Fraction:
    """A rational s near e^{−4δ}, where the proof's step goes, δ = Σ μ (g(A|c) − p(A|c))."""
    from math import exp

    return Fraction(exp(-4 * delta)).limit_denominator(1000)


def uniform_share(g: np.ndarray, outcomes: int) -> float:
    """The weight s of the uniform distribution on so many outcomes under which samples, to which
    the model gives g, have the largest likelihood: the maximiser of Σ ln((1 − s)g + s/|Y|).

    The sum is concave in s: the root of its slope, by bisection.
    """
    even, low, high = 1 / outcomes, 0.0, 1.0
    for _ in range(50):
        share = (low + high) / 2
        slope = ((even - g) / ((1 - share) * g + share * even)).mean()
        low, high = (share, high) if slope > 0 else (low, share)
    return share
