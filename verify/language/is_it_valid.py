"""The claim `is-it-valid`: a bound on the error of generating from that of classifying."""

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
    run: Run,
    *,
    instances: Annotated[int, option("number of random instances", min=10, max=10**5)] = 400,
) -> Iterator[Finding]:
    """For every model, err ≥ 2 err_iiv − max|V_c|/min|E_c| − δ⁺, where err is the model's
    probability of a wrong response and err_iiv the error of the classifier that the model defines.

    V_c is the set of valid responses to the prompt c, and E_c is the set of wrong responses to c.
    The model is a distribution g of responses to each prompt, and prompts have weights.  The
    classifier decides whether a response is valid: it accepts the responses of probability above t
    = 1/min|E_c|.  Its error err_iiv is measured on responses that are, with probability ½ each,
    valid (from a distribution p) or uniform in E_c.  Let A be the set of accepted responses.  The
    over-confidence is δ⁺ = (g(A) − p(A))⁺.

    Let err_iiv(t) be the error of the classifier with any threshold t.  If each prompt has C
    responses, one of them valid, then err ≥ 2(1 − 1/C) min_t err_iiv(t), whether or not the model
    is calibrated.  For example, a trigram model has the same context after "she lost it and was
    completely out of" as after "he lost it and was completely out of".  So whatever probabilities a
    trigram model gives to "her" and "his", its mean error is ½.
    """
    count = run.limited(200, instances=instances)
    yield _calibrated(run, count)
    yield _attained()
    yield _averaged(run, count)
    yield _choices(run, count)
    yield _trigram()


def instance(run: Run, *, choices: bool) -> IsItValid:
    """A random instance of the task *is it valid?*, in small fractions.

    With `choices`, all prompts have the same number of responses, one of them valid.
    """
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
        "smallest difference between the model's error and the bound 2 err_iiv − max|V|/min|E| − "
        "δ⁺, over random instances with a positive bound, over Q; here err_iiv is the classifier's"
        " error, V and E are the valid and wrong responses, and δ⁺ is the over-confidence",
        "exact",
        float(min(slack)) if slack else np.nan,
        0.0,
        words=f"{min(slack, default=None)}; the bound is positive for {len(slack)} of {count} "
        "instances",
        wanted="a difference of at least 0",
    )


def uniform(C: int) -> IsItValid:
    """The instance of one prompt with C responses, one of them valid, and the uniform model."""
    return definition([1], [[1] + [0] * (C - 1)], [[Fraction(1, C)] * C], [[0]])


def slacks() -> dict[int, Fraction]:
    """The model's error minus its bound, for models that attain the bound [KNVZ2025, Theorem 1].

    A key of the result is the number |E| of wrong responses to the prompt.  The model gives
    probability 1/|E| to the valid response, and the remaining mass uniformly to the wrong
    responses.  So no response has a probability above the threshold 1/|E|.
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
        "model's error minus the bound of [KNVZ2025, Theorem 1], for models that give the valid "
        "response probability 1/|E|, where |E| is the number of wrong responses, 2 to 8",
        [str(each) for each in found.values()],
        ["0"] * len(found),
        words="0 for all models",
        wanted="0, so that the models attain the bound",
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
        "twice the classifier's error, averaged over thresholds in [0, 1], equals C/(C − 1) times "
        "the model's error, for random prompts of C responses, over Q",
        alike,
        len(found),
        words=f"true for {alike} instances",
        wanted=f"equality for all {len(found)} instances",
    )


def _choices(run: Run, count: int) -> Finding:
    """Theorem 3 on random instances and on uniform models, which attain it."""
    found = [instance(run, choices=True) for _ in range(count)]
    found += [uniform(C) for C in range(2, RESPONSES + 1)]
    least = min(each.errors - each.choice_bound for each in found)
    return same(
        "choices",
        "smallest difference between the model's error and 2(1 − 1/C) times the classifier's "
        f"smallest error over all thresholds, over {len(found)} instances with C responses, over Q",
        str(least),
        "0",
        words=f"{least}",
        wanted="0, so that the bound holds and uniform models attain it",
    )


def trigram(q: Fraction) -> IsItValid:
    """The instance of two prompts with the same last two words, and a trigram model.

    The valid responses are "her" and "his", and the model gives "her" the probability q.
    """
    return definition([Fraction(1, 2)] * 2, [[1, 0], [0, 1]], [[q, 1 - q]] * 2, [[0], [1]])


def _trigram() -> Finding:
    """The errors of trigram models on two prompts with the same last two words."""
    found = [trigram(Fraction(part, GRID)) for part in range(GRID + 1)]
    half = sum(each.errors == each.choice_bound == Fraction(1, 2) for each in found)
    return same(
        "trigram",
        'mean error of trigram models on "she/he lost it and was completely out of …", compared '
        "with the lower bound",
        half,
        len(found),
        words=f"error and bound are ½ for {half} models",
        wanted=f"½ for all {len(found)} models",
    )
