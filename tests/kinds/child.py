"""Calls in a child process, which ends when one takes too long or too much memory."""

from __future__ import annotations

import os
import resource
import signal
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

SECONDS, BYTES = 2.0, 2**32  # of the processor for each call; beside what the process has
LOADING = 20.0  # seconds of the processor for a call that may import packages
END = b"\0"


def in_child(calls: Iterable[tuple[Callable[[], str], float]]) -> list[str]:
    """What each call returns within its seconds, or the error that it raises; the signal where one
    ends the process, which is the last of them."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        # A GPU that the parent used cannot be used by the child.
        warnings.filterwarnings("ignore", "CUDA initialization", UserWarning)
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        used = resource.getpagesize() * pages
        resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, used + BYTES))
        for call, seconds in calls:
            signal.setitimer(signal.ITIMER_PROF, seconds)
            try:
                said = call()
            except BaseException as error:
                said = f"{type(error).__name__}: {error}"
            os.write(write, said.encode(errors="replace")[:4000] + END)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        *said, _ = pipe.read().decode().split(END.decode())
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        said.append(f"ended by {signal.Signals(os.WTERMSIG(status)).name}")
    return said
