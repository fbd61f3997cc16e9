"""What models trained on documents of facts say, in figures: the design of a claim on them.

Three seeds of `train facts` (preset small: 64^2 facts among 64^4 strings, 2048 documents), models
kept after 32, 128, 256 and 512 of 1536 steps.  All strings are scored, so that every figure of a
model is exact up to float32.  Stated before any of these models was trained; a run of another
program had been seen (recall .99, g(H) .14 and δ⁺ .60 at the end, p(U) .61), so the thresholds are
halves and not fitted:

    sure          g(H) + δ⁺ is at least the sure bound and δ⁺, for every model: it must be
    learned       at the end recall is above LEARNED, in every seed
    by heart      at the end g(H) ≤ p(U)/2 and δ⁺ ≥ p(U)/2, in every seed: hallucination has become
                  over-confidence
    early         after 32 steps δ⁺ ≤ p(U)/2 and g(H) ≥ p(U)/2
    trade         along every run, from each model that is kept to the next, g(H) falls and δ⁺ rises
    printed       where the printed bound is above 0, it is at most g(H); with the miscalibration
                  in ten bins of equal g for Mis
    recalibrated  mixed with the uniform law by one number that is fitted on fresh documents, the
                  last model of every seed has δ⁺ ≤ p(U)/2 and g(H) ≥ p(U)/2 again

Null models: untrained (recall below 10/|F|, g(H) above 1 − 10/|F|), and planted ones, calibrated
and memoriser (`constructions.string_model`), which are on opposite sides of all these thresholds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from theory.language import printed_bound
from theory.language.documents import numbers
from verify.finding import Finding, at_least, each_at_most

if TYPE_CHECKING:
    from constructions.trained.tasks.facts import Facts

LEARNED = 0.95
FRESH, CHANCE = 1000, 0.01  # documents for recalibration; with which the printed bound may fail
ROUNDING = 1e-4  # of 64^4 chances by float32 logits


class Figures(NamedTuple):
    """Of one model: recall of what was seen, g(H), δ⁺ at 1/|U|, the bounds, and p(U)."""

    recall: float
    said: float
    over: float
    sure: float
    printed: float
    unseen: float


def figures(task: Facts, chances: np.ndarray) -> Figures:
    """The figures of a model that gives these chances to all strings (b^L,)."""
    of = task.said(chances)
    tau, facts = 1 / int(of.unseen.sum()), len(task.facts)
    once = float((task.counts == 1).sum() / task.documents)
    over = float(of.over_confidence(tau))
    printed = printed_bound(once, over, facts, len(chances) - facts, task.documents, CHANCE)
    return Figures(
        task.recall(chances),
        float(of.hallucination),
        over,
        float(of.sure_bound(tau)),
        printed,
        float(of.unseen_mass),
    )


def recalibrated(
    task: Facts, chances: np.ndarray, rng: np.random.Generator
) -> tuple[float, np.ndarray]:
    """The share of the uniform law under which fresh documents are likeliest, and the mixture.

    The likelihood is concave in the share: the root of its slope, by bisection.
    """
    fresh = task.facts[rng.integers(len(task.facts), size=FRESH)]
    given, even = chances[numbers(fresh, task.base)], 1 / len(chances)
    low, high = 0.0, 1.0
    for _ in range(50):
        share = (low + high) / 2
        slope = ((even - given) / ((1 - share) * given + share * even)).mean()
        low, high = (share, high) if slope > 0 else (low, share)
    return share, (1 - share) * chances + share * even


def findings(runs: dict[str, list[Figures]], again: dict[str, Figures]) -> Iterator[Finding]:
    """Of models kept along each run, the last one last; and of the last ones recalibrated."""
    every = [each for run in runs.values() for each in run]
    yield at_least(
        "sure",
        f"g(H) + δ⁺ of {len(every)} models, all strings scored, beside the sure bound",
        "float",
        min(each.said - each.sure for each in every) + ROUNDING,
        0,
        wanted="at least the sure bound and δ⁺",
    )
    last = {name: run[-1] for name, run in runs.items()}
    yield at_least(
        "learned",
        "what was seen is known at the end",
        "trained",
        min(each.recall for each in last.values()),
        LEARNED,
        words=", ".join(f"{name} {each.recall:.1%}" for name, each in last.items()),
    )
    yield from halves("by-heart", "at the end", last, early=False)
    first = {name: run[0] for name, run in runs.items() if len(run) > 1}
    yield from halves("early", "at first", first, early=True)
    yield from halves("recalibrated", "recalibrated by one number", again, early=True)


def halves(id: str, when: str, of: dict[str, Figures], *, early: bool) -> Iterator[Finding]:
    """g(H) and δ⁺ on their sides of p(U)/2: the first above and the other below, or the reverse."""
    for what, above in (("said", early), ("over", not early)):
        sign = -1 if above else 1
        words = ", ".join(f"{name} {getattr(each, what):.3f}" for name, each in of.items())
        yield each_at_most(
            f"{id}/{what}",
            f"{'g(H)' if what == 'said' else 'δ⁺'} {when}",
            "trained",
            {name: sign * getattr(each, what) for name, each in of.items()},
            {name: sign * each.unseen / 2 for name, each in of.items()},
            words=words,
            wanted=f"{'at least' if above else 'at most'} p(U)/2",
        )
