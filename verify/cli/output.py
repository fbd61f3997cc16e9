"""Where what a command has found goes: targets are checked before the work.

A file is written whole or not at all: beside its place first, and then moved there.  What is no
file (a device, a pipe, the standard output) is written to, and never replaced; a link is followed.
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

SCREEN = "-"  # the JSON alone, on the screen
DRAWN = (".png", ".pdf", ".svg")


def picture_target(path: Path | None) -> Path | None:
    """A file to draw into; ValueError for one that cannot be."""
    if path is not None:
        _writable(path)
        if path.suffix not in DRAWN and _is_file(path):
            raise InputError(f"cannot draw into {path.name}: end the name in .png, .pdf or .svg")
    return path


def picture_file(path: Path) -> Path:
    """As `picture_target`, for an example: no device."""
    picture_target(path)
    if not _is_file(path):
        raise InputError(f"{path} is no file to draw into: name one, such as picture.png")
    return path


def picture_argument(about: str | None, default: str) -> Path:
    """The picture of `python examples/NAME.py [PICTURE]`; a bad one ends with a line and exit 2."""
    options = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    options.add_argument("picture", type=Path, nargs="?", default=Path(default))
    picture: Path = options.parse_args().picture
    try:
        picture_file(picture)
    except InputError as error:
        options.error(str(error))
    return picture


def folder_argument(about: str | None, default: str) -> Path:
    """The folder of `python examples/NAME.py [FOLDER]`, made if it is not there, into which files
    can be written; a bad one ends with a line and exit 2."""
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
    """Where an example draws what is then put into the target, whole or not at all; where there is
    no room left, or no permission, it ends with a line and exit 2."""
    try:
        with drawn(target) as picture:
            yield picture or target
    except (InputError, OSError) as error:
        words = error.strerror or error if isinstance(error, OSError) else error
        at = "" if isinstance(error, InputError) else f"cannot write {target}: "
        print(f"error: {at}{words}", file=sys.stderr)
        raise SystemExit(2) from None


def file_target(path: Path | None) -> Path | None:
    """A file to write; ValueError for one that cannot be written."""
    if path is not None:
        _writable(path)
    return path


def json_target(target: str) -> str:
    """A file for the JSON, the screen, or "" for none; ValueError for one that cannot be."""
    if target not in ("", SCREEN):
        _writable(Path(target))
    return target


@contextmanager
def drawn(target: Path | None) -> Iterator[Path | None]:
    """Where to draw what is then put into the target; ValueError if nothing was drawn."""
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
    """Write JSON to the screen, as far as that can show it unescaped, or to a file."""
    if target != SCREEN:
        deliver(Path(target), f"{text}\n".encode())
        return
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = re.sub(r"[^\x00-\x7f]", lambda found: json.dumps(found[0])[1:-1], text)
    print(text)


def deliver(path: Path, content: bytes) -> None:
    """Write the whole content or nothing; ValueError where there is no room, or no permission."""
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
    """Whether it is a file, or will be one; what the screen is directed to counts as none."""
    if not path.exists():
        return True
    return stat.S_ISREG(path.stat().st_mode) and _descriptor(path) is None


def _descriptor(path: Path) -> int | None:
    """The standard output, or standard error, if it is this."""
    for descriptor in (1, 2):
        with suppress(OSError):  # it is closed
            if os.path.samestat(path.stat(), os.fstat(descriptor)):
                return descriptor
    return None


def _stream(path: Path) -> FileIO:
    """What is no file, open to be written; the screen goes on where it is."""
    descriptor = _descriptor(path)
    if descriptor is None:
        return FileIO(path, "a")
    for screen in (sys.stdout, sys.stderr):
        screen.flush()
    return FileIO(os.dup(descriptor), "w")


def _writable(path: Path) -> None:
    """Raise ValueError for a folder, and for what could not be written."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder: name a file")
        folder = path.resolve().parent
        if not path.exists() and not folder.is_dir():
            raise InputError(f"no folder {folder} for {path.name}: make it first")
        if path.exists() and not os.access(path, os.W_OK):
            raise InputError(f"cannot write to {path}, which is read-only: choose another file")
        if _is_file(path) and not os.access(folder, os.W_OK):
            raise InputError(f"cannot write into {folder}: choose another folder for {path.name}")
        if _is_file(path):
            _takes_files(folder, path.name)
    except (OSError, RuntimeError) as error:  # a name that is too long, a link to itself
        raise InputError(f"cannot write {path.name[:40]}: {error}; choose another file") from None


def _takes_files(folder: Path, name: str) -> None:
    """Raise ValueError for a folder in which no file can be made, whatever its permissions say."""
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"cannot write into {folder} ({error.strerror}): choose another folder for {name}"
        ) from None
