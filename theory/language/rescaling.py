"""The excess loss of a model that gives a set of outcomes too much or too little probability.

Let p be the distribution of the data, g a model, A a set of outcomes, and CE(p, g) = −Σ p ln g the
loss.  Let g_s ∝ s·g on A and g_s ∝ g elsewhere.  Then

    d/ds CE(p, g_s) = g(A) − p(A) at s = 1
    CE(p, g) − min_s CE(p, g_s) = kl(p(A)‖g(A)) ≥ 2δ²,   δ = |g(A) − p(A)|

since the g_s are a log-linear family with the feature 1_A, and its best member gives A the mass
p(A).  The inequality is Pinsker's.  Rescaling all sets of a partition at once gains the KL
divergence of p and g on these sets.  This gain is at least 2·Mis², where Mis is the total variation
distance of p and g on these sets.  For the level sets of g, Mis is the miscalibration of g.

Let prompts c have weights μ_c, and let δ = |Σ_c μ_c (g(A|c) − p(A|c))|.  Rescaling A by the same s
for all prompts also gains at least 2δ².  Proof: the loss is convex in t = ln s, with slope ±δ at 0
and curvature Σ_c μ_c g(A|c)(1 − g(A|c)) ≤ ¼, so that a step of ∓4δ gains at least 4δ² − 16δ²/8.

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
    """The model g rescaled on a set A of outcomes: proportional to s·g on A and to g elsewhere.

    Raises `ValueError` unless A is a set of outcomes of g.
    """
    chosen = outcomes("A", A, len(g))
    weights = [each * (s if y in chosen else 1) for y, each in enumerate(g)]
    return tuple(each / sum(weights) for each in weights)


@checked
def best_scale(p: Distribution, g: Distribution, A: Iterable[Steps]) -> Fraction:
    """The factor s for which the model g, rescaled on the set A, has the least cross-entropy.

    The rescaled model is proportional to s·g on A and to g elsewhere.  The cross-entropy is under
    the distribution p of the outcomes.  The factor is s = p(A)(1 − g(A))/((1 − p(A))g(A)).  Raises
    `ValueError` unless 0 < p(A) < 1 and 0 < g(A) < 1, as otherwise no s is optimal.
    """
    check_alike(p=p, g=g)
    chosen = outcomes("A", A, len(g))
    a, b = mass(p, chosen), mass(g, chosen)
    if not (0 < a < 1 and 0 < b < 1):
        raise InputError(
            f"p(A) is {a} and g(A) is {b}: give a set A for which p(A) and g(A) are neither 0 nor 1"
        )
    return a * (1 - b) / ((1 - a) * b)


@checked
def rescaling_gain(p: Distribution, g: Distribution, A: Iterable[Steps]) -> Log:
    """The decrease of the cross-entropy if g is rescaled on a set A of outcomes by the best factor.

    The cross-entropy is that of the model g under the distribution p.  The rescaled model is
    proportional to s·g on A and to g elsewhere, for the best factor s.  The decrease is the
    divergence p(A) ln(p(A)/g(A)) + (1 − p(A)) ln((1 − p(A))/(1 − g(A))), exactly, in nats.  Raises
    `ValueError` if the decrease is infinite.
    """
    check_alike(p=p, g=g)
    chosen = outcomes("A", A, len(g))
    return binary_kl(mass(p, chosen), mass(g, chosen))


@checked
def over_confidence(
    p: Distribution, g: Distribution, threshold: Exact
) -> tuple[frozenset[int], Fraction]:
    """The set A = {g > threshold} and the over-confidence max(g(A) − p(A), 0) of a model g of p.

    A is the set of outcomes whose probability under g is above the threshold.
    """
    check_alike(p=p, g=g)
    above = frozenset(y for y, each in enumerate(g) if each > threshold)
    return above, max(Fraction(0), mass(g, above) - mass(p, above))


@checked
def level_sets(g: Distribution) -> list[list[int]]:
    """The sets of outcomes that have the same probability under g, by decreasing probability."""
    return [[y for y, each in enumerate(g) if each == v] for v in sorted(set(g), reverse=True)]


@checked
def miscalibration(p: Distribution, g: Distribution) -> Fraction:
    """The miscalibration ½ Σ_B |g(B) − p(B)| of a model g of p, over the level sets B of g.

    A level set of g consists of all outcomes that have the same probability under g.
    """
    check_alike(p=p, g=g)
    apart = (abs(mass(g, B) - mass(p, B)) for B in level_sets(g))
    return sum(apart, start=Fraction(0)) / 2


@checked
def calibration_gain(p: Distribution, g: Distribution) -> Log:
    """The decrease of the cross-entropy if each level set of the model g is rescaled optimally.

    A level set consists of all outcomes of the same probability under g, and the cross-entropy is
    under the distribution p.  The decrease is the divergence Σ_B p(B) ln(p(B)/g(B)) over the level
    sets B, exactly, in nats.
    """
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
    """The change of a model's loss by rescaling with the same factor s for all prompts.

    The model is rescaled on a set A of responses: it becomes proportional to s·g on A and to g
    elsewhere.  A prompt c has the weight μ_c = `weights[c]`.  The set A has the probability p_c =
    p(A|c) in the data, and the probability g_c = g(A|c) under the model.  Rescaling changes g_c to
    h_c = s·g_c/(1 + (s − 1)g_c).  The loss, a cross-entropy, changes by Σ_c μ_c (kl(p_c‖h_c) −
    kl(p_c‖g_c)), where kl(a‖b) = a ln(a/b) + (1 − a) ln((1 − a)/(1 − b)).  `p` has the p_c, and
    `g` has the g_c.  Raises `ValueError` unless each prompt has one weight, one p_c and one g_c.
    """
    if not len(weights) == len(p) == len(g):
        raise InputError(
            f"weights has {len(weights)} entries, p has {len(p)} and g has {len(g)}: "
            "give one entry of each for every prompt"
        )
    moved = [s * each / (1 + (s - 1) * each) for each in g]
    changes = (binary_kl(x, z) - binary_kl(x, y) for x, y, z in zip(p, g, moved, strict=True))
    return sum((m * change for m, change in zip(weights, changes, strict=True)), start=Log())


@checked
def closest_common_scale(delta: Annotated[Exact, Within(least=-1, most=1)]) -> Fraction:
    """A rational number near e^{−4·delta}, by which a model can be rescaled to decrease its loss.

    `delta` is the mean over prompts of g(A) − p(A), where g is the model, p is the distribution of
    the data and A is a set of responses.  The model is rescaled by multiplying its probability of
    each response in A by a factor, and normalising.  The factor e^{−4·delta}, the same for all
    prompts, decreases the loss by at least 2·delta².
    """
    from math import exp

    return Fraction(exp(-4 * delta)).limit_denominator(1000)


def uniform_fraction(g: np.ndarray, outcomes: int) -> float:
    """The maximum-likelihood weight s of a uniform component that is mixed with a model.

    The weight s maximises the sum of ln((1 − s)g + s/outcomes) over samples, where the entries of
    `g` are the model's probabilities of the samples, and `outcomes` is the number of all outcomes.
    The sum is concave in s, and the root of the derivative of the sum is found by bisection.
    """
    uniform, low, high = 1 / outcomes, 0.0, 1.0
    for _ in range(50):
        s = (low + high) / 2
        slope = ((uniform - g) / ((1 - s) * g + s * uniform)).mean()
        low, high = (s, high) if slope > 0 else (low, s)
    return s
