"""Findings that compare accuracies after each lookup with figures, bounds and other accuracies."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from verify.evidence.statistics import Mean, estimated
from verify.finding import Finding, Verdict

PUBLISHED = Path(__file__).with_suffix(".csv")
# Two standard errors of the published sampled figures are 0.2 points; figures have one decimal.
DRAWN, ROUNDED = 0.1, 0.05
# About 100 accuracies are compared: one deviates by 5 errors with probability 6·10⁻⁵.
ERRORS = 5.0
WIDEST = 5.0  # percentage points; a comparison with wider errors is undecided


def published(method: str, N: int) -> list[float]:
    """The published accuracies of a method for N points, in per cent, after each lookup."""
    with PUBLISHED.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if (row["method"], row["N"]) == (method, str(N)):
                return [float(row[f"lookup{i}"]) for i in range(1, 8) if row[f"lookup{i}"]]
    raise AssertionError(f"no row {method}, {N}")


def accuracies(right: np.ndarray) -> list[Mean]:
    """The mean of each column of `right`, in per cent: the accuracy after each lookup.

    `right` (sets, M) contains, for each set and each of M lookups, the fraction of queries found.
    """
    return [estimated(100.0 * column) for column in right.T]


def in_per_cent(means: Sequence[Mean]) -> str:
    """Means in per cent on one line; a sampled mean is followed by its standard error."""
    return ", ".join(f"{m:.1f}" if m.error else f"{m.mean:.1f}" for m in means)


def beside(
    id: str, name: str, measured: Sequence[Mean], wanted: list[float], drawn: float = 0.0
) -> Finding:
    """The finding that measured accuracies equal given figures, up to standard errors and rounding.

    The figures are `wanted`.  `drawn` is the standard error of the figures if they were sampled,
    and 0 if they are exact.  If the errors are wider than `WIDEST`, the finding is undecided.
    """
    reach = [ERRORS * float(np.hypot(m.error, drawn)) + ROUNDED * (drawn > 0) for m in measured]
    distances = [abs(m.mean - w) for m, w in zip(measured, wanted, strict=True)]
    holds = Verdict.of(all(o <= r for o, r in zip(distances, reach, strict=True)))
    several = "s" * (len(wanted) > 1)
    source = f"value{several} of an earlier sample," if drawn else f"exact value{several}"
    stated = f" (±{2 * drawn:g})" if drawn else ""
    return Finding(
        id,
        f"{name}, in %",
        "statistical" if any(m.error for m in measured) else "float",
        [m.mean for m in measured],
        wanted,
        Verdict.UNDECIDED if max(reach) > WIDEST else holds,
        in_per_cent(measured),
        f"within {max(reach):.1f} points ({ERRORS:g} standard errors) of the {source} "
        f"{', '.join(f'{w:.1f}' for w in wanted)}{stated}",
    )


def ahead(id: str, name: str, measured: Sequence[Mean], other: Sequence[Mean]) -> Finding:
    """The finding that accuracies are above other accuracies at every lookup.

    Every difference must exceed `ERRORS` times its standard error.  The finding is undecided if the
    sign of a difference is not decided by this rule.
    """
    pairs = [
        (m.mean - o.mean, ERRORS * float(np.hypot(m.error, o.error)))
        for m, o in zip(measured, other, strict=True)
    ]
    lead = [gain - reach for gain, reach in pairs]
    behind = min(gain + reach for gain, reach in pairs) < 0
    verdict = Verdict.FAILS if behind else Verdict.UNDECIDED
    return Finding(
        id,
        name,
        "statistical",
        lead,
        0.0,
        Verdict.HOLDS if min(lead) > 0 else verdict,
        f"the smallest difference minus {ERRORS:g} standard errors is {min(lead):.1f} points",
        "above 0",
    )


def below(id: str, name: str, measured: Sequence[Mean], bound: list[float], source: str) -> Finding:
    """The finding that accuracies are at most their bounds, up to standard errors.

    The finding is undecided if the standard errors are wider than `WIDEST`.
    """
    reach = [ERRORS * m.error for m in measured]
    over = [m.mean - r - b for m, r, b in zip(measured, reach, bound, strict=True)]
    holds = Verdict.of(max(over) <= 0)
    return Finding(
        id,
        f"{name}, in %",
        "statistical",
        [m.mean for m in measured],
        bound,
        Verdict.UNDECIDED if max(reach) > WIDEST else holds,
        in_per_cent(measured),
        f"at most {', '.join(f'{b:.1f}' for b in bound)}, {source}, up to {ERRORS:g} standard "
        "errors",
    )
