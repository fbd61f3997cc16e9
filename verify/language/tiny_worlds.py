"""Findings on small worlds of facts, all of which are enumerated exactly."""

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
from verify.finding import Finding, as_stated, at_least, at_most, no_counterexample, same
from verify.language.bounds import shown
from verify.language.draws import random_distribution

STRINGS, GRID = 40, 40  # strings, two of them facts; models have multiples of 1/GRID
GAMMA = Fraction(1, 4)
FACTS, OTHERS, DOCUMENTS = 20, 20_000, 10  # a world whose corpora are enumerated


def tiny_worlds(run: Run) -> Iterator[Finding]:
    """The findings on bounds on the hallucination rate in small worlds.

    The bounds are the deterministic bound, its consequences in mean and in probability, and an
    upper bound.
    """
    yield sure(run)
    yield forty_strings(run.quick)
    yield expected()
    yield probable(run.quick)
    yield forty_answers(run.quick)
    yield upper(run)


def sure(run: Run) -> Finding:
    """The deterministic bound on the hallucination rate, for all small instances.

    The instances are all distributions, models, sets of unseen strings and thresholds on three
    strings, on grids, and random instances on six strings.
    """
    least, count, size = None, 0, 3
    thresholds = [Fraction(each, 12) for each in (0, 3, 4, 6)]
    all_p = [*distributions_on_grid(2 if run.quick else 3, size)]
    for p, g, mask in product(all_p, distributions_on_grid(4, size), range(2**size)):
        unseen = [y for y in range(size) if mask >> y & 1]
        found = levels(p, g, [y for y in range(size) if p[y]], unseen)
        for tau in thresholds:
            slack = found.hallucination - found.deterministic_bound(tau)
            least, count = slack if least is None else min(least, slack), count + 1
    bounds, stated = list[Fraction](), list[Fraction]()
    for _ in range(100):
        p, g = random_distribution(run.rng, 6, 0), random_distribution(run.rng, 6, 0)
        unseen = np.flatnonzero(run.rng.random(6) < 0.5).tolist()
        found = levels(p, g, [y for y in range(6) if p[y]], unseen)
        bounds.append(found.deterministic_bound(Fraction(1, 6)))
        slack = found.hallucination - bounds[-1]
        least, count = min(least, slack), count + 1
        above = [y for y in range(6) if g[y] > Fraction(1, 6)]
        over = sum((g[y] - p[y] for y in above), start=Fraction(0))
        seldom = sum((p[y] for y in unseen if y not in above), start=Fraction(0))
        more = len(above) - sum(1 for y in p if y)
        stated.append(seldom - max(over, Fraction(0)) + Fraction(more, 6))
    finding = same(
        "sure",
        "smallest difference between the hallucination rate g(H) and its deterministic bound "
        "p(U) − δ⁺ − τ|F| + τ|A| − p(U∩A), where p is the distribution of documents, U are unseen "
        "strings, F facts, and δ⁺ is the over-confidence on A = {g > τ}",
        str(least),
        "0",
        words=f"{least}, over {count} instances on 3 or 6 strings",
        wanted="0, so that the bound holds and is attained",
    )
    return as_stated(finding, bounds, stated, terms=1.0)


def spread(g0: Fraction, a: Fraction, many: int, b: Fraction) -> Iterator[tuple[Fraction, Levels]]:
    """The worlds with one seen and one unseen fact among `STRINGS` strings, for one model.

    Yields pairs (probability, world).  The model gives probability g0 to the seen fact, a to each
    of `many` other strings and b to each remaining string.
    """
    few = STRINGS - 1 - many
    for inside, weight in ((1, Fraction(many, STRINGS - 1)), (0, Fraction(few, STRINGS - 1))):
        if weight:
            half = Fraction(1, 2)
            yield (
                weight,
                grouped(
                    (1, 1, half, g0, False, 1),
                    (many, inside, half * inside, a, True, 1),
                    (few, 1 - inside, half * (1 - inside), b, True, 1),
                ),
            )


def grouped(*groups: tuple[int, int, Fraction, Fraction, bool, Fraction | int]) -> Levels:
    """The `Levels` of groups of strings, each given by the six fields of `Levels` in order."""
    columns = [
        np.array([Fraction(each) for each in column], dtype=object)
        for column in zip(*groups, strict=True)
    ]
    strings, facts, p, g, unseen, weight = columns
    return Levels(strings, facts, p, g, unseen.astype(bool), weight)


