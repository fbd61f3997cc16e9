"""Findings on rescaling a set: what it gains, exactly, and how much that is at least."""

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
from verify.language.draws import law, scales, some_outcomes

OUTCOMES, PROMPTS = 4, 3

Law = tuple[Fraction, ...]


def rescalings(run: Run, draws: int) -> Iterator[Finding]:
    """One set, all level sets, and one factor for all prompts, each for so many draws."""
    words = f"for {draws} draws"
    yield no_counterexample(
        "slope",
        "the loss of s·g on A moves by ln(1 + (s − 1)g(A)) − p(A) ln s",
        other_slopes(run, draws),
        words=f"equal {words}: the slope at s = 1 is g(A) − p(A)",
    )
    yield no_counterexample(
        "gain",
        "the best s gains kl(p(A)‖g(A))",
        other_gains(run, draws),
        words=f"equal {words}, and other s gain less",
    )
    yield no_counterexample(
        "squares",
        "that is at least 2δ²",
        below_squares(run, draws),
        words=f"{words}: within ε of its best rescaling, δ ≤ √(ε/2)",
        wanted="≥ 2δ²",
    )
    yield no_counterexample(
        "level-sets",
        "all level sets of g at once gain at least 2·Mis²",
        level_sets_below_squares(run, draws),
        words=words,
        wanted="≥ 2·Mis²",
    )
    yield no_counterexample(
        "prompts",
        f"one s for all prompts gains at least 2δ², δ the mean over {PROMPTS} prompts",
        prompts_below_squares(run, draws),
        words=f"{words}, at s near e^(−4δ)",
        wanted="≥ 2δ²",
    )


def reaches(gain: Log, least: Fraction) -> bool:
    """gain ≥ least."""
    return at_most_rational(-gain, -least)


def drawn(run: Run, draws: int) -> Iterator[tuple[Law, Law, list[int]]]:
    """Two laws p and g, and a set A of outcomes."""
    for _ in range(draws):
        yield law(run.rng, OUTCOMES), law(run.rng, OUTCOMES), some_outcomes(run.rng, OUTCOMES)


def other_slopes(run: Run, draws: int) -> Iterator[str]:
    """CE(p, g_s) = CE(p, g) − p(A) ln s + ln(1 + (s − 1)g(A)), whose slope at 1 is g(A) − p(A)."""
    for p, g, A in drawn(run, draws):
        (s,) = scales(run.rng, 1)
        change = cross_entropy(p, rescaled(g, A, s)) - cross_entropy(p, g)
        if change != log(1 + (s - 1) * mass(g, A)) - mass(p, A) * log(s):
            yield f"p = {p}, g = {g}, A = {A}, s = {s}"


def other_gains(run: Run, draws: int) -> Iterator[str]:
    """What the best s gains, by the losses and by two coins; others gain less."""
    for p, g, A in drawn(run, draws):
        best, (other,) = best_scale(p, g, A), scales(run.rng, 1)
        gain = kl(p, g) - kl(p, rescaled(g, A, best))
        less = kl(p, g) - kl(p, rescaled(g, A, other * best))
        if gain != rescaling_gain(p, g, A) or less >= gain:
            yield f"p = {p}, g = {g}, A = {A}: {gain} and {less}"


def below_squares(run: Run, draws: int) -> Iterator[str]:
    """kl(p(A)‖g(A)) < 2δ², by balls."""
    for p, g, A in drawn(run, draws):
        if not reaches(rescaling_gain(p, g, A), 2 * (mass(g, A) - mass(p, A)) ** 2):
            yield f"p = {p}, g = {g}, A = {A}"


def level_sets_below_squares(run: Run, draws: int) -> Iterator[str]:
    """KL on the level sets of g < 2·Mis²."""
    for _ in range(draws):
        p, g = law(run.rng, 2 * OUTCOMES), law(run.rng, 2 * OUTCOMES)
        if not reaches(calibration_gain(p, g), 2 * miscalibration(p, g) ** 2):
            yield f"p = {p}, g = {g}"


def prompts_below_squares(run: Run, draws: int) -> Iterator[str]:
    """One s for prompts of weights μ: what e^{−4δ}, rounded, gains."""
    for _ in range(draws):
        mu = law(run.rng, PROMPTS)
        p, g = ([law(run.rng, 2)[0] for _ in mu] for _ in range(2))
        apart = (m * (b - a) for m, a, b in zip(mu, p, g, strict=True))
        delta = sum(apart, start=Fraction(0))
        gain = -common_scale_loss(mu, p, g, closest_common_scale(delta))
        if not reaches(gain, 2 * delta**2):
            yield f"weights {mu}, p(A|c) = {p}, g(A|c) = {g}"
