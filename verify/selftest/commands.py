"""The command `selftest`: it outputs the results of mutants in lines or as JSON."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from theory.kinds import InputError, Steps, read, shown
from verify.claim import Claim
from verify.ledger.claims import installed, loaded, standing
from verify.ledger.theorems import no_claim
from verify.output.files import SCREEN, write
from verify.output.waiting import watched
from verify.selftest.function_mutations import function_faults
from verify.selftest.run import Report, random_entries, report_on

MOST_ENTRIES = 10**6  # the largest number of mutants of one run
Progress = Callable[[Iterable[Any], str], Iterable[Any]]


def check_claims(
    names: Sequence[str], seed: int, trained: bool, target: str, quiet: bool, progress: Progress
) -> bool:
    """Runs the mutants of these claims (by default, of all claims); returns whether all passed.

    A claim passes if each mutant makes a finding fail or changes no answer, and if each finding
    fails for some mutant.
    """
    faults, start, reports = function_faults(), time.process_time(), list[Report]()
    with watched(lambda: None, quiet, "report") as done:
        for name, claim in _chosen(names).items():
            kinds = {fault.trained for fault in faults if fault.claim == name}
            if names and trained and True not in kinds:
                raise InputError(f"{name} has no mutants of trained models: omit --trained")
            of_trained = trained or (bool(names) and kinds == {True})
            if names or trained in kinds or not (trained or kinds):
                report = report_on(name, claim, seed, faults, trained=of_trained, progress=progress)
                reports.append(report)
                _say(report, quiet or target == SCREEN)
                done()
    passed = bool(reports) and all(report.passed for report in reports)
    if target:
        write(target, json.dumps([asdict(each) for each in reports], indent=2, ensure_ascii=False))
    if target != SCREEN:
        seen, unchanged, missed, dead, findings = (
            (sum(counts) for counts in zip(*map(_counts, reports), strict=True))
            if reports
            else (0,) * 5
        )
        print(
            f"selftest: {seen} faults noticed, {unchanged} change no answer, {missed} MISSED; "
            f"{findings - dead} of {findings} findings can fail; {_seconds(start)}"
        )
    return passed


def check_entries(
    names: Sequence[str], count: int, seed: int, target: str, quiet: bool, progress: Progress
) -> bool:
    """Runs claims `count` times, each time on a model with one changed entry.

    Returns whether each change made a finding fail or changed no answer.
    """
    if count > MOST_ENTRIES:
        raise InputError(f"--random is {shown(count)}: give at most {MOST_ENTRIES} mutants")
    read(Steps, "seed", seed)
    start, entries, passed_over = time.process_time(), [], set[str]()
    changes = random_entries(_chosen(names), count, seed, passed_over)
    for entry in progress(changes, "single entries"):
        entries.append(entry)
        if not entry.outcome and target != SCREEN:
            again = " ".join(["selftest", *names, f"--random 1 --seed {entry.seed}"])
            print(f"MISSED  {entry}\n        repeat with: python -m verify {again}")
        elif not quiet and target != SCREEN and entry.outcome != "seen":
            print(f"same    {entry}: equal on {entry.outcome}")
    found = Counter("no" if e.outcome not in ("", "seen") else e.outcome for e in entries)
    if target:
        write(target, json.dumps([asdict(each) for each in entries], indent=2, ensure_ascii=False))
    if target != SCREEN:
        if passed_over and not quiet:
            print(f"passed over, as their runs build no models: {', '.join(sorted(passed_over))}")
        print(
            f"selftest: {found['seen']} of {count} changed entries noticed, {found['no']} change "
            f"no answer, {found['']} MISSED; {_seconds(start)}"
        )
    return not found[""]


def _chosen(names: Sequence[str]) -> dict[str, Claim]:
    points = installed()
    for name in names:
        if name not in points:
            raise no_claim(name, points)
    load = loaded if names else standing
    return {name: load(points[name]) for name in names or points}


def _say(report: Any, quiet: bool) -> None:
    seen, unchanged, missed, dead, findings = _counts(report)
    if not quiet or not report.passed:
        print(
            f"{'seen' if report.passed else 'MISSED':8}{report.claim}: {seen} faults noticed, "
            f"{unchanged} change no answer, {missed} missed; "
            f"{findings - dead} of {findings} findings can fail"
        )
    for line in report.missed:
        print(f"        missed: {line}")
    for id, fault in report.killed.items():
        if not fault:
            print(f"        DEAD: no fault makes {id} fail")
        elif not quiet:
            print(f"        {id} fails by: {fault}")
    for line in () if quiet else report.unchanged:
        print(f"        changes no answer: {line}")


def _counts(report: Any) -> tuple[int, int, int, int, int]:
    return (
        report.seen,
        len(report.unchanged),
        len(report.missed),
        len(report.dead),
        len(report.killed),
    )


def _seconds(start: float) -> str:
    return f"{time.process_time() - start:.0f} s of one core"
