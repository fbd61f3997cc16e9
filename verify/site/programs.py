"""Programs of the library that a page runs, compiled for several values of a parameter."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from constructions.programs import compiled
from theory.programs import SOp, library
from verify.site.exported import exported

MAX_LENGTH = 12  # of the sequences that a page runs
PLACE = "<!-- The site runs programs here. -->"
TEXT = """## Run a program

Choose a program of the library and its parameter, and type tokens. The models are compiled for
sequences of at most LENGTH tokens; the page computes with their weights in float64, as torch does.
"""


@dataclass(frozen=True)
class Live:
    """A function of the library, argument lists to call it with, and a vocabulary.

    `first` contains the tokens that the page shows first.
    """

    function: Callable[..., SOp]
    arguments: Sequence[tuple[Any, ...]]
    vocabulary: Sequence[Any]
    first: Sequence[Any]


PROGRAMS = (
    Live(library.reverse, [()], "abcd", "abcdda"),
    Live(library.shift_by, [(1,), (2,), (3,), (-1,)], "abcd", "abcdda"),
    Live(
        library.detect_pattern,
        [(["a", "b"],), (["a", "b", "a"],), (["b", "b"],), (["a", "b", "b", "a"],)],
        "ab",
        "ababbaba",
    ),
    Live(library.histogram, [()], "abcd", "abacab"),
    Live(library.sort, [()], (0, 1, 2, 3, 4), (3, 1, 4, 1, 0, 2)),
    Live(library.fraction_of_previous, [("a",), ("b",), ("c",)], "abc", "abacab"),
    Live(library.running_sum, [(2,), (3,), (5,)], (0, 1, 2, 3, 4), (3, 1, 4, 1, 0, 2)),
    Live(library.depth, [("(", ")"), ("[", "]")], "()[]", "([()])"),
    Live(library.induction, [(2,), (3,)], "abc", "abcabab"),
)


def with_programs(page: str) -> str:
    """Returns a page, in which the line `PLACE` is replaced by programs that run."""
    listed = [_shown(program) for program in PROGRAMS]
    data = json.dumps(listed, ensure_ascii=False).replace("<", "\\u003c")
    text = TEXT.replace("LENGTH", str(MAX_LENGTH))
    box = f'<div class="ww-programs"><script type="application/json">{data}</script></div>'
    return page.replace(PLACE, f"{text}\n{box}")


def _shown(program: Live) -> dict[str, Any]:
    name = program.function.__name__
    return {
        "name": name,
        "parameter": ", ".join(inspect.signature(program.function).parameters),
        "source": "\n\n".join(sources(program.function)),
        "choices": [_choice(program, arguments) for arguments in program.arguments],
    }


def _choice(program: Live, arguments: tuple[Any, ...]) -> dict[str, Any]:
    """A model, and the Python code that compiles it."""
    name, given = program.function.__name__, ", ".join(map(repr, arguments))
    model = compiled(program.function(*arguments), program.vocabulary, MAX_LENGTH)
    sizes = str(model).partition("\n")[0].removeprefix(f"{model.name}: ")
    return {
        "text": given,
        "python": (
            "from constructions.programs import compiled\n"
            f"from theory.programs.library import {name}\n\n"
            f"model = compiled({name}({given}), {program.vocabulary!r}, {MAX_LENGTH})\n"
            f"# {sizes}"
        ),
        "model": exported(model) | {"sample": model.interface.indices(program.first).tolist()},
    }


def sources(function: Callable[..., Any]) -> list[str]:
    """The source of a function of the library, after those of the library's that it uses."""
    plain: Any = inspect.unwrap(function)
    source = inspect.getsource(plain).rstrip()
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    used = [plain.__globals__[name] for name in sorted(names & {*plain.__globals__})]
    own = [each for each in used if inspect.isfunction(each) and _is_listed(each)]
    return [*dict.fromkeys([*(text for each in own for text in sources(each)), source])]


def _is_listed(function: Callable[..., Any]) -> bool:
    """Whether a function belongs to the library of programs."""
    return function.__module__.startswith(library.__name__)
