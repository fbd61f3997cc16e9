"""The decorator that reads every argument of a function by the kind in its annotation."""

from __future__ import annotations

import inspect
import sys
from collections import ChainMap, abc
from collections.abc import Callable, Mapping
from decimal import DecimalException
from functools import lru_cache, partial, wraps
from itertools import starmap
from traceback import walk_tb
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import numpy as np

from theory.kinds.arrays import LEADING, Array, Sizes, contain
from theory.kinds.errors import (
    TOO_MANY_DIGITS,
    InputError,
    MemoryRefused,
    represented,
    shown,
    shown_all,
)
from theory.kinds.kind import Kind, Within
from theory.kinds.numbers import Whole
from theory.kinds.objects import Choice, Either, Function, Instance, Many, Maybe, Truth

F = TypeVar("F", bound=Callable[..., Any])
MANY: dict[Any, type] = {
    **{into: into for into in (list, tuple, set, frozenset)},
    **dict.fromkeys((abc.Iterable, abc.Collection, abc.Sequence), list),
    abc.Set: frozenset,
}
ORDER = (None, *LEADING)
CLASSES: dict[Any, Kind] = {bool: Truth(), str: Instance(str, "text", "a")}
MEMORY = "needs more memory than is available: give smaller sizes"
RANGE = "overflows, or divides by a number rounded to 0: give numbers closer to 1"
LIMITS: dict[type[Exception], str] = {
    **dict.fromkeys(
        (OverflowError, ZeroDivisionError, DecimalException, FloatingPointError), RANGE
    ),
    MemoryError: MEMORY,
    RecursionError: "needs too many nested calls: give smaller sizes",
}
"""Errors of Python where a computation with allowed arguments exceeds a limit of the machine."""
TEXTS = {
    TOO_MANY_DIGITS: "would write an integer of more digits than Python prints: give "
    "smaller numbers",
    "array is too big": MEMORY,
    "Maximum allowed": MEMORY,
    "you tried to allocate": MEMORY,
    "Overflow when unpacking long": MEMORY,
}
"""Parts of the messages of errors of Python, numpy and torch for the same reason."""
ERRORS: tuple[type[Exception], ...] = (*LIMITS, RuntimeError, TypeError, ValueError)
ENTRIES = 10**8
"""Of larger arrays, a message has not the largest entry."""
NO_KIND = {Any, int, float, complex, object, np.ndarray, np.random.Generator, NoneType}
"""Classes that are too general for a check: parameters of these classes need a kind."""


def checked(function: F) -> F:
    """Decorates a function or dataclass so that its arguments are checked and converted.

    The annotation of a parameter declares its kind, which checks and converts the values (`Kind`).
    The function gets the converted values; defaults are not converted. For a dataclass, the kinds
    are declared by its fields. Parameters whose annotation declares no kind, *args and **kwargs are
    passed on unchecked. InputError for a wrong argument is raised before the function is entered.
    An overflow or a division by 0, a MemoryError or a RecursionError of the function, or an error
    of torch for memory, becomes an InputError that names the numbers given and the largest entries
    of arrays, and so does an overflow or a division by 0 of numpy, unless an argument is a function
    or all arguments are objects, as those of models are: then numpy warns. The error for memory
    (`MemoryRefused`) ends with the integers, texts, shapes and names given. An error that is raised
    in a function that is an argument is not changed. Missing or unknown arguments raise Python's
    TypeError.
    """
    if isinstance(function, type):
        made = function.__init__  # type: ignore[misc]
        modules = (vars(sys.modules[base.__module__]) for base in function.__mro__)
        names = ChainMap(
            made.__globals__, *modules
        )  # fields may belong to the class of another module
        function.__init__ = _checked(made, names)  # type: ignore[misc]
        return function
    return _checked(function, inspect.unwrap(function).__globals__)