def two_levels(quick: bool) -> Iterator[tuple[Fraction, Fraction, int, Fraction]]:
    """Models on a grid, as arguments of `spread`.

    g0 is the probability of the seen fact, each of `many` other strings has probability a, and each
    remaining string has probability b.  Yields tuples (g0, a, many, b).
    """
    numbers = (0, 1, 5, 20, 38) if quick else range(0, STRINGS - 1, 2)
    step = 4
    for many, seen in product(numbers, range(0, GRID + 1, step)):
        for given in range(0, GRID - seen + 1, step) if many else (0,):
            rest = Fraction(GRID - seen - given, GRID)
            each = Fraction(given, GRID * many) if many else Fraction(0)
            yield Fraction(seen, GRID), each, many, rest / (STRINGS - 1 - many)


def guesses() -> Iterator[list[tuple[Fraction, Levels]]]:
    """The worlds with one fact among `STRINGS` strings and no document, for models that guess.

    Each item is a list of pairs (probability, world), for a model that is uniform on 1 to 39
    strings.
    """
    for many in range(1, STRINGS):
        a, inside = Fraction(1, many), Fraction(many, STRINGS)
        yield [
            (
                weight,
                grouped(
                    (many, has, Fraction(has), a, True, 1),
                    (STRINGS - many, 1 - has, Fraction(1 - has), Fraction(0), True, 1),
                ),
            )
            for has, weight in ((1, inside), (0, 1 - inside))
        ]


def forty_strings(quick: bool) -> Finding:
    """The smallest mean of hallucination rate plus over-confidence, if one of two facts was seen.

    The mean is compared with its lower bound.
    """
    tau, least = Fraction(1, STRINGS - 1), Fraction(2)
    for shape in two_levels(quick):
        mean = sum(
            (
                weight * (found.hallucination + found.over_confidence(tau))
                for weight, found in spread(*shape)
            ),
            start=Fraction(0),
        )
        least = min(least, mean)
    bound = Fraction(1, 2) - 2 * tau
    return at_least(
        "forty-strings",
        "smallest mean of (hallucination rate) + (over-confidence), over models on a grid, for "
        f"{STRINGS} strings and 2 facts, one of them seen",
        "exact",
        least,
        bound,
        words=f"{least}",
        wanted=f"at least (unseen mass) − (facts)/(unseen strings) = {bound}",
    )


def expected() -> Finding:
    """The mean hallucination rates of three models over all corpora, compared with the bound."""
    slack = dict.fromkeys(("calibrated", "Good–Turing", "memoriser"), Fraction(0))
    bounds, stated = dict.fromkeys(slack, Fraction(0)), dict.fromkeys(slack, Fraction(0))
    for (seen, once), weight in seen_and_once(FACTS, DOCUMENTS).items():
        known, MF = Fraction(seen, FACTS), Fraction(once, DOCUMENTS)
        unseen = FACTS + OTHERS - seen
        # The mass of each model on the seen facts, all of which are above 1/|U|.
        for name, mass in zip(slack, (known, 1 - MF, Fraction(1)), strict=True):
            bound = expected_bound(MF, max(mass - known, Fraction(0)), FACTS, unseen, DOCUMENTS)
            slack[name] += weight * ((1 - mass) * Fraction(OTHERS, unseen) - bound)
            bounds[name] += weight * bound
            above = max(mass, known) - known
            stated[name] += weight * (
                Fraction(once - 1, DOCUMENTS) - above - Fraction(FACTS, unseen)
            )
    words = ", ".join(
        f"{float(bounds[name] + slack[name]):.4f} and {shown(float(bounds[name]))} for {name}"
        for name in slack
    )
    finding = at_least(
        "expected",
        "mean hallucination rate over all corpora, compared with the lower bound "
        f"E MF − E δ⁺ − E|F|/|U| − 1/n, for {FACTS} facts among {FACTS + OTHERS} strings and "
        f"n = {DOCUMENTS} documents",
        "exact",
        min(slack.values()),
        0,
        words=f"mean rate and bound are {words}",
        wanted="a mean rate of at least the bound for each model",
    )
    return as_stated(finding, bounds, stated, terms=1.0)


