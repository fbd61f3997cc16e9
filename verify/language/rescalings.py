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
from verify.finding import Finding, equal
from verify.language.draws import law, scales, some_outcomes

OUTCOMES, PROMPTS = 4, 3


def rescalings(run: Run, draws: int) -> Iterator[Finding]:
    """One set, all level sets, and one factor for all prompts."""
    yield slope(run, draws)
    yield gained(run, draws)
    yield at_least_squares(run, draws)
    yield of_level_sets(run, draws)
    yield for_all_prompts(run, draws)


def reaches(gain: Log, least: Fraction) -> bool:
    """gain ≥ least."""
    return at_most_rational(-gain, -least)


def slope(run: Run, draws: int) -> Finding:
    """CE(p, g_s) = CE(p, g) − p(A) ln s + ln(1 + (s − 1)g(A)), whose slope at 1 is g(A) − p(A)."""
    wrong = None
    for _ in range(draws):
        p, g, A = law(run.rng, OUTCOMES), law(run.rng, OUTCOMES), some_outcomes(run.rng, OUTCOMES)
        (s,) = scales(run.rng, 1)
        change = cross_entropy(p, rescaled(g, A, s)) - cross_entropy(p, g)
        if change != log(1 + (s - 1) * mass(g, A)) - mass(p, A) * log(s):
            wrong = wrong or f"p = {p}, g = {g}, A = {A}, s = {s}"
    name = "the loss of s·g on A moves by ln(1 + (s − 1)g(A)) − p(A) ln s"
    words = f"equal for {draws} draws: the slope at s = 1 is g(A) − p(A)"
    return equal("slope", name, wrong, words=words)


def gained(run: Run, draws: int) -> Finding:
    """What the best s gains, by the losses and by two coins; others gain less."""
    wrong = None
    for _ in range(draws):
        p, g, A = law(run.rng, OUTCOMES), law(run.rng, OUTCOMES), some_outcomes(run.rng, OUTCOMES)
        best, (other,) = best_scale(p, g, A), scales(run.rng, 1)
        gain = kl(p, g) - kl(p, rescaled(g, A, best))
        less = kl(p, g) - kl(p, rescaled(g, A, other * best))
        if gain != rescaling_gain(p, g, A) or less >= gain:
            wrong = wrong or f"p = {p}, g = {g}, A = {A}: {gain} and {less}"
    name = "the best s gains kl(p(A)‖g(A))"
    return equal("gain", name, wrong, words=f"equal for {draws} draws, and other s gain less")


def at_least_squares(run: Run, draws: int) -> Finding:
    """kl(p(A)‖g(A)) ≥ 2δ², by balls."""
    wrong = None
    for _ in range(draws):
        p, g, A = law(run.rng, OUTCOMES), law(run.rng, OUTCOMES), some_outcomes(run.rng, OUTCOMES)
        delta = mass(g, A) - mass(p, A)
        if not reaches(rescaling_gain(p, g, A), 2 * delta**2):
            wrong = wrong or f"p = {p}, g = {g}, A = {A}"
    words = f"for {draws} draws: within ε of its best rescaling, δ ≤ √(ε/2)"
    return equal("squares", "that is at least 2δ²", wrong, words=words, wanted="≥ 2δ²")


def of_level_sets(run: Run, draws: int) -> Finding:
    """KL on the level sets of g ≥ 2·Mis²."""
    wrong = None
    for _ in range(draws):
        p, g = law(run.rng, 2 * OUTCOMES), law(run.rng, 2 * OUTCOMES)
        if not reaches(calibration_gain(p, g), 2 * miscalibration(p, g) ** 2):
            wrong = wrong or f"p = {p}, g = {g}"
    name = "all level sets of g at once gain at least 2·Mis²"
    return equal("level-sets", name, wrong, words=f"for {draws} draws", wanted="≥ 2·Mis²")


def for_all_prompts(run: Run, draws: int) -> Finding:
    """One s for prompts of weights μ: what e^{−4δ}, rounded, gains."""
    wrong = None
    for _ in range(draws):
        mu = law(run.rng, PROMPTS)
        p, g = ([law(run.rng, 2)[0] for _ in mu] for _ in range(2))
        apart = (m * (b - a) for m, a, b in zip(mu, p, g, strict=True))
        delta = sum(apart, start=Fraction(0))
        gain = -common_scale_loss(mu, p, g, closest_common_scale(delta))
        if not reaches(gain, 2 * delta**2):
            wrong = wrong or f"weights {mu}, p(A|c) = {p}, g(A|c) = {g}"
    name = f"one s for all prompts gains at least 2δ², δ the mean over {PROMPTS} prompts"
    words = f"for {draws} draws, at s near e^(−4δ)"
    return equal("prompts", name, wrong, words=words, wanted="≥ 2δ²")
