"""Findings: a finding is one piece of evidence with a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context
from enum import StrEnum
from typing import Any, Literal, TypedDict, Unpack

import numpy as np

from theory.kinds import InputError, NonNegative, checked
from theory.kinds.numbers import ends_of

__all__ = [
    "Finding",
    "Verdict",
    "as_stated",
    "at_least",
    "at_most",
    "each_at_most",
    "equal",
    "labelled",
    "no_counterexample",
    "same",
    "within",
    "within_bounds",
]

Evidence = Literal[
    "proved", "formula", "exact", "identity", "enclosure", "float", "statistical", "trained"
]

Value = Any
"""A number, an interval (low, high), numbers in a list or by name, or "equal" or "different"."""


class Verdict(StrEnum):
    """The three verdicts: *holds*, *fails* and *undecided*.

    A claim holds if all findings of the claim hold.
    """

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"

    @classmethod
    def of(cls, holds: bool) -> Verdict:
        return cls.HOLDS if holds else cls.FAILS

    @classmethod
    def together(cls, verdicts: Iterable[Verdict]) -> Verdict:
        """The common verdict: *fails* if any verdict is *fails*, *holds* if all are *holds*.

        Otherwise, and if there are no verdicts, the common verdict is *undecided*.
        """
        found = list(verdicts)
        if cls.FAILS in found:
            return cls.FAILS
        return cls.UNDECIDED if cls.UNDECIDED in found or not found else cls.HOLDS


@checked
@dataclass
class Finding:
    """One result of a claim: a measured value, its bound, the evidence and the verdict.

    `id` names the finding within its claim, for all options: "ladder/size".  `evidence` is the kind
    of evidence:
        proved       follows from an argument that was checked step by step for all inputs
        formula      equal polynomials, read from the tensors: for all n and inputs, and every d at
                     which the tensors contain the same program
        exact        exact arithmetic on the instances named
        identity     equal for all inputs of these sizes: symbolically, or mod random primes with
                     the error probability stated in `words`
        enclosure    a rigorous interval satisfies the bound
        float        float64 numbers compared with a derived bound
        statistical  an estimate with its uncertainty
        trained      measured on trained weights
    `measured` and `bound` are values, for programs; `words` and `wanted` describe these values
    for a reader if the values do not suffice.  `detail` is printed if the finding does not hold
    (the smallest instance, both values, the first difference, how to repeat it); with `detailed`,
    `detail` is always printed.
    """

    id: str
    name: str
    evidence: Evidence
    measured: Value
    bound: Value
    verdict: Verdict
    words: str = ""
    wanted: str = ""
    detail: str = ""
    detailed: bool = False
    seconds: float = field(default=0.0)

    def as_json(self) -> dict[str, Any]:
        """The finding as values that JSON can represent."""
        return {
            "id": self.id,
            "name": self.name,
            "evidence": self.evidence,
            "measured": plain(self.measured),
            "bound": plain(self.bound),
            "verdict": str(self.verdict),
            "words": self.words,
            "wanted": self.wanted,
            "detail": self.detail,
            "seconds": round(self.seconds, 6),
        }


class Extra(TypedDict, total=False):
    """The optional texts of a finding, as keyword arguments."""

    words: str
    wanted: str
    detail: str
    detailed: bool


@checked
def equal(
    id: str,
    name: str,
    wrong: str | None,
    *,
    evidence: Evidence = "exact",
    words: str = "",
    wanted: str = "",
) -> Finding:
    """The finding that two exact values are equal; `wrong` is the first difference or None."""
    holds = wrong is None
    return Finding(
        id,
        name,
        evidence,
        "equal" if holds else "different",
        "equal",
        Verdict.of(holds),
        words if holds else "they differ",
        wanted,
        detail=wrong or "",
    )


def no_counterexample(
    id: str,
    name: str,
    counterexamples: Iterable[str],
    *,
    evidence: Evidence = "exact",
    words: str = "no counterexample",
    wanted: str = "",
) -> Finding:
    """The finding that a search yields no counterexample.

    If the search yields a counterexample, the finding fails, and the first counterexample is the
    `detail` of the finding.
    """
    wrong = next(iter(counterexamples), None)
    return equal(id, name, wrong, evidence=evidence, words=words, wanted=wanted)


def same(
    id: str,
    name: str,
    measured: Value,
    bound: Value,
    *,
    evidence: Evidence = "exact",
    **said: Unpack[Extra],
) -> Finding:
    """The finding that measured = bound; the finding is undecided for NaN and for empty values.

    If the finding holds, `words` are printed; otherwise both values are printed.
    """
    found, wanted_ones = plain(measured), plain(bound)
    verdict = Verdict.of(found == wanted_ones)
    if _has_no_number(found) or _has_no_number(wanted_ones) or found in ([], {}):
        verdict = Verdict.UNDECIDED
    if verdict is not Verdict.HOLDS:
        said.pop("words", None)
    return Finding(id, name, evidence, measured, bound, verdict, **said)


def at_most(
    id: str, name: str, evidence: Evidence, measured: Value, bound: Value, **said: Unpack[Extra]
) -> Finding:
    """The finding that measured ≤ bound, undecided for overlapping intervals, NaN and ±∞."""
    (low, high), (least, most) = (
        ends_of("a measured value or bound", value) for value in (measured, bound)
    )
    if not all(math.isfinite(end) for end in (low, high, least, most)):
        verdict = Verdict.UNDECIDED
    elif high <= least:
        verdict = Verdict.HOLDS
    else:
        verdict = Verdict.FAILS if low > most else Verdict.UNDECIDED
    return Finding(id, name, evidence, measured, bound, verdict, **said)


def at_least(
    id: str, name: str, evidence: Evidence, measured: Value, bound: Value, **said: Unpack[Extra]
) -> Finding:
    """The finding that measured ≥ bound, undecided for overlapping intervals, NaN and ±∞."""
    turned = at_most(id, name, evidence, bound, measured)
    return Finding(id, name, evidence, measured, bound, turned.verdict, **said)


def within(
    id: str,
    name: str,
    evidence: Evidence,
    measured: Value,
    bound: tuple[float, float],
    **said: Unpack[Extra],
) -> Finding:
    """The finding that low ≤ measured ≤ high for a number, or for each number of a list.

    (low, high) is `bound`. The finding is undecided in the same cases as `at_most`.

    Raises InputError for a bound that is not a pair of numbers.
    """
    if not isinstance(bound, tuple):
        raise InputError(f"bound is {bound!r}: give a pair (low, high)")
    low, high = ends_of("bound", bound)
    each = measured if isinstance(measured, list) else [measured]
    verdicts = [
        at_most(id, name, evidence, smaller, larger).verdict
        for value in each
        for smaller, larger in ((low, value), (value, high))
    ]
    return Finding(id, name, evidence, measured, bound, Verdict.together(verdicts), **said)


def within_bounds(
    id: str, name: str, evidence: Evidence, ratio: Value, **said: Unpack[Extra]
) -> Finding:
    """The finding that numbers are at most their bounds; `ratio` is their largest ratio to them.

    The finding is undecided in the same cases as `at_most`.
    """
    return at_most(id, name, evidence, ratio, 1.0, **said)


@checked
def each_at_most(
    id: str,
    name: str,
    evidence: Evidence,
    measured: dict[str, float],
    bounds: dict[str, float],
    **said: Unpack[Extra],
) -> Finding:
    """The finding that each of several named numbers is at most its bound.

    The finding is undecided in the same cases as `at_most`. Raises ValueError unless numbers and
    bounds have the same names.
    """
    if measured.keys() != bounds.keys():
        raise ValueError(
            f"{id}: the measured numbers {[*measured]} and the bounds {[*bounds]} have "
            "different names: give one bound for each measured number"
        )
    each = (at_most(id, name, evidence, measured[key], bounds[key]).verdict for key in measured)
    return Finding(id, name, evidence, measured, bounds, Verdict.together(each), **said)


@checked
def as_stated(
    finding: Finding, computed: Value, stated: Value, *, terms: NonNegative = 0.0
) -> Finding:
    """The finding, which fails unless a bound that it uses is the bound of its statement.

    `computed` is the bound of the library, and `stated` the formula of the statement, written
    independently. Both are numbers, or numbers in a list or by name. A difference of 2^−40 times
    the number, or times the size of the `terms` of a sum, is allowed: the rounding of some thousand
    operations in float64.
    """
    pairs = _pairs(computed, stated)
    near = {"rel_tol": 2.0**-40, "abs_tol": 2.0**-40 * terms}
    wrong = [(a, b) for a, b in pairs if not math.isclose(a, b, **near)]
    if wrong or not pairs:
        finding.verdict = Verdict.FAILS
        finding.detail = "\n".join(f"the bound is {a}, its formula gives {b}" for a, b in wrong)
    return finding


def labelled(label: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yields findings with `label` in front of name and id, for claims about several objects."""
    for finding in findings:
        finding.id = f"{label}/{finding.id}".replace(" ", "-")
        finding.name = f"{label}: {finding.name}"
        yield finding


