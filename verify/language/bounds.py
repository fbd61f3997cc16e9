"""Vacuous findings: on lower bounds that are at most 0, and on learners without outputs."""

from __future__ import annotations

import numpy as np

from verify.finding import Finding, Verdict, at_most


def shown(bound: float, digits: int = 4) -> str:
    """The bound as text, marked if it is vacuous."""
    return f"{bound:.{digits}f}{' (vacuous)' if bound <= 0 else ''}".replace("-", "−")


def unless_vacuous(finding: Finding, bound: float) -> Finding:
    """The finding, undecided instead of holding if its bound is vacuous."""
    if bound <= 0 and finding.verdict is Verdict.HOLDS:
        finding.verdict = Verdict.UNDECIDED
    return finding


def never_wrong(id: str, name: str, wrong: int, outputs: int) -> Finding:
    """The finding that no output is wrong; undecided if there are no outputs."""
    bound = 0 if outputs else np.nan
    words = f"{wrong} of {outputs} outputs"
    return at_most(id, f"wrong {name}", "exact", wrong, bound, words=words, wanted="none")
