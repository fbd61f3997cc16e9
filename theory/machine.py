"""What this machine has: refusing what would not fit in its memory."""

from contextlib import suppress
from pathlib import Path

from theory.kinds import InputError


def available_memory() -> int | None:
    """Bytes of memory that can still be used, or None where the system does not say."""
    found = []
    with suppress(OSError, ValueError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        known = dict(line.split(":", 1) for line in lines)
        found.append(1024 * int(known["MemAvailable"].split()[0]))
    with suppress(OSError, ValueError):  # what a container may use; "max" is no number
        group = Path("/sys/fs/cgroup")
        limit, used = ((group / f"memory.{word}").read_text() for word in ("max", "current"))
        found.append(int(limit) - int(used))
    return min(found, default=None)


def fits_in_memory(what: str, needed: int, instead: str) -> None:
    """Raise `ValueError` if `needed` bytes are more than there are; it says how many, and `instead`
    what to do."""
    available, needed = available_memory(), min(needed, 10**300)
    if available is not None and needed > available:
        raise InputError(
            f"{what} need {needed / 2**30:.3g} GiB of memory and {available / 2**30:.3g} GiB are "
            f"available: {instead}"
        )
