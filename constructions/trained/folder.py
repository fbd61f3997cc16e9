"""The folder of a run: its files, its lock and its log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from constructions.trained.checkpoint import write
from theory.kinds import InputError

LOG = "model.jsonl"


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """A context that holds the folder's lock, which the system releases when the process ends.

    If the run is rejected, a new lock is removed, and the folder too if it is empty.
    """
    import fcntl  # imported here, so that checkpoints can be loaded on systems without it

    lock = folder / "lock"
    new = not lock.exists()
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"another process trains in {folder}: wait for its end, or choose another folder"
            ) from None
        try:
            yield
        except InputError:
            if new:
                lock.unlink()
                with suppress(OSError):  # the folder contains other files
                    folder.rmdir()
            raise


def cut_log(folder: Path, step: int) -> None:
    """Removes damaged lines of the log and those after a step."""
    path, lines = folder / LOG, []
    if path.exists():
        for line in path.read_text("utf-8", errors="replace").splitlines():
            with suppress(ValueError, KeyError, TypeError):
                if json.loads(line)["step"] <= step:
                    lines.append(line + "\n")
    write(path, "".join(lines).encode())


def weights_of(folder: Path) -> Path:
    """The path of the weights after the last step."""
    return folder / "model.safetensors"


def snapshot_of(folder: Path, step: int) -> Path:
    """The path of the weights after a step before the last one."""
    return folder / f"model-step{step}.safetensors"
