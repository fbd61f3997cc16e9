"""Where what a command has found goes: targets are checked before the work."""

from __future__ import annotations

import os
from pathlib import Path

from theory.checks import InputError

SCREEN = "-"  # the JSON alone, on the screen


def picture_target(path: Path | None) -> Path | None:
    """A file to draw into; ValueError for one that cannot be."""
    if path is not None and not path.parent.is_dir():
        raise InputError(f"no folder {path.parent}: make it first, or choose another file")
    if path is not None and path.suffix not in (".png", ".pdf", ".svg"):
        raise InputError(f"cannot draw into {path.name}: end the name in .png, .pdf or .svg")
    return path


def json_target(target: str) -> str:
    """A file for the JSON, the screen, or "" for none; ValueError for one that cannot be."""
    path = Path(target)
    if target in ("", SCREEN):
        return target
    if path.is_dir():
        raise InputError(f"{target} is a folder: name a file for the JSON")
    if not path.parent.is_dir():
        raise InputError(f"no folder {path.parent} for {path.name}: make it first")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"cannot write into {path.parent}: choose another folder for {path.name}")
    return target


def write(target: str, text: str) -> None:
    """Write the whole text or nothing: to the screen, else to a file by way of a copy."""
    if target == SCREEN:
        print(text)
        return
    path = Path(target)
    copy = path.with_name(path.name + ".part")
    copy.write_text(text + "\n", encoding="utf-8")
    copy.replace(path)
