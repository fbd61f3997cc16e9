"""Times of calls within one process."""

import statistics
import time
from collections.abc import Callable, Mapping

Call = Callable[[], object]


def seconds(call: Call, repeats: int) -> float:
    """The median time of a call, after a warm-up call if it is repeated."""
    if repeats > 1:
        call()
    return statistics.median(once(call) for _ in range(repeats))


def in_turn(calls: Mapping[str, Call], repeats: int) -> dict[str, list[float]]:
    """The times of all calls, made in turn (A B C, B C A, …) after one of each to warm up.

    Ratios of times of the same turn are valid even if the machine's speed drifts.  Each turn starts
    with another call, because the previous call (which releases memory) can slow a call down.
    """
    names = list(calls)
    for name in names:
        calls[name]()
    times: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(repeats):
        start = turn % len(names)
        for name in names[start:] + names[:start]:
            times[name].append(once(calls[name]))
    return times


def ratio(times: Mapping[str, list[float]], slow: str, fast: str) -> float:
    """The median, over the turns, of the ratio of the times of `slow` and `fast`."""
    pairs = zip(times[slow], times[fast], strict=True)
    return statistics.median(a / b for a, b in pairs)


def once(call: Call) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin
