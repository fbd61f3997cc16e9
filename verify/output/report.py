"""The output of a claim's run: lines for people, JSON for programs."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from threading import Lock
from typing import Any

from rich.console import Console
from rich.markup import escape

from verify.finding import Finding, Verdict
from verify.output.sentences import Joined, Sentence, sentence

STYLES = {Verdict.HOLDS: "green", Verdict.FAILS: "bold red", Verdict.UNDECIDED: "yellow"}
LIBRARIES = ("numpy", "scipy", "torch", "sympy", "mpmath", "python-flint")


SCHEMA = 2  # the version of the JSON of a run


class Report:
    """The printer of a claim's findings, which joins similar findings to one line.

    If `quiet`, only the verdict is printed.
    """

    def __init__(self, console: Console, quiet: bool, verbose: bool) -> None:
        self.console, self.quiet, self.verbose = console, quiet, verbose
        self._joined: Joined | None = None
        self._stated, self._lock = quiet, Lock()

    def statement(self, name: str, statement: str, source: str) -> None:
        """Prints the statement, unless it is printed already."""
        with self._lock:
            stated, self._stated = self._stated, True
        if not stated:
            self.console.print(f"[bold]{name}[/bold]  {escape(statement)}", highlight=False)
            sources = f"source  {source}\n" if source else ""
            self.console.print(sources, style="dim", markup=False, highlight=False)

    def finding(self, finding: Finding) -> None:
        if self.quiet:
            return
        made, holds = sentence(finding), finding.verdict is Verdict.HOLDS
        details = finding.detail.splitlines()
        if not (self.verbose or finding.detailed or not holds):
            details = []
        if holds and not details and not self.verbose:
            if self._joined is None or not self._joined.takes(made):
                self.flush()
                self._joined = Joined(made)
            return
        self.flush()
        self._print(finding.verdict, made, f"  {finding.seconds:.3f} s" * self.verbose)
        for line in details:
            self.console.print(f"{'':10}{line}", markup=False, highlight=False)

    def _print(self, verdict: Verdict, made: Sentence, after: str = "") -> None:
        style = STYLES[verdict]
        self.console.print(
            f"[{style}]{verdict!s:10}[/]{escape(str(made))}  [dim]{escape(f'[{made.evidence}]')}"
            f"{after}[/dim]",
            highlight=False,
        )

    def flush(self) -> None:
        """Prints the findings that have been joined but not yet printed."""
        joined, self._joined = self._joined, None
        if joined is not None:
            self._print(Verdict.HOLDS, joined.sentence)

    def verdict(self, name: str, verdict: Verdict, count: int, seconds: float) -> None:
        self.flush()
        self.console.print(
            f"{'' if self.quiet else chr(10)}{name} [{STYLES[verdict]}]{verdict}[/]: "
            f"{count} finding{'s' * (count != 1)} in {seconds:.1f} s",
            highlight=False,
        )


def environment() -> dict[str, str]:
    """The versions of the packages that compute the evidence."""
    libraries = {name: version(name) for name in LIBRARIES}
    machine = f"{platform.system()} {platform.machine()}"
    return {
        "weightwright": version("weightwright"),
        "python": platform.python_version(),
        "machine": machine,
        **libraries,
    }


def as_json(
    name: str,
    statement: str,
    source: str,
    parameters: dict[str, Any],
    findings: list[Finding],
    seconds: float,
) -> str:
    """Returns the run of a claim as a JSON document."""
    document = {
        "schema": SCHEMA,
        "claim": name,
        "statement": statement,
        "source": source,
        "parameters": parameters,
        "verdict": str(Verdict.together([finding.verdict for finding in findings])),
        "findings": [finding.as_json() for finding in findings],
        "environment": environment(),
        "seconds": round(seconds, 3),
    }
    return json.dumps(document, indent=2, default=str, ensure_ascii=False)
