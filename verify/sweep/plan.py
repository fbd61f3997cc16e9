"""Many runs of one claim: all combinations of values of its options, with so many seeds each.

A sweep has a folder: `plan.json` says what is to be run, and `runs.jsonl` has one line for each run
that has ended, in the order in which they ended.  A line is written as soon as its run ends, so a
sweep that was stopped, however hard, goes on with what is missing.
"""

from __future__ import annotations

import errno
import inspect
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import IO, Annotated, Any, get_args, get_origin

import typer
from typer.exceptions import TyperException

from theory.checks import InputError
from theory.kinds import Choice, Count, read
from verify.claim import Claim, installed
from verify.cli.output import deliver
from verify.sweep.schema import is_plan, is_run
from verify.sweep.workers import Engine, Task, plain_json

MOST_RUNS = 100_000
PLAN, RUNS = "plan.json", "runs.jsonl"
RANGE = re.compile(r"(-?\d{1,99})\.\.(-?\d{1,99})")
WRITE = "write values as 2,5,10 and ranges of integers as 1..12"
FLAG = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True)
class Plan:
    """What is to be run: a claim with all combinations of these values, with seeds 0, 1, …"""

    claim: str
    values: dict[str, list[Any]]
    seeds: int
    versions: dict[str, str]

    @property
    def tasks(self) -> list[Task]:
        """The runs, in the order of their places."""
        sets = [dict(zip(self.values, c, strict=True)) for c in product(*self.values.values())]
        pairs = product(sets, range(self.seeds))
        return [Task(i, self.claim, options, seed) for i, (options, seed) in enumerate(pairs)]

    @property
    def document(self) -> dict[str, Any]:
        """The plan as JSON has it."""
        return plain_json(asdict(self))


def planned(name: str, claim: Claim, texts: dict[str, str], seeds: int) -> Plan:
    """The plan of `--k 1..12 --d 2,5,10`, as texts by option; each value as `verify NAME` takes it.

    Raises InputError for a range that is empty, for more runs than `MOST_RUNS`, for a value that
    the claim refuses, also beside others, and for an option that is missing.
    """
    seeds = read(Count, "seeds", seeds)
    parts = {option: _parts(claim.options[option], text) for option, text in texts.items()}
    counts = {option: sum(map(_length, each)) for option, each in parts.items()} | {"seeds": seeds}
    runs = math.prod(counts.values())
    if runs > MOST_RUNS:
        each = ", ".join(f"{option} {count}" for option, count in counts.items())
        raise InputError(f"that is {runs} runs ({each}): a sweep has at most {MOST_RUNS}")
    for option, parameter in claim.options.items():
        if parameter.default is inspect.Parameter.empty and option not in texts:
            raise InputError(f"{name} asks for --{option.replace('_', '-')}: give a value of it")
    values = {option: _values(claim.options[option], each) for option, each in parts.items()}
    package = getattr(installed()[name], "dist", None)
    packages = sorted({"weightwright", package.name if package else "weightwright"})
    plan = Plan(name, values, seeds, {each: version(each) for each in packages})
    for task in plan.tasks[::seeds]:
        claim.refuse({**claim.defaults, **task.options})
    return plan


def _parts(parameter: inspect.Parameter, text: str) -> list[str | tuple[int, int]]:
    """What stands between the commas: a value, or for integers a range by its ends."""
    kind = _kind(parameter)
    found: list[str | tuple[int, int]] = []
    for part in text.split(","):
        ends = RANGE.fullmatch(part.strip()) if int in (kind, *get_args(kind)) else None
        if not part.strip():
            raise InputError(
                f"{parameter.name} is {text!r}, with nothing where a value should be: {WRITE}"
            )
        if ends and int(ends[1]) > int(ends[2]):
            raise InputError(
                f"{parameter.name} is {part}, an empty range: write {ends[2]}..{ends[1]}"
            )
        found.append((int(ends[1]), int(ends[2])) if ends else part.strip())
    return found


def _kind(parameter: inspect.Parameter) -> Any:
    """An option's type, without what `option` says of it."""
    notes = get_args(parameter.annotation)
    return notes[0] if get_origin(parameter.annotation) is Annotated else parameter.annotation


def _length(part: str | tuple[int, int]) -> int:
    return 1 if isinstance(part, str) else part[1] - part[0] + 1


