"""Findings of a claim by their ids, which have to differ."""

from verify.claim import Claim, Run
from verify.finding import Finding


def findings(claim: Claim, **options: object) -> dict[str, Finding]:
    """The quick findings of a claim with these options."""
    found = list(claim.findings(Run(quick=True), **options))
    by_id = {f.id: f for f in found}
    assert len(by_id) == len(found)
    return by_id