def _checked(function: F, names: Mapping[str, Any]) -> F:
    signature: Signature | None = None

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal signature
        if signature is None:
            signature = Signature(function, names)
        given: list[Any] = []
        try:
            for (name, kind), value in zip(signature.positional, args, strict=False):
                given.append(value if kind is None else kind.read(name, value))
            given += args[len(given) :]
            if kwargs:
                for name, kind in signature.by_name:
                    if name in kwargs:
                        kwargs[name] = kind.read(name, kwargs[name])
            if signature.related:
                signature.relate(given, kwargs)
            if not signature.numeric:
                return function(*given, **kwargs)
            with np.errstate(over="raise", divide="raise", under="ignore"):
                return function(*given, **kwargs)
        except ERRORS as error:
            places = zip(signature.positional, given, strict=False)
            values = {name: value for (name, _), value in places} | kwargs
            if isinstance(error, MemoryRefused):
                error.given(shown_all(filter(None, starmap(_room, values.items()))))
            if isinstance(error, InputError) or not (limit := _limit(error)):
                raise
            codes = {
                _code(each)
                for value in values.values()
                for each in (value.values() if isinstance(value, dict) else [value])
            }
            if any(frame.f_code in codes for frame, _ in walk_tb(error.__traceback__)):
                raise  # an error of the caller's function
            given_ones = shown_all(words for words in starmap(_size, values.items()) if words)
            at = f" at {given_ones}" * bool(given_ones)
            raise InputError(f"{function.__name__}{at} {limit}") from error

    vars(call)["__kinds__"] = lambda: parameter_kinds(function, names)
    return call  # type: ignore[return-value]


def _code(value: Any) -> Any:
    """The code that runs if the value is called, or None if it is not written in Python."""
    while isinstance(value, partial):
        value = value.func
    called = value if hasattr(value, "__code__") else vars(type(value)).get("__call__")
    return getattr(called, "__code__", None)


def _limit(error: Exception) -> str:
    """The limit of the machine that an error is about, or "" for other errors."""
    by_class = (words for kind, words in LIMITS.items() if isinstance(error, kind))
    by_text = (words for part, words in TEXTS.items() if part in str(error))
    return next(by_class, "") or next(by_text, "")


def _size(name: str, value: Any) -> str:
    """A number with its name, or the largest entry of an array of numbers; "" for other values."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "if" and 0 < value.size <= ENTRIES:
        return f"max |{name}| = {max(abs(value.max().item()), abs(value.min().item())):.3g}"
    return f"{name} = {shown(value)}" if isinstance(value, int | float) else ""


def _room(name: str, value: Any) -> str:
    """What the memory depends on: an integer, a text, a shape or a name; "" for other values."""
    if isinstance(shape := getattr(value, "shape", None), tuple):  # also that of a tensor
        return f"{name} has shape {shown(tuple(shape))}"
    value = getattr(value, "name", value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{name} is {represented(value)}"  # of which the message leaves out digits
    return f"{name} is {shown(value)}" if isinstance(value, str) else ""


def kinds_of(function: Any) -> dict[str, Kind | None] | None:
    """The kinds of a function's or class's parameters by name, or None if it is not `checked`.

    A kind checks and converts the values of a parameter. For a parameter whose annotation
    declares no kind, the result contains None.
    """
    made = vars(function).get("__init__") if isinstance(function, type) else function
    kinds: Callable[[], dict[str, Kind | None]] | None = getattr(made, "__kinds__", None)
    return None if kinds is None else kinds()


class Signature:
    """The kinds of a function's parameters, resolved once."""

    def __init__(self, function: Callable[..., Any], names: Mapping[str, Any]) -> None:
        kinds = parameter_kinds(function, names)
        parameters = inspect.signature(function).parameters.values()
        self.positional = tuple(
            (p.name, kinds.get(p.name))
            for p in parameters
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        )
        self.by_name = tuple((name, kind) for name, kind in kinds.items() if kind is not None)
        bare = {name: kind.kind if isinstance(kind, Maybe) else kind for name, kind in self.by_name}
        arrays = [(name, kind) for name, kind in bare.items() if isinstance(kind, Array)]
        # Arrays with equal leading dimensions come before those that broadcast with them.
        self.arrays = sorted(arrays, key=lambda each: ORDER.index(each[1].leading))
        self.whole = tuple(name for name, kind in bare.items() if isinstance(kind, Whole))
        self.limited = tuple(
            (name, kind)
            for name, kind in bare.items()
            if isinstance(kind, Array | Whole) and kind.within.named
        )
        self.related = bool(self.arrays or self.limited)
        # numpy warns of overflows in functions that are given: what they mean is up to the caller.
        # Methods of models take objects: torch.compile, which traces them, has no numpy.errstate.
        given = any(isinstance(kind, Function) for kind in bare.values())
        objects = all(isinstance(kind, Instance) for kind in bare.values())
        self.numeric = not given and not objects

    def relate(self, given: list[Any], named: dict[str, Any]) -> None:
        """Checks the sizes and limits that relate several arguments; raises InputError."""
        places = zip(self.positional, given, strict=False)
        values = {name: value for (name, _), value in places} | named
        sizes: Sizes = {
            name: (name, values[name]) for name in self.whole if values.get(name) is not None
        }
        for name, array in self.arrays:
            if values.get(name) is not None:
                array.fit(name, values[name].shape, sizes)
        for name, kind in self.limited:
            if (value := values.get(name)) is not None:
                _hold_limits(name, value, kind, sizes)


