"""How a lower bound on a probability is told: where it is no more than 0 it says nothing."""

from __future__ import annotations

from verify.finding import Finding, Verdict


def told(bound: float, digits: int = 4) -> str:
    """The bound, and that it is vacuous if it is."""
    return f"{bound:.{digits}f}{' (vacuous)' if bound <= 0 else ''}".replace("-", "−")


def unless_vacuous(finding: Finding, bound: float) -> Finding:
    """The finding; undecided where it would hold of a bound that says nothing."""
    if bound <= 0 and finding.verdict is Verdict.HOLDS:
        finding.verdict = Verdict.UNDECIDED
    return finding
