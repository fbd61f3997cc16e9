"""Groups of trained models: every seed of one kind compared with every seed of another.

A kind is below another if every seed of the first is below every seed of the second, for each pair
by standard errors of the two measurements.  With three seeds of each kind and no difference between
the kinds, each direction has probability 1/20 in each comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from verify.evidence.statistics import BY, Mean, estimated, sign_of
from verify.finding import Finding, Verdict

Gap = Callable[[Any, Any], Mean]


def paired(low: np.ndarray, high: np.ndarray) -> Mean:
    """The mean of the differences high − low of two models, with its standard error.

    `low` and `high` (m,) are measurements on the same m inputs.
    """
    return estimated(high - low)


def apart(low: Mean, high: Mean) -> Mean:
    """The difference high − low of two independent estimates."""
    error = float(np.hypot(low.error, high.error))
    return Mean(high.mean - low.mean, error, min(low.freedom, high.freedom))


def separated(gaps: Iterable[Mean]) -> Verdict:
    """The verdict *holds* if all gaps are above 0, *fails* if all are below 0, else *undecided*."""
    verdicts = {sign_of(*gap) for gap in gaps}
    return verdicts.pop() if len(verdicts) == 1 else Verdict.UNDECIDED


def all_below(
    id: str,
    name: str,
    low: Sequence[Any],
    high: Sequence[Any],
    gap: Gap,
    *,
    kinds: tuple[str, str] = ("the first kind", "the second kind"),
    words: str = "",
) -> Finding:
    """The finding that each seed of one kind of model has a smaller value than each of another.

    `low` and `high` contain one measurement for each seed. `gap` is `paired` if measurements are
    arrays (m,) over the same m inputs, and `apart` if measurements are independent estimates.
    `kinds` are the names of the two kinds.
    """
    gaps = [gap(one, other) for one in low for other in high]
    nearest = min(gaps, key=lambda found: abs(found.mean))
    one, other = (listed(map(_mean, each)).replace(" ", ", ") for each in (low, high))
    return Finding(
        id,
        name,
        "trained",
        [*map(_mean, low)],
        [*map(_mean, high)],
        separated(gaps),
        f"by seed, {one} for {kinds[0]}, and {other} for {kinds[1]}; the smallest difference "
        f"between two seeds of different kinds is {nearest:.2g}" + (f"; {words}" if words else ""),
        f"every seed of {kinds[0]} below every seed of {kinds[1]}, {BY}",
    )


def listed(values: Iterable[float]) -> str:
    """Returns the numbers, one for each seed, as one text."""
    return " ".join(f"{value:.3g}" for value in values)


def _mean(of: Any) -> float:
    return float(of.mean if isinstance(of, Mean) else np.mean(of))
