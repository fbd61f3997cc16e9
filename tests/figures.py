"""The figures of the recorded run: how much each finding compared, how, and with which bound.

A claim that compares less than before, by weaker evidence or with a looser bound, still holds.  So
the kind of evidence, the whole numbers and fractions in the words of a finding, the numbers of its
bound and what it measured are in `figures.txt`, with which `test_conformance.py` compares a run.
After a change on purpose, `python tests/figures.py` writes them again; the difference is read
before it is committed.

Left out are numbers that another machine may round differently: percentages (of a bound of
rounding, say), what is measured of trained weights, rounding errors, measured numbers below 10⁻³,
and bounds below 10⁻⁶, which are bounds of rounding.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import record

FILE = Path(__file__).with_name("figures.txt")
UNCERTAIN = ("trained", "statistical")
WHOLE = re.compile(r"(?<![\w.,^/−+-])\d+(?![\w^/]|[.,]\d| ?%)")
FRACTION = re.compile(r"(?<![\w.,^/])[−-]?\d+/[1-9]\d*(?![\w^/]|[.,]\d)")
SAME, ROUNDING, MEASURED = 0.01, 1e-6, 1e-3
FLOATS = "float32", "float64"  # names of rounding errors


def figures(document: dict[str, Any]) -> dict[str, tuple[str, list[float]]]:
    """By id, the kind of evidence and the numbers of each finding of a run."""
    return {
        each["id"]: (each["evidence"], [*stated(each), *_measured(each)])
        for each in document["findings"]
    }


def _measured(finding: dict[str, Any]) -> list[float]:
    certain = finding["evidence"] not in UNCERTAIN and "%" not in finding["words"]
    of = finding["measured"]
    if isinstance(of, dict):
        of = {name: each for name, each in of.items() if name not in FLOATS}
    return [n for n in _numbers(of) if certain and abs(n) > MEASURED]


def stated(finding: dict[str, Any]) -> list[float]:
    """The numbers in the words and of the bound of a finding."""
    certain = finding["evidence"] not in UNCERTAIN
    words = [float(n) for n in WHOLE.findall(finding["words"])] if certain else []
    if certain:
        fractions = FRACTION.findall(finding["words"])
        words += [float(Fraction(text.replace("−", "-"))) for text in fractions]
    return words + [n for n in _numbers(finding["bound"]) if abs(n) > ROUNDING]


def _numbers(of: Any) -> list[float]:
    if isinstance(of, dict | list):
        parts = of.values() if isinstance(of, dict) else of
        return [n for part in parts for n in _numbers(part)]
    finite = isinstance(of, int | float) and not isinstance(of, bool) and math.isfinite(of)
    return [float(f"{of:.4g}")] if finite else []


def recorded() -> dict[tuple[str, int], dict[str, tuple[str, list[float]]]]:
    """By claim and the number of its option set, what is recorded."""
    found: dict[tuple[str, int], dict[str, tuple[str, list[float]]]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        claim, number, id, evidence, *numbers = line.split()
        of = found.setdefault((claim, int(number)), {})
        of[id] = evidence, [float(n) for n in numbers]
    return found


def differences(
    of: Mapping[str, tuple[str, list[float]]], wanted: Mapping[str, tuple[str, list[float]]]
) -> list[str]:
    """The findings whose figures differ, with both."""
    return [
        f"{id}: {of.get(id)}, recorded {wanted.get(id)}"
        for id in {**of, **wanted}
        if id not in of or id not in wanted or not _same(*of[id], *wanted[id])
    ]


def _same(evidence: str, numbers: list[float], kind: str, recorded: list[float]) -> bool:
    close = (math.isclose(x, y, rel_tol=SAME) for x, y in zip(numbers, recorded, strict=False))
    return evidence == kind and len(numbers) == len(recorded) and all(close)


if __name__ == "__main__":
    record.make()
    record.recorded.cache_clear()  # `make` asks for it before there is one
    FILE.write_text(
        "".join(
            " ".join([claim, f"{number}", id, kind, *(f"{n:g}" for n in numbers)]) + "\n"
            for claim, runs in record.recorded().items()
            for number, (document, _) in enumerate(runs)
            if all(each["id"] != "package" for each in document["findings"])  # else it was not run
            for id, (kind, numbers) in figures(document).items()
        ),
        encoding="utf-8",
    )
