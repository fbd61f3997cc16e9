"""Claims and statements of other packages; errors in them do not affect those of this library.

Claims are entry points of the group `verify.claims`, and statement indices of `verify.ledgers`:

    [project.entry-points."verify.ledgers"]
    my-theorems = "my_theorems"

names the package whose folder contains a `theorems.toml`.  The claims that its entries name are
entry points, like the claims of this library.
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
    """Whether an entry point belongs to this library."""
    return _top(point.module) == "verify"


def package(point: EntryPoint) -> str:
    """The package and the module of an entry point, in words."""
    name = point.dist.name if point.dist else _top(point.module)
    return f"{name} ({point.module})"


class Broken(InputError):
    """The error for a claim of another package that cannot be imported or was stopped."""


def broken(point: EntryPoint, what: str, error: BaseException) -> Broken:
    """The error for a claim of another package, with file and line of the package.

    The line is the last line of the package that was run or, for a syntax error, the line of the
    error.
    """
    lines = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if _top(frame.f_globals.get("__name__", "")) == _top(point.module)
    ]
    message = str(error)
    if isinstance(error, SyntaxError):
        lines.append((error.filename or "", error.lineno or 1))
        message = error.msg
    files = [f"{file}, line {line}: " for file, line in lines if Path(file).is_file()]
    place, cause = "".join(files[-1:]), f"{type(error).__name__}: {' '.join(message.split())}"
    return Broken(f"the claim {point.name} of {package(point)} {what}: {place}{cause}")


def _top(module: str) -> str:
    return module.partition(".")[0]


def left_out(package: str, point: EntryPoint) -> bool:
    """Whether a package's claim is left out because another package has a claim of this name."""
    points = entry_points(group="verify.claims", name=point.name)
    return _top(point.module) != _top(package) in {_top(each.module) for each in points}


@cache
def warn(message: str) -> None:
    """Prints a warning on standard error, once, and only in the main process."""
    if parent_process() is None:
        print(f"warning: {message}", file=sys.stderr)


def ledgers() -> Iterator[EntryPoint]:
    """The entry points of the statement indices of other packages, by name."""
    yield from sorted(entry_points(group="verify.ledgers"), key=lambda point: point.name)


def text_of(point: EntryPoint) -> tuple[Path, str]:
    """The file and the text of another package's statement index; the package is not imported.

    Raises InputError if the package or the file does not exist or cannot be read.
    """
    try:
        spec = find_spec(point.value)
    except Exception:  # find_spec imports the parent of a subpackage, which may raise any error
        spec = None
    if spec is None or spec.origin is None:
        raise InputError(
            f"the statement index {point.name} names a package {point.value}, which does "
            "not exist: correct the entry point of this index"
        )
    file = Path(spec.origin).with_name(FILE)
    try:
        return file, file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: {error}; restore this file") from None


def check(file: Path, text: str, wrong: Callable[[str, Any], str]) -> None:
    """Raises InputError, with file and line, for text that is not TOML or has a wrong entry.

    `wrong(name, entry)` returns the error of an entry, or an empty text if the entry is right.
    """
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
    """The line at which an entry begins."""
    head = re.compile(rf"\s*\[?\s*[\"']?{re.escape(name)}[\"']?\s*[\].=]")
    return next((n for n, line in enumerate(text.splitlines(), 1) if head.match(line)), 1)
