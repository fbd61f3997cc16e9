"""When means over prompts decide: by standard errors, or by prompts drawn again."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from verify.finding import Finding, Verdict

ERRORS = 3.0  # standard errors; of few values, as many as Student's t takes for the same chance
BY = f"by {ERRORS:g} standard errors"
NOTHING = 0.01  # of what there is to learn, from saying nothing to the best predictor
RESAMPLED, LEVEL = 200, 0.025  # sets of prompts drawn again, and the share that may disagree


class Mean(NamedTuple):
    """A mean over independent prompts and its standard error, which is known to so many degrees of
    freedom; formatted, both: "0.21 ± 0.01"."""

    mean: float
    error: float
    freedom: float = np.inf

    def __format__(self, digits: str) -> str:
        return f"{self.mean:{digits}} ± {self.error:{digits}}"

    @property
    def value(self) -> dict[str, float]:
        """As a finding has it."""
        return {"mean": self.mean, "standard error": self.error}


def estimated(values: np.ndarray) -> Mean:
    """The mean of values (m,) of independent prompts, and its standard error."""
    error = float(values.std(ddof=1) / np.sqrt(values.size))
    return Mean(float(values.mean()), error, values.size - 1)


def ratio(parts: np.ndarray, wholes: np.ndarray) -> Mean:
    """Σ parts / Σ wholes, both (m,), of independent prompts.

    A ratio of means: its error is that of the residuals parts − ratio·wholes.  Of nothing, NaN.
    """
    if not wholes.any():
        return Mean(np.nan, np.nan)
    found = parts.sum() / wholes.sum()
    _, error, freedom = estimated(parts - found * wholes)
    return Mean(float(found), float(error / wholes.mean()), freedom)


def share_of(right: np.ndarray, counted: np.ndarray) -> Mean:
    """The mean of `right` where it is counted, both (m, T), over independent sequences."""
    return ratio(np.where(counted, right, 0).sum(1), counted.sum(1))


@cache
def errors_for(freedom: float) -> float:
    """The standard errors that a mean is off by as rarely as one of a normal law is by `ERRORS`:
    3 for many values, 6.6 for five of them, 19 for three."""
    return float(stats.t.isf(stats.norm.sf(ERRORS), freedom))


def sign_of(mean: float, spread: float, freedom: float = np.inf) -> Verdict:
    """Whether a mean with this standard error is above 0: by `errors_for` of them, or undecided."""
    reach = errors_for(freedom) * spread
    if mean - reach > 0:
        return Verdict.HOLDS
    return Verdict.FAILS if mean + reach < 0 else Verdict.UNDECIDED


def above(
    id: str, name: str, found: Mean, bound: float = 0.0, *, words: str, wanted: str
) -> Finding:
    """That a mean of trained models is above a bound, by `ERRORS` standard errors."""
    verdict = sign_of(found.mean - bound, *found[1:])
    return Finding(id, name, "trained", found.value, bound, verdict, words, wanted)


def below(id: str, name: str, found: Mean, bound: float, *, words: str, wanted: str) -> Finding:
    """That it is below, as `above`."""
    verdict = sign_of(bound - found.mean, *found[1:])
    return Finding(id, name, "trained", found.value, bound, verdict, words, wanted)


def resampled(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    """Means of values (…, m) over m prompts drawn again with replacement, (RESAMPLED, …)."""
    m = values.shape[-1]
    times = rng.multinomial(m, np.full(m, 1 / m), RESAMPLED)
    return np.tensordot(times / m, values, (1, values.ndim - 1))


def agreed(share: float) -> Verdict:
    """Whether something is so, by the share of resampled sets in which it is."""
    if share >= 1 - LEVEL:
        return Verdict.HOLDS
    return Verdict.FAILS if share <= LEVEL else Verdict.UNDECIDED


def agreeing(
    id: str, name: str, share: float, *, words: str, wanted: str = "", **more: Any
) -> Finding:
    """That something is so of trained models, by the share of resampled sets in which it is.

    `more` is measured besides, on the prompts at hand.
    """
    return Finding(
        id,
        name,
        "trained",
        {"share": share, **more},
        1 - LEVEL,
        agreed(share),
        f"{words}; so in {share:.1%} of {RESAMPLED} resampled sets",
        f"{wanted}, in at least {1 - LEVEL:.1%} of them".removeprefix(", in "),
    )
