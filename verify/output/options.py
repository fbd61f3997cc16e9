"""Options, exit codes and the progress bar of several commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from rich.progress import track

from theory.waiting import announced
from verify.claim import option
from verify.finding import Verdict

EXIT = {Verdict.HOLDS: 0, Verdict.FAILS: 1, Verdict.UNDECIDED: 3}

Seed = Annotated[int, option("seed of every random choice", min=0)]
Json = Annotated[
    str, option("write JSON to FILE, or to standard output without FILE", metavar="[FILE]")
]
Plot = Annotated[Path | None, option("draw the claim's picture to this file (.png, .pdf or .svg)")]
Certificate = Annotated[
    Path | None, option("write a certificate to FILE, for the checkers verify/*checker.py")
]
Quiet = Annotated[bool, option("print only the verdict", "-q", "--quiet")]
Verbose = Annotated[bool, option("print times, details and tracebacks", "-v", "--verbose")]
Quick = Annotated[bool, option("use smaller sizes and fewer samples", "--quick")]


def progress_bar(quiet: bool) -> Callable[[Iterable[Any], str], Iterable[Any]]:
    """Shows the progress of a loop on standard error, by a bar if standard error is a terminal.

    Elsewhere, a loop of more than a minute is announced by one line with an estimate of its time.
    """
    screen = Console(stderr=True)
    if quiet:
        return lambda items, _: items
    if not screen.is_terminal:
        return announced
    return lambda items, what: track(items, what, console=screen, transient=True)
