"""Objects as JSON: an object is stored as class and fields, a function by name, a tensor by key.

Shared tensors and objects are shared again after reading; plain values (numbers, text, lists,
dicts, tuples) are copied.  Reading creates objects only of classes of this library and of packages
that add theorems to it.  It calls neither their constructors nor other functions, so that files
from unknown sources can be read safely.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache, partial
from importlib import import_module
from importlib.metadata import entry_points
from types import FunctionType, MethodType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from constructions.call import Call, written
from theory.kinds import InputError, Kind, kinds_of

OURS = "constructions", "theory"
OF_TORCH = frozenset(vars(nn.Module()))  # attributes of every module of torch
MADE_OF: dict[str, Callable[..., Any]] = {  # plain values, from their JSON
    "tuple": lambda items: tuple(_list(items)),
    "set": lambda items: set(_list(items)),
    "frozenset": lambda items: frozenset(_list(items)),
    "float": lambda text: float(_text(text, "nan|-?inf")),
    "Fraction": lambda text: Fraction(_text(text, r"-?\d+(/\d+)?")),
    "slice": lambda ends: slice(*_list(ends)),
    "range": lambda ends: _range(*_list(ends)),
}
MOST_ITEMS = 10**8  # the largest length of a range


def _list(items: Any) -> list[Any]:
    if not isinstance(items, list):
        raise InputError(f"{items!r:.40} is not a list: restore the file")
    return items


def _text(text: Any, form: str) -> str:
    if not isinstance(text, str) or not re.fullmatch(form, text):
        raise InputError(f"{text!r:.40} is not a number as `save` writes it: restore the file")
    return text


def _range(*ends: int) -> range:
    if any(abs(end) > MOST_ITEMS for end in ends):
        raise InputError(f"range{ends} has an end beyond ±{MOST_ITEMS}: restore the file")
    return range(*ends)


class Writer:
    """Writes Python values as JSON, and collects their tensors by path in `tensors`."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self.names: dict[int, str] = {}  # of tensors
        self.numbers: dict[int, int] = {}  # of objects, in the order in which they are made
        self.alive: list[Any] = []  # references, so that ids are not reused

    def value(self, it: Any, at: str) -> Any:
        if it is None or type(it) in (bool, int, str):
            return it
        if type(it) is float:
            return it if np.isfinite(it) else {"float": repr(it)}
        if isinstance(it, Tensor | np.ndarray):
            return self.tensor(it, at)
        if type(it) is list:
            return [self.value(each, f"{at}.{i}") for i, each in enumerate(it)]
        if type(it) in (tuple, set, frozenset):
            items = it if type(it) is tuple else sorted(it, key=repr)
            return {type(it).__name__: self.value(list(items), at)}
        if type(it) is dict:
            pairs = enumerate(it.items())
            return {
                "dict": [[self.value(k, at), self.value(v, f"{at}.{i}")] for i, (k, v) in pairs]
            }
        if isinstance(it, Fraction):
            return {"Fraction": str(it)}
        if isinstance(it, slice | range):
            return {type(it).__name__: [it.start, it.stop, it.step]}
        if isinstance(it, FunctionType | type):
            return {"function": _name_of(it, at)}
        if isinstance(it, partial):
            parts = {"func": it.func, "args": list(it.args), "keywords": it.keywords}
            return {"partial": [self.value(part, f"{at}.{name}") for name, part in parts.items()]}
        if isinstance(it, MethodType):
            return {"method": [it.__name__, self.value(it.__self__, at)]}
        return self.object(it, at)

    def tensor(self, it: Tensor | np.ndarray, at: str) -> dict[str, str]:
        if id(it) not in self.names:
            if at in self.tensors:
                raise InputError(
                    f"two tensors have the name {at}: give the tensors different names"
                )
            self.alive.append(it)
            self.names[id(it)] = at
            if isinstance(it, np.ndarray) and it.dtype.kind not in "biuf":
                raise InputError(
                    f"{at} is an array of {it.dtype}, and only numbers can be saved: convert the "
                    "array to numbers"
                )
            try:
                values = torch.from_numpy(it.copy()) if isinstance(it, np.ndarray) else it.detach()
                self.tensors[at] = values.cpu().contiguous().clone()
            except (TypeError, ValueError, RuntimeError):
                raise InputError(
                    f"{at} is a {type(it).__name__} of {it.dtype} that cannot be saved: make the "
                    "tensor dense, for example of float64"
                ) from None
            if values.is_complex():
                raise InputError(
                    f"{at} contains complex numbers: save the real and the imaginary parts as two "
                    "arrays"
                )
        kind = "array" if isinstance(it, np.ndarray) else type(it).__name__
        return {kind: self.names[id(it)]}

    def object(self, it: Any, at: str) -> dict[str, Any]:
        if id(it) in self.numbers:
            return {"again": self.numbers[id(it)]}
        self.alive.append(it)
        self.numbers[id(it)] = len(self.numbers)
        if isinstance(it, nn.Module) and it._buffers:
            name = next(iter(it._buffers))
            raise InputError(
                f"{at or 'the model'} has a buffer {name!r}, which cannot be saved: make the "
                "buffer a weight"
            )
        if type(it) is nn.ModuleList:
            return {"ModuleList": [self.value(each, f"{at}.{i}") for i, each in enumerate(it)]}
        if isinstance(it, Call):
            it = Call(it.builder, {name: _storable(each) for name, each in it.arguments.items()})
            self.alive.append(it)
        kind = _name_of(type(it), at)
        if isinstance(it, tuple):  # named
            return {"class": kind, "items": self.value(list(it), at)}
        fields = {
            key: self.value(value, f"{at}.{key}".removeprefix(".")) for key, value in _fields(it)
        }
        return {"class": kind, "fields": fields}


