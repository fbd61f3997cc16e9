"""When a mean over prompts decides."""

from __future__ import annotations

from verify.finding import Verdict

ERRORS = 3.0  # standard errors


def sign_of(mean: float, spread: float) -> Verdict:
    """Whether a mean with this standard error is above 0: by `ERRORS` of them, or undecided."""
    if mean - ERRORS * spread > 0:
        return Verdict.HOLDS
    return Verdict.FAILS if mean + ERRORS * spread < 0 else Verdict.UNDECIDED
