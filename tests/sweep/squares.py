"""A claim to sweep over, and an engine that runs it here, one run after the other."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from theory.kinds import InputError
from verify.claim import Run, claim, option
from verify.cli import main as cli
from verify.finding import Finding, Verdict, at_most
from verify.sweep import workers

# What the fixture `swept` has run.
WORDS = ("--k", "1..3", "--how", "exactly,roughly", "--seeds", 2)


@claim()
def squares(
    run: Run,
    *,
    k: Annotated[int, option("a number", min=0)] = 3,
    most: Annotated[float | None, option("bound of the square")] = None,
    how: Annotated[Literal["exactly", "roughly"], option("how")] = "exactly",
    noise: Annotated[float, option("noise", only={"how": ["roughly"]})] = 0.5,
    loud: Annotated[bool, option("a flag", "--loud")] = False,
    file: Annotated[Path | None, option("a file")] = None,
) -> Iterator[Finding]:
    """Squares are at most as large as they are."""
    if k == 13:
        raise InputError("k is 13: take another")
    yield at_most("square", "the square", "exact", k * k, k * k if most is None else most)
    if k == 14:
        raise ZeroDivisionError("by\nnothing")
    if k == 16:
        raise InputError
    parts = {"seed": run.seed, "drawn": float(run.rng.random())}
    yield Finding("parts/all", "parts", "exact", parts, {"seed": 9}, Verdict.HOLDS)
    yield Finding("row", "row", "exact", [k, "inf"], "equal", Verdict.HOLDS)


@claim()
def asks(run: Run, *, data: Annotated[Path, option("a file")]) -> Iterator[Finding]:
    """Is about a file."""
    yield at_most("length", "length", "exact", len(data.name), 3)


def on_dask(jobs, scheduler):
    """The errors of Dask before it is needed."""
    if scheduler is not None:
        workers.on_dask(jobs, scheduler)
    return here


def here(tasks, versions):
    """The engine of these tests: one run after the other, in this process."""
    assert versions.keys() == {"weightwright"}
    yield from map(workers.one_run, tasks)


def run(*words) -> int:
    return cli.main(["sweep", "squares", *map(str, words)])


def lines(out):
    return [json.loads(line) for line in (out / "runs.jsonl").read_text().splitlines()]
