"""What other packages add, and what is said where it is broken: ours go on.

Their claims are entry points of the group `verify.claims`; their ledgers of `verify.ledgers`:

    [project.entry-points."verify.ledgers"]
    my-theorems = "my_theorems"

names the package whose folder has a `theorems.toml`; the claims that its entries name are entry
points, as those of this library are.
"""

from __future__ import annotations

import re
import sys
import tomllib
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

from theory.kinds import InputError

FILE = "theorems.toml"


def is_ours(point: EntryPoint) -> bool:
    """Whether an entry point is of this library."""
    return _top(point.module) == "verify"


def package(point: EntryPoint) -> str:
    """The package that an entry point is of, and its module."""
    name = point.dist.name if point.dist else _top(point.module)
    return f"{name} ({point.module})"


def broken(point: EntryPoint, what: str, error: BaseException) -> InputError:
    """What is wrong with a claim of another package, and where: in the last line of that package
    which was run, or which is no Python."""
    lines = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if _top(frame.f_globals.get("__name__", "")) == _top(point.module)
    ]
    said = str(error)
    if isinstance(error, SyntaxError):
        lines.append((error.filename or "", error.lineno or 1))
        said = error.msg
    files = [f"{file}, line {line}: " for file, line in lines if Path(file).is_file()]
    place, said = "".join(files[-1:]), " ".join(said.split())
    return InputError(
        f"the claim {point.name} of {package(point)} {what}: {place}{type(error).__name__}: {said}"
    )


def _top(module: str) -> str:
    return module.partition(".")[0]


def left_out(package: str, point: EntryPoint) -> bool:
    """Whether a claim of this package has the name of this one, which is of another."""
    points = entry_points(group="verify.claims", name=point.name)
    return _top(point.module) != _top(package) in {_top(each.module) for each in points}


@cache
def warn(message: str) -> None:
    """One line on standard error, once; it is the first process that says it."""
    if parent_process() is None:
        print(f"warning: {message}", file=sys.stderr)


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


def check(file: Path, text: str, wrong: Callable[[str, Any], str]) -> None:
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
