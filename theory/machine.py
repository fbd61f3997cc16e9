"""The available memory of this machine, and an error for data that need more."""

from contextlib import suppress
from pathlib import Path

from theory.kinds.errors import MemoryRefused


def available_memory() -> int | None:
    """The available memory in bytes, or None if the system does not report it.

    Limits of a container and of the process (`ulimit -v`) count.
    """
    found = []
    with suppress(OSError, ValueError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        known = dict(line.split(":", 1) for line in lines)
        found.append(1024 * int(known["MemAvailable"].split()[0]))
    with suppress(OSError, ValueError):  # the limit of a container may be the word "max"
        group = Path("/sys/fs/cgroup")
        limit, used = ((group / f"memory.{word}").read_text() for word in ("max", "current"))
        found.append(int(limit) - int(used))
    with suppress(ImportError, OSError, ValueError):
        import resource  # not on Windows

        limit_of_process, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit_of_process != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            found.append(max(limit_of_process - pages * resource.getpagesize(), 0))
    return min(found, default=None)


def fits_in_memory(what: str, needed: int, instead: str) -> None:
    """Raises ValueError if `what` needs more than the available memory.

    The message states the size needed, the available memory and the remedy `instead`; a function
    that is `checked` adds the sizes that it was given.
    """
    available, needed = available_memory(), min(needed, 10**300)
    if available is not None and needed > available:
        raise MemoryRefused(
            f"{what} need {needed / 2**30:.3g} GiB of memory, but "
            f"{available / 2**30:.3g} GiB are available: {instead}"
        )
