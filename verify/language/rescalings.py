"""Findings on rescaling sets of outcomes: the exact gain in the loss, and its lower bound."""

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
    """Rescaling of one set, of all level sets, and of all prompts by one factor, on random
    draws."""
    words = f"for {draws} draws"
    yield no_counterexample(
        "slope",
        "CE(p, g_s) − CE(p, g) = ln(1 + (s − 1)g(A)) − p(A) ln s",
        other_slopes(run, draws),
        words=f"equal {words}: the slope at s = 1 is g(A) − p(A)",
    )
    yield no_counterexample(
        "gain",
        "the best factor s gains kl(p(A)‖g(A)) nats",
        other_gains(run, draws),
        words=f"equal {words}; every other s that was tried gains less",
    )
    yield no_counterexample(
        "squares",
        "kl(p(A)‖g(A)) ≥ 2δ², δ = |g(A) − p(A)|",
        below_squares(run, draws),
        words=words,
        wanted="no counterexample",
    )
    yield no_counterexample(
        "level-sets",
        "rescaling all level sets of g at once gains at least 2·Mis² nats",
        level_sets_below_squares(run, draws),
        words=words,
        wanted="no counterexample",
    )
    yield no_counterexample(
        "prompts",
        f"one s for all {PROMPTS} prompts gains at least 2δ² nats, δ the weighted mean",
        prompts_below_squares(run, draws),
        words=f"{words}, at s ≈ e^(−4δ)",
        wanted="no counterexample",
    )


def reaches(gain: Log, least: Fraction) -> bool:
    """Whether gain ≥ least."""
    return at_most_rational(-gain, -least)


def drawn(run: Run, draws: int) -> Iterator[tuple[Probabilities, Probabilities, list[int]]]:
    """Random distributions p and g, and a set A of outcomes."""
    for _ in range(draws):
        yield (
            random_distribution(run.rng, OUTCOMES),
            random_distribution(run.rng, OUTCOMES),
            some_outcomes(run.rng, OUTCOMES),
        )


def other_slopes(run: Run, draws: int) -> Iterator[str]:
    """CE(p, g_s) compared with CE(p, g) − p(A) ln s + ln(1 + (s − 1)g(A))."""
    for p, g, A in drawn(run, draws):
        (s,) = scales(run.rng, 1)
        change = cross_entropy(p, rescaled(g, A, s)) - cross_entropy(p, g)
        if change != log(1 + (s - 1) * mass(g, A)) - mass(p, A) * log(s):
            yield f"p = {p}, g = {g}, A = {A}, s = {s}"


def other_gains(run: Run, draws: int) -> Iterator[str]:
    """The gain of the best s compared with kl(p(A)‖g(A)), and with the gain of another s."""
    for p, g, A in drawn(run, draws):
        best, (other,) = best_scale(p, g, A), scales(run.rng, 1)
        gain = kl(p, g) - kl(p, rescaled(g, A, best))
        less = kl(p, g) - kl(p, rescaled(g, A, other * best))
        if gain != rescaling_gain(p, g, A) or less >= gain:
            yield f"p = {p}, g = {g}, A = {A}: {gain} and {less}"


def below_squares(run: Run, draws: int) -> Iterator[str]:
    """Instances with kl(p(A)‖g(A)) < 2δ², by balls."""
    for p, g, A in drawn(run, draws):
        if not reaches(rescaling_gain(p, g, A), 2 * (mass(g, A) - mass(p, A)) ** 2):
            yield f"p = {p}, g = {g}, A = {A}"


def level_sets_below_squares(run: Run, draws: int) -> Iterator[str]:
    """Instances whose KL on the level sets of g is below 2·Mis²."""
    for _ in range(draws):
        p, g = (
            random_distribution(run.rng, 2 * OUTCOMES),
            random_distribution(run.rng, 2 * OUTCOMES),
        )
        if not reaches(calibration_gain(p, g), 2 * miscalibration(p, g) ** 2):
            yield f"p = {p}, g = {g}"


def prompts_below_squares(run: Run, draws: int) -> Iterator[str]:
    """Instances in which s ≈ e^{−4δ} for all prompts gains less than 2δ²."""
    for _ in range(draws):
        mu = random_distribution(run.rng, PROMPTS)
        p, g = ([random_distribution(run.rng, 2)[0] for _ in mu] for _ in range(2))
        apart = (m * (b - a) for m, a, b in zip(mu, p, g, strict=True))
        delta = sum(apart, start=Fraction(0))
        gain = -common_scale_loss(mu, p, g, closest_common_scale(delta))
        if not reaches(gain, 2 * delta**2):
            yield f"weights {mu}, p(A|c) = {p}, g(A|c) = {g}"
