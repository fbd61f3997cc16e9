"""Values of a claim's options as texts: `2,5,10`, and for integers ranges `1..12`."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Sequence
from typing import Annotated, Any, get_args, get_origin

import typer
from typer.exceptions import TyperException

from theory.kinds import Choice, InputError
from theory.terminal import in_words

RANGE = re.compile(r"(-?\d{1,99})\.\.(-?\d{1,99})")
WRITE = "write values as 2,5,10 and ranges of integers as 1..12"
FLAG = {"true": True, "yes": True, "false": False, "no": False}


def parts_of(parameter: inspect.Parameter, text: str) -> list[str | tuple[int, int]]:
    """The parts of a text between commas: values and, for integers, ranges as pairs of ends."""
    kind = _kind(parameter)
    found: list[str | tuple[int, int]] = []
    for part in text.split(","):
        ends = RANGE.fullmatch(part.strip()) if int in (kind, *get_args(kind)) else None
        if not part.strip():
            raise InputError(f"{parameter.name} is {text!r}, with an empty value: {WRITE}")
        if ends and int(ends[1]) > int(ends[2]):
            raise InputError(
                f"{parameter.name} is {part}, an empty range: write {ends[2]}..{ends[1]}"
            )
        found.append((int(ends[1]), int(ends[2])) if ends else part.strip())
    return found


def _kind(parameter: inspect.Parameter) -> Any:
    """The type of an option, without its annotation by `option`."""
    notes = get_args(parameter.annotation)
    return notes[0] if get_origin(parameter.annotation) is Annotated else parameter.annotation


def count(part: str | tuple[int, int]) -> int:
    """The number of values of a part, a value or a range."""
    return 1 if isinstance(part, str) else part[1] - part[0] + 1


def values_of(parameter: inspect.Parameter, parts: Sequence[str | tuple[int, int]]) -> list[Any]:
    """The values of all parts, without repetitions."""
    each = (
        [_value(parameter, part)] if isinstance(part, str) else range(part[0], part[1] + 1)
        for part in parts
    )
    return list(dict.fromkeys(value for some in each for value in some))


def _value(parameter: inspect.Parameter, text: str) -> Any:
    """The value of a text, as the claim's command reads it; flags are written as true or false."""
    if _kind(parameter) is bool:
        Choice(tuple(FLAG)).read(parameter.name, text)
        return FLAG[text]

    def read(**chosen: Any) -> Any:
        return chosen[parameter.name]

    own = parameter.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
    read.__signature__ = inspect.Signature([own])  # type: ignore[attr-defined]
    read.__annotations__ = {parameter.name: parameter.annotation}
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command()(read)
    word = f"--{parameter.name.replace('_', '-')}={text}"
    try:
        value = app(args=[word], prog_name="verify", standalone_mode=False)
    except TyperException as error:
        message = in_words(error, hint=False)
        raise InputError(f"{parameter.name} is {text!r}: {message}; {WRITE}") from None
    if isinstance(value, float) and math.isnan(value):
        raise InputError(f"{parameter.name} is {text}, which is not a number: {WRITE}")
    return value
