"""Accuracies by lookup, in per cent: drawn ones beside figures, and beside those of another."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from verify.evidence.statistics import Mean, estimated
from verify.finding import Finding, Verdict

PUBLISHED = Path(__file__).with_suffix(".csv")
# The figures there were drawn, to ±0.2 points by two standard errors, and printed to a tenth.
DRAWN, ROUNDED = 0.1, 0.05
# Some 100 accuracies are compared: with probability 6·10⁻⁵ one of them is 5 errors off.
ERRORS = 5.0
WIDEST = 5.0  # points that errors may reach: a comparison that allows more is undecided


def published(method: str, N: int) -> list[float]:
    """The table's figures in per cent, by lookup."""
    with PUBLISHED.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if (row["method"], row["N"]) == (method, str(N)):
                return [float(row[f"lookup{i}"]) for i in range(1, 8) if row[f"lookup{i}"]]
    raise AssertionError(f"no row {method}, {N}")


def accuracies(right: np.ndarray) -> list[Mean]:
    """The accuracy of each lookup in per cent, of (sets, M) shares that are right."""
    return [estimated(100.0 * column) for column in right.T]


def told(means: Sequence[Mean]) -> str:
    """Means on a line, with the standard errors of those that were drawn."""
    return ", ".join(f"{m:.1f}" if m.error else f"{m.mean:.1f}" for m in means)


def beside(
    id: str, name: str, measured: Sequence[Mean], wanted: list[float], drawn: float = 0.0
) -> Finding:
    """That accuracies are the figures, by the standard errors of both and what was rounded.

    `drawn` is the standard error of figures that were drawn, and 0 for what is known exactly.
    Where errors reach further than `WIDEST` it is undecided.
    """
    reach = [ERRORS * float(np.hypot(m.error, drawn)) + ROUNDED * (drawn > 0) for m in measured]
    off = [abs(m.mean - w) for m, w in zip(measured, wanted, strict=True)]
    holds = Verdict.of(all(o <= r for o, r in zip(off, reach, strict=True)))
    source = f"drawn to ±{2 * drawn:g}" if drawn else "known exactly"
    return Finding(
        id,
        f"{name}, accuracy by lookup in %",
        "statistical" if any(m.error for m in measured) else "float",
        [m.mean for m in measured],
        wanted,
        Verdict.UNDECIDED if max(reach) > WIDEST else holds,
        told(measured),
        f"{', '.join(f'{w:.1f}' for w in wanted)}, {source}: within {max(reach):.1f} points, "
        f"{ERRORS:g} standard errors",
    )


def ahead(id: str, name: str, measured: Sequence[Mean], other: Sequence[Mean]) -> Finding:
    """That an accuracy is above another at every lookup given, by standard errors of both.

    Where these reach over 0 it is undecided.
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
        f"by at least {min(lead):.1f} points, less {ERRORS:g} standard errors",
        "above 0",
    )


def below(id: str, name: str, measured: Sequence[Mean], bound: list[float], source: str) -> Finding:
    """That no accuracy is above its bound, by standard errors; undecided where these reach further
    than `WIDEST`."""
    reach = [ERRORS * m.error for m in measured]
    over = [m.mean - r - b for m, r, b in zip(measured, reach, bound, strict=True)]
    holds = Verdict.of(max(over) <= 0)
    return Finding(
        id,
        f"{name}, accuracy by lookup in %",
        "statistical",
        [m.mean for m in measured],
        bound,
        Verdict.UNDECIDED if max(reach) > WIDEST else holds,
        told(measured),
        f"at most {', '.join(f'{b:.1f}' for b in bound)}: {source}, by {ERRORS:g} standard errors",
    )
