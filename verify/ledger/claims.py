"""Installed claims: entry points of the group `verify.claims`, also of other packages."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from theory.kinds import InputError
from verify.claim import Claim, Run
from verify.finding import Finding
from verify.ledger import plugins

COMMANDS = ("list", "show", "build", "all", "sweep", "summary", "report", "selftest", "env")


class Foreign(Claim):
    """A claim of another package; if a run of it stops, the error names the file and the line."""

    point: EntryPoint

    def __init__(self, claim: Claim, point: EntryPoint) -> None:
        vars(self).update(vars(claim), point=point)

    def findings(self, run: Run, **options: Any) -> Iterator[Finding]:
        try:
            yield from super().findings(run, **options)
        except InputError:
            raise
        except (Exception, SystemExit) as error:
            raise plugins.broken(self.point, "was stopped", error) from error


def installed() -> dict[str, EntryPoint]:
    """The entry points of all claims by name, without importing any of them.

    A claim of another package is left out, with a line on standard error, if its name is already
    the name of a command, of a claim of this library or of an earlier claim.
    """
    points = sorted(
        entry_points(group="verify.claims"),
        key=lambda point: (point.name, not plugins.is_ours(point), point.value),
    )
    if not points:
        raise InputError(
            "no claims are installed: run `pip install -e .` in the folder of the project"
        )
    found = dict[str, EntryPoint]()
    for point in points:
        taken = found.setdefault(point.name, point)
        if point.name in COMMANDS or taken.value != point.value:
            of = "a command" if taken is point else f"a claim of {plugins.package(taken)}"
            plugins.warn(
                f"the claim {point.name} of {plugins.package(point)} is left out: {of} has this "
                "name; rename it"
            )
    return {name: point for name, point in found.items() if name not in COMMANDS}


def unknown(name: str, known: Iterable[str], kind: str = "claim") -> InputError:
    """The error for a name that no claim has, with the most similar of the `known` names."""
    near = get_close_matches(name.lower(), list(known), n=1)
    hint = f"did you mean '{near[0]}'?" if near else "`verify list` shows them all"
    return InputError(f"there is no {kind} '{name}': {hint}")


def loaded(point: EntryPoint) -> Claim:
    """The claim of an entry point.

    Raises InputError, with file and line, for a claim of another package that cannot be imported or
    is not a claim.
    """
    try:
        with _without_collection():
            made = point.load()
        if not isinstance(made, Claim):
            raise TypeError(f"{point.value} is not a claim: write @claim() above it")
        made.defaults  # noqa: B018 its annotations are read
    except (Exception, SystemExit) as error:
        if plugins.is_ours(point):
            raise
        raise plugins.broken(point, "cannot be imported", error) from None
    return made if plugins.is_ours(point) else Foreign(made, point)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Objects of modules live as long as the process: a search for garbage among them is wasted."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def standing(point: EntryPoint) -> Claim:
    """The claim of an entry point or, if the import fails, a claim that raises the error when it
    runs.
    """
    try:
        return loaded(point)
    except InputError as error:
        message = str(error)

    def stops(run: Run, **options: Any) -> Iterator[Finding]:
        raise InputError(message)
        yield

    return Claim(stops, picture="", faults_seen=({},))
