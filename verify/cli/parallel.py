"""Claims checked in parallel, each in its own process."""

from __future__ import annotations

import contextlib
import io
import os
import signal
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import active_children, get_context
from typing import Any

from verify.claim import Run
from verify.cli.running import Checked, Output, among_others, check
from verify.ledger.claims import installed

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
    Ctrl-C, which a terminal sends to all processes, ends the tasks: KeyboardInterrupt is raised
    here, and the processes print nothing. So does a signal to this process alone.
    """
    threads = str(max(1, (os.cpu_count() or 1) // jobs))
    named = {name: os.environ.get(name) for name in THREADS}
    os.environ.update({name: value or threads for name, value in named.items()})
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_take_signals)
    try:
        with _blocked():  # the processes start here
            results = pool.map(_apart, tasks)
        for printed, done in results:
            print(printed, end="", flush=True)
            yield done
    except BaseException:
        for child in active_children():  # an interruption may have reached this process only
            if child.pid is not None:
                os.kill(child.pid, signal.SIGINT)
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        for name, value in named.items():
            if value is None:
                os.environ.pop(name, None)


@contextlib.contextmanager
def _blocked() -> Iterator[None]:
    """A context at whose end Ctrl-C takes effect.

    In processes that start in it, Ctrl-C takes effect after their imports, in `_take_signals`.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Process:
    """Whether this process is running a task, and whether Ctrl-C was pressed."""

    is_busy = False
    is_interrupted = False


def _take_signals() -> None:
    """Lets Ctrl-C end the tasks of this process: the task that is running, and all later ones."""

    def interrupt(*_: Any) -> None:
        _Process.is_interrupted = True
        if _Process.is_busy:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _apart(task: Task) -> tuple[str, Checked]:
    """The printed output and the result of a task."""
    try:
        _Process.is_busy = True
        if _Process.is_interrupted:
            raise KeyboardInterrupt
        return _checked(task)
    finally:
        _Process.is_busy = False


def _checked(task: Task) -> tuple[str, Checked]:
    claim, run = among_others(installed()[task.name]), Run(seed=task.seed, quick=task.quick)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        done = check(task.name, claim, run, {**claim.defaults, **task.options}, task.output)
    return printed.getvalue(), done
