"""Options of claims on programs: the program and its vocabulary."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from traceback import extract_tb
from typing import Annotated, Any

from theory.kinds import InputError, shown
from theory.kinds.errors import shown_all
from theory.programs import SOp, program_of
from theory.programs.library.examples import PROGRAMS
from theory.programs.values import Value, exact
from theory.waiting import tell
from verify.claim import option

MOST_BYTES = 10**7  # of a Python file

Program = Annotated[
    str | None,
    option(
        "FILE:NAME for the s-op NAME of a Python file, or a program of the library, one of "
        f"{', '.join(PROGRAMS)}; by default several of these",
        metavar="NAME",
    ),
]
Vocabulary = Annotated[
    str | None,
    option(
        "the tokens: characters, such as 'abc', or numbers and words between commas, such as "
        "'0,1,2' or 'cat,dog,1/2'; by default those of the example in the library",
        metavar="TOKENS",
    ),
]


def read_program(text: str) -> tuple[str, SOp, Sequence[Value] | None]:
    """The name of a program, the program, and the vocabulary of its example, if it has one."""
    if text in PROGRAMS:
        return text, *PROGRAMS[text]
    path, _, name = text.rpartition(":")
    if not path:
        near = get_close_matches(text, PROGRAMS, n=1)
        hint = f"did you mean {near[0]}?" if near else "`verify program --help` lists them"
        raise InputError(f"the library has no program {shown(text)}: give FILE:NAME, or {hint}")
    found = _defined(path)
    if name not in found:
        own = [each for each, value in found.items() if isinstance(value, SOp)]
        raise InputError(
            f"{path} defines no {shown(name)}: give {path}:NAME with the name of an s-op"
            + f" (the file defines {shown_all(own)})" * bool(own)
        )
    try:
        program = program_of(found[name])
    except InputError as error:
        raise InputError(f"{name} of {path}: {error}") from None
    if not isinstance(program, SOp):
        raise InputError(f"{name} of {path} is a selector: give the name of an s-op")
    return name, program, None


def _defined(path: str) -> dict[str, Any]:
    """What a Python file defines; raises ValueError, with the line, if the file raises an error."""
    if Path(path).is_dir():
        raise InputError(f"{path} is a folder: give FILE:NAME with a Python file")
    if not Path(path).is_file():
        raise InputError(f"there is no file {path}: give FILE:NAME with a Python file")
    if Path(path).stat().st_size > MOST_BYTES:
        raise InputError(f"{path} has more than {MOST_BYTES:,} bytes: give a smaller file")
    folder = str(Path(path).resolve().parent)
    if folder not in sys.path:  # as `python FILE` does, so that FILE can import its neighbours
        sys.path.insert(0, folder)
    try:
        found = runpy.run_path(path)
    except (Exception, SystemExit) as error:
        lines = [at.lineno for at in extract_tb(error.__traceback__) if at.filename == path]
        where = f"{path}, line {lines[-1]}," if lines else path
        what = "calls exit" if isinstance(error, SystemExit) else f"raises {type(error).__name__}"
        raise InputError(f"{where} {what} ({error}): mend the file") from error
    if sys.stdout is not None and sys.stdout.closed:
        raise InputError(f"{path} closes the standard output: mend the file")
    return found


def read_vocabulary(text: str) -> list[Value]:
    """The tokens in a text: its characters or, if it contains a comma, the parts between commas.

    A part is an integer such as -1, a number such as 1.5 or 1/2, or otherwise a word. If all
    characters are digits, a notice states how numbers are written.

    Raises ValueError for a part that is empty, and for a number in another form, such as 01.
    """
    if "," not in text:
        if text.isdigit():
            tell(f"--vocabulary {text}: the tokens are characters; numbers are {','.join(text)}")
        return [*text]
    return [_token(part.strip(), text) for part in text.split(",")]


def _token(part: str, text: str) -> Value:
    if not part:
        raise InputError(f"vocabulary is {shown(text)}, with an empty token: give tokens a,b,…")
    if re.fullmatch(r"-?(0|[1-9][0-9]*)([./][0-9]+)?", part):
        try:
            return exact(Fraction(part))
        except ZeroDivisionError:
            pass
    try:
        float(part)
    except ValueError:
        return part
    raise InputError(f"vocabulary has the token {part}: write a number as 1, 1.5 or 1/2")
