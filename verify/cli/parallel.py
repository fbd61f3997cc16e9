"""Claims checked in parallel, each in its own process."""

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
    """One run of a claim: the name of the claim, its options, the seed and the output."""

    name: str
    options: dict[str, Any]
    quick: bool
    seed: int
    output: Output


def at_once(jobs: int, tasks: Iterable[Task]) -> Iterator[Checked]:
    """Runs tasks in `jobs` processes; yields the results, and prints the output in order.

    The cores are divided among the processes, unless the environment sets the number of threads.
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
    """The printed output and the result of a task."""
    claim, run = among_others(installed()[task.name]), Run(seed=task.seed, quick=task.quick)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        done = check(task.name, claim, run, {**claim.defaults, **task.options}, task.output)
    return printed.getvalue(), done
