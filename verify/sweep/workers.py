"""Runs distributed by Dask to processes of this machine, or to the workers of a scheduler.

If a worker is lost, Dask repeats its run on another worker; after four lost workers the run is
recorded as stopped.
"""

from __future__ import annotations

import json
import logging
import os
import re
import time
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from theory.kinds import InputError
from theory.waiting import waiting
from verify.claim import Run
from verify.finding import Finding, Verdict, plain
from verify.ledger.claims import installed, loaded
from verify.ledger.plugins import Broken

SECONDS, FOR_A_WORKER = 10, 30  # timeouts for a scheduler, and for its first worker
ADDRESS = re.compile(r"((tcp|tls|ucx|wss?)://)?[^\s/]+:(\d{1,5})")
GO_ON = "repeat the command to continue with the missing runs"
REFUSED = "refused:"  # the prefix of the error of a run with an InputError of the claim


@dataclass(frozen=True)
class Task:
    """One run of a sweep: the index in the plan, the claim, the values of options, and the seed."""

    run: int
    claim: str
    options: dict[str, Any]
    seed: int


Engine = Callable[[Sequence[Task], dict[str, str]], Generator[dict[str, Any], None, None]]
"""A function from tasks and versions of packages to the records of runs, as they end."""


def run_of(versions: dict[str, str], task: Task) -> dict[str, Any]:
    """Runs a task; returns the record of the run.

    Raises InputError if packages on this worker have other versions than `versions`: a worker may
    have joined after the versions were compared.
    """
    for package, wanted in versions.items():
        try:
            found: str | Exception = version(package)
        except PackageNotFoundError as error:
            found = error
        _same_version("a worker that joined", package, wanted, found)
    return one_run(task)


def one_run(task: Task) -> dict[str, Any]:
    """The record of a run: the findings, the verdict, and the error, if any.

    An error ends the run, but not the sweep; the findings before the error are recorded.
    """
    start, found, error, trace = time.perf_counter(), list[Finding](), "", ""
    parameters = task.options
    try:
        claim = loaded(installed()[task.claim])
        parameters = {**claim.defaults, **task.options}
        found.extend(claim.findings(Run(task.seed), **parameters))
    except Broken as broken:
        error, trace = str(broken), traceback.format_exc()
    except InputError as wrong:
        error = " ".join(f"{REFUSED} {wrong}".split())
    except Exception as unexpected:
        error, trace = one_line(unexpected), traceback.format_exc()
    return _record(task, parameters, found, error, trace, time.perf_counter() - start)


def _record(
    task: Task,
    parameters: dict[str, Any],
    found: Sequence[Finding],
    error: str,
    trace: str = "",
    seconds: float = 0.0,
) -> dict[str, Any]:
    """The record of a run; a run that an error stopped never holds."""
    verdicts = [finding.verdict for finding in found] + [Verdict.UNDECIDED] * bool(error)
    return {
        "run": task.run,
        "parameters": plain_json(parameters),
        "seed": task.seed,
        "verdict": str(Verdict.together(verdicts)),
        "findings": [
            {
                "id": finding.id,
                "verdict": str(finding.verdict),
                "measured": plain(finding.measured),
                "bound": plain(finding.bound),
            }
            for finding in found
        ],
        "error": error,
        "traceback": trace,
        "seconds": round(seconds, 3),
        "version": version("weightwright"),
    }


