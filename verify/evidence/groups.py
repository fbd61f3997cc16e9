"""Groups of trained models: every seed of one kind beside every seed of another.

A kind is below another if every one of its seeds is below every seed of the other, each pair by
standard errors of what was measured of the two.  Of three and three seeds that do not differ in
kind, either way round has a chance of 1/20, for each comparison that is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from verify.evidence.statistics import BY, Mean, estimated, sign_of
from verify.finding import Finding, Verdict

Gap = Callable[[Any, Any], Mean]


def paired(low: np.ndarray, high: np.ndarray) -> Mean:
    """How far one model is above another, both measured on the same inputs (m,)."""
    return estimated(high - low)


def apart(low: Mean, high: Mean) -> Mean:
    """The same of two estimates that have nothing in common."""
    error = float(np.hypot(low.error, high.error))
    return Mean(high.mean - low.mean, error, min(low.freedom, high.freedom))


def separated(gaps: Iterable[Mean]) -> Verdict:
    """Holds if all gaps are above 0, fails if all are below, and is undecided else."""
    verdicts = {sign_of(*gap) for gap in gaps}
    return verdicts.pop() if len(verdicts) == 1 else Verdict.UNDECIDED


def all_below(
    id: str, name: str, low: Sequence[Any], high: Sequence[Any], gap: Gap, *, words: str = ""
) -> Finding:
    """That every seed of one kind is below every seed of another; `gap` is `paired` for numbers by
    input, (m,) each, and `apart` for estimates."""
    gaps = [gap(one, other) for one in low for other in high]
    nearest = min(gaps, key=lambda found: abs(found.mean))
    told = f"{told_apart(map(_mean, low))} beside {told_apart(map(_mean, high))}"
    return Finding(
        id,
        name,
        "trained",
        [*map(_mean, low)],
        [*map(_mean, high)],
        separated(gaps),
        f"{told}, the nearest two {nearest:.2g}" + (f"; {words}" if words else ""),
        f"every seed of the one below every seed of the other, {BY}",
    )


def told_apart(values: Iterable[float]) -> str:
    """Numbers of all seeds on a line."""
    return " ".join(f"{value:.3g}" for value in values)


def _mean(of: Any) -> float:
    return float(of.mean if isinstance(of, Mean) else np.mean(of))
