"""Findings: one piece of evidence each, and what follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

Evidence = Literal["proved", "exact", "identity", "enclosure", "float", "statistical", "trained"]


class Verdict(StrEnum):
    """Three answers; a claim holds when all of its findings do."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"

    @classmethod
    def of(cls, holds: bool) -> Verdict:
        return cls.HOLDS if holds else cls.FAILS

    @classmethod
    def together(cls, verdicts: list[Verdict]) -> Verdict:
        """Fails if any fails, else undecided if any is (or if there is no evidence at all)."""
        if cls.FAILS in verdicts:
            return cls.FAILS
        return cls.UNDECIDED if cls.UNDECIDED in verdicts or not verdicts else cls.HOLDS


@dataclass
class Finding:
    """One piece of evidence.

    How it was established (`evidence`):
        proved       follows from an argument that was checked step by step for all inputs
        exact        equal over the rationals on the instances named
        identity     equal for all inputs of these sizes: symbolically, or mod random primes with
                     the error probability that `measured` states
        enclosure    a rigorous interval lies where the bound says
        float        float64 numbers compared with a derived bound
        statistical  an estimate with its uncertainty
        trained      measured on trained weights
    `measured` and `bound` are numbers or short texts; `detail` is what a reader needs when the
    finding does not hold (the smallest instance, both values, where they part, how to repeat it);
    with `told` it is shown in any case.
    """

    name: str
    evidence: Evidence
    measured: Any
    bound: Any
    verdict: Verdict
    detail: str = ""
    told: bool = False
    seconds: float = field(default=0.0)

    def as_json(self) -> dict[str, Any]:
        """The finding as plain JSON values."""
        return {
            "name": self.name,
            "evidence": self.evidence,
            "measured": _plain(self.measured),
            "bound": _plain(self.bound),
            "verdict": str(self.verdict),
            "detail": self.detail,
            "seconds": round(self.seconds, 6),
        }


def _plain(value: Any) -> Any:
    """Infinity and NaN, for which JSON has no number, as text."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
