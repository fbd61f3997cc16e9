"""How a claim's evidence is shown: lines for people, JSON for programs."""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from typing import Any

from rich.console import Console
from rich.markup import escape

from verify.finding import Finding, Verdict, shown

STYLES = {Verdict.HOLDS: "green", Verdict.FAILS: "bold red", Verdict.UNDECIDED: "yellow"}
LIBRARIES = ("numpy", "scipy", "torch", "sympy", "mpmath", "python-flint")


class Report:
    """Prints findings as they come; quiet prints the verdict alone."""

    def __init__(self, console: Console, quiet: bool, verbose: bool) -> None:
        self.console, self.quiet, self.verbose = console, quiet, verbose

    def statement(self, name: str, statement: str, source: str) -> None:
        if not self.quiet:
            self.console.print(f"[bold]{name}[/bold]  {statement}", highlight=False)
            self.console.print(f"source  {source}\n", style="dim", markup=False, highlight=False)

    def finding(self, finding: Finding) -> None:
        if self.quiet:
            return
        measured = finding.words or shown(finding.measured)
        wanted = finding.wanted or shown(finding.bound)
        text = f"{finding.name}: {measured}" + f"  (bound: {wanted})" * (wanted != measured)
        if self.verbose:
            text += f"  {finding.seconds:.3f} s"
        style, verdict = STYLES[finding.verdict], str(finding.verdict)
        self.console.print(
            f"[{style}]{verdict:10}[/][dim]{finding.evidence:12}[/dim]{escape(text)}",
            highlight=False,
        )
        told = self.verbose or finding.told or finding.verdict != Verdict.HOLDS
        if finding.detail and told:
            for line in finding.detail.splitlines():
                self.console.print(f"{'':22}{line}", markup=False, highlight=False)

    def verdict(self, name: str, verdict: Verdict, count: int, seconds: float) -> None:
        self.console.print(
            f"{'' if self.quiet else chr(10)}{name} [{STYLES[verdict]}]{verdict}[/]: "
            f"{count} finding{'s' * (count != 1)} in {seconds:.1f} s",
            highlight=False,
        )


def environment() -> dict[str, str]:
    """Versions of what computed the evidence."""
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
    """One claim's run as a JSON document (schema 2)."""
    document = {
        "schema": 2,
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
