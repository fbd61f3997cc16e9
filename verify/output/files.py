"""Output files of commands; they are checked before a run starts.

A file is written whole or not at all: first under a temporary name, and then renamed.  Devices,
pipes and the standard output are written to, and never replaced; links are followed.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

from theory.kinds import InputError
from theory.terminal import script
from theory.waiting import tell

SCREEN = "-"  # the target of JSON on standard output, without other lines
DRAWN = (".png", ".pdf", ".svg")


def picture_target(path: Path | None) -> Path | None:
    """Returns the file of a picture; raises ValueError if the file cannot be written.

    The environment variable MPLBACKEND with an unknown backend raises ValueError, too.
    """
    if path is not None:
        _writable(path)
        try:
            import matplotlib  # noqa: F401
        except ValueError:
            raise InputError(
                f"the environment variable MPLBACKEND is {os.environ.get('MPLBACKEND')!r}, which "
                "matplotlib does not know: unset MPLBACKEND"
            ) from None
        if path.suffix not in DRAWN and _is_file(path):
            raise InputError(
                f"the picture {path.name} has an unknown type: give a name that ends in .png, "
                ".pdf or .svg"
            )
    return path


def picture_file(path: Path) -> Path:
    """Returns the file of an example's picture; raises ValueError if the file cannot be written.

    A device also raises ValueError.
    """
    picture_target(path)
    if not _is_file(path):
        raise InputError(f"{path} is not a file: give the name of a file, such as picture.png")
    return path


def picture_argument(about: str | None, default: str) -> Path:
    """Returns the path PICTURE of `python examples/NAME.py [PICTURE]`.

    Exits with code 2 for a path that cannot be written.
    """
    options = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    options.add_argument("picture", type=Path, nargs="?", default=Path(default))
    picture: Path = script(options).picture
    try:
        picture_file(picture)
    except InputError as error:
        options.error(str(error))
    return picture


def folder_argument(about: str | None, default: str) -> Path:
    """Returns the folder of `python examples/NAME.py [FOLDER]`; the folder is made if necessary.

    Exits with code 2 and one line on standard error if files cannot be written to the folder.
    """
    options = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    options.add_argument("folder", type=Path, nargs="?", default=Path(default))
    folder: Path = script(options).folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _writable(folder / "picture.png")
    except InputError as error:
        options.error(str(error))
    except OSError as error:
        options.error(f"cannot make the folder {folder}: {error.strerror or error}; choose another")
    return folder


@contextmanager
def saving(target: Path) -> Iterator[Path]:
    """A context with a temporary file; at the end, the file is moved to the target.

    Exits with code 2 and one line on standard error if the target cannot be written.
    """
    try:
        with drawn(target) as picture:
            yield picture or target
    except (InputError, OSError) as error:
        words = error.strerror or error if isinstance(error, OSError) else error
        at = "" if isinstance(error, InputError) else f"cannot write {target}: "
        print(f"error: {at}{words}", file=sys.stderr)
        raise SystemExit(2) from None


def file_target(path: Path | None) -> Path | None:
    """Returns the file at `path`; raises ValueError if the file cannot be written."""
    if path is not None:
        _writable(path)
    return path


def folder_target(path: str) -> Path:
    """Returns the folder at `path`; raises ValueError for an empty path, to `Path` a "."."""
    if not path:
        raise InputError("--out is empty: give the path of a folder")
    return Path(path)


def files_of(value: Any) -> list[Path]:
    """Returns the files that the value of a claim's option names.

    These are the file, alone or as in `FILE.py:NAME`, and the sidecar of the weights of a model.
    """
    if isinstance(value, Path):
        return [] if os.path.isdir(value) else [value]
    named = [value, value.rpartition(":")[0]] if isinstance(value, str) else []
    files = [Path(each) for each in named if os.path.isfile(each)]  # False for long names
    return files + [each.with_suffix(".json") for each in files if each.suffix == ".safetensors"]


def differ(files: dict[str, list[Path]]) -> None:
    """Raises ValueError if two options name the same file."""
    named = dict[str, str]()
    for name, file in ((name, each) for name, those in files.items() for each in those):
        if (other := named.setdefault(os.path.realpath(file), name)) != name:
            raise InputError(
                f"{other} and {name} name the same file {file}: give two different files"
            )


def json_target(target: str) -> str:
    """Returns the target of JSON: a file, `SCREEN` for standard output, or "" for no output.

    Raises ValueError for a file that cannot be written, and for a closed standard output.
    """
    if target not in ("", SCREEN):
        _writable(Path(target))
    if target == SCREEN and sys.stdout is None:
        raise InputError("--json has no file, and standard output is closed: give --json FILE")
    return target


@contextmanager
def drawn(target: Path | None) -> Iterator[Path | None]:
    """A context with a temporary file for a picture; at the end, the file is moved to the target.

    Raises ValueError if nothing was drawn, and if the picture is larger than a file may be.
    """
    if target is None:
        yield None
        return
    with TemporaryDirectory() as folder:
        picture = Path(folder) / f"picture{target.suffix if target.suffix in DRAWN else '.png'}"
        try:
            yield picture
        except OSError as error:
            if error.errno != errno.EFBIG:
                raise
            raise InputError(
                f"cannot write {target} ({error.strerror}): choose another path"
            ) from None
        if not picture.exists():
            raise InputError(f"nothing was drawn with these options: omit --plot {target}")
        deliver(target, picture.read_bytes())


def write(target: str, text: str) -> None:
    """Writes JSON to a file or to standard output.

    Characters that the encoding lacks are escaped.
    """
    if target != SCREEN:
        deliver(Path(target), f"{text}\n".encode())
        return
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = re.sub(r"[^\x00-\x7f]", lambda found: json.dumps(found[0])[1:-1], text)
    print(text)


def deliver(path: Path, content: bytes) -> None:
    """Writes the whole content or nothing; raises ValueError if the file cannot be written."""
    try:
        if not _is_file(path):
            with _stream(path) as stream:
                stream.write(b"")  # an error already here if the device is full
                left = memoryview(content)
                while left:
                    left = left[stream.write(left) :]
            return
        path = path.resolve()
        copy = path.with_name(f".{os.getpid()}.part")
        try:
            copy.write_bytes(content)
            if path.exists():
                copy.chmod(stat.S_IMODE(path.stat().st_mode))
            copy.replace(path)
        finally:
            with suppress(OSError):
                copy.unlink()
    except OSError as error:
        raise InputError(
            f"cannot write {path} ({error.strerror or error}): choose another path"
        ) from None


def _is_file(path: Path) -> bool:
    """Whether the path is a file or does not exist; the standard output's file does not count."""
    if not path.exists():
        return True
    return stat.S_ISREG(path.stat().st_mode) and _descriptor(path) is None


