"""Findings of a claim by their ids, which have to differ."""

from verify.claim import Claim, Run
from verify.finding import Finding, Verdict

HOLDS = Verdict.HOLDS


def findings(claim: Claim, **options: object) -> dict[str, Finding]:
    """The quick findings of a claim with these options."""
    found = list(claim.findings(Run(quick=True), **options))
    by_id = {f.id: f for f in found}
    assert len(by_id) == len(found)
    return by_id


def not_holding(claim: Claim, **options: object) -> dict[str, str]:
    """What the quick findings that do not hold show, by their ids."""
    found = findings(claim, **options)
    return {id: f"{f.verdict}: {f.detail}" for id, f in found.items() if f.verdict is not HOLDS}
