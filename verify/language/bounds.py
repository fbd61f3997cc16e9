"""What says nothing: lower bounds that are not above 0, and learners that do not answer."""

from __future__ import annotations

import numpy as np

from verify.finding import Finding, Verdict, at_most


def told(bound: float, digits: int = 4) -> str:
    """The bound, and that it is vacuous if it is."""
    return f"{bound:.{digits}f}{' (vacuous)' if bound <= 0 else ''}".replace("-", "−")


def unless_vacuous(finding: Finding, bound: float) -> Finding:
    """The finding; undecided where it would hold of a bound that says nothing."""
    if bound <= 0 and finding.verdict is Verdict.HOLDS:
        finding.verdict = Verdict.UNDECIDED
    return finding


def never_wrong(id: str, name: str, wrong: int, said: int) -> Finding:
    """That none of what is said is wrong; undecided if nothing is said."""
    bound = 0 if said else np.nan
    words = f"{wrong} of {said} that are said"
    return at_most(id, f"wrong {name}", "exact", wrong, bound, words=words, wanted="none")
