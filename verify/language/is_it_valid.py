"""The claim `is-it-valid`: bounds on generation errors from errors of classifying validity."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

import numpy as np

from theory.kinds import Exact
from theory.language import IsItValid
from theory.language import is_it_valid as definition
from verify.claim import Run, claim, option
from verify.finding import Finding, at_least, same
from verify.language.draws import random_distribution

PROMPTS, RESPONSES = 3, 8  # largest numbers in an instance
GRID = 12  # the trigram models have the probabilities 0, 1/GRID, …, 1


@claim()
def is_it_valid(
    run: Run, *, instances: Annotated[int, option("random instances", min=10, max=10**5)] = 400
) -> Iterator[Finding]:
    """err ≥ 2 err_iiv − max|V_c|/min|E_c| − δ⁺ for every model and its classifier *is it valid?*.

    err is the model's probability of a wrong response, err_iiv the error of the classifier that
    accepts a response of probability above 1/min|E_c|.  With one valid response among C, err ≥ 2(1
    − 1/C) min_t err_iiv(t) over all thresholds t, calibrated or not.  A trigram model has the same
    context after "she lost it and was completely out of …" and after "he …"; for any probabilities
    of "her" and "his" its mean error is ½.
    """
    count = min(instances, 200) if run.quick else instances
    yield _calibrated(run, count)
    yield _attained()
    yield _averaged(run, count)
    yield _choices(run, count)
    yield _trigram()


def instance(run: Run, *, choices: bool) -> IsItValid:
    """A random instance in small fractions, with one valid response of C or with any number."""
    rng = run.rng
    prompts, C = int(rng.integers(1, PROMPTS + 1)), int(rng.integers(2, RESPONSES + 1))
    p, g, valid = list[list[Exact]](), list[list[Exact]](), list[range]()
    for _ in range(prompts):
        size = C if choices else int(rng.integers(2, RESPONSES + 1))
        true = 1 if choices else int(rng.integers(1, size))
        p.append([*random_distribution(rng, true, 0), *[0] * (size - true)])
        g.append([*random_distribution(rng, size, 0)])
        valid.append(range(true))
    return definition(random_distribution(rng, prompts), p, g, valid)


def _calibrated(run: Run, count: int) -> Finding:
    """Theorem 1 on random instances; vacuous bounds (at most 0) are omitted."""
    found = [instance(run, choices=False) for _ in range(count)]
    slack = [each.errors - each.bound for each in found if each.bound > 0]
    return at_least(
        "calibrated",
        f"err − (2 err_iiv − max|V|/min|E| − δ⁺), the minimum over {count} instances, over Q",
        "exact",
        float(min(slack)) if slack else np.nan,
        0.0,
        words=f"{min(slack, default=None)}; the bound is positive for {len(slack)} instances",
        wanted="at least 0",
    )


def uniform(C: int) -> IsItValid:
    """A prompt with one valid response of C, and the uniform model."""
    return definition([1], [[1] + [0] * (C - 1)], [[Fraction(1, C)] * C], [[0]])


def slacks() -> dict[int, Fraction]:
    """err minus the bound of Theorem 1, by |E|, for models that attain it.

    The model gives 1/|E| to the valid response and the rest uniformly to the wrong responses: no
    response is above the threshold.
    """
    found = {}
    for E in range(2, 9):
        rest = (1 - Fraction(1, E)) / E
        each = definition([1], [[1] + [0] * E], [[Fraction(1, E)] + [rest] * E], [[0]])
        found[E] = each.errors - each.bound
    return found


def _attained() -> Finding:
    """Equality in Theorem 1."""
    found = slacks()
    return same(
        "attained",
        "err minus the bound of Theorem 1 for models with g(valid) = 1/|E|, |E| = 2 … 8",
        [str(each) for each in found.values()],
        ["0"] * len(found),
        words="0 for all",
        wanted="0",
    )


def _averaged(run: Run, count: int) -> Finding:
    """The identity in the proof of Theorem 3: the mean over thresholds."""
    found = [instance(run, choices=True) for _ in range(count)]
    alike = sum(
        2 * each.mean_misclassified == each.errors * Fraction(C, C - 1)
        for each, C in ((each, len(each.g[0])) for each in found)
    )
    return same(
        "averaged",
        f"mean of 2 err_iiv over thresholds in [0, 1] = err·C/(C − 1), {count} instances, over Q",
        alike,
        len(found),
        words=f"equal for {alike} instances",
        wanted=f"all {len(found)}",
    )


def _choices(run: Run, count: int) -> Finding:
    """Theorem 3 on random instances and on uniform models, which attain it."""
    found = [instance(run, choices=True) for _ in range(count)]
    found += [uniform(C) for C in range(2, RESPONSES + 1)]
    least = min(each.errors - each.choice_bound for each in found)
    return same(
        "choices",
        f"err − 2(1 − 1/C) min err_iiv, the minimum over {len(found)} instances, over Q",
        str(least),
        "0",
        words=f"{least}",
        wanted="0, attained by uniform models",
    )


def trigram(q: Fraction) -> IsItValid:
    """Two prompts with the same last two words, and a trigram model: "her" has probability q."""
    return definition([Fraction(1, 2)] * 2, [[1, 0], [0, 1]], [[q, 1 - q]] * 2, [[0], [1]])


def _trigram() -> Finding:
    """The errors of trigram models on two prompts with the same last two words."""
    found = [trigram(Fraction(part, GRID)) for part in range(GRID + 1)]
    half = sum(each.errors == each.choice_bound == Fraction(1, 2) for each in found)
    return same(
        "trigram",
        'trigram models on "she lost it and was completely out of … mind" and "he …"',
        half,
        len(found),
        words=f"err = ½ = the bound for {half} models",
        wanted=f"all {len(found)}",
    )
