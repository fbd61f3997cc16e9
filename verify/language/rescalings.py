"""Findings on rescaling a model on sets of outcomes: the decrease of the loss, and its bound."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from theory.language import (
    Log,
    at_most_rational,
    best_scale,
    calibration_gain,
    closest_common_scale,
    common_scale_loss,
    cross_entropy,
    kl,
    log,
    miscalibration,
    rescaled,
    rescaling_gain,
)
from theory.language.distributions import mass
from verify.claim import Run
from verify.finding import Finding, no_counterexample
from verify.language.draws import random_distribution, scales, some_outcomes

OUTCOMES, PROMPTS = 4, 3

Probabilities = tuple[Fraction, ...]


def rescalings(run: Run, draws: int) -> Iterator[Finding]:
    """The findings on the decrease of the loss if a model is rescaled, for random instances.

    A model is rescaled on one set, on all level sets, or on one set with one factor for all
    prompts.
    """
    words = f"for {draws} random instances"
    yield no_counterexample(
        "slope",
        "if a model g is multiplied by s on a set A, the change of the cross-entropy under p "
        "equals ln(1 + (s − 1)g(A)) − p(A) ln s",
        other_slopes(run, draws),
        words=f"true {words}, so that the derivative at s = 1 is g(A) − p(A)",
    )
    yield no_counterexample(
        "gain",
        "if a model g is multiplied by the best factor on a set A, the decrease of the "
        "cross-entropy under p equals kl(p(A)‖g(A))",
        other_gains(run, draws),
        words=f"true {words}; another factor has a smaller decrease",
    )
    yield no_counterexample(
        "squares",
        "kl(p(A)‖g(A)) ≥ 2(g(A) − p(A))² for distributions p and g and a set A",
        below_squares(run, draws),
        words=f"true {words}",
        wanted="no counterexample",
    )
    yield no_counterexample(
        "level-sets",
        "rescaling all level sets of a model decreases the loss by at least 2·(miscalibration)² "
        "nats",
        level_sets_below_squares(run, draws),
        words=f"true {words}",
        wanted="no counterexample",
    )
    yield no_counterexample(
        "prompts",
        "multiplying a model by the same factor on a set A for all prompts c decreases the loss by "
        "at least 2δ² nats, where δ is the mean of g(A|c) − p(A|c) over the prompts",
        prompts_below_squares(run, draws),
        words=f"true {words} of {PROMPTS} prompts, with a factor near e^(−4δ)",
        wanted="no counterexample",
    )


def reaches(gain: Log, least: Fraction) -> bool:
    """Whether gain ≥ least, decided by enclosing balls."""
    return at_most_rational(-gain, -least)


def drawn(run: Run, draws: int) -> Iterator[tuple[Probabilities, Probabilities, list[int]]]:
    """Random triples (p, g, A): two distributions p and g, and a set A of outcomes."""
    for _ in range(draws):
        yield (
            random_distribution(run.rng, OUTCOMES),
            random_distribution(run.rng, OUTCOMES),
            some_outcomes(run.rng, OUTCOMES),
        )


def other_slopes(run: Run, draws: int) -> Iterator[str]:
    """Random instances in which the cross-entropy of a rescaled model is wrong, as text.

    Rescaling the model g by s on a set A must change the cross-entropy under p by ln(1 + (s −
    1)g(A)) − p(A) ln s.
    """
    for p, g, A in drawn(run, draws):
        (s,) = scales(run.rng, 1)
        change = cross_entropy(p, rescaled(g, A, s)) - cross_entropy(p, g)
        if change != log(1 + (s - 1) * mass(g, A)) - mass(p, A) * log(s):
            yield f"p = {p}, g = {g}, A = {A}, s = {s}"


def other_gains(run: Run, draws: int) -> Iterator[str]:
    """Random instances in which the decrease of the loss by the best factor is wrong, as text.

    For a model g of p and a set A, the decrease must be kl(p(A)‖g(A)), and the decrease by another
    factor must be smaller.
    """
    for p, g, A in drawn(run, draws):
        best, (other,) = best_scale(p, g, A), scales(run.rng, 1)
        gain = kl(p, g) - kl(p, rescaled(g, A, best))
        less = kl(p, g) - kl(p, rescaled(g, A, other * best))
        if gain != rescaling_gain(p, g, A) or less >= gain:
            yield f"p = {p}, g = {g}, A = {A}: {gain} and {less}"


def below_squares(run: Run, draws: int) -> Iterator[str]:
    """Random distributions p, g and sets A with kl(p(A)‖g(A)) < 2(g(A) − p(A))², as text."""
    for p, g, A in drawn(run, draws):
        if not reaches(rescaling_gain(p, g, A), 2 * (mass(g, A) - mass(p, A)) ** 2):
            yield f"p = {p}, g = {g}, A = {A}"


def level_sets_below_squares(run: Run, draws: int) -> Iterator[str]:
    """Random instances in which rescaling all level sets of a model decreases the loss too little.

    The instances are given as text.  The decrease must be at least 2·(miscalibration)².
    """
    for _ in range(draws):
        p, g = (
            random_distribution(run.rng, 2 * OUTCOMES),
            random_distribution(run.rng, 2 * OUTCOMES),
        )
        if not reaches(calibration_gain(p, g), 2 * miscalibration(p, g) ** 2):
            yield f"p = {p}, g = {g}"


def prompts_below_squares(run: Run, draws: int) -> Iterator[str]:
    """Random instances in which one factor for all prompts decreases the loss too little.

    The instances are given as text.  If a model g of p is multiplied on a set A by a factor near
    e^{−4δ}, the loss must decrease by at least 2δ², where δ is the mean of g(A|c) − p(A|c) over
    prompts c.
    """
    for _ in range(draws):
        mu = random_distribution(run.rng, PROMPTS)
        p, g = ([random_distribution(run.rng, 2)[0] for _ in mu] for _ in range(2))
        apart = (m * (b - a) for m, a, b in zip(mu, p, g, strict=True))
        delta = sum(apart, start=Fraction(0))
        gain = -common_scale_loss(mu, p, g, closest_common_scale(delta))
        if not reaches(gain, 2 * delta**2):
            yield f"weights {mu}, p(A|c) = {p}, g(A|c) = {g}"
