"""How much a claim does: the lines of `verify` that it runs, and the entries that it hands on.

A claim whose loop ends early, or whose arrays have fewer rows, still holds.  So `work.txt` has, for
each recorded run, with the options of the ledger and with those of `other_options.txt`, how many
lines of `verify` ran, each counted as often as it did, and how many entries the arrays had that
these lines gave to functions of the three packages.  Tests run the claims again.  After a change on
purpose, `python tests/work.py [CLAIM…]` writes the numbers of these claims, or of all, again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib import import_module
from inspect import CO_OPTIMIZED
from multiprocessing import get_context
from pathlib import Path
from pkgutil import walk_packages
from types import FrameType
from typing import Any, TypeVar

import numpy as np
import other_options
import record
import torch

import verify
from verify.claim import installed
from verify.ledger.theorems import option_sets

T = TypeVar("T")
Work = tuple[int, int]
Cached = type(cache(abs))
FILE = Path(__file__).with_name("work.txt")
NAMES = ("theory", "constructions", "verify")
PACKAGES = tuple(f"{FILE.parent.parent / name}/" for name in NAMES)
VERIFY = PACKAGES[-1]
APART = tuple(VERIFY + name for name in ("cli/", "domains/", "ledger/", "output/", "claim.py"))
"""What is the same for every claim, or remembers weights that it has read; checkers of certificates
are apart too, since they go through sets, in another order each time."""
KEPT = ("verify.claim", "verify.ledger", "verify.site")
"""Modules whose caches hold files of the packages."""
COMPARABLE = sys.version_info[:2] == (3, 11)
"""Whether this Python counts lines as the one that wrote `work.txt`."""
DECORATORS = (PACKAGES[0] + "kinds/", PACKAGES[1] + "call.py")
"""What calls a function for its caller."""


def of(run: Callable[[], T]) -> tuple[T, Work]:
    """What a function returns, and its lines and entries."""
    lines = entries = 0

    def line(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return line

    def call(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal entries
        name = frame.f_code.co_filename
        if not (_is_ours(name) and frame.f_code.co_flags & CO_OPTIMIZED):
            return None  # of others, or imports for annotations (`annotations.py`)
        if _is_counted(_caller(frame)):
            entries += _entries(frame)
        return line if _is_counted(name) else None

    load()
    forget()
    sys.settrace(call)
    try:
        result = run()
    finally:
        sys.settrace(None)
    return result, (lines, entries)


def _is_ours(file: str) -> bool:
    return file.startswith(PACKAGES) and not file.startswith(DECORATORS)


def _is_counted(file: str) -> bool:
    return file.startswith(VERIFY) and not (file.startswith(APART) or file.endswith("checker.py"))


def _caller(frame: FrameType) -> str:
    """The file of the packages that calls a function, apart from its decorators."""
    back = frame.f_back
    while back is not None and not _is_ours(back.f_code.co_filename):
        back = back.f_back
    return "" if back is None else back.f_code.co_filename


def _entries(frame: FrameType) -> int:
    code, given = frame.f_code, frame.f_locals
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    values = [given.get(name) for name in names]
    return sum(
        each.numel() if isinstance(each, torch.Tensor) else each.size
        for each in values
        if isinstance(each, np.ndarray | torch.Tensor)
    )


@cache
def load() -> None:
    """Import all modules that a run may import: what their bodies do is not its work."""
    for each in walk_packages(verify.__path__, "verify."):
        if not each.name.startswith(("verify.site", "verify.__main__")):
            import_module(each.name)


def forget() -> None:
    """Empty the caches of the packages: a run does the same, whatever ran before it."""
    for name, module in [*sys.modules.items()]:
        if name.split(".")[0] in NAMES and not name.startswith(KEPT):
            owners = [module, *(each for each in vars(module).values() if isinstance(each, type))]
            for function in (each for owner in owners for each in [*vars(owner).values()]):
                while function is not None:
                    if isinstance(function, Cached):
                        function.cache_clear()
                    function = getattr(function, "__wrapped__", None)


def recorded() -> dict[str, Work]:
    """By run, what is recorded."""
    runs = (line.split(" ", 2) for line in FILE.read_text(encoding="utf-8").splitlines())
    return {run: (int(lines), int(entries)) for lines, entries, run in runs}


def by_ledger() -> dict[str, tuple[str, dict[str, Any]]]:
    """Runs with the options of the ledger: by `newton #0`, the claim and the options."""
    return {
        f"{name} #{number}": (name, options)
        for name, point in installed().items()
        if not point.load().needs_options
        for number, options in enumerate(option_sets(name))
    }


def found(run: str) -> Work | None:
    """The work of a recorded run; None where it needs packages that are not installed."""
    if run in (runs := by_ledger()):
        document, work = of(lambda: record.run(*runs[run]))
        return None if "package" in [each["id"] for each in document["findings"]] else work
    other, work = of(lambda: other_options.found(run))
    return None if "package" in other else work


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"  # in the processes of the pool
    names, work = sys.argv[1:], recorded() if FILE.exists() else {}
    runs = [*by_ledger(), *other_options.recorded()]
    again = [run for run in runs if not names or run.split()[0] in names]
    with ProcessPoolExecutor(record.PROCESSES, mp_context=get_context("spawn")) as pool:
        works = dict(zip(again, pool.map(found, again), strict=True))
    work = {run: now for run in runs if (now := works.get(run, work.get(run))) is not None}
    text = "".join(f"{lines} {entries} {run}\n" for run, (lines, entries) in work.items())
    FILE.write_text(text, encoding="utf-8")