def _descriptor(path: Path) -> int | None:
    """The file descriptor, if the path is the standard output or error; else None."""
    for descriptor in (1, 2):
        with suppress(OSError):  # it is closed
            if os.path.samestat(path.stat(), os.fstat(descriptor)):
                return descriptor
    return None


def _stream(path: Path) -> FileIO:
    """A device or a pipe, opened for writing; writing to the standard output appends."""
    descriptor = _descriptor(path)
    if descriptor is None:
        return _pipe(path) if path.is_fifo() else FileIO(path, "a")
    for screen in (sys.stdout, sys.stderr):
        if screen is not None:  # it is closed
            screen.flush()
    return FileIO(os.dup(descriptor), "w")


def _pipe(path: Path) -> FileIO:
    """A named pipe, opened for writing as soon as a process reads it."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        if isinstance(error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None  # the run was interrupted: nobody waits
        tell(f"no process reads the pipe {path}: waiting for a reader")
        return FileIO(path, "w")
    os.set_blocking(descriptor, True)
    return FileIO(descriptor, "w")


def _writable(path: Path) -> None:
    """Raise ValueError for a folder, and for a path that cannot be written."""
    if str(path) == SCREEN:
        raise InputError("only --json can write to standard output: give the name of a file")
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder: give the name of a file")
        folder = path.resolve().parent
        if not path.exists() and not folder.is_dir():
            raise InputError(f"there is no folder {folder} for {path.name}: make this folder first")
        if path.exists() and not os.access(path, os.W_OK):
            raise InputError(f"cannot write to {path}, which is read-only: choose another path")
        if _is_file(path) and not os.access(folder, os.W_OK):
            raise InputError(f"cannot write to {folder}: choose another folder for {path.name}")
        if _is_file(path):
            _takes_files(folder, path.name)
        if path.is_char_device():
            deliver(path, b"")
    except (OSError, RuntimeError) as error:  # a name that is too long, a link to itself
        raise InputError(f"cannot write {path.name[:40]} ({error}): choose another file") from None


def _takes_files(folder: Path, name: str) -> None:
    """Raise ValueError if no file can be made in a folder, even if its permissions allow it."""
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"cannot write to {folder} ({error.strerror}): choose another folder for {name}"
        ) from None
