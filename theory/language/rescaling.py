"""What a model loses by saying a set of outcomes too often or too rarely.

    g_s ∝ s·g on A, g elsewhere        d/ds CE(p, g_s) at s = 1 is g(A) − p(A)
    CE(p, g) − min_s CE(p, g_s) = kl(p(A)‖g(A)) ≥ 2δ²,   δ = |g(A) − p(A)|

as the g_s are a log-linear family with the feature 1_A, whose member of the moment p(A) rescales A
to it; the inequality is Pinsker's.  All sets of a partition at once gain KL of the two on its sets,
≥ 2·Mis², Mis the total variation there: for the level sets of g, what its calibration lacks.

One s for all prompts c, of weights μ, gains ≥ 2δ² too, δ = |Σ μ (g(A|c) − p(A|c))|: the loss is
convex in t = ln s, with slope δ at 0 and curvature Σ μ·g(1 − g) ≤ ¼, so that a step of ∓4δ gains
4δ² − 16δ²/8.

So whoever is within ε nats of its best rescaling has δ ≤ √(ε/2), if p is the population.

All raise `ValueError` for what is no exact distribution, for two on other sets, and for sets A of
what are no outcomes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from theory.checks import InputError
from theory.language.distributions import (
    Exact,
    alike,
    distribution,
    fractions,
    mass,
    outcomes,
    positive_fraction,
)
from theory.language.logs import Log, binary_kl, kl


def rescaled(g: Iterable[Exact], A: Iterable[int], s: Exact) -> tuple[Fraction, ...]:
    """g_s, s > 0, of a distribution g, a set A of its outcomes 0, 1, …, and an exact number s."""
    q, factor = distribution("g", g), positive_fraction("s", s)
    chosen = outcomes("A", A, len(q))
    weights = [each * (factor if y in chosen else 1) for y, each in enumerate(q)]
    return tuple(each / sum(weights) for each in weights)


def best_scale(p: Iterable[Exact], g: Iterable[Exact], A: Iterable[int]) -> Fraction:
    """The s of least CE(p, g_s): p(A)(1 − g(A))/((1 − p(A))g(A)).

    Raises `ValueError` unless 0 < p(A), g(A) < 1, where there is none.
    """
    p, g = alike(p, g)
    chosen = outcomes("A", A, len(g))
    a, b = mass(p, chosen), mass(g, chosen)
    if not (0 < a < 1 and 0 < b < 1):
        raise InputError(f"p(A) is {a} and g(A) {b}: give a set that both have in part")
    return a * (1 - b) / ((1 - a) * b)


def rescaling_gain(p: Iterable[Exact], g: Iterable[Exact], A: Iterable[int]) -> Log:
    """kl(p(A)‖g(A)): what the best s gains; `ValueError` as `best_scale` where it is infinite."""
    p, g = alike(p, g)
    chosen = outcomes("A", A, len(g))
    return binary_kl(mass(p, chosen), mass(g, chosen))


def over_confidence(
    p: Iterable[Exact], g: Iterable[Exact], threshold: Exact
) -> tuple[frozenset[int], Fraction]:
    """A = {g > τ} and δ⁺ = (g(A) − p(A))⁺."""
    p, g = alike(p, g)
    (tau,) = fractions("the threshold", (threshold,))
    above = frozenset(y for y, each in enumerate(g) if each > tau)
    return above, max(Fraction(0), mass(g, above) - mass(p, above))


def level_sets(g: Sequence[Exact]) -> list[list[int]]:
    """The sets on which g is constant, by falling value."""
    q = distribution("g", g)
    return [[y for y, each in enumerate(q) if each == v] for v in sorted(set(q), reverse=True)]


def miscalibration(p: Iterable[Exact], g: Iterable[Exact]) -> Fraction:
    """Mis = ½ Σ_B |g(B) − p(B)| over the level sets B of g."""
    p, g = alike(p, g)
    apart = (abs(mass(g, B) - mass(p, B)) for B in level_sets(g))
    return sum(apart, start=Fraction(0)) / 2


def calibration_gain(p: Iterable[Exact], g: Iterable[Exact]) -> Log:
    """KL of p and g on the level sets of g: what rescaling each of them at best gains."""
    p, g = alike(p, g)
    sets = level_sets(g)
    return kl([mass(p, B) for B in sets], [mass(g, B) for B in sets])


def common_scale_loss(
    weights: Iterable[Exact], p: Sequence[Exact], g: Sequence[Exact], s: Exact
) -> Log:
    """Σ_c μ_c (kl(p_c‖g_{s,c}) − kl(p_c‖g_c)): what one s for all prompts adds to the loss.

    p, g: the chances p(A|c), g(A|c) of each prompt; only they matter, as g_s is g within A and
    outside of it.  Raises `ValueError` for chances that are not inside (0, 1).
    """
    mu, factor = distribution("weights", weights), positive_fraction("s", s)
    a, b = fractions("p", p), fractions("g", g)
    if not len(mu) == len(a) == len(b):
        raise InputError(f"{len(mu)} weights, {len(a)} and {len(b)} chances: give as many")
    if not all(0 < each < 1 for each in (*a, *b)):
        raise InputError("p or g has a chance of 0 or 1: give chances inside (0, 1)")
    moved = [factor * each / (1 + (factor - 1) * each) for each in b]
    changes = (binary_kl(x, z) - binary_kl(x, y) for x, y, z in zip(a, b, moved, strict=True))
    return sum((m * change for m, change in zip(mu, changes, strict=True)), start=Log())


def closest_common_scale(delta: Exact) -> Fraction:
    """A rational s near e^{−4δ}, where the proof's step goes, δ = Σ μ (g(A|c) − p(A|c)).

    Raises `ValueError` unless −1 ≤ δ ≤ 1.
    """
    from math import exp

    (apart,) = fractions("delta", (delta,))
    if abs(apart) > 1:
        raise InputError(f"delta is {float(apart):g}: give a difference of chances, from −1 to 1")
    return Fraction(exp(-4 * apart)).limit_denominator(1000)
