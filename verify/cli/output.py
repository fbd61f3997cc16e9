"""Output files of commands; they are checked before a run starts.

A file is written whole or not at all: first under a temporary name, and then renamed.  Devices,
pipes and the standard output are written to, and never replaced; links are followed.
"""

from __future__ import annotations

import argparse
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

from theory.kinds import InputError

SCREEN = "-"  # the target of JSON on standard output, without other lines
DRAWN = (".png", ".pdf", ".svg")


def picture_target(path: Path | None) -> Path | None:
    """The file of a picture; raises ValueError if it cannot be written."""
    if path is not None:
        _writable(path)
        if path.suffix not in DRAWN and _is_file(path):
            raise InputError(f"cannot draw to {path.name}: end the name in .png, .pdf or .svg")
    return path


def picture_file(path: Path) -> Path:
    """As `picture_target`, for an example: also raises ValueError for a device."""
    picture_target(path)
    if not _is_file(path):
        raise InputError(f"{path} is not a file: name one, such as picture.png")
    return path


def picture_argument(about: str | None, default: str) -> Path:
    """The path of `python examples/NAME.py [PICTURE]`; exits with 2 if it is invalid."""
    options = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    options.add_argument("picture", type=Path, nargs="?", default=Path(default))
    picture: Path = options.parse_args().picture
    try:
        picture_file(picture)
    except InputError as error:
        options.error(str(error))
    return picture


def folder_argument(about: str | None, default: str) -> Path:
    """The folder of `python examples/NAME.py [FOLDER]`, made if necessary.

    Exits with 2 and one line if files cannot be written to it.
    """
    options = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    options.add_argument("folder", type=Path, nargs="?", default=Path(default))
    folder: Path = options.parse_args().folder
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
    """A context with a temporary file that is then moved to the target.

    Exits with 2 and one line if the target cannot be written.
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
    """A file to write; raises ValueError if it cannot be written."""
    if path is not None:
        _writable(path)
    return path


def json_target(target: str) -> str:
    """A file for JSON, `SCREEN`, or "" for none; raises ValueError if it cannot be written."""
    if target not in ("", SCREEN):
        _writable(Path(target))
    return target


@contextmanager
def drawn(target: Path | None) -> Iterator[Path | None]:
    """A context with a temporary file for a picture that is then written to the target.

    Raises ValueError if nothing was drawn.
    """
    if target is None:
        yield None
        return
    with TemporaryDirectory() as folder:
        picture = Path(folder) / f"picture{target.suffix if target.suffix in DRAWN else '.png'}"
        yield picture
        if not picture.exists():
            raise InputError(f"nothing was drawn with these options: leave out --plot {target}")
        deliver(target, picture.read_bytes())


def write(target: str, text: str) -> None:
    """Write JSON to a file, or to standard output; characters outside the encoding are escaped."""
    if target != SCREEN:
        deliver(Path(target), f"{text}\n".encode())
        return
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = re.sub(r"[^\x00-\x7f]", lambda found: json.dumps(found[0])[1:-1], text)
    print(text)


def deliver(path: Path, content: bytes) -> None:
    """Write the whole content or nothing; raises ValueError if that is not possible."""
    try:
        if not _is_file(path):
            with _stream(path) as stream:
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
                copy.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror or error}; choose another place"
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
        return FileIO(path, "a")
    for screen in (sys.stdout, sys.stderr):
        screen.flush()
    return FileIO(os.dup(descriptor), "w")


def _writable(path: Path) -> None:
    """Raise ValueError for a folder, and for a path that cannot be written."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder: name a file")
        folder = path.resolve().parent
        if not path.exists() and not folder.is_dir():
            raise InputError(f"no folder {folder} for {path.name}: make the folder first")
        if path.exists() and not os.access(path, os.W_OK):
            raise InputError(f"cannot write to {path}, which is read-only: choose another file")
        if _is_file(path) and not os.access(folder, os.W_OK):
            raise InputError(f"cannot write to {folder}: choose another folder for {path.name}")
        if _is_file(path):
            _takes_files(folder, path.name)
    except (OSError, RuntimeError) as error:  # a name that is too long, a link to itself
        raise InputError(f"cannot write {path.name[:40]}: {error}; choose another file") from None


def _takes_files(folder: Path, name: str) -> None:
    """Raise ValueError if no file can be made in a folder, even if its permissions allow it."""
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"cannot write to {folder} ({error.strerror}): choose another folder for {name}"
        ) from None
