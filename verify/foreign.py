"""Ledgers of other packages, found through the entry-point group `verify.ledgers`.

    [project.entry-points."verify.ledgers"]
    my-theorems = "my_theorems"

names the package whose folder has a `theorems.toml`; the claims that its entries name are entry
points of `verify.claims`, as those of this library are.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from theory.checks import InputError

FILE = "theorems.toml"


def ledgers() -> Iterator[EntryPoint]:
    """The ledgers of other packages, by name."""
    yield from sorted(entry_points(group="verify.ledgers"), key=lambda point: point.name)


def text_of(point: EntryPoint) -> tuple[Path, str]:
    """A ledger's file and its text; InputError where there is none.  The package is not run."""
    try:
        spec = find_spec(point.value)
    except Exception:  # a package within another one, which is imported and may do anything
        spec = None
    if spec is None or spec.origin is None:
        raise InputError(f"the ledger {point.name} is of no package: there is no {point.value}")
    file = Path(spec.origin).with_name(FILE)
    try:
        return file, file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: {error}") from None


def refuse(file: Path, text: str, wrong: Callable[[str, Any], str]) -> None:
    """Raise InputError, with the file and the line, for what is not TOML, and for the first entry
    of which `wrong` has something to say."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        line = at[1] if at and at[1] else max(1, len(text.splitlines()))
        what = str(error)[: at.start()] if at else str(error)
        raise InputError(f"{file}, line {line}: {what}") from None
    for name, entry in found.items():
        if what := wrong(name, entry):
            raise InputError(f"{file}, line {_line(text, name)}: {what}")


def _line(text: str, name: str) -> int:
    """Where an entry begins."""
    head = re.compile(rf"\s*\[?\s*[\"']?{re.escape(name)}[\"']?\s*[\].=]")
    return next((n for n, line in enumerate(text.splitlines(), 1) if head.match(line)), 1)
