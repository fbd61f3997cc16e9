"""The call that built a model: a function and its arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from theory.kinds import checked

F = TypeVar("F", bound=Callable[..., Any])
SHORT = 24  # the largest number of characters of a list that is written out


@dataclass(frozen=True)
class Call:
    """A call of a construction: the name of the construction and the arguments.

    The text of a call is Python code in which arrays and objects are abbreviated.

    builder    the name under which the construction is imported
    arguments  the arguments that differ from the defaults, by name
    """

    builder: Callable[..., Any]
    arguments: Mapping[str, Any]

    def __str__(self) -> str:
        given = (f"{name}={written(value)}" for name, value in self.arguments.items())
        return f"{self.builder.__name__}({', '.join(given)})"

    def value(self, name: str) -> Any:
        """The value of the argument `name`, or the default value if the argument was not given."""
        default = inspect.signature(self.builder).parameters[name].default
        return self.arguments.get(name, default)


def construction(function: F) -> F:
    """Decorates a `checked` function that returns a model, so that the model records the call.

    The model's `call` is the recorded call, and the model's `name` is the text of the call. If a
    construction calls another construction, the outermost call is recorded.
    """
    signature = inspect.signature(function)
    defaults = {name: each.default for name, each in signature.parameters.items()}

    @wraps(function)
    def build(*args: Any, **kwargs: Any) -> Any:
        with torch.inference_mode(False):  # tensors made in it could not be converted outside
            model: Any = function(*args, **kwargs)
        given = signature.bind(*args, **kwargs).arguments
        named = {k: _copied(v) for k, v in given.items() if not _equal(v, defaults[k])}
        model.call = Call(made, named)
        model.name = str(model.call)
        return model

    made = checked(build)
    return made  # type: ignore[return-value]


def _copied(value: Any) -> Any:
    """A copy of an array or a tensor, or of a list of them, which the caller cannot change."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    return value.detach().clone() if isinstance(value, Tensor) else value


def _equal(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(np.all(value == default)))


def written(value: Any) -> str:
    """A number, a text, a formula or a short list as Python writes it; else a name or a class."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    if isinstance(value, Tensor | np.ndarray):
        return f"<{'×'.join(map(str, value.shape))} array>"
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str | range):
        return repr(value)
    if isinstance(value, list | tuple | set | frozenset):
        text = repr(value)
        return text if len(text) <= SHORT else f"<{type(value).__name__} of {len(value)}>"
    if name := getattr(value, "name", None) or getattr(value, "__name__", None):
        return str(name)
    has_text = type(value).__str__ is not object.__str__  # such as a formula
    return repr(str(value)) if has_text else type(value).__name__
