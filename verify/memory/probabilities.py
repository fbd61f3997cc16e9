"""Findings on chances: what was counted in independent trials, beside what is stated."""

from __future__ import annotations

from theory.memory.capacity import clopper_pearson
from verify.finding import Finding, Verdict, within

FALSE_ALARM = 1e-7  # the chance that such a finding fails, whatever the seed, where it is true


def mostly(
    id: str, name: str, count: int, trials: int, share: float, *, words: str, wanted: str = ""
) -> Finding:
    """More than this share of the trials succeeded: it fails only if the chance is surely below.

    By Clopper–Pearson, so that what was merely observed fails at no seed where it is true.
    """
    _, high = clopper_pearson(count, trials, 1 - 2 * FALSE_ALARM)
    few = Verdict.FAILS if high < share else Verdict.UNDECIDED
    verdict = Verdict.HOLDS if count > share * trials else few
    words = f"{count} of {trials} {words}"
    wanted = wanted or f"more than {share:g} of them (observed)"
    return Finding(id, name, "statistical", count, share * trials, verdict, words, wanted)


def covers(
    id: str,
    name: str,
    interval: tuple[float, float],
    stated: float,
    *,
    words: str = "",
    wanted: str = "",
) -> Finding:
    """A confidence interval that is missed with a chance of FALSE_ALARM holds the stated number."""
    low, high = interval
    detail = f"the interval is {low:.6f} … {high:.6f}"
    verdict = within(id, name, "statistical", stated, interval).verdict
    return Finding(id, name, "statistical", interval, stated, verdict, words, wanted, detail)
