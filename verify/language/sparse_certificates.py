"""What the samples of a trained head prove of it, for `sparse-and`."""

from __future__ import annotations

from collections.abc import Iterator
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


class Certified(NamedTuple):
    """Of one head: the error of its k largest scores if they are right on all samples, else NaN;
    the bounds by its margin as a vote, and by its norms, infinite if a sample is wrong."""

    error: float
    vote: float
    norms: float


def certified(rule: Conjunction, words: np.ndarray, labels: np.ndarray) -> Certified:
    """A head that is trained on these words, and what they prove of it."""
    s, a, b = attention_parameters(words, labels)
    k, (m, T) = len(rule.positions), words.shape
    found = largest_scores(s, k)
    right = (words[:, list(found)].min(axis=1) == labels).all()
    error = float(error_between(found, rule.positions)) if right else np.nan
    margin = float((np.where(labels == 1, 1, -1) * (a * (words @ softmax(s)) + b)).min())
    if margin <= 0 or a <= 0:
        return Certified(error, np.inf, np.inf)
    # Tokens are the bit, 1, and the position as a unit vector; a and b are read from the first two,
    # and of all scores with this softmax those around their median have the least norm.
    norms = float(np.abs(s - np.median(s)).sum()), abs(a) + abs(b), float(np.sqrt(3))
    return Certified(
        error,
        vote_bound(T, margin / a, m, DELTA),
        margin_certificate(T + 2, *norms, margin, m, DELTA),
    )


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
    for id, name, each in (
        ("vote", "its margin as a vote", [run.vote for run in runs]),
        ("norms", "the norms of its scores", [run.norms for run in runs]),
    ):
        least = min(each)
        yield at_least(
            id,
            f"the bound on the error of a head by {name}, the least of {len(runs)} heads",
            "float",
            least,
            1.0,
            words=f"{least:.3g} (vacuous)" if least >= 1 else f"{least:.3g}",
            wanted="1: at this size it says nothing",
        )
