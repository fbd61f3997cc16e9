"""How a claim's evidence is shown: lines for people, JSON for programs."""

from __future__ import annotations

import json
import platform
import re
from importlib.metadata import version
from typing import Any

from rich.console import Console
from rich.markup import escape

from verify.finding import Finding, Verdict, shown

STYLES = {Verdict.HOLDS: "green", Verdict.FAILS: "bold red", Verdict.UNDECIDED: "yellow"}
LIBRARIES = ("numpy", "scipy", "torch", "sympy", "mpmath", "python-flint")


SCHEMA = 2  # of the JSON that a run is written as
LAYER = re.compile(r"\blayer (\d+)\b")


class Report:
    """Prints findings as they come; quiet prints the verdict alone.

    Lines of a layer and the next that say the same otherwise are one line, "layers 1 to 6".
    """

    def __init__(self, console: Console, quiet: bool, verbose: bool) -> None:
        self.console, self.quiet, self.verbose = console, quiet, verbose
        self._held, self._layers = "", (0, 0)

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
        line = f"[{style}]{verdict:10}[/][dim]{finding.evidence:12}[/dim]{escape(text)}"
        told = self.verbose or finding.told or finding.verdict != Verdict.HOLDS
        details = finding.detail.splitlines() if finding.detail and told else []
        layer = None if details or self.verbose else LAYER.search(line)
        if layer is None:
            self.flush()
            self.console.print(line, highlight=False)
        else:
            self._hold(f"{line[: layer.start()]}\0{line[layer.end() :]}", int(layer[1]))
        for line in details:
            self.console.print(f"{'':22}{line}", markup=False, highlight=False)

    def _hold(self, line: str, layer: int) -> None:
        """Keep a line until one comes that says something else than of the next layer."""
        first, last = self._layers
        if line == self._held and layer in (last, last + 1):
            self._layers = first, layer
            return
        self.flush()
        self._held, self._layers = line, (layer, layer)

    def flush(self) -> None:
        """Print the line that is held, if any."""
        first, last = self._layers
        layers = f"layer {first}" if first == last else f"layers {first} to {last}"
        held, self._held = self._held, ""
        if held:
            self.console.print(held.replace("\0", layers), highlight=False)

    def verdict(self, name: str, verdict: Verdict, count: int, seconds: float) -> None:
        self.flush()
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
    """One claim's run as a JSON document."""
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
