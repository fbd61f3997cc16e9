"""Toy claims that hold, fail, are undecided or stop, for tests of the command line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from theory.kinds import InputError
from verify.claim import Run, claim, option
from verify.cli import main as cli
from verify.finding import Finding, Verdict


def run(*words: str) -> int:
    return cli.main(list(words))


def strict(text):
    """JSON without the NaN and Infinity that Python's own reader lets through."""

    def refuse(constant):
        raise ValueError(constant)

    return json.loads(text, parse_constant=refuse)


def found(verdict: Verdict, name: str = "a", **more: Any) -> Finding:
    return Finding(name.replace(" ", "-"), name, "exact", 1, 2, verdict, **more)


@claim(faults_seen=[{"k": 1}])
def good(run: Run, *, k: Annotated[int, option("how many", min=0)] = 3) -> Iterator[Finding]:
    """All is well.

    A second paragraph.
    """
    for i in range(k + 1):
        yield found(Verdict.HOLDS, f"finding {i}", detail="why it holds")


@claim()
def bad(
    run: Run,
    *,
    big_k: Annotated[int, option("how many")] = 3,
    loud: Annotated[bool, option("a flag")] = False,
    word: Annotated[Literal["yes", "no"], option("a word")] = "yes",
    path: Annotated[Path | None, option("a path")] = None,
) -> Iterator[Finding]:
    """Fails from four on, or with a path."""
    drawn = int(run.rng.integers(1000))
    yield found(
        Verdict.of(big_k < 4 and path is None), detail=f"{big_k} {loud} {word} {path} {drawn}"
    )


@claim()
def unsure(run: Run) -> Iterator[Finding]:
    """Is undecided."""
    yield found(Verdict.HOLDS)
    yield Finding("b", "b", "float", float("inf"), float("nan"), Verdict.UNDECIDED, "too wide")


@claim()
def silent(run: Run) -> Iterator[Finding]:
    """Has no evidence at all."""
    yield from ()


@claim()
def broken(run: Run) -> Iterator[Finding]:
    """Stops with an error of its own."""
    yield found(Verdict.HOLDS)
    raise ZeroDivisionError("by nothing")


@claim()
def stopped(run: Run) -> Iterator[Finding]:
    """Is interrupted."""
    yield found(Verdict.HOLDS)
    raise KeyboardInterrupt


@claim()
def late(run: Run) -> Iterator[Finding]:
    """Raises InputError after a finding."""
    yield found(Verdict.HOLDS)
    raise InputError("too large")
