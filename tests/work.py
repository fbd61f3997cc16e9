"""How much a claim does: the steps of `verify`, and the entries of arrays that it hands on.

A claim whose loop ends early, or whose arrays have fewer rows, still holds.  So `work.txt` has, for
each recorded run, with the options of the ledger and with those of `other_options.txt`, how many
steps its functions in `verify` did, and how many entries the arrays had that these handed on (see
`counting.py`).  Tests run the claims again.  Where float32 numbers decide how often a loop runs, or
which entries are chosen, other processors round otherwise: the numbers of these claims are the same
up to 0.2 %.  After a change on purpose, `python tests/work.py [CLAIM…]` writes the numbers of these
claims, or of all, again.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, TypeVar

import annotations
import counting

T = TypeVar("T")
Work = tuple[int, int]
Cached = type(cache(abs))
FILE = Path(__file__).with_name("work.txt")
NAMES = ("theory", "constructions", "verify")
ROUNDED, NEAR = ("lstm", "random-weights"), 0.002
"""Claims with numbers that depend on the processor, and by how much."""
KEPT = ("verify.claim", "verify.ledger", "verify.site")
"""Modules whose caches hold files of the packages."""


def of(run: Callable[[], T]) -> tuple[T, Work]:
    """What a function returns, and its work."""
    load()
    forget()
    counting.start()
    return run(), counting.counted()


@cache
def load() -> None:
    """Import all modules that a run may import: what their bodies do is not its work."""
    for each in walk_packages(import_module("verify").__path__, "verify."):
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


@cache
def recorded() -> dict[str, Work]:
    """By run, what is recorded."""
    runs = (line.split(" ", 2) for line in FILE.read_text(encoding="utf-8").splitlines())
    return {run: (int(steps), int(entries)) for steps, entries, run in runs}


def same(run: str, done: Work) -> bool:
    """Whether the work of a run is the recorded work."""
    near = NEAR if run.split()[0] in ROUNDED else 0.0
    return all(
        math.isclose(now, then, rel_tol=near)
        for now, then in zip(done, recorded()[run], strict=True)
    )


def by_ledger() -> dict[str, tuple[str, dict[str, Any]]]:
    """Runs with the options of the ledger: by `newton #0`, the claim and the options."""
    import record

    runs = record.by_ledger().items()
    return {f"{name} #{number}": (name, options) for (name, number), options in runs}


def found(run: str) -> Work | None:
    """The work of a recorded run; None where it needs packages that are not installed."""
    import other_options
    import record

    if run in (runs := by_ledger()):
        document, work = of(lambda: record.run(*runs[run]))
        return None if "package" in [each["id"] for each in document["findings"]] else work
    other, work = of(lambda: other_options.found(run))
    return None if "package" in other else work


if __name__ == "__main__":
    import other_options

    os.environ["OMP_NUM_THREADS"] = "1"  # in the processes of the pool
    names, work = sys.argv[1:], recorded() if FILE.exists() else {}
    runs = [*by_ledger(), *other_options.recorded()]
    again = [run for run in runs if not names or run.split()[0] in names]
    # Each process loads the packages with functions that count.
    pool = ProcessPoolExecutor(2, get_context("spawn"), annotations.check_annotations, NAMES)
    with pool:
        works = dict(zip(again, pool.map(found, again), strict=True))
    work = {run: now for run in runs if (now := works.get(run, work.get(run))) is not None}
    text = "".join(f"{steps} {entries} {run}\n" for run, (steps, entries) in work.items())
    FILE.write_text(text, encoding="utf-8")
