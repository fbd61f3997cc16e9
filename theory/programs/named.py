"""Names of the programs of the library."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from theory.programs.language import Expression

P = ParamSpec("P")
E = TypeVar("E", bound=Expression)


def named(program: Callable[P, E]) -> Callable[P, E]:
    """Decorates a function that returns a program: the program has the name of the function."""

    @wraps(program)
    def call(*args: P.args, **kwargs: P.kwargs) -> E:
        return program(*args, **kwargs).named(program.__name__)

    return call
