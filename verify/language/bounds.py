"""Findings that may be vacuous: lower bounds that are at most 0, and learners without outputs."""

from __future__ import annotations

import numpy as np

from verify.finding import Finding, Verdict, at_most


def shown(bound: float, digits: int = 4) -> str:
    """The lower bound as text, marked as vacuous if it is at most 0."""
    return f"{bound:.{digits}f}{' (vacuous)' if bound <= 0 else ''}".replace("-", "−")


def unless_vacuous(finding: Finding, bound: float) -> Finding:
    """The finding, with the verdict *undecided* in place of *holds* if the bound is at most 0."""
    if bound <= 0 and finding.verdict is Verdict.HOLDS:
        finding.verdict = Verdict.UNDECIDED
    return finding


def never_wrong(id: str, name: str, wrong: int, outputs: int) -> Finding:
    """The finding that no output of a learner is wrong; undecided if there are no outputs."""
    bound = 0 if outputs else np.nan
    words = f"{wrong} of {outputs} values are wrong"
    return at_most(
        id, f"number of wrong {name}", "exact", wrong, bound, words=words, wanted="no wrong value"
    )
