"""Comparisons of balls; the verdict is undecided if the balls are too wide."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from flint import arb

from verify.finding import Finding, Verdict, rounded_up

BITS = 320  # the precision of the findings
WIDTH = -100  # balls compared for equality must have radii below 2^WIDTH


def below(small: arb, large: arb) -> Verdict:
    """Whether small ≤ large; undecided if the balls overlap."""
    if small <= large:
        return Verdict.HOLDS
    return Verdict.FAILS if small > large else Verdict.UNDECIDED


def same(a: arb, b: arb, width: int = WIDTH) -> Verdict:
    """Whether two balls are equal up to 2^width.

    The verdict is *fails* if the balls do not overlap. If the balls overlap, the verdict is *holds*
    if their difference has a radius below 2^width, and otherwise *undecided*.
    """
    if not a.overlaps(b):
        return Verdict.FAILS
    return Verdict.HOLDS if (a - b).rad() < 2.0**width else Verdict.UNDECIDED


def interval(ball: arb) -> tuple[float, float]:
    """The lower and upper end of a ball, as the value of a finding."""
    return float(ball.lower()), float(ball.upper())


def apart(a: Any, b: Any) -> float:
    """An upper bound on the largest distance of corresponding entries of two nested lists.

    The bound is NaN if an entry is NaN or if there are no entries.
    """
    distances = [float(abs(u - v).upper()) for u, v in _pairs(a, b)]
    return float(np.max(distances)) if distances else float("nan")


def coincide(
    id: str,
    name: str,
    got: Any,
    wanted: Any,
    *,
    width: int = WIDTH,
    words: str = "",
    detail: str = "",
) -> Finding:
    """The finding that two nested lists of balls are equal up to 2^width, entry by entry.

    `detail` describes the numbers, and is printed if the lists are not equal.
    """
    verdict = Verdict.together(same(u, v, width) for u, v in _pairs(got, wanted))
    off = next((pair for pair in _pairs(got, wanted) if not pair[0].overlaps(pair[1])), None)
    values = "" if off is None else f"{float(off[0]):.17g} instead of {float(off[1]):.17g}"
    largest = apart(got, wanted)
    most = f"{rounded_up(largest, 3):.3g}"
    return Finding(
        id,
        name,
        "enclosure",
        largest,
        2.0 ** (width + 1),
        verdict,
        f"{words or 'the enclosures overlap, and their distance is'} ≤ {most}",
        f"enclosures that overlap and have radii below 2^{width}",
        ": ".join(filter(None, (detail, values))) if off is not None else "",
    )


def all_hold(
    id: str, name: str, verdicts: Iterable[Verdict], *, words: str = "", wanted: str = ""
) -> Finding:
    """The finding that all of these verdicts are *holds*.

    The finding fails if a verdict is *fails*, and is otherwise undecided if a verdict is
    *undecided*.
    """
    found = list(verdicts)
    hold = found.count(Verdict.HOLDS)
    said = "they hold" if hold == len(found) else "not all hold"
    return Finding(
        id,
        name,
        "enclosure",
        hold,
        len(found),
        Verdict.together(found),
        f"{words or said} ({hold} of {len(found)} comparisons)",
        wanted,
    )


def _pairs(a: Any, b: Any) -> Iterable[tuple[arb, arb]]:
    if isinstance(a, list | tuple):
        for u, v in zip(a, b, strict=True):
            yield from _pairs(u, v)
    else:
        yield arb(a), arb(b)
