"""Notices of long runs: nobody waits without a word of what is computed and for how long."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from operator import length_hint
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from rich.console import Console

FIRST = 1.5  # seconds without a finding after which the statement is printed
LONG = 60.0  # seconds of a finding or a loop that is announced
MEASURED = 5.0  # seconds of a loop after which its time is estimated


@contextmanager
def watched(begin: Callable[[], None], quiet: bool) -> Iterator[Callable[[], None]]:
    """Watches a run; the run calls the returned function after each finding.

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
                    _tell(
                        f"no finding for {LONG:g} s: the run continues; press Ctrl-C to stop it "
                        "and keep the findings"
                    )
                runs = found.get()

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield lambda: found.put(True)
    finally:
        found.put(False)
        watcher.join()


def announced(items: Iterable[Any], what: str) -> Iterator[Any]:
    """Yields the items, and announces once on standard error if all take more than a minute.

    The time is estimated from the items after the first one, whose time includes that of the start.
    """
    total, start, told = length_hint(items), 0.0, False
    for done, item in enumerate(items):
        seconds = time.monotonic() - start
        if done == 1:
            start += seconds
        elif done > 1 and not told and seconds > MEASURED:
            told, all_of_them = True, seconds / (done - 1) * total
            if all_of_them > LONG:
                _tell(f"{what}: {done} of {total}; all take about {all_of_them / 60:.0f} min")
        yield item


def _tell(line: str) -> None:
    Console(stderr=True, highlight=False, soft_wrap=True).print(line, markup=False)
