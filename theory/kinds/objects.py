"""Kinds of values that are not numbers: choices, texts, objects, functions, files, lists."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from theory.kinds.errors import InputError
from theory.kinds.kind import Kind, Within, is_integer
from theory.kinds.numbers import Whole


@dataclass(frozen=True)
class Choice(Kind):
    """The kind of a parameter that is one word or number from a list.

    It is declared by an annotation such as `Literal["gram", "identity"]`.

    A kind checks and converts the values of a parameter (`Kind`).
    """

    allowed: tuple[Any, ...]

    @property
    def what(self) -> str:
        return " or ".join(map(repr, self.allowed))

    @property
    def example(self) -> Any:
        return self.allowed[0]

    @property
    def wrong(self) -> tuple[Any, ...]:
        return (None, object(), "", f"{self.allowed[0]} ", [self.allowed[0]], [], 1.5, b"a")

    def read(self, name: str, value: Any) -> Any:
        if not (isinstance(value, str) or is_integer(value)):
            raise self.error(name, value)
        if value not in self.allowed:
            raise self.error(name, value)
        return self.allowed[self.allowed.index(value)]


@dataclass(frozen=True)
class Truth(Kind):
    """The kind of a parameter that is True or False, of Python or numpy, declared by `bool`.

    A kind checks and converts the values of a parameter (`Kind`).
    """

    what = "True or False"
    example = True
    wrong = (None, object(), 0, 1, 1.0, "True", "", [], [True], np.array([True]))

    def read(self, name: str, value: Any) -> bool:
        if not isinstance(value, bool | np.bool_):
            raise self.error(name, value)
        return bool(value)


@dataclass(frozen=True)
class Instance(Kind):
    """The kind of a parameter that is an object of a class, or of one of several classes.

    An annotation that is a class declares this kind. With
    `Annotated[LogLinear, Instance(LogLinear, "a model of log_linear")]`, error messages describe
    the object by the given words instead of the name of the class.

    A kind checks and converts the values of a parameter (`Kind`).
    """

    of: type | tuple[type, ...]
    how: str = ""
    some: Any = None
    """An example, or a function that returns an example; None if there is none."""

    @property
    def what(self) -> str:
        kinds = self.of if isinstance(self.of, tuple) else (self.of,)
        return self.how or " or ".join(f"{article(k.__name__)} {k.__name__}" for k in kinds)

    @property
    def example(self) -> Any:
        return self.some

    @property
    def wrong(self) -> tuple[Any, ...]:
        others: tuple[Any, ...] = (None, object(), 1, 1.5, "a", b"a", [], (), {}, 1j, np.zeros(2))
        return tuple(each for each in others if not isinstance(each, self.of))

    def read(self, name: str, value: Any) -> Any:
        if not isinstance(value, self.of):
            raise self.error(name, value)
        return value


def article(word: str) -> str:
    """The article "a", or "an" if the word begins with a vowel."""
    return "an" if word[:1].lower() in "aeiou" else "a"


@dataclass(frozen=True)
class Function(Kind):
    """The kind of a parameter that is callable, declared by an annotation `Callable[…]`.

    A kind checks and converts the values of a parameter (`Kind`).
    """

    what = "a function"
    example = staticmethod(lambda *given: given[0] if given else None)
    wrong = (None, object(), 1, "a", [], np.zeros(2))

    def read(self, name: str, value: Any) -> Callable[..., Any]:
        if not callable(value):
            raise self.error(name, value)
        return value


@dataclass(frozen=True)
class File(Kind):
    """The kind of a parameter that is the path of a file, as text or Path; it is converted to Path.

    The file need not exist. The empty text and names that no file system takes are rejected.

    A kind checks and converts the values of a parameter (`Kind`).
    """

    holds: str = ""

    @property
    def what(self) -> str:
        return f"the path of a file{f' with {self.holds}' * bool(self.holds)}"

    example = Path("example.json")
    wrong = (None, object(), 1, b"a", [], ["a"], "", "a" * 300, "a\0b", "a\ud800")

    def read(self, name: str, value: Any) -> Path:
        if not isinstance(value, str | Path) or value == "" or "\0" in str(value):
            raise self.error(name, value)
        path = Path(value)
        try:
            parts = [os.fsencode(part) for part in path.parts]
        except UnicodeEncodeError:
            raise self.error(name, value) from None
        if any(len(part) > 255 for part in parts):
            raise self.error(name, value)
        return path


@dataclass(frozen=True)
class Many(Kind):
    """The kind of a parameter that consists of several values of the kind `each`.

    It is declared by an annotation such as `tuple[Count, ...]`. If `each` is None, any values are
    allowed. The values become an object of the class `into`: list, tuple, set or frozenset. With
    `keeps_ranges`, which is for parameters that are only iterated, a `range` of integers is not
    converted, however long it is; its first and last entries are checked.

    A kind checks and converts the values of a parameter (`Kind`).
    """

    each: Kind | None
    into: type = list
    keeps_ranges: bool = False

    @property
    def what(self) -> str:
        name = self.into.__name__
        return f"{article(name)} {name}" + (f", each {self.each.what}" if self.each else "")

    @property
    def example(self) -> Any:
        return self.into([self.each.example] if self.each else [])

    @property
    def wrong(self) -> tuple[Any, ...]:
        if self.each is None:
            return (None, object(), 1, 1.5, "ab", np.array(1))
        right = [self.each.example] * 9  # so that the wrong entry is also tried far from the first
        inside = ([*before, each] for each in self.each.wrong for before in ([], right))
        return (None, object(), 1, 1.5, "ab", np.array(1), *inside)

    def read(self, name: str, value: Any) -> Any:
        if isinstance(value, str | bytes):
            raise self.error(name, value)
        if self.keeps_ranges and isinstance(value, range) and isinstance(self.each, Whole):
            for i in {0, value.index(value[-1])} if value else ():  # len would overflow
                self.each.read(f"{name}[{i}]", value[i])
            return value
        try:
            entries = list(value)
        except (TypeError, RuntimeError):  # RuntimeError: tensors
            raise self.error(name, value) from None
        if self.each is not None:
            entries = [self.each.read(f"{name}[{i}]", entry) for i, entry in enumerate(entries)]
        try:
            return self.into(entries)
        except TypeError:  # entries of a set that are not hashable
            raise self.error(name, value) from None

    def narrowed(self, within: Within) -> Kind:
        if self.each is None:
            return super().narrowed(within)
        return Many(self.each.narrowed(within), self.into, self.keeps_ranges)


@dataclass(frozen=True)
class Maybe(Kind):
    """The kind of a parameter that is None or of another kind.

    It is declared by an annotation such as `Positive | None`.

    A kind checks and converts the values of a parameter (`Kind`).
    """

    kind: Kind

    @property
    def what(self) -> str:
        return f"{self.kind.what}, or None"

    @property
    def example(self) -> Any:
        return self.kind.example

    @property
    def wrong(self) -> tuple[Any, ...]:
        return tuple(each for each in self.kind.wrong if each is not None)

    def read(self, name: str, value: Any) -> Any:
        return None if value is None else self.kind.read(name, value)

    def narrowed(self, within: Within) -> Kind:
        return Maybe(self.kind.narrowed(within))


@dataclass(frozen=True)
class Either(Kind):
    """The kind of a parameter whose values are of one of several kinds.

    It is declared by an annotation such as `Formula | str`. A value is read by the first kind that
    accepts it.

    A kind checks and converts the values of a parameter (`Kind`).
    """

    kinds: tuple[Kind, ...]

    @property
    def what(self) -> str:
        return " or ".join(kind.what for kind in self.kinds)

    @property
    def example(self) -> Any:
        return next((e for e in (kind.example for kind in self.kinds) if e is not None), None)

    @property
    def wrong(self) -> tuple[Any, ...]:
        return tuple(each for kind in self.kinds for each in kind.wrong if not self._takes(each))

    def _takes(self, value: Any) -> bool:
        try:
            self.read("value", value)
        except InputError:
            return False
        return True

    def read(self, name: str, value: Any) -> Any:
        for kind in self.kinds:
            try:
                return kind.read(name, value)
            except InputError:
                continue
        raise self.error(name, value)
