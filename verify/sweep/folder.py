"""The folder of a sweep: the plan, and one line for each completed run.

`plan.json` is the plan, and `runs.jsonl` has the runs in the order in which they ended.  A line is
written as soon as its run ends, so that a sweep that was stopped continues with the missing runs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

from theory.kinds import InputError
from theory.reading import content_of
from verify.output.files import deliver
from verify.sweep.plan import Plan
from verify.sweep.schema import is_plan, is_run
from verify.sweep.workers import Engine

PLAN, RUNS = "plan.json", "runs.jsonl"
MOST_BYTES = 2**30  # the largest size of either


def sweep(
    plan: Plan,
    out: Path,
    engine: Engine,
    progress: Callable[[Iterable[Any], str], Iterable[Any]] = lambda items, _: items,
) -> None:
    """Runs the missing runs of a sweep, and writes a line to its folder as each run ends.

    Raises InputError for a folder that is not the folder of this sweep or cannot be written.
    """
    with _folder(out, plan) as (file, done):
        left = [task for task in plan.tasks if task.run not in done]
        if left:
            with closing(engine(left, plan.versions)) as ended:
                for _ in progress(range(len(left)), f"{len(left)} of {len(left) + len(done)} runs"):
                    file.write(json.dumps(next(ended), ensure_ascii=False).encode() + b"\n")
                    file.flush()


@contextmanager
def _folder(out: Path, plan: Plan) -> Iterator[tuple[IO[bytes], set[int]]]:
    """The file of runs, open for appending, and its runs; the folder is made if necessary."""
    try:
        with _alone(out):
            others = sorted(p.name for p in out.iterdir() if not p.name.startswith("."))
            if others and PLAN not in others:
                raise InputError(
                    f"{out} contains {others[0]} and is not the folder of a sweep: choose another "
                    "folder with --out"
                )
            there = read_plan(out) if others else None
            done = {record["run"] for record in records(out, there)} if there else set()
            _same_plan(out, plan, there, bool(done))
            with (out / RUNS).open("ab") as file:
                file.truncate(_whole((out / RUNS).read_bytes()))
                yield file, done
    except OSError as error:
        raise InputError(
            f"cannot write {out} ({error.strerror}): choose another folder with --out"
        ) from None


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Make the folder if necessary, and lock it against other sweeps.

    Raises InputError if another sweep has the lock, and on a system without such locks.
    """
    try:
        import fcntl  # imported here, as only sweeps need it
    except ImportError:
        raise InputError(
            "a sweep needs a POSIX system, to lock its folder: run it on Linux or macOS"
        ) from None
    out.mkdir(exist_ok=True)
    folder = os.open(out, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise InputError(
            f"another sweep is writing into {out}: wait until that sweep has ended"
        ) from None
    finally:
        os.close(folder)


def _whole(content: bytes) -> int:
    """The number of bytes up to the end of the last complete line."""
    return content.rfind(b"\n") + 1


def _same_plan(out: Path, plan: Plan, there: dict[str, Any] | None, begun: bool) -> None:
    """Write the plan; raises InputError if the folder has runs of another plan."""
    if there and begun and there != plan.document:
        keys = there | plan.document  # the runs of another version may differ
        key = next(key for key in keys if there.get(key) != plan.document.get(key))
        raise InputError(
            f"{out} contains the runs of another sweep ({key}: "
            f"{json.dumps(there.get(key))}): repeat the command of the other sweep, or choose "
            "another folder "
            "with --out"
        )
    if there != plan.document:
        deliver(out / PLAN, f"{json.dumps(plan.document, indent=2)}\n".encode())


def read_plan(out: Path) -> dict[str, Any]:
    """Returns the plan in the folder of a sweep; raises InputError if there is no plan."""
    try:
        plan: dict[str, Any] = json.loads(content_of(out / PLAN, MOST_BYTES))
    except (ValueError, RecursionError):
        raise InputError(f"{out} has no readable {PLAN}: give the folder of a sweep") from None
    if not is_plan(plan):
        raise InputError(f"{out / PLAN} is not the plan of a sweep: give the folder of a sweep")
    return plan


def records(out: Path, plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the runs in the folder of a sweep; an incomplete last line is left out.

    Raises InputError for a damaged file.
    """
    file, found = out / RUNS, dict[int, dict[str, Any]]()
    if not file.exists():
        return []
    content = content_of(file, MOST_BYTES)  # read only once, as it may grow meanwhile
    lines = content[: _whole(content)].splitlines()
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not is_run(record, plan):
            raise InputError(
                f"line {number} of {file} is not a run of the plan in {PLAN}: remove this line"
            )
        if found.setdefault(record["run"], record) is not record:
            raise InputError(
                f"line {number} of {file} repeats run {record['run']}: remove this line"
            )
    return [*found.values()]
