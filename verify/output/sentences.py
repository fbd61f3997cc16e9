"""Findings as sentences: what was compared, the relation found, and the evidence with its scope.

    holds     all answers are right  [exact arithmetic, 154 sequences]
    holds     distance from torch's attention: 2.36e-16 ≤ 1.56e-13 (0.15 % of the bound)  [float64]

Consecutive findings that hold, and whose names differ in one integer in steps of 1, are one line:
"layers 1 to 6", "k = 1 … 11".
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from verify.finding import Finding, Verdict, plain, shown

EVIDENCE = {
    "proved": "proved",
    "formula": "formula read from the tensors",
    "exact": "exact arithmetic",
    "identity": "identity, all inputs of these sizes",
    "enclosure": "interval arithmetic",
    "float": "float64",
    "statistical": "estimate from a sample",
    "trained": "trained weights",
}
SCOPES = (  # at the end of the words of a finding
    re.compile(r" on (\d+ [a-z]+(?: of \d+ families)?)$"),
    re.compile(r" \((\d+) of \1 (comparisons)\)$"),
)
DIGITS = (3, 4, 6, 9, 17)
SMALL = 1e-4  # below this fraction of a bound, the fraction is not printed
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?")
ENDS_IN_NUMBER = re.compile(r"\d ?%?$")
SIGN = re.compile(r"[≤≥<>] ")


def compared(
    measured: Any, bound: Any, verdict: str = Verdict.HOLDS, fraction: bool = False
) -> str:
    """Returns a measured value and its bound as text: "225 > 150", "0.3 ≤ 1 (30 % of the bound)".

    With `fraction`, a positive number is followed by its ratio to the bound.
    """
    if plain(measured) == plain(bound):
        return shown(measured)
    if (
        isinstance(measured, Mapping)
        and isinstance(bound, Mapping)
        and measured.keys() == bound.keys()
    ):
        return ", ".join(
            f"{name}: {compared(each, bound[name], verdict, fraction)}"
            for name, each in measured.items()
        )
    if _is_number(measured) and _is_number(bound) and verdict != Verdict.UNDECIDED:
        return _related(measured, bound, verdict == Verdict.HOLDS, fraction)
    if _is_number(measured) and _is_interval(bound) and verdict == Verdict.HOLDS:
        return f"{shown(bound[0])} ≤ {shown(measured)} ≤ {shown(bound[1])}"
    if _is_interval(measured) and _is_number(bound) and verdict == Verdict.HOLDS:
        # the end of the enclosure that is nearer to the bound
        return _related(measured[0 if measured[0] >= bound else 1], bound, True, fraction)
    return f"{shown(measured)}  (required: {_required(bound)})"


def _required(bound: Any) -> str:
    return f"from {shown(bound[0])} to {shown(bound[1])}" if _is_interval(bound) else shown(bound)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _is_interval(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(map(_is_number, value))


def _related(measured: Any, bound: Any, holds: bool, fraction: bool) -> str:
    """Two different numbers, with as many digits as show the difference."""
    below = measured < bound
    sign = {(True, True): "≤", (True, False): "<", (False, True): "≥", (False, False): ">"}
    left, right = next(
        (pair for n in DIGITS if len({*(pair := (_digits(measured, n), _digits(bound, n)))}) == 2),
        (str(measured), str(bound)),
    )
    text = f"{left} {sign[below, holds]} {right}"
    if fraction and holds and below and measured > 0:
        part = measured / bound
        percent = f"{100 * part:.2g}" if part < 0.095 else f"{100 * part:.3g}"
        text += f" ({percent} % of the bound)" if part >= SMALL else " (below 0.01 % of the bound)"
    return text


def _digits(value: Any, count: int) -> str:
    return str(value) if isinstance(value, int) else f"{float(value):.{count}g}"


@dataclass(frozen=True)
class Sentence:
    """A finding in words: the quantity, the value with the bound, and the evidence."""

    name: str
    found: str
    evidence: str

    def __str__(self) -> str:
        return f"{self.name}: {self.found}"


def sentence(finding: Finding) -> Sentence:
    """Returns a finding in words."""
    evidence, words, wanted = EVIDENCE[finding.evidence], finding.words, finding.wanted
    holds = finding.verdict is Verdict.HOLDS
    for scope in SCOPES:
        if holds and (match := scope.search(words)):
            words, wanted = words[: match.start()].rstrip(","), wanted or "equal"
            evidence += f", {' '.join(match.groups())}"
            break
    if not words and not wanted:
        fraction = finding.evidence in ("float", "enclosure")
        found = compared(finding.measured, finding.bound, finding.verdict, fraction)
    else:
        found, wanted = words or shown(finding.measured), wanted or _bound_in_words(finding)
        if holds and SIGN.match(wanted) and finding.wanted and ENDS_IN_NUMBER.search(found):
            found += f" {wanted}"
        elif wanted not in (found, "equal", "as proved"):
            found += f"  (required: {wanted})"
    return Sentence(finding.name, found, evidence)


def _bound_in_words(finding: Finding) -> str:
    """The bound, with its relation to the measured number; "equal" for equal lists of values."""
    measured, bound = finding.measured, finding.bound
    if plain(measured) == plain(bound):
        return "equal" if isinstance(bound, list | tuple | dict) else shown(bound)
    if finding.verdict is Verdict.HOLDS and _is_number(measured) and _is_number(bound):
        return f"{'≤' if measured < bound else '≥'} {shown(bound)}"
    return _required(bound)


class Joined:
    """Consecutive sentences that differ only in one integer of the quantity, joined to one
    sentence.
    """

    def __init__(self, first: Sentence) -> None:
        self.first, self.last = first, first
        self.slot: int | None = None  # the number of the name that changes

    def takes(self, other: Sentence) -> bool:
        """Adds the sentence `other` if it continues these sentences; returns whether it does."""
        before, after = NUMBER.findall(self.last.name), NUMBER.findall(other.name)
        alike = (self.last.found, self.last.evidence) == (other.found, other.evidence)
        if not alike or not before or NUMBER.split(self.last.name) != NUMBER.split(other.name):
            return False
        changed = [i for i, pair in enumerate(zip(before, after, strict=True)) if len({*pair}) > 1]
        if changed:
            if len(changed) > 1 or self.slot not in (None, changed[0]):
                return False
            low, high = before[changed[0]], after[changed[0]]
            if not (low.isdigit() and high.isdigit()) or int(high) != int(low) + 1:
                return False
            self.slot = changed[0]
        self.last = other
        return True

    @property
    def sentence(self) -> Sentence:
        """The joined sentence: the first sentence, with the range of the integer that changes."""
        if self.slot is None:
            return self.first
        parts, numbers = NUMBER.split(self.first.name), NUMBER.findall(self.first.name)
        ends = numbers[self.slot], NUMBER.findall(self.last.name)[self.slot]
        before = parts[self.slot]
        several = before.endswith(("layer ", "head "))
        if several:
            parts[self.slot] = f"{before[:-1]}s "
        numbers[self.slot] = (" to " if several else " … ").join(ends)
        name = "".join(part + number for part, number in zip(parts, [*numbers, ""], strict=True))
        return Sentence(name, self.first.found, self.first.evidence)
