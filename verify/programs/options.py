"""Options of claims on programs: the program and its vocabulary."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from theory.kinds import InputError, shown
from theory.programs import SOp, program_of
from theory.programs.library.examples import PROGRAMS
from theory.programs.values import Value
from verify.claim import option

Program = Annotated[
    str | None,
    option(
        "a program of the library, such as sort, or FILE:NAME for the s-op NAME of a Python file; "
        "by default several programs of the library",
        metavar="NAME",
    ),
]
Vocabulary = Annotated[
    str | None,
    option(
        "the tokens: characters, such as 'abc', or integers and words between commas, such as "
        "'0,1,2'; by default those of the example in the library",
        metavar="TOKENS",
    ),
]


def read_program(text: str) -> tuple[str, SOp, Sequence[Value] | None]:
    """The name of a program, the program, and the vocabulary of its example, if it has one."""
    if text in PROGRAMS:
        return text, *PROGRAMS[text]
    path, _, name = text.rpartition(":")
    if not path:
        raise InputError(
            f"program is {shown(text)}: give FILE:NAME, or one of {', '.join(PROGRAMS)}"
        )
    if not Path(path).is_file():
        raise InputError(f"there is no file {path}: give FILE:NAME with a Python file")
    try:
        found = runpy.run_path(path).get(name)
    except Exception as error:
        raise InputError(f"{path} raises {type(error).__name__} ({error}): mend the file") from None
    if found is None:
        raise InputError(f"{path} defines no {name}: give the name of an s-op of this file")
    program = program_of(found)
    if not isinstance(program, SOp):
        raise InputError(f"{name} of {path} is a selector: give the name of an s-op")
    return name, program, None


def read_vocabulary(text: str) -> list[Value]:
    """The tokens in a text: its characters or, if it contains a comma, the parts between commas."""
    if "," not in text:
        return [*text]
    parts = [part.strip() for part in text.split(",")]
    whole = [part.removeprefix("-").isdecimal() for part in parts]
    return [int(part) if number else part for part, number in zip(parts, whole, strict=True)]
