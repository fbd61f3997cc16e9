"""How far the tests reach: the largest sizes with which they call each function (`make reach`).

A plugin, for `pytest -p reach` with `tests` on the path.  It records the arguments of all calls of
`checked` functions outside `tests/kinds`, also of calls by other functions, and prints the
functions with a parameter that is always small: integers below 20, arrays and lists whose largest
size is below 10, and options and Booleans with one value only.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any

import annotations
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

module: Any = importlib.import_module("theory.kinds.checked")

INTEGERS, SIZES, MANY = 20, 10, 4
reached = defaultdict[str, dict[str, dict[str, Any]]](dict)
_checked = module._checked


def size(value: Any) -> int | None:
    """The largest dimension of an array or length of a list; None for other values."""
    if isinstance(value, list | tuple | set | frozenset | dict):
        return max([len(value), *(size(each) or 0 for each in list(value)[:3])])
    shape = getattr(value, "shape", None)
    return max(shape, default=1) if isinstance(shape, tuple) else None


def recorded(function: Callable[..., Any], names: Mapping[str, Any]) -> Callable[..., Any]:
    call = _checked(function, names)
    parameters = signature(function).parameters
    of = reached[f"{function.__module__}.{function.__qualname__}"]
    for name, each in parameters.items():
        of[name] = {"values": set()}
        if each.default is not each.empty:
            of[name]["default"] = each.default

    @wraps(call)
    def record(*args: Any, **kwargs: Any) -> Any:
        if "tests/kinds" not in os.environ.get("PYTEST_CURRENT_TEST", ""):
            for name, value in (dict(zip(parameters, args, strict=False)) | kwargs).items():
                if (at := of.get(name)) is None:
                    continue
                if isinstance(value, bool | str | None):
                    if len(at["values"]) < MANY:
                        at["values"].add(value)
                elif isinstance(value, int | np.integer):
                    at["integer"] = max(at.get("integer", 0), int(value))
                elif (found := size(value)) is not None:
                    at["size"] = max(at.get("size", 0), found)
        return call(*args, **kwargs)

    return record


def small() -> Iterator[str]:
    for name, parameters in sorted(reached.items()):
        for parameter, at in parameters.items():
            if parameter == "seed":
                continue
            values = at["values"] | ({at["default"]} if _is_option(at.get("default")) else set())
            if at.get("integer", INTEGERS) < INTEGERS:
                yield f"{name} {parameter} ≤ {at['integer']}"
            elif at.get("size", SIZES) < SIZES:
                yield f"{name} {parameter} of size {at['size']}"
            elif _is_option(at.get("default")) and len(values) == 1:
                yield f"{name} {parameter} is {next(iter(values))!r}"


def _is_option(value: Any) -> bool:
    return isinstance(value, bool | str)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in small():
        terminalreporter.write_line(line)


module._checked = recorded  # before other modules import `checked`
annotations.check_annotations = lambda *packages: None  # `theory.kinds` is loaded without
