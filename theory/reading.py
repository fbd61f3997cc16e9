"""Files of users are read whole, up to a stated size."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

from theory.kinds import InputError


def content_of(path: Path, most_bytes: int) -> bytes:
    """The content of a regular file of at most `most_bytes` bytes.

    Raises ValueError for a file that is missing, cannot be read or is larger. Also raises
    ValueError for folders, and for devices and pipes, which may have no end.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        content = path.read_bytes() if status.st_size <= most_bytes else None
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"cannot read {str(path)!r} ({reason}): give the path of a file") from None
    if content is None:
        raise InputError(f"{path} has more than {most_bytes:,} bytes: give a smaller file")
    return content
