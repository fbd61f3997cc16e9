"""What the samples of a trained head prove of it, for `sparse-and`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from theory.language import (
    Conjunction,
    attention_parameters,
    error_between,
    largest_scores,
    log_choices,
    margin_certificate,
    occam,
    vote_bound,
)
from verify.finding import Finding, at_least, at_most

DELTA = 0.05  # with which a bound on one run may fail
SMALL_ERROR = 0.1  # an error that would say something
# Times the samples at hand, at least, that it would take; from after a first run of three heads.
MORE = {"vote": 100, "norms": 100_000}


class Certified(NamedTuple):
    """Of one head: the error of its k largest scores if they are right on all samples, else NaN;
    the bounds by its margin as a vote, and by its norms, and how many samples with the same margin
    would make them small; infinite if a sample is wrong."""

    error: float
    vote: float = np.inf
    norms: float = np.inf
    vote_samples: float = np.inf
    norms_samples: float = np.inf


def certified(rule: Conjunction, words: np.ndarray, labels: np.ndarray) -> Certified:
    """A head that is trained on these words, and what they prove of it."""
    s, a, b = attention_parameters(words, labels)
    k, (m, T) = len(rule.positions), words.shape
    found = largest_scores(s, k)
    right = (words[:, list(found)].min(axis=1) == labels).all()
    error = float(error_between(found, rule.positions)) if right else np.nan
    margin = float((np.where(labels == 1, 1, -1) * (a * (words @ softmax(s)) + b)).min())
    if margin <= 0 or a <= 0:
        return Certified(error)
    # Tokens are the bit, 1, and the position as a unit vector; a and b are read from the first two,
    # and of all scores with this softmax those around their median have the least norm.
    norms = float(np.abs(s - np.median(s)).sum()), abs(a) + abs(b), float(np.sqrt(3))

    def by_vote(samples: int) -> float:
        return vote_bound(T, margin / a, samples, DELTA)

    def by_norms(samples: int) -> float:
        return margin_certificate(T + 2, *norms, margin, samples, DELTA)

    enough = samples_for(by_vote), samples_for(by_norms)
    return Certified(error, by_vote(m), by_norms(m), *enough)


def samples_for(bound: Callable[[int], float]) -> int:
    """The least samples, to a hundredth, for which a bound that falls is at most `SMALL_ERROR`."""
    low, high = 1, 2
    while bound(high) > SMALL_ERROR:
        low, high = high, 2 * high
    while high - low > 1 + high // 100:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(middle) <= SMALL_ERROR else (middle, high)
    return high


def certificates(
    runs: list[Certified], T: int, k: int, samples: int, enough: int
) -> Iterator[Finding]:
    """That the largest scores are certified, and that votes and norms say nothing here."""
    errors = [run.error for run in runs if not np.isnan(run.error)]
    bound = occam(log_choices(T, k), samples, DELTA)
    yield at_least(
        "largest/right",
        f"heads whose {k} largest scores, as a conjunction, are right on all {samples} samples",
        "trained",
        len(errors),
        enough,
        words=f"{len(errors)} of {len(runs)}",
    )
    yield at_most(
        "largest/error",
        "their true error, and what the samples prove of it",
        "exact",
        max(errors, default=np.nan),
        bound,
        words=f"at most {max(errors, default=np.nan):.3f}",
        wanted=f"(ln C({T}, {k}) + ln {1 / DELTA:.0f})/{samples} = {bound:.3f}, each with "
        f"probability ≥ {1 - DELTA:g}",
    )
    for id, name in (("vote", "its margin as a vote"), ("norms", "the norms of its scores")):
        least = min(getattr(run, id) for run in runs)
        yield at_least(
            id,
            f"the bound on the error of a head by {name}, the least of {len(runs)} heads",
            "float",
            least,
            1.0,
            words=f"{least:.3g} (vacuous)" if least >= 1 else f"{least:.3g}",
            wanted="1: at this size it says nothing",
        )
        wanted_ones = [getattr(run, f"{id}_samples") for run in runs]
        yield at_least(
            f"{id}-samples",
            f"samples with which {name} would prove an error of {SMALL_ERROR:g}, {len(runs)} heads",
            "float",
            min(wanted_ones),
            MORE[id] * samples,
            words=f"from {min(wanted_ones):.2g} to {max(wanted_ones):.2g}",
            wanted=f"{MORE[id]:g} times those at hand, whose margins these have",
        )
