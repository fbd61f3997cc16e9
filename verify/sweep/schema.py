"""Checks that the files of a sweep contain a plan and its runs.

A file may have been edited or written by another program; only runs that a sweep wrote are counted.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from verify.finding import Verdict

VERDICTS = {*map(str, Verdict)}


def is_plan(document: Any) -> bool:
    """Whether a JSON document is a plan: a claim, values of its options, seeds, and versions."""
    match document:
        case {"claim": str(), "values": dict(values), "seeds": int(seeds), "versions": dict()}:
            listed = all(isinstance(each, list) and each for each in values.values())
            return listed and seeds is not True and seeds > 0
    return False


def is_run(record: Any, plan: dict[str, Any]) -> bool:
    """Whether a JSON document is a run of a plan.

    A run must have the values and the seed that the plan gives to the run's index, the version of
    the library in the plan, and the common verdict of its findings.
    """
    match record:
        case {
            "run": int(run),
            "seed": int(seed),
            "parameters": dict(parameters),
            "verdict": str(verdict),
            "findings": list(findings),
            "error": str(error),
            "traceback": str(),
            "seconds": int() | float() as seconds,
            "version": str(version),
        } if all(map(_is_finding, findings)):
            verdicts = [Verdict(finding["verdict"]) for finding in findings]
            together = Verdict.together([*verdicts, *[Verdict.UNDECIDED] * bool(error)])
            given = {name: parameters.get(name) for name in plan["values"]}
            there = run is not True and _at(plan, run) == (json.dumps(given), seed)
            there = there and version == plan["versions"].get("weightwright")
            return there and verdict == together and abs(seconds) <= sys.float_info.max
    return False


def _is_finding(document: Any) -> bool:
    match document:
        case {"id": str(), "verdict": str(verdict), "measured": _, "bound": _}:
            return verdict in VERDICTS
    return False


def _at(plan: dict[str, Any], run: int) -> tuple[str, int] | None:
    """The values and the seed of a run of a plan; None if there is no such run."""
    left, seed = divmod(run, plan["seeds"])
    chosen = dict.fromkeys(plan["values"])
    for name, values in reversed(plan["values"].items()):
        left, place = divmod(left, len(values))
        chosen[name] = values[place]
    return None if left else (json.dumps(chosen), seed)
