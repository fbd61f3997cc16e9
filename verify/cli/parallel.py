"""Claims checked at once, each in a process of its own."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from verify.claim import Run, installed
from verify.cli.running import Checked, Output, among_others, check

THREADS = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"


@dataclass(frozen=True)
class Task:
    """A claim, by its name, with these options, and what is printed of it."""

    name: str
    options: dict[str, Any]
    quick: bool
    seed: int
    output: Output


def at_once(jobs: int, tasks: Iterable[Task]) -> Iterator[Checked]:
    """All tasks, `jobs` at a time; what they print is shown in their order, whole.

    The processes share the cores: each has as many threads as fall to it, unless the environment
    says how many.
    """
    threads = str(max(1, (os.cpu_count() or 1) // jobs))
    named = {name: os.environ.get(name) for name in THREADS}
    os.environ.update({name: value or threads for name, value in named.items()})
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
    try:
        for printed, done in pool.map(_apart, tasks):
            print(printed, end="", flush=True)
            yield done
    finally:
        pool.shutdown(cancel_futures=True)
        for name, value in named.items():
            if value is None:
                os.environ.pop(name, None)


def _apart(task: Task) -> tuple[str, Checked]:
    """A task's output, and what came of it."""
    claim, run = among_others(installed()[task.name]), Run(seed=task.seed, quick=task.quick)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        done = check(task.name, claim, run, {**claim.defaults, **task.options}, task.output)
    return printed.getvalue(), done
