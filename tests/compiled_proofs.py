"""The proofs of this checkout, which `make proofs` or the first test that needs them compiles."""

import fcntl
import shutil
from functools import cache
from pathlib import Path

from theory.proofs.check import checked

BUILD = Path(__file__).parents[1] / "build" / "proofs"


@cache
def compiled() -> Path:
    """The folder of the compiled proofs; other processes wait until they are compiled."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        checked(build=BUILD)
    return BUILD


def copied(folder: Path) -> Path:
    """A folder with a copy of the compiled proofs, in which others can be compiled."""
    shutil.copytree(compiled(), folder, dirs_exist_ok=True)
    return folder