def _storable(value: Any) -> Any:
    """An argument of a call; its text, if it contains what cannot be stored, such as a lambda."""
    try:
        Writer().value(value, "")
    except InputError:
        return written(value)
    return value


def _fields(it: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of an object, and the weights and submodules of a module."""
    if not isinstance(it, nn.Module):
        yield from vars(it).items()
        return
    yield from it._parameters.items()
    yield from it._modules.items()
    yield from ((key, value) for key, value in vars(it).items() if key not in OF_TORCH)


def _name_of(it: Any, at: str) -> str:
    """The name module:name of a class or function; raises ValueError if it is ambiguous."""
    name = f"{it.__module__}:{it.__qualname__}"
    try:
        found = _found(name)
    except InputError:
        found = None
    if it.__module__.split(".")[0] not in (*OURS, *_added()):
        raise InputError(
            f"{at or 'the model'} is of {name}, which is not of this library: a file contains only "
            f"numbers, texts, tuples, and classes and functions of {' or '.join(OURS)}"
        )
    if found is not it:
        raise InputError(
            f"{at or 'the model'} is {name}, which cannot be imported from "
            f"{' or '.join(OURS)}: define this object at the top level of a module"
        )
    return name


def _found(name: str) -> Any:
    """The class or function of this library with the name module:name."""
    module, _, rest = name.partition(":")
    package = module.split(".")[0]
    if package not in OURS and package not in _added():
        raise InputError(
            f"the file refers to {name}, which is not of this library: give a file with only "
            "classes and functions of the library"
        )
    try:
        found = getattr(import_module(module), rest)
    except (ImportError, AttributeError):
        raise InputError(
            f"the file refers to {name}, which does not exist: restore the file"
        ) from None
    if not isinstance(found, FunctionType | type) or found.__module__ != module:
        raise InputError(
            f"the file refers to {name}, which is not a class or function of the module {module}: "
            "restore the file"
        )
    return found


def _added() -> set[str]:
    """The packages that add theorems to this library."""
    return {point.value.split(".")[0] for point in entry_points(group="verify.ledgers")}


class Reader:
    """Reads the values that `Writer` wrote."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        self.tensors = tensors
        self.weights: dict[str, nn.Parameter] = {}
        self.arrays: dict[str, np.ndarray] = {}
        self.objects: list[Any] = []

    def value(self, it: Any) -> Any:
        if isinstance(it, list):
            return [self.value(each) for each in it]
        if not isinstance(it, dict):
            return it
        if "class" in it:
            return self.object(it)
        ((kind, content),) = it.items()
        match kind:
            case "again":
                return self.objects[content]
            case "Parameter":
                if content not in self.weights:
                    weight = nn.Parameter(self.tensors[content], requires_grad=False)
                    self.weights[content] = weight
                return self.weights[content]
            case "Tensor":
                return self.tensors[content]
            case "array":
                return self.arrays.setdefault(content, self.tensors[content].numpy())
            case "ModuleList":
                made = nn.ModuleList()
                self.objects.append(made)
                return made.extend(self.value(part) for part in content)
            case "dict":
                return {self.value(key): self.value(value) for key, value in content}
            case "function":
                return _found(content)
            case "partial":
                function, args, named = content
                return partial(_found(function["function"]), *self.value(args), **self.value(named))
            case "method":
                name, its = content
                return MethodType(vars(type(made := self.value(its)))[name], made)
            case _:
                return MADE_OF[kind](self.value(content))

    def object(self, it: dict[str, Any]) -> Any:
        kind, place = _found(str(it["class"])), len(self.objects)
        if not isinstance(kind, type) or ("items" in it) != issubclass(kind, tuple):
            raise InputError(
                f"the file gives the class {it['class']} to an object of another kind: "
                "restore the file"
            )
        self.objects.append(None)
        if "items" in it:
            self.objects[place] = tuple.__new__(kind, self.value(it["items"]))
            return self.objects[place]
        made: Any = object.__new__(kind)
        self.objects[place] = made
        fields = {key: self.value(value) for key, value in it["fields"].items()}
        for name, declared in _declared(kind):
            if name in fields:
                declared.read(name, fields[name])
        if not isinstance(made, nn.Module):  # frozen dataclasses do not allow assignment
            vars(made).update(fields)
            return made
        nn.Module.__init__(made)
        for key, value in fields.items():
            setattr(made, key, value)
        return made


@cache
def _declared(made: type) -> list[tuple[str, Kind]]:
    """The kinds of the parameters of the constructors of a class and of its base classes."""
    kinds = (item for base in made.__mro__ for item in (kinds_of(base) or {}).items())
    return [(name, kind) for name, kind in kinds if kind is not None]
