"""Notices of a long run of a claim; those of long loops are in `theory.waiting`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from threading import Thread

from theory.waiting import LONG, tell

FIRST = 1.5  # seconds without a finding after which the statement is printed


@contextmanager
def watched(
    begin: Callable[[], None], quiet: bool, result: str = "finding"
) -> Iterator[Callable[[], None]]:
    """Watches a run; the run calls the returned function after each finding, or other result.

    Without a finding in the first 1.5 s, `begin` is called.  Unless `quiet`, one line on standard
    error announces that no finding was made for a minute.
    """
    found: SimpleQueue[bool] = SimpleQueue()

    def watch() -> None:
        try:
            runs = found.get(timeout=FIRST)
        except Empty:
            begin()
            runs = True
        while runs:
            try:
                runs = found.get(timeout=LONG)
            except Empty:
                if not quiet:
                    tell(
                        f"no {result} for {LONG:g} s: the run continues; press Ctrl-C to stop it "
                        f"and keep the {result}s"
                    )
                runs = found.get()

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield lambda: found.put(True)
    finally:
        found.put(False)
        watcher.join()
