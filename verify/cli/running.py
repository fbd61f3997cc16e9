"""Checks of claims: of one claim, or of all claims against the statement index."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from rich.console import Console

from theory.kinds import InputError
from verify.claim import Claim, Run
from verify.finding import Finding, Verdict
from verify.ledger.claims import Foreign, standing
from verify.ledger.plugins import is_ours
from verify.ledger.theorems import entries_of, must_hold, recorded, sources_of
from verify.output.files import write
from verify.output.report import Report, as_json
from verify.output.waiting import watched

STOPPED = "stopped"  # the id of the finding of a run that was stopped


@dataclass(frozen=True)
class Output:
    """The output of a run: the target of the JSON document, and the printed lines.

    No lines are printed if `silent`. Raises ValueError for output that is quiet and verbose.
    """

    json: str = ""
    quiet: bool = False
    verbose: bool = False
    silent: bool = False

    def __post_init__(self) -> None:
        if self.quiet and self.verbose:
            raise InputError("--quiet and --verbose contradict each other: give one of them")


@dataclass(frozen=True)
class Checked:
    """A completed run of a claim: the findings and the JSON document."""

    name: str
    findings: list[Finding]
    document: str

    @property
    def verdict(self) -> Verdict:
        """The verdict of all findings together."""
        return Verdict.together(finding.verdict for finding in self.findings)


class _Theirs(Foreign):
    """A claim of another package; an error in it leaves it undecided, and other claims are run."""

    def findings(self, run: Run, **options: Any) -> Iterator[Finding]:
        try:
            yield from super().findings(run, **options)
        except InputError as error:
            yield _stopped(error)


def among_others(point: EntryPoint) -> Claim:
    """Returns the claim of an entry point, as `verify all` runs the claim."""
    claim = standing(point)
    return claim if is_ours(point) else _Theirs(claim, point)


def check(
    name: str,
    claim: Claim,
    run: Run,
    options: dict[str, Any],
    output: Output,
    keep: Callable[[str], None] | None = None,
) -> Checked:
    """Runs a claim and prints each finding when the finding is available.

    The JSON of the run is written and passed to `keep`, even if the run is stopped.
    """
    report = Report(
        Console(highlight=False, soft_wrap=True), output.quiet or output.silent, output.verbose
    )
    findings: list[Finding] = []
    start = time.perf_counter()

    def checked() -> Checked:
        seconds, parameters = time.perf_counter() - start, {**options, "seed": run.seed}
        parameters |= {"quick": True} if run.quick else {}
        text = as_json(name, claim.statement, sources_of(name), parameters, findings, seconds)
        return Checked(name, findings, text)

    def hand_over(done: Checked) -> None:
        if output.json:
            write(output.json, done.document)
        if keep is not None:
            keep(done.document)

    def begin() -> None:
        report.statement(name, claim.statement, sources_of(name))

    try:
        with watched(begin, output.quiet) as found:
            for finding in claim.findings(run, **options):
                # Not before the first finding: wrong options print only the error.
                found()
                begin()
                findings.append(finding)
                report.finding(finding)
    except BaseException as error:
        report.flush()
        # All findings so far may hold, but the run is incomplete.
        if findings or isinstance(error, KeyboardInterrupt):
            findings.append(_stopped(error))
            hand_over(checked())
        wrong = isinstance(error, InputError) and not isinstance(claim, Foreign)
        if findings and wrong and _at_defaults(claim, options):
            raise RuntimeError(str(error)) from error  # of the claim's own work, not of a user
        raise
    done = checked()
    if not output.silent:
        report.verdict(name, done.verdict, len(findings), time.perf_counter() - start)
        if (record := _on_record(done, claim, options)) and not output.quiet:
            report.console.print(record, markup=False)
        if done.verdict is Verdict.FAILS and not output.quiet:
            report.console.print(f"repeat with: {claim.command(name, options, run)}", markup=False)
    hand_over(done)
    return done


def certified(file: Path, name: str, run: Run, verdict: Verdict) -> list[str]:
    """Writes the certificate of a run, and describes it in lines.

    Raises ValueError if it is empty or the claim fails.
    """
    from verify.evidence.certificates import write_certificate

    if verdict is not Verdict.HOLDS:
        raise InputError(
            f"a certificate needs a claim that holds, but {name} {verdict}: omit --certificate"
        )
    if not run.certificates:
        raise InputError(
            f"with these options, {name} has no statement to certify: choose other options "
            "(`docs/certificates.md` lists the options with a certificate)"
        )
    statements = run.progress(run.certificates, "statements of the certificate")
    return write_certificate(file, name, statements)


def _on_record(done: Checked, claim: Claim, options: dict[str, Any]) -> str:
    """For a replication that does not hold, whether this is its recorded outcome; else empty."""
    unusual = not _at_defaults(claim, options)
    if done.verdict is Verdict.HOLDS or unusual or must_hold(done.name):
        return ""
    _, lines = news(done, strictly=False)
    if lines:
        return f"differs from the record: {'; '.join(lines)}"
    return f"as on record: see python -m verify show {done.name}"


def _at_defaults(claim: Claim, options: dict[str, Any]) -> bool:
    return {**claim.defaults, **options} == claim.defaults


def _stopped(error: BaseException) -> Finding:
    words, name = "stopped before the end", "interrupted"
    if not isinstance(error, KeyboardInterrupt):
        words, name = f"{type(error).__name__}: {error}", "stopped by an error"
    if isinstance(error, InputError):
        words = str(error)
    return Finding(STOPPED, name, "float", float("nan"), 0, Verdict.UNDECIDED, words)


def news(checked: Checked, strictly: bool) -> tuple[Verdict, list[str]]:
    """Whether a claim's verdicts agree with the statement index, and the differences in words.

    Theorems must hold. The findings of a replication must have the recorded verdicts. Unless
    `strictly` (at full sizes and with seed 0), a finding that is undecided now or in the record is
    not compared. A claim whose optional package is missing is not compared.
    """
    if checked.findings and checked.findings[-1].id == STOPPED:
        return Verdict.UNDECIDED, [checked.findings[-1].words]
    if must_hold(checked.name):
        return checked.verdict, []
    if not checked.findings:
        return Verdict.UNDECIDED, ["no findings"]
    if not_run(checked):
        return Verdict.HOLDS, []
    record, lines = recorded(checked.name), []
    for finding in checked.findings:
        was = record.pop(finding.id, "holds")
        undecided = Verdict.UNDECIDED in (finding.verdict, was)
        if finding.verdict != was and (strictly or not undecided):
            lines.append(f"{finding.id}: {finding.verdict}, on record: {was}")
    if strictly:
        lines += [f"{id}: not measured, on record: {was}" for id, was in record.items()]
    return Verdict.of(not lines), lines


def not_run(checked: Checked) -> bool:
    """Whether a claim was not run because an optional package is missing."""
    return [finding.id for finding in checked.findings] == ["package"]


def summary(
    outcomes: Sequence[tuple[str, Verdict, list[str]]], left_out: Container[str] = ()
) -> list[str]:
    """Returns the summary of a run of all claims as lines of text.

    The lines contain the number of statements of each kind that have the stated outcome, the
    differences, and the claims that were `left_out` because a package is missing.

    A claim has one outcome for each set of options. A statement is counted if all outcomes of its
    claim are as stated.
    """
    came_out: Counter[str] = Counter()
    stated: Counter[str] = Counter()
    names = dict.fromkeys(name for name, _, _ in outcomes)
    for name in (name for name in names if name not in left_out):
        holds = all(v is Verdict.HOLDS for other, v, _ in outcomes if other == name)
        for kind in [entry.kind for entry in entries_of(name)] or ["claim of another package"]:
            stated[kind] += 1
            came_out[kind] += holds
    lines = [f"{kind}: {came_out[kind]} of {count} as stated" for kind, count in stated.items()]
    lines += [f"not run: {name}, a package is missing" for name in names if name in left_out]
    for name, verdict, differences in outcomes:
        if verdict is not Verdict.HOLDS and not differences:
            lines.append(f"differs: {name} {verdict}")
        lines += [f"differs: {name}, {line}" for line in differences]
    return lines