def one_line(error: BaseException) -> str:
    """The class and the message of an error, as one line of text."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def plain_json(value: Any) -> Any:
    """Returns a value after conversion to JSON and back."""
    return json.loads(json.dumps(value, default=str))


def on_dask(jobs: int | None, scheduler: str | None) -> Engine:
    """Returns the engine that runs a sweep on this machine or on the workers of a Dask scheduler.

    On this machine, `jobs` processes are used, by default one for each core. Raises InputError if
    Dask is not installed, and for a `scheduler` that is not an address.
    """
    if scheduler is not None:
        address = ADDRESS.fullmatch(scheduler)
        if address is None or not 0 < int(address[3]) < 2**16:
            raise InputError(
                f"scheduler is {scheduler!r}: give the address of a scheduler, such as "
                "tcp://HOST:8786"
            )
        if jobs is not None:
            raise InputError("--jobs has no effect with --scheduler: omit --jobs or --scheduler")
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise InputError(
            "dask.distributed is not installed: run pip install 'weightwright[sweep]'"
        ) from None

    def engine(
        tasks: Sequence[Task], versions: dict[str, str]
    ) -> Generator[dict[str, Any], None, None]:
        try:
            yield from _shared_out(tasks, versions, jobs, scheduler)
        except OSError as error:  # such as a lost connection
            raise InputError(f"Dask stopped ({one_line(error)}): {GO_ON}") from None

    return engine


def _shared_out(
    tasks: Sequence[Task], versions: dict[str, str], jobs: int | None, scheduler: str | None
) -> Generator[dict[str, Any], None, None]:
    """Yields the records as runs end; raises InputError if the scheduler cannot be reached."""
    from distributed import KilledWorker, LocalCluster, as_completed

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # lost runs are recorded
    with ExitStack() as opened:
        if scheduler is None:
            scheduler = opened.enter_context(
                LocalCluster(
                    n_workers=min(jobs or os.cpu_count() or 1, len(tasks)),
                    threads_per_worker=1,
                    dashboard_address=None,
                    scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # of the dashboard
                    silence_logs=logging.CRITICAL,
                )
            )
        with waiting(f"waiting for a scheduler with workers, up to {SECONDS + FOR_A_WORKER} s"):
            client = opened.enter_context(_connected(scheduler))
        _same_versions(client, versions)
        run = partial(run_of, versions)
        task_of = dict(zip(client.map(run, tasks, pure=False), tasks, strict=True))
        for future in as_completed([*task_of]):
            task = task_of.pop(future)
            if future.cancelled():
                raise InputError(f"the connection to the scheduler is lost: {GO_ON}")
            error = future.exception()
            if error is None:
                yield future.result()
            elif isinstance(error, KilledWorker):
                yield _record(task, task.options, [], "every worker that ran it was lost")
            else:  # `one_run` was not reached: another version, or none
                _same_versions(client, versions, f"; {GO_ON}")
                if isinstance(error, InputError):  # the worker was lost meanwhile
                    raise InputError(f"{error}; {GO_ON}")
                yield _record(task, task.options, [], one_line(error))


def _connected(scheduler: Any) -> Any:
    """A client of a scheduler with workers; raises InputError if either is missing."""
    from distributed import Client

    try:
        client = Client(scheduler, timeout=SECONDS)
    except Exception as error:  # another server at the address may cause any error
        raise InputError(
            f"there is no scheduler at {scheduler} ({one_line(error)}): start `dask scheduler` at "
            "this address"
        ) from None
    try:
        client.wait_for_workers(1, timeout=FOR_A_WORKER)
    except TimeoutError:
        client.close()
        raise InputError(
            f"the scheduler at {scheduler} has no workers: start `dask worker {scheduler}`"
        ) from None
    return client


def _same_versions(client: Any, versions: dict[str, str], then: str = "") -> None:
    """Raises InputError if a worker lacks a package or has another version of a package."""
    for package, wanted in versions.items():
        for worker, found in client.run(version, package, on_error="return").items():
            if not isinstance(found, OSError):  # a worker that was just lost
                _same_version(f"worker {worker}", package, wanted, found, then)


def _same_version(
    worker: str, package: str, wanted: str, found: str | Exception, then: str = ""
) -> None:
    """Raises InputError unless the version found is the wanted one."""
    if found != wanted:
        has = f"has {package} {found}" if isinstance(found, str) else f"lacks {package}"
        raise InputError(f"{worker} {has}: install {package} {wanted} on this worker{then}")