def _hold_limits(name: str, value: Any, kind: Array | Whole, sizes: Sizes) -> None:
    within = kind.within.with_sizes(sizes)
    whole = isinstance(kind, Whole)
    if not np.size(value):
        return
    for extreme in (value,) if whole else (value.min().item(), value.max().item()):
        if not within.contains(extreme):
            has = f"{name} is" if whole else f"{name} {contain(name)}"
            size = kind.within.named
            who, number = sizes[str(size)]
            known = size if who == size else f"{size} of {who}"
            raise InputError(
                f"{has} {shown(extreme)} and {known} is {shown(number)}: give {kind.what}"
            )


def parameter_kinds(
    function: Callable[..., Any], names: Mapping[str, Any]
) -> dict[str, Kind | None]:
    """The kind of each parameter except self, *args and **kwargs; None if no kind is declared.

    Annotations are evaluated in the namespace `names`.
    """
    kinds: dict[str, Kind | None] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        hint = parameter.annotation
        if hint is parameter.empty and parameter.name in ("self", "cls"):
            continue
        if isinstance(hint, str):
            hint = eval(hint, {}, names)
        kinds[parameter.name] = None if hint is parameter.empty else kind_of(hint)
    return kinds


def read(hint: Any, name: str, value: Any, **limits: float) -> Any:
    """Checks and converts one value, as `checked` does with the arguments of a function.

    The value is, for example, that of a command-line option. `hint` is an annotation that declares
    the kind of the value, `name` is the name of the value in messages, and `limits` are the
    arguments of `Within`, such as least=0.
    """
    return _limited(hint, **limits).read(name, value)


@lru_cache
def _limited(hint: Any, **limits: float) -> Kind:
    kind = kind_of(hint)
    if kind is None:
        raise TypeError(f"{hint} declares no kind")
    return kind.narrowed(Within(**limits)) if limits else kind


def kind_of(hint: Any) -> Kind | None:
    """The kind that an annotation declares, or None if it declares no kind.

    A kind checks and converts the values of a parameter (`Kind`).
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        declared = next((each for each in inner[1:] if isinstance(each, Kind)), None)
        kind = declared or kind_of(inner[0])
        for each in inner[1:]:
            if isinstance(each, Within):
                if kind is None:
                    raise TypeError(f"{hint} has limits but declares no kind")
                kind = kind.narrowed(each)
        return kind
    if origin in (Union, UnionType):
        return _union(inner)
    if origin is Literal:
        return Choice(inner)
    if origin is abc.Callable:
        return Function()
    if origin in MANY and (origin is not tuple or inner[-1:] == (...,)):
        return Many(kind_of(inner[0]), MANY[origin], origin is abc.Iterable)
    if hint in CLASSES:
        return CLASSES[hint]
    of = origin or hint
    return Instance(of) if isinstance(of, type) and of not in NO_KIND else None


def _union(hints: tuple[Any, ...]) -> Kind | None:
    kinds = [kind_of(each) for each in hints if each is not NoneType]
    known = tuple(each for each in kinds if each is not None)
    if len(known) < len(kinds):
        return None
    kind = known[0] if len(known) == 1 else Either(known)
    return Maybe(kind) if NoneType in hints else kind
