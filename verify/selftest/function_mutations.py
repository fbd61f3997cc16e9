"""Mutants of functions, as data: each changes the result of a function and must make findings fail.

Every topic's claims have a `faults.toml` (and shared functions the one beside this file):

    [[fault]]
    claim = "newton"                # or "*": every claim with findings of these ids
    options = { k = 2 }             # default: the first options of the claim's `faults_seen`
    function = "verify.regression.convergence:newton_residual"
    change = "half"                 # one of CHANGES, or a function "module:name"
    part = "bound"                  # only this part of the result: an attribute, a key or an index
    fails = ["ols"]                 # ids as fnmatch patterns: only these findings must fail
    holds = ["*/even"]              # default: none; these, and no others, hold only in the mutant
    quick = false                   # default true: a run at quick sizes
    trained = true                  # default false: only in `selftest --trained`

`function` names an attribute of the module that *uses* the function; while the claim runs, the
attribute is replaced by a function that changes the result.  The attribute may be a method or a
property, "module:Class.name".
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial, wraps
from importlib import import_module
from inspect import getattr_static
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from theory.kinds import InputError

VERIFY = Path(__file__).parent.parent


@dataclass(frozen=True)
class FunctionFault:
    """A mutant of a function, an entry of a `faults.toml`; the module describes the fields."""

    claim: str
    function: str
    change: str
    fails: tuple[str, ...]
    options: Mapping[str, Any] | None = None
    part: str | int | None = None
    quick: bool = True
    trained: bool = False
    holds: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = self.function.rsplit(":", 1)[1]
        return f"{self.change} of {where}" + f", {self.part}" * (self.part is not None)

    @contextmanager
    def planted(self) -> Iterator[None]:
        """A context in which the function's results are changed."""
        owner, name = _owner(self.function)
        healthy = getattr_static(owner, name)
        setattr(owner, name, self._faulty(healthy))
        try:
            yield
        finally:
            setattr(owner, name, healthy)

    def _faulty(self, healthy: Any) -> Any:
        if isinstance(healthy, property):
            assert healthy.fget is not None
            return property(self._faulty(healthy.fget))
        if not callable(healthy):  # a number or a table
            return self._changed(healthy)

        @wraps(healthy)
        def faulty(*args: Any, **kwargs: Any) -> Any:
            return self._changed(healthy(*args, **kwargs))

        return faulty

    def _changed(self, result: Any) -> Any:
        change = CHANGES.get(self.change) or getattr(*_owner(self.change))
        if self.part is None:
            return change(result)
        if isinstance(result, Mapping):
            return {**result, self.part: change(result[self.part])}
        if isinstance(self.part, int):
            items = [*result]
            items[self.part] = change(items[self.part])
            return _like(result, items)
        renewed = getattr(result, "_replace", partial(replace, result))
        return renewed(**{self.part: change(getattr(result, self.part))})


def function_faults(folder: Path = VERIFY) -> list[FunctionFault]:
    """All entries of the `faults.toml` files; raises ValueError for a file that cannot be read."""
    found = []
    for path in sorted(folder.rglob("faults.toml")):
        for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("fault", []):
            where = f"{path.relative_to(folder)}, {entry.get('function')}"
            try:
                lists = {key: tuple(entry[key]) for key in ("fails", "holds") if key in entry}
                fault = FunctionFault(**{**entry, **lists})
            except (KeyError, TypeError) as error:
                raise InputError(
                    f"{where} is wrong ({error}): correct this entry (its keys are explained in "
                    "verify/selftest/function_mutations.py)"
                ) from None
            if fault.change not in CHANGES and ":" not in fault.change:
                raise InputError(
                    f"{where}: the key `change` is {fault.change!r}: give one of "
                    f"{', '.join(CHANGES)}"
                )
            found.append(fault)
    return found