def probable(quick: bool) -> Finding:
    """The largest probability, given the corpus, that a bound fails, compared with γ.

    The bound on the hallucination rate is `bound_given_corpus` for γ = ¼, which holds with
    probability at least 1 − γ.  The worlds have two facts, one of them seen, or one fact and no
    documents.  Without documents, the probability is close to γ.
    """
    worst = Fraction(0)
    for worlds in (*(spread(*shape) for shape in two_levels(quick)), *guesses()):
        below = Fraction(0)
        for weight, found in worlds:
            facts, unseen = int(found.valid), int(found.strings[found.unseen].sum())
            over = found.over_confidence(1 / (GAMMA * unseen))
            bound = bound_given_corpus(found.unseen_mass, over, facts, unseen, float(GAMMA))
            below += weight * (float(found.hallucination) < bound - 1e-12)
        worst = max(worst, below)
    return at_most(
        "probable",
        "largest probability, given the corpus, that the hallucination rate is below the lower "
        "bound p(U) − δ⁺ − |F|/(γ|U|), where p(U) is the mass of the unseen strings U, F are the "
        f"facts, δ⁺ is the over-confidence and γ = {GAMMA}",
        "float",
        float(worst),
        float(GAMMA),
        words=f"{worst}, over models on a grid and models that guess uniformly",
        wanted=f"at most γ = {GAMMA}, as the bound holds with probability at least 1 − γ",
    )


def forty_answers(quick: bool) -> Finding:
    """The smallest mean of error plus over-confidence for two prompts, one of them answered.

    One prompt is answered in the documents, and a document answers its prompt with probability ¾.
    """
    alpha, half, m = Fraction(3, 4), Fraction(1, 2), STRINGS
    tau, least = Fraction(1, m), Fraction(2)
    step = 8 if quick else 4
    masses = [Fraction(each, GRID) for each in range(0, GRID + 1, step)] + [alpha]
    numbers = (0, 1, 20, 40) if quick else (0, 1, 5, 20, 39, 40)
    for right, total, given, many in product(masses, masses, masses, numbers):
        if (many == 0 and given) or (many == m and given != total):
            continue
        if given > total:
            continue
        a = given / many if many else Fraction(0)
        b = (total - given) / (m - many) if many < m else Fraction(0)
        mean = Fraction(0)
        for inside, weight in ((1, Fraction(many, m)), (0, Fraction(m - many, m))):
            if not weight:
                continue
            found = grouped(
                (1, 1, half * alpha, right, False, half),
                (1, 1, half * (1 - alpha), 1 - right, False, half),
                (many, inside, half * alpha * inside, a, True, half),
                (m - many, 1 - inside, half * alpha * (1 - inside), b, True, half),
                (1, 1, half * (1 - alpha), 1 - total, False, half),
            )
            mean += weight * (found.hallucination + found.over_confidence(tau))
        least = min(least, mean)
    MM = half * alpha
    return same(
        "forty-answers",
        "smallest mean of (error) + (over-confidence), over models on a grid, for 2 prompts with "
        f"{m} possible answers each, where one prompt is answered in the documents, and documents "
        f"answer with probability {alpha}",
        least,
        MM * (1 - Fraction(1, m)),
        words=f"{least}",
        wanted=f"{MM * (1 - Fraction(1, m))}, the value of the calibrated model; the general bound "
        f"is {MM - Fraction(2, m)}",
    )


def upper(run: Run) -> Finding:
    """The upper bound 1 − e^(−KL(p‖g)) on the hallucination rate of a model g, on random instances.

    Here p is the distribution of documents.  Equality is required if g ∝ p on the facts.
    """
    gaps = list[tuple[str, Log]]()
    for at in range(10 if run.quick else 60):
        p, part = random_distribution(run.rng, 3), Fraction(int(run.rng.integers(1, 6)), 6)
        on_facts = p if at % 2 else random_distribution(run.rng, 3)
        g = (*((1 - part / 2) * each for each in on_facts), part / 2)
        gaps.append((f"p = {p}, g = {g}", kl((*p, Fraction(0)), g) + log(1 - part / 2)))
    return no_counterexample(
        "upper",
        "hallucination rate ≤ 1 − e^(−KL(p‖g)) for a model g of the distribution p of documents",
        (
            f"{where}: {gap}"
            for at, (where, gap) in enumerate(gaps)
            if gap.sign < 0 or (at % 2 and gap != 0)
        ),
        words=f"true for {len(gaps)} random pairs of p and g, with equality for "
        f"{sum(gap == 0 for _, gap in gaps)} of them",
        wanted="the inequality for all pairs, and equality if g ∝ p on the facts",
    )
