"""Findings on probabilities: counts of independent trials against stated probabilities."""

from __future__ import annotations

from theory.memory.capacity import clopper_pearson
from verify.finding import Finding, Verdict, within

FALSE_ALARM = 1e-7  # bounds the probability that a finding fails although its statement is true


def mostly(
    id: str, name: str, count: int, trials: int, fraction: float, *, words: str, wanted: str = ""
) -> Finding:
    """The finding that more than `fraction` of the trials succeed, which is an observation.

    The verdict is *holds* if more than this fraction of the trials succeed.

    Otherwise the verdict is *fails* if a Clopper–Pearson interval with error probability
    FALSE_ALARM excludes that a trial succeeds with probability `fraction` or more, and else
    *undecided*. So if this probability is at least `fraction`, the finding practically never
    fails, for any seed.
    """
    _, high = clopper_pearson(count, trials, 1 - 2 * FALSE_ALARM)
    few = Verdict.FAILS if high < fraction else Verdict.UNDECIDED
    verdict = Verdict.HOLDS if count > fraction * trials else few
    words = f"{count} of {trials} {words}"
    wanted = wanted or f"more than {fraction:.0%}, as observed; not proved"
    return Finding(id, name, "statistical", count, fraction * trials, verdict, words, wanted)


def covers(
    id: str,
    name: str,
    interval: tuple[float, float],
    stated: float,
    *,
    words: str = "",
    wanted: str = "",
) -> Finding:
    """The finding that a confidence interval contains the stated number.

    The error probability of the interval is FALSE_ALARM.
    """
    low, high = interval
    detail = f"the interval is {low:.6f} … {high:.6f}"
    verdict = within(id, name, "statistical", stated, interval).verdict
    return Finding(id, name, "statistical", interval, stated, verdict, words, wanted, detail)
