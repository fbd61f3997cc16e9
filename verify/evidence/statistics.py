"""Decisions from means over prompts: by standard errors, or by resampled prompts."""

from __future__ import annotations

from functools import cache
from math import hypot
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from verify.finding import Finding, Verdict

ERRORS = 3.0  # standard errors; for few values, the quantile of Student's t of equal probability
BY = f"by {ERRORS:g} standard errors"
NOTHING = 0.01  # relative to the difference of the best predictor from the trivial one
# the number of resampled sets of prompts, and the fraction of them that may disagree
RESAMPLED, LEVEL = 200, 0.025


class Mean(NamedTuple):
    """A mean over independent prompts, with its standard error and degrees of freedom.

    The text of a mean is, for example, "0.21 ± 0.01".
    """

    mean: float
    error: float
    freedom: float = np.inf

    def __format__(self, digits: str) -> str:
        return f"{self.mean:{digits}} ± {self.error:{digits}}"

    @property
    def value(self) -> dict[str, float]:
        """The mean and the standard error, as the value of a finding."""
        return {"mean": self.mean, "standard error": self.error}


def estimated(values: np.ndarray) -> Mean:
    """The mean of `values` (m,), one for each of m independent prompts, and its standard error."""
    error = float(hypot(*(values - values.mean())) / np.sqrt(values.size * (values.size - 1)))
    return Mean(float(values.mean()), error, values.size - 1)


def ratio(parts: np.ndarray, wholes: np.ndarray) -> Mean:
    """The ratio Σ parts / Σ wholes over m independent prompts, with its standard error.

    `parts` and `wholes` have shape (m,). The standard error is the standard error of the mean of
    parts − ratio·wholes, divided by the mean of `wholes`. The ratio is NaN if all wholes are 0.
    """
    if not wholes.any():
        return Mean(np.nan, np.nan)
    found = parts.sum() / wholes.sum()
    _, error, freedom = estimated(parts - found * wholes)
    return Mean(float(found), float(error / wholes.mean()), freedom)


def fraction_of(right: np.ndarray, counted: np.ndarray) -> Mean:
    """The mean of `right` over the positions where `counted` is True, with its standard error.

    `right` and `counted` have shape (m, T), for m independent sequences of T tokens.
    """
    return ratio(np.where(counted, right, 0).sum(1), counted.sum(1))


@cache
def errors_for(freedom: float) -> float:
    """The number of standard errors that has the tail probability of 3 for a normal variable.

    Student's distribution with `freedom` degrees of freedom replaces the normal distribution. The
    number is 3 in the limit of many values, 6.6 for five values and 19 for three values.
    """
    return float(stats.t.isf(stats.norm.sf(ERRORS), freedom))


def sign_of(mean: float, spread: float, freedom: float = np.inf) -> Verdict:
    """Whether a mean is above 0 by `errors_for(freedom)` standard errors `spread`.

    The verdict is *fails* if the mean is below 0 by this number of standard errors, and is
    otherwise *undecided*.
    """
    reach = errors_for(freedom) * spread
    if mean - reach > 0:
        return Verdict.HOLDS
    return Verdict.FAILS if mean + reach < 0 else Verdict.UNDECIDED


def above(
    id: str, name: str, found: Mean, bound: float = 0.0, *, words: str, wanted: str
) -> Finding:
    """The finding that a mean of trained models is above a bound, by 3 standard errors.

    If the mean has few degrees of freedom, the number of standard errors is `errors_for(freedom)`,
    not 3.
    """
    verdict = sign_of(found.mean - bound, *found[1:])
    return Finding(id, name, "trained", found.value, bound, verdict, words, wanted)


def below(id: str, name: str, found: Mean, bound: float, *, words: str, wanted: str) -> Finding:
    """The finding that a mean of trained models is below a bound, by 3 standard errors.

    If the mean has few degrees of freedom, the number of standard errors is `errors_for(freedom)`,
    not 3.
    """
    verdict = sign_of(bound - found.mean, *found[1:])
    return Finding(id, name, "trained", found.value, bound, verdict, words, wanted)


def resampled(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    """Means of `values` (…, m) over m prompts that are resampled with replacement.

    The result has shape (RESAMPLED, …), with one row for each resampling.
    """
    m = values.shape[-1]
    times = rng.multinomial(m, np.full(m, 1 / m), RESAMPLED)
    return np.tensordot(times / m, values, (1, values.ndim - 1))


def agreed(fraction: float) -> Verdict:
    """The verdict on a property, from the fraction of resampled sets that have the property."""
    if fraction >= 1 - LEVEL:
        return Verdict.HOLDS
    return Verdict.FAILS if fraction <= LEVEL else Verdict.UNDECIDED


def agreeing(
    id: str, name: str, fraction: float, *, words: str, wanted: str = "", **more: Any
) -> Finding:
    """The finding that a property of trained models holds on almost all resampled sets of prompts.

    `more` contains further values, measured on the prompts without resampling.
    """
    return Finding(
        id,
        name,
        "trained",
        {"share": fraction, **more},  # the key of recorded runs
        1 - LEVEL,
        agreed(fraction),
        f"{words}; the requirement is met in {fraction:.1%} of {RESAMPLED} resampled sets of "
        "prompts",
        f"{wanted}, in at least {1 - LEVEL:.1%} of the resampled sets".removeprefix(", in "),
    )