def _owner(function: str) -> tuple[Any, str]:
    """The module or class of an attribute, and its name; raises ValueError if there is none."""
    module, _, path = function.partition(":")
    *outer, name = path.split(".")
    try:
        owner: Any = import_module(module)
        for each in outer:
            owner = getattr(owner, each)
        getattr_static(owner, name)
    except (ImportError, AttributeError, ValueError):
        raise InputError(
            f"there is no function {function}: write its name as module:function"
        ) from None
    return owner, name


def _numbers(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A change of every number in a value, and in the results of functions in the value.

    Booleans, texts and models are not changed.
    """

    def through(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: through(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return _like(value, [through(each) for each in value])
        if isinstance(value, Iterator):
            return map(through, value)
        if isinstance(value, np.ndarray) and value.dtype == object:
            return np.frompyfunc(through, 1, 1)(value)
        if isinstance(value, bool | str | bytes | nn.Module | None):
            return value
        if isinstance(value, np.ndarray):
            return np.asarray(change(value))  # numpy returns a number for an array of shape ()
        if callable(value):
            return lambda *args, **kwargs: through(value(*args, **kwargs))
        return change(value)

    return through


def _like(value: Any, items: list[Any]) -> Any:
    return getattr(value, "_make", type(value))(items)  # a named tuple, or another tuple


def _nothing(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value[:0]
    return type(value)() if isinstance(value, list | tuple | dict | str) else None


def _reversed(value: Any) -> Any:
    return value[..., ::-1].copy() if isinstance(value, np.ndarray) else value[::-1]


def _weights(change: Callable[[Any], None]) -> Callable[[Any], Any]:
    """A change of a copy of every model in a value."""

    def through(value: Any) -> Any:
        if isinstance(value, nn.Module):
            faulty = deepcopy(value)
            for weights in faulty.parameters():
                weights.requires_grad_(False)
            change(faulty)
            return faulty
        if isinstance(value, Mapping):
            return {name: through(each) for name, each in value.items()}
        return _like(value, [*map(through, value)]) if isinstance(value, list | tuple) else value

    return through


def _untrained(model: Any) -> None:
    generator = torch.Generator().manual_seed(0)
    for weights in model.parameters():
        if weights.ndim > 1:
            drawn = torch.randn(weights.shape, generator=generator, dtype=weights.dtype)
            weights.copy_(drawn / weights.shape[-2] ** 0.5)


def _silent_heads(model: Any) -> None:
    for attn in model.attentions:
        attn.W_O.zero_()


def _silent_layer(model: Any) -> None:
    for weights in model.blocks[len(model.blocks) // 2].parameters():
        weights.zero_()


def _shorter(model: Any) -> None:
    model.blocks = model.blocks[:-1]


def _outputs_times(factor: float) -> Callable[[Any], None]:
    def change(model: Any) -> None:
        for weights in model.unembed.parameters():
            weights *= factor

    return change


CHANGES: dict[str, Callable[[Any], Any]] = {
    "half": _numbers(lambda value: value / 2),
    "double": _numbers(lambda value: value * 2),
    "a thousandth more": _numbers(lambda value: value * 1.001),
    "a trillionth more": _numbers(lambda value: value * (1 + 1e-12)),
    "a million times": _numbers(lambda value: value * 10**6),
    "a millionth": _numbers(lambda value: value / 10**6),
    "negative": _numbers(lambda value: -value),
    "zero": _numbers(lambda value: value * 0),
    "one": _numbers(lambda value: value * 0 + 1),
    "one more": _numbers(lambda value: value + 1),
    "one less": _numbers(lambda value: value - 1),
    "nan": _numbers(lambda value: value * float("nan")),
    "opposite": lambda value: not value,
    "nothing": _nothing,
    "drops the last": lambda value: value[:-1],
    "drops the first": lambda value: value[1:],
    "backwards": _reversed,
    "untrained": _weights(_untrained),
    "silent heads": _weights(_silent_heads),
    "silent layer": _weights(_silent_layer),
    "without its last layer": _weights(_shorter),
    "outputs 0": _weights(_outputs_times(0.0)),
    "outputs the negative": _weights(_outputs_times(-1.0)),
}
