"""Bounds on the error of a trained head from its samples, for `sparse-and`."""

from __future__ import annotations

import math
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
from verify.finding import Finding, as_stated, at_least, at_most

DELTA = 0.05  # the probability with which a bound on one run may fail
SMALL_ERROR = 0.1  # a bound that is not vacuous
# The smallest ratio of required to given samples; chosen after a first run of three heads.
MARGINS = 0.3, 2.0  # margins at which bounds are compared with their formulas
MORE = {"vote": 100, "norms": 100_000}


class Certified(NamedTuple):
    """The error of one trained head, and bounds on this error from the head's samples.

    A head outputs a·Σ_t softmax(s)_t x_t + b, for the bits x_t of a word and scores s, and predicts
    the label y = ±1 as the sign of this output.  Its margin is the smallest y·(output) on the
    samples.

    error          error of the AND of the bits at the k positions of largest score; NaN if the AND
                   is wrong on a sample
    vote           bound on the error of the head as a weighted vote of the bits, by its margin / a
    norms          bound on the error of the head by its margin and the norms of s, a and b
    vote_samples   number of samples at which `vote` would be at most 0.1, for the same margin
    norms_samples  number of samples at which `norms` would be at most 0.1, for the same margin

    All fields except `error` are infinite if the head is wrong on a sample or a ≤ 0.
    """

    error: float
    vote: float = np.inf
    norms: float = np.inf
    vote_samples: float = np.inf
    norms_samples: float = np.inf


def certified(rule: Conjunction, words: np.ndarray, labels: np.ndarray) -> Certified:
    """The bounds on the error of a head that is trained on words with labels.

    `rule` is the conjunction that gives the labels.
    """
    s, a, b = attention_parameters(words, labels)
    k, (m, T) = len(rule.positions), words.shape
    found = largest_scores(s, k)
    right = (words[:, list(found)].min(axis=1) == labels).all()
    error = float(error_between(found, rule.positions)) if right else np.nan
    margin = float((np.where(labels == 1, 1, -1) * (a * (words @ softmax(s)) + b)).min())
    if margin <= 0 or a <= 0:
        return Certified(error)
    # A token is the bit, 1, and the unit vector of its position; a and b read the first two.  Of
    # all scores with the same softmax, the scores centred at their median have the smallest norm.
    norms = float(np.abs(s - np.median(s)).sum()), abs(a) + abs(b), float(np.sqrt(3))

    def by_vote(samples: int) -> float:
        return vote_bound(T, margin / a, samples, DELTA)

    def by_norms(samples: int) -> float:
        return margin_certificate(T + 2, *norms, margin, samples, DELTA)

    enough = samples_for(by_vote), samples_for(by_norms)
    return Certified(error, by_vote(m), by_norms(m), *enough)


def samples_for(bound: Callable[[int], float]) -> int:
    """The smallest number of samples, up to 1 %, at which a decreasing bound is at most 0.1."""
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
    """The findings on the bounds on the errors of trained heads.

    The bound for the AND of the k largest scores is small, and the bounds by votes and by norms
    are vacuous.
    """
    errors = [run.error for run in runs if not np.isnan(run.error)]
    bound = occam(log_choices(T, k), samples, DELTA)
    yield at_least(
        "largest/right",
        f"heads for which the AND of the bits at the {k} largest scores is right on all {samples} "
        "samples",
        "trained",
        len(errors),
        enough,
        words=f"{len(errors)} of {len(runs)} heads",
        wanted=f"at least {enough} heads",
    )
    yield at_most(
        "largest/error",
        f"largest true error of the AND of the bits at a head's {k} largest scores, over the heads "
        f"for which this AND is right on all {samples} samples",
        "exact",
        max(errors, default=np.nan),
        bound,
        words=f"{max(errors, default=np.nan):.3f}",
        wanted=f"at most (ln C({T}, {k}) + ln {1 / DELTA:.0f})/{samples} = {bound:.3f}, the Occam "
        f"bound, for each head with probability ≥ {1 - DELTA:g}",
    )
    vote = [vote_bound(T, margin, samples, DELTA) for margin in MARGINS]
    norms = [margin_certificate(T + 2, 1.5, 2.5, 3.5, margin, samples, DELTA) for margin in MARGINS]
    formulas = {
        "vote": (vote, [vote_formula(T, margin, samples) for margin in MARGINS]),
        "norms": (norms, [norms_formula(T + 2, margin, samples) for margin in MARGINS]),
    }
    for id, name in (
        ("vote", "the upper bound for weighted votes [Schapire1998]"),
        ("norms", "the upper bound by margin and norms"),
    ):
        least = min(getattr(run, id) for run in runs)
        found = at_least(
            id,
            f"smallest value, over {len(runs)} heads, of {name} on the error of a head",
            "float",
            least,
            1.0,
            words=f"{least:.3g} (vacuous)" if least >= 1 else f"{least:.3g}",
            wanted="a bound of at least 1, that is, a vacuous bound",
        )
        yield as_stated(found, *formulas[id])
        wanted_ones = [getattr(run, f"{id}_samples") for run in runs]
        yield at_least(
            f"{id}-samples",
            f"number of samples at which {name} on the error of a head would be {SMALL_ERROR:g} "
            "for the margin that the head has",
            "float",
            min(wanted_ones),
            MORE[id] * samples,
            words=f"{min(wanted_ones):.2g} to {max(wanted_ones):.2g} for {len(runs)} heads",
            wanted=f"at least {MORE[id]:g} times the {samples} samples of the heads",
        )


def vote_formula(T: int, margin: float, samples: int) -> float:
    """The bound of [Schapire1998] on the error of a weighted vote of T bits, term by term.

    The bound is the smallest over numbers k ≤ 1000 of drawn bits.  The union bound is over T^k
    draws, the numbers k, with probabilities 1/(k(k + 1)), and (k + 2)² pairs of a threshold and a
    level.
    """

    def of(k: int) -> float:
        log_size = math.log((k + 2) ** 2 * k * (k + 1) / DELTA) + k * math.log(T)
        return 2 * math.exp(-k * margin * margin / 2) + math.sqrt(log_size / samples / 2)

    return min(map(of, range(1, 1001)))


def norms_formula(d: int, margin: float, samples: int) -> float:
    """The bound by margin and norms for ‖q‖₁ ≤ 1.5, ‖v‖₁ ≤ 2.5 and tokens in ℝ^d of norm ≤ 3.5.

    The vectors q and v are replaced by means of (4·2.5·3.5²·1.5/γ)² and (4·2.5·3.5/γ)² of the 2d +
    1 vectors ± e_i and 0, rounded up, for the margin γ.
    """
    drawn = sum(math.ceil((each / margin) ** 2) for each in (183.75, 35.0))
    return (drawn * math.log(2 * d + 1) - math.log(DELTA)) / samples