def _has_no_number(value: Any) -> bool:
    """Whether a value contains NaN, which `plain` writes as text."""
    if isinstance(value, dict):
        return any(map(_has_no_number, value.values()))
    return any(map(_has_no_number, value)) if isinstance(value, list) else value == "nan"


def _pairs(computed: Value, stated: Value) -> list[tuple[float, float]]:
    """The pairs of numbers of two values of the same form."""
    if isinstance(computed, dict):
        if computed.keys() != stated.keys():
            raise ValueError(f"the bounds {[*computed]} and the formulas {[*stated]} differ")
        computed, stated = [*computed.values()], [stated[name] for name in computed]
    if not isinstance(computed, list | tuple | np.ndarray):
        return [(float(computed), float(stated))]
    each = (_pairs(a, b) for a, b in zip(computed, stated, strict=True))
    return [pair for pairs in each for pair in pairs]


def plain(value: Value) -> Any:
    """Returns a value that JSON can represent; infinity and NaN become text."""
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, int | float | str | bool) or value is None else str(value)


def rounded_up(value: float, digits: int = 2) -> float:
    """The least number of so many decimal digits that is at least the value, as the nearest float.

    Printed with these digits, it is a bound wherever the value is one.
    """
    return float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(value))


def shown(value: Value) -> str:
    """Returns a value as text for a reader."""
    if isinstance(value, dict):
        apart, between = (": ", "; ") if any("=" in str(name) for name in value) else (" ", ", ")
        return between.join(f"{name}{apart}{shown(each)}" for name, each in value.items())
    if isinstance(value, tuple):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, list | np.ndarray):
        return ", ".join(map(shown, value))
    return f"{value:.3g}" if isinstance(value, float) else str(value)
