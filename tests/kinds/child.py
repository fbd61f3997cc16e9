"""Calls in a child process, which ends when it takes too long or too much memory."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path

SECONDS, BYTES = 2.0, 2**32  # of the processor; beside what the process has


def in_child(call: Callable[[], str]) -> str:
    """What `call` returns, or how it ended: the error that it raised, or the signal."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        used = resource.getpagesize() * pages
        resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, used + BYTES))
        try:
            said = call()
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write, said.encode(errors="replace")[:4000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return said
