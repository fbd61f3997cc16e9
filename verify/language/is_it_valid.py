"""The claim `is-it-valid`: who generates wrongly cannot tell valid responses, and the reverse."""

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
from verify.language.draws import law

PROMPTS, RESPONSES = 3, 8  # at most, of an instance
GRID = 12  # parts, of what the model of three words says


@claim(source="[KNVZ2025, Theorems 1 and 3]; proofs in theory/language/is_it_valid.py")
def is_it_valid(
    run: Run, *, instances: Annotated[int, option("random instances", min=10, max=10**5)] = 400
) -> Iterator[Finding]:
    """err ≥ 2 err_iiv − max|V_c|/min|E_c| − δ⁺ for every model and its classifier *is it valid?*.

    err is the model's probability of a wrong response, err_iiv the error of the classifier that
    accepts a response of probability above 1/min|E_c|.  With one valid response of C,
    err ≥ 2(1 − 1/C) min_t err_iiv(t) over all thresholds t, calibrated or not.  A trigram model, to
    which "she lost it and was completely out of …" and "he …" are equal, errs half of the time on
    her and his mind, whatever its probabilities are.
    """
    count = min(instances, 200) if run.quick else instances
    yield _calibrated(run, count)
    yield _attained()
    yield _averaged(run, count)
    yield _choices(run, count)
    yield _trigram()


def instance(run: Run, *, choices: bool) -> IsItValid:
    """A random instance in small fractions; with one valid response of C, or any number."""
    rng = run.rng
    prompts, C = int(rng.integers(1, PROMPTS + 1)), int(rng.integers(2, RESPONSES + 1))
    laws, said, valid = list[list[Exact]](), list[list[Exact]](), list[range]()
    for _ in range(prompts):
        size = C if choices else int(rng.integers(2, RESPONSES + 1))
        true = 1 if choices else int(rng.integers(1, size))
        laws.append([*law(rng, true, 0), *[0] * (size - true)])
        said.append([*law(rng, size, 0)])
        valid.append(range(true))
    return definition(law(rng, prompts), laws, said, valid)


def _calibrated(run: Run, count: int) -> Finding:
    """Theorem 1; bounds that are not above 0 say nothing, and are left out."""
    found = [instance(run, choices=False) for _ in range(count)]
    slack = [each.errors - each.bound for each in found if each.bound > 0]
    return at_least(
        "calibrated",
        f"err − (2 err_iiv − max|V|/min|E| − δ⁺), the least of {count} instances, over Q",
        "exact",
        float(min(slack)) if slack else np.nan,
        0.0,
        words=f"{min(slack, default=None)}; the bound is above 0 in {len(slack)} of them",
    )


def even(C: int) -> IsItValid:
    """A prompt with one valid response of C, and a model that gives each the same."""
    return definition([1], [[1] + [0] * (C - 1)], [[Fraction(1, C)] * C], [[0]])


def slacks() -> dict[int, Fraction]:
    """1/|E| on what is valid and the rest shared by all that is wrong: what Theorem 1 leaves, by
    |E|; nothing is above the threshold then, and all of err is of what is below."""
    found = {}
    for E in range(2, 9):
        rest = (1 - Fraction(1, E)) / E
        each = definition([1], [[1] + [0] * E], [[Fraction(1, E)] + [rest] * E], [[0]])
        found[E] = each.errors - each.bound
    return found


def _attained() -> Finding:
    found = slacks()
    return same(
        "attained",
        "the same where a model gives 1/|E| to the valid one, |E| = 2 … 8",
        [str(each) for each in found.values()],
        ["0"] * len(found),
        words="equality in all" if not any(found.values()) else "not equal",
        wanted="0",
    )


def _averaged(run: Run, count: int) -> Finding:
    """The proof of Theorem 3: the mean over all thresholds."""
    found = [instance(run, choices=True) for _ in range(count)]
    alike = sum(
        2 * each.mean_misclassified == each.errors * Fraction(C, C - 1)
        for each, C in ((each, len(each.g[0])) for each in found)
    )
    return same(
        "averaged",
        f"2 err_iiv, mean over thresholds in [0, 1], of {count} instances with one valid of C",
        alike,
        len(found),
        words=f"equal to err·C/(C − 1) in {alike}, over Q",
    )


def _choices(run: Run, count: int) -> Finding:
    """Theorem 3, with the model that gives all responses the same, where it is attained."""
    found = [instance(run, choices=True) for _ in range(count)]
    found += [even(C) for C in range(2, RESPONSES + 1)]
    least = min(each.errors - each.choice_bound for each in found)
    return same(
        "choices",
        f"err − 2(1 − 1/C) min err_iiv, the least of {len(found)} instances, over Q",
        str(least),
        "0",
        words=f"{least}",
        wanted="0, attained",
    )


def trigram(q: Fraction) -> IsItValid:
    """Two prompts that end in the same two words, all that the model sees: it says "her" with
    chance q after each, and "his" else."""
    return definition([Fraction(1, 2)] * 2, [[1, 0], [0, 1]], [[q, 1 - q]] * 2, [[0], [1]])


def _trigram() -> Finding:
    found = [trigram(Fraction(part, GRID)) for part in range(GRID + 1)]
    half = sum(each.errors == each.choice_bound == Fraction(1, 2) for each in found)
    return same(
        "trigram",
        '"she lost it and was completely out of … mind" and "he …" by their last words',
        half,
        len(found),
        words=f"{half} of {len(found)} models err exactly ½, which is the bound",
    )
