"""Findings on worlds so small that all of them are gone through, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np

from theory.language import (
    Levels,
    Log,
    bound_given_corpus,
    distributions_on_grid,
    expected_bound,
    kl,
    levels,
    log,
    seen_and_once,
)
from verify.claim import Run
from verify.finding import Finding, at_least, at_most, no_counterexample, same
from verify.language.bounds import told
from verify.language.draws import law

STRINGS, GRID = 40, 40  # strings of which two are facts; what is said of them, in these parts
GAMMA = Fraction(1, 4)
FACTS, OTHERS, DOCUMENTS = 20, 20_000, 10  # a world whose corpora are counted


def tiny_worlds(run: Run) -> Iterator[Finding]:
    """The sure inequality, what follows from it in the mean and mostly, and the upper bound."""
    yield sure(run)
    yield forty_strings(run.quick)
    yield expected()
    yield probable(run.quick)
    yield forty_answers(run.quick)
    yield upper(run)


def sure(run: Run) -> Finding:
    """Every p, g, set U and threshold on three strings, and random ones on six."""
    least, count, size = None, 0, 3
    thresholds = [Fraction(each, 12) for each in (0, 3, 4, 6)]
    laws = [*distributions_on_grid(2 if run.quick else 3, size)]
    for p, g, mask in product(laws, distributions_on_grid(4, size), range(2**size)):
        unseen = [y for y in range(size) if mask >> y & 1]
        found = levels(p, g, [y for y in range(size) if p[y]], unseen)
        for tau in thresholds:
            slack = found.hallucination - found.deterministic_bound(tau)
            least, count = slack if least is None else min(least, slack), count + 1
    for _ in range(100):
        p, g = law(run.rng, 6, 0), law(run.rng, 6, 0)
        unseen = np.flatnonzero(run.rng.random(6) < 0.5).tolist()
        found = levels(p, g, [y for y in range(6) if p[y]], unseen)
        slack = found.hallucination - found.deterministic_bound(Fraction(1, 6))
        least, count = min(least, slack), count + 1
    return same(
        "sure",
        "g(H) ≥ p(U) − δ⁺ − τ|F| + τ|A| − p(U∩A), always",
        str(least),
        "0",
        words=f"least slack {least} in {count} instances",
        wanted="0, attained",
    )


def spread(g0: Fraction, a: Fraction, many: int, b: Fraction) -> Iterator[tuple[Fraction, Levels]]:
    """Of `STRINGS`, one fact was seen and one was not: where it may be, with its chance.

    g is g0 on what was seen, a on `many` of the others and b on the rest.
    """
    few = STRINGS - 1 - many
    for inside, chance in ((1, Fraction(many, STRINGS - 1)), (0, Fraction(few, STRINGS - 1))):
        if chance:
            half = Fraction(1, 2)
            yield (
                chance,
                grouped(
                    (1, 1, half, g0, False, 1),
                    (many, inside, half * inside, a, True, 1),
                    (few, 1 - inside, half * (1 - inside), b, True, 1),
                ),
            )


def grouped(*groups: tuple[int, int, Fraction, Fraction, bool, Fraction | int]) -> Levels:
    """Groups of strings as (strings, facts, p, g, unseen, weight)."""
    columns = [
        np.array([Fraction(each) for each in column], dtype=object)
        for column in zip(*groups, strict=True)
    ]
    strings, facts, p, g, unseen, weight = columns
    return Levels(strings, facts, p, g, unseen.astype(bool), weight)


def two_levels(quick: bool) -> Iterator[tuple[Fraction, Fraction, int, Fraction]]:
    """What may be said of `STRINGS`: of the one that was seen, of some others, and of the rest."""
    numbers = (0, 1, 5, 20, 38) if quick else range(0, STRINGS - 1, 2)
    step = 4
    for many, seen in product(numbers, range(0, GRID + 1, step)):
        for given in range(0, GRID - seen + 1, step) if many else (0,):
            rest = Fraction(GRID - seen - given, GRID)
            each = Fraction(given, GRID * many) if many else Fraction(0)
            yield Fraction(seen, GRID), each, many, rest / (STRINGS - 1 - many)


def guesses() -> Iterator[list[tuple[Fraction, Levels]]]:
    """Of one fact among `STRINGS`, no document: g even on so many strings, which have it or not."""
    for many in range(1, STRINGS):
        a, inside = Fraction(1, many), Fraction(many, STRINGS)
        yield [
            (
                chance,
                grouped(
                    (many, has, Fraction(has), a, True, 1),
                    (STRINGS - many, 1 - has, Fraction(1 - has), Fraction(0), True, 1),
                ),
            )
            for has, chance in ((1, inside), (0, 1 - inside))
        ]


def forty_strings(quick: bool) -> Finding:
    """The least mean of g(H) + δ⁺, given that one of two facts was seen, and its bound."""
    tau, least = Fraction(1, STRINGS - 1), Fraction(2)
    for shape in two_levels(quick):
        mean = sum(
            (
                chance * (found.hallucination + found.over_confidence(tau))
                for chance, found in spread(*shape)
            ),
            start=Fraction(0),
        )
        least = min(least, mean)
    bound = Fraction(1, 2) - 2 * tau
    return at_least(
        "forty-strings",
        f"{STRINGS} strings, 2 facts of which one was seen: the least mean of g(H) + δ⁺",
        "exact",
        least,
        bound,
        words=f"{least}, of all models on a grid",
        wanted=f"at least p(U) − |F|/|U| = {bound}",
    )


def expected() -> Finding:
    """E g(H) of three models beside E MF − E δ⁺ − E|F|/|U| − 1/n, over all corpora of a world."""
    slack = dict.fromkeys(("calibrated", "Good–Turing", "memoriser"), Fraction(0))
    bounds = dict.fromkeys(slack, Fraction(0))
    for (seen, once), chance in seen_and_once(FACTS, DOCUMENTS).items():
        known, MF = Fraction(seen, FACTS), Fraction(once, DOCUMENTS)
        unseen = FACTS + OTHERS - seen
        # What each says of all that it has seen, every string of which is above 1/|U|.
        for name, said in zip(slack, (known, 1 - MF, Fraction(1)), strict=True):
            bound = expected_bound(MF, max(said - known, Fraction(0)), FACTS, unseen, DOCUMENTS)
            slack[name] += chance * ((1 - said) * Fraction(OTHERS, unseen) - bound)
            bounds[name] += chance * bound
    words = ", ".join(
        f"{name} {float(bounds[name] + slack[name]):.4f} ≥ {told(float(bounds[name]))}"
        for name in slack
    )
    return at_least(
        "expected",
        f"E g(H) ≥ E MF − E δ⁺ − E|F|/|U| − 1/n, {FACTS} facts among {FACTS + OTHERS}, "
        f"{DOCUMENTS} documents",
        "exact",
        min(slack.values()),
        0,
        words=f"over all corpora: {words}",
        wanted="regular facts",
    )


def probable(quick: bool) -> Finding:
    """How often g(H) is below p(U) − δ⁺ − |F|/(γ|U|), of `STRINGS` strings, given the corpus: where
    one of two facts was seen, and where nothing was, as then the chance comes close to γ."""
    worst = Fraction(0)
    for worlds in (*(spread(*shape) for shape in two_levels(quick)), *guesses()):
        below = Fraction(0)
        for chance, found in worlds:
            facts, unseen = int(found.valid), int(found.strings[found.unseen].sum())
            over = found.over_confidence(1 / (GAMMA * unseen))
            bound = bound_given_corpus(found.unseen_mass, over, facts, unseen, float(GAMMA))
            below += chance * (float(found.hallucination) < bound - 1e-12)
        worst = max(worst, below)
    return at_most(
        "probable",
        f"g(H) < p(U) − δ⁺ − |F|/(γ|U|) with what chance, γ = {GAMMA}",
        "float",
        float(worst),
        float(GAMMA),
        words=f"at most {worst}, of the models on the grid and of even guesses",
    )


def forty_answers(quick: bool) -> Finding:
    """Two prompts, one of them answered, α = ¾: the least mean of err + δ⁺, which is known."""
    alpha, half, m = Fraction(3, 4), Fraction(1, 2), STRINGS
    tau, least = Fraction(1, m), Fraction(2)
    step = 8 if quick else 4
    shares = [Fraction(each, GRID) for each in range(0, GRID + 1, step)] + [alpha]
    numbers = (0, 1, 20, 40) if quick else (0, 1, 5, 20, 39, 40)
    for right, said, given, many in product(shares, shares, shares, numbers):
        if (many == 0 and given) or (many == m and given != said):
            continue
        if given > said:
            continue
        a = given / many if many else Fraction(0)
        b = (said - given) / (m - many) if many < m else Fraction(0)
        mean = Fraction(0)
        for inside, chance in ((1, Fraction(many, m)), (0, Fraction(m - many, m))):
            if not chance:
                continue
            found = grouped(
                (1, 1, half * alpha, right, False, half),
                (1, 1, half * (1 - alpha), 1 - right, False, half),
                (many, inside, half * alpha * inside, a, True, half),
                (m - many, 1 - inside, half * alpha * (1 - inside), b, True, half),
                (1, 1, half * (1 - alpha), 1 - said, False, half),
            )
            mean += chance * (found.hallucination + found.over_confidence(tau))
        least = min(least, mean)
    MM = half * alpha
    return same(
        "forty-answers",
        f"2 prompts, {m} answers, α = {alpha}, one answered: the least mean of err + δ⁺",
        least,
        MM * (1 - Fraction(1, m)),
        words=f"{least}, of models on a grid",
        wanted=f"MM(1 − 1/m), of the calibrated model; not below MM − 2/m = {MM - Fraction(2, m)}",
    )


def upper(run: Run) -> Finding:
    """KL(p‖g) ≥ −ln(1 − g(H)) where p lives on the facts, with equality for g ∝ p there."""
    gaps = list[tuple[str, Log]]()
    for at in range(10 if run.quick else 60):
        p, share = law(run.rng, 3), Fraction(int(run.rng.integers(1, 6)), 6)
        on_facts = p if at % 2 else law(run.rng, 3)
        g = (*((1 - share / 2) * each for each in on_facts), share / 2)
        gaps.append((f"p = {p}, g = {g}", kl((*p, Fraction(0)), g) + log(1 - share / 2)))
    return no_counterexample(
        "upper",
        "g(H) ≤ 1 − e^(−KL(p‖g)) if p(H) = 0",
        (
            f"{where}: {gap}"
            for at, (where, gap) in enumerate(gaps)
            if gap.sign < 0 or (at % 2 and gap != 0)
        ),
        words=f"for {len(gaps)} draws, with equality for {sum(gap == 0 for _, gap in gaps)}",
        wanted="attained by g ∝ p on the facts",
    )
