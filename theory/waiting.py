"""Notices of long computations: one line on standard error, with an estimate of the time.

Nothing is printed about a computation of less than a minute, nor about waiting for less than two
seconds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from operator import length_hint
from threading import Timer
from typing import Any

LONG = 60.0  # seconds of a computation that is announced
MEASURED = 5.0  # seconds of work after which its time is estimated
SHORT = 2.0  # seconds of waiting without a notice


def tell(line: str) -> None:
    """Prints one line on standard error, if there is one."""
    if sys.stderr is not None:
        print(line, file=sys.stderr, flush=True)


def foretold(what: str, seconds: float) -> None:
    """Announces a computation that is about to take more than a minute.

    `seconds` is the estimate of its time.
    """
    if seconds > LONG:
        tell(f"{what}: takes about {_minutes(seconds)}")


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Announces a wait, for example for another process, once it has lasted two seconds."""
    notice = Timer(SHORT, tell, [what])
    notice.daemon = True
    notice.start()
    try:
        yield
    finally:
        notice.cancel()


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
            all_of_them = seconds / (done - 1) * total
            told = all_of_them > LONG  # else they may still become slow
            if told:
                tell(f"{what}: {done} of {total}; all take about {_minutes(all_of_them)}")
        yield item


class Pace:
    """The pace of work of known size, which is announced once if it takes more than a minute.

    `total` is the amount of work, for example a number of sequences; it may shrink while the work
    is done, and the estimate is then an upper bound.
    """

    def __init__(self, what: str, total: float) -> None:
        self.what, self.total, self.amount, self.told = what, total, 0.0, False
        self.start = time.monotonic()

    def done(self, amount: float) -> None:
        """Counts an amount of work that is done."""
        self.amount += amount
        seconds = time.monotonic() - self.start
        if self.told or not self.amount or seconds <= MEASURED:
            return
        all_of_it = seconds / self.amount * self.total
        self.told = all_of_it > LONG  # else it may still become slow
        foretold(self.what, all_of_it)


def _minutes(seconds: float) -> str:
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 600 else f"{minutes / 60:.0f} hours"