def _values(parameter: inspect.Parameter, parts: Sequence[str | tuple[int, int]]) -> list[Any]:
    """The values themselves, each once."""
    each = (
        [_value(parameter, part)] if isinstance(part, str) else range(part[0], part[1] + 1)
        for part in parts
    )
    return list(dict.fromkeys(value for some in each for value in some))


def _value(parameter: inspect.Parameter, text: str) -> Any:
    """A value as the claim's own command reads it; a flag is written as true or false."""
    if _kind(parameter) is bool:
        Choice(tuple(FLAG)).read(parameter.name, text)
        return FLAG[text]

    def read(**chosen: Any) -> Any:
        return chosen[parameter.name]

    own = parameter.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
    read.__signature__ = inspect.Signature([own])  # type: ignore[attr-defined]
    read.__annotations__ = {parameter.name: parameter.annotation}
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command()(read)
    word = f"--{parameter.name.replace('_', '-')}={text}"
    try:
        value = app(args=[word], prog_name="verify", standalone_mode=False)
    except TyperException as error:
        said = " ".join(error.format_message().split()).rstrip(".")
        raise InputError(f"{parameter.name} is {text!r}: {said}; {WRITE}") from None
    if isinstance(value, float) and math.isnan(value):
        raise InputError(f"{parameter.name} is {text}, which is no number: {WRITE}")
    return value


def sweep(
    plan: Plan,
    out: Path,
    engine: Engine,
    progress: Callable[[Iterable[Any], str], Iterable[Any]] = lambda items, _: items,
) -> None:
    """Run what the folder does not have yet, a line for each as it ends.

    Raises InputError for a folder that is no sweep's, or another one's, or cannot be written.
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
    """The file of runs to append to, and the runs that it has; the folder is made if need be."""
    try:
        with _alone(out):
            others = sorted(p.name for p in out.iterdir() if not p.name.startswith("."))
            if others and PLAN not in others:
                raise InputError(
                    f"{out} is no sweep's folder, it has {others[0]}: give another --out"
                )
            there = read_plan(out) if others else None
            done = {record["run"] for record in records(out, there)} if there else set()
            _same_plan(out, plan, there, bool(done))
            with (out / RUNS).open("ab") as file:
                file.truncate(_whole((out / RUNS).read_bytes()))
                yield file, done
    except OSError as error:
        raise InputError(f"cannot write {out}: {error.strerror}; give another --out") from None


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """The folder, made if need be, with no other sweep that writes into it meanwhile; InputError if
    one does, and on a system without such locks."""
    try:
        import fcntl  # other commands do without
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
        raise InputError(f"another sweep is writing into {out}: wait for it") from None
    finally:
        os.close(folder)


def _whole(content: bytes) -> int:
    """The bytes up to the end of the last whole line: what comes after was torn off."""
    return content.rfind(b"\n") + 1


def _same_plan(out: Path, plan: Plan, there: dict[str, Any] | None, begun: bool) -> None:
    """Write the plan, or raise InputError if the folder has runs of another one."""
    if there and begun and there != plan.document:
        keys = there | plan.document  # those of another version may be others
        key = next(key for key in keys if there.get(key) != plan.document.get(key))
        raise InputError(
            f"{out} has runs of another sweep ({key}: {json.dumps(there.get(key))}): "
            "repeat that one, or give another --out"
        )
    if there != plan.document:
        deliver(out / PLAN, f"{json.dumps(plan.document, indent=2)}\n".encode())


def read_plan(out: Path) -> dict[str, Any]:
    """The plan of a folder; InputError where there is none."""
    try:
        if not (out / PLAN).is_file():
            raise FileNotFoundError
        plan: dict[str, Any] = json.loads((out / PLAN).read_bytes())
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{out} is no sweep's folder: it has no {PLAN} that can be read") from None
    if not is_plan(plan):
        raise InputError(f"{out / PLAN} is no sweep's plan: give the folder of a sweep")
    return plan


def records(out: Path, plan: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs of a folder, without a last line that was torn; InputError for any other damage."""
    file, found = out / RUNS, dict[int, dict[str, Any]]()
    if not file.exists():
        return []
    try:
        if not file.is_file():
            raise OSError(errno.EINVAL, "it is no file")
        content = file.read_bytes()  # once: it may grow meanwhile
        lines = content[: _whole(content)].splitlines()
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from None
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not is_run(record, plan):
            raise InputError(f"{file}, line {number}, is no run of its {PLAN}: take that line out")
        if found.setdefault(record["run"], record) is not record:
            raise InputError(
                f"{file}, line {number}, is run {record['run']} once more: take that line out"
            )
    return [*found.values()]
