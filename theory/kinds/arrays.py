"""Kinds of arrays: numbers of one type, in a shape with named dimensions.

A shape is written as "... n d": sizes with names or numbers, each at least 1, after any leading
dimensions.  Within one call, dimensions with the same name have the same size; an integer parameter
with this name has it as its value.  The leading dimensions come first and are one of

    ...     the same in all arrays of the call that have them
    +...    to be broadcast with those of the other arrays, in any direction
    #...    to be broadcast to the common leading dimensions of the others, as for one number per
            prompt

"" is a single number; only "..." or "+..." is an array of any shape with at least one entry.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real as Number
from typing import Any, ClassVar

import numpy as np

from theory.kinds.errors import InputError, shown
from theory.kinds.kind import ANY, Kind, Within

LEADING = ("...", "+...", "#...")
ALL = "leading"
MOST_DIMENSIONS = 32
"""The number of dimensions of which all functions of numpy are capable."""
Sizes = dict[str, tuple[str, Any]]
"""For each dimension, the parameter that gave its size, and the size."""


def has(name: str) -> str:
    """Returns "has" for a parameter's name, or "have" if the name is a plural such as "tokens"."""
    return "have" if name.endswith("s") or " and " in name else "has"


def contain(name: str) -> str:
    """Returns "contains" for a parameter's name, or "contain" for a plural such as "tokens"."""
    return "contain" if name.endswith("s") else "contains"


def array_of(name: str, value: Any) -> np.ndarray:
    """Returns a value as a numpy array; the value can be a tensor or nested lists, for example.

    A tensor is first detached and copied to the CPU. Raises ValueError if the value cannot be read
    as an array. The message contains `name`, the name of the parameter.
    """
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InputError(
            f"{name} {has(name)} masked entries: replace them, for example with {name}.filled(0)"
        )
    torch = sys.modules.get("torch")  # which is imported if there is a tensor
    try:
        if torch is not None and isinstance(value, torch.Tensor):
            value = value.detach().cpu()
            if str(value.dtype).startswith(("torch.bfloat16", "torch.float8")):  # numpy lacks them
                value = value.float()
        array = np.asarray(value)
    except MemoryError:
        raise InputError(
            f"{name} {has(name)} more entries than fit in memory: give a smaller array"
        ) from None
    except (ValueError, TypeError, RuntimeError, NotImplementedError) as error:
        if "inhomogeneous" in str(error):
            raise InputError(
                f"{name} {has(name)} rows of different lengths: give rows of equal length"
            ) from None
        kind = type(value).__name__
        raise InputError(
            f"{name} is of type {kind} and cannot be converted to an array: give a dense array "
            "with stored numbers"
        ) from None
    if array.ndim > MOST_DIMENSIONS:
        raise InputError(
            f"{name} {has(name)} {array.ndim} dimensions: give at most {MOST_DIMENSIONS}"
        )
    return array


def real(name: str, value: Any, booleans: bool = False) -> np.ndarray:
    """Returns a value as a float64 array.

    Raises ValueError for entries that are not real numbers or overflow float64. The message
    contains `name`, the name of the parameter. False and True become 0 and 1 if `booleans` is true,
    and are not numbers otherwise.
    """
    array = array_of(name, value)
    numbers = array.dtype.kind in ("biuf" if booleans else "iuf")
    if array.dtype.kind == "O":  # fractions, and integers of more than 64 bits
        numbers = all(_is_number(entry) for entry in array.flat)
    if not numbers:
        raise InputError(f"{name} is of type {_kind(array)}: give an array of real numbers")
    try:
        with np.errstate(over="raise"):
            return array.astype(np.float64, copy=False)
    except (OverflowError, FloatingPointError):
        raise InputError(
            f"{name} {contain(name)} a number that overflows float64, whose largest "
            f"number is 1.8e308: rescale {name}"
        ) from None


def _is_number(entry: Any) -> bool:
    return isinstance(entry, Number) and not isinstance(entry, bool)


def _kind(array: np.ndarray) -> str:
    """The type of the entries, for a message: "text", a dtype, or the class of a wrong entry."""
    if array.dtype.kind in "US":
        return "text"
    if array.dtype.kind != "O":
        return str(array.dtype)
    return type(next(entry for entry in array.flat if not _is_number(entry))).__name__


@dataclass(frozen=True)
class Array(Kind):
    """The base class of kinds of arrays: a kind checks and converts the values of a parameter.

    `shape` is the shape in words, such as "... n d": in one call, dimensions with the same name
    must be equal. `within` contains limits of the entries.
    """

    shape: str = "..."
    within: Within = ANY
    empty: bool = False
    """Whether named dimensions may be 0."""

    entries: ClassVar[str]

    def __post_init__(self) -> None:
        if any(each in LEADING for each in self.dims):
            raise ValueError(
                f"the leading dimensions are not first in the shape {self.shape!r}: write the "
                "leading dimensions first"
            )

    @cached_property
    def leading(self) -> str | None:
        words = self.shape.split()
        return words[0] if words and words[0] in LEADING else None

    @cached_property
    def dims(self) -> tuple[str, ...]:
        words = self.shape.split()
        return tuple(words[1:] if self.leading else words)

    @property
    def what(self) -> str:
        dots = ("…",) if self.leading else ()
        shape = ", ".join((*dots, *self.dims)) + ("," if len(dots + self.dims) == 1 else "")
        return f"{self.entries}{self.within} of shape ({shape})"

    def narrowed(self, within: Within) -> Kind:
        return replace(self, within=self.within.narrowed(within))

    @property
    def example(self) -> Any:
        return self.sample({})

    def sample(self, sizes: Mapping[str, int]) -> np.ndarray:
        """Returns an example of an allowed array, whose named dimensions have the given sizes.

        Dimensions that are not in `sizes` have size 2.
        """
        shape = tuple(int(d) if d.isdigit() else sizes.get(d, 2) for d in self.dims)
        usual = self._usual(shape)
        entries = [self.within.near(each) for each in usual.ravel().tolist()]
        return np.array(entries, dtype=usual.dtype).reshape(shape)

    @property
    def wrong(self) -> tuple[Any, ...]:
        right = self.example
        wrong = [None, object(), "ab", [["a"] * 2] * 2, [None, 1], right + 1j]
        wrong += [[[1, 2], [3]]] if right.ndim else [[[1], [2, 3]]]
        if not self.leading:
            wrong += [right[None], right[None, None]]
        if self.dims:
            wrong += [right.flat[0], right.flat[0].item()]
            wrong += [] if self.empty and len(self.dims) == 1 else [[], ()]
            wrong += [] if self.empty else [right[..., :0]]
        if len(self.dims) > 1:
            wrong += [right[0]]
        if len(set(self.dims)) < len(self.dims):
            wrong += [np.concatenate([right, right], axis=-1)]
        if self.leading and not self.dims and not self.empty:
            wrong += [[], np.zeros((0, 2), dtype=int)]
        for outside in self.within.outside():
            one = right.copy()
            one[(-1,) * right.ndim] = outside
            wrong.append(one)
        return tuple(wrong)

    def read(self, name: str, value: Any) -> np.ndarray:
        array = array_of(name, value)
        # the shape first: a message about the shape helps more than one about the dtype
        if self.dims or not self.leading:
            self.fit(name, array.shape)
        elif not (array.size or self.empty):
            raise InputError(
                f"{name} {has(name)} shape {array.shape}: give an array with at least one entry"
            )
        array = self._entries(name, array)
        if array.size and self.within != ANY:
            for extreme in (array.min().item(), array.max().item()):
                if not self.within.contains(extreme):
                    raise self.contains(name, extreme)
        return array

    def fit(self, name: str, shape: Sequence[int], sizes: Sizes | None = None) -> None:
        """Raises ValueError if an array has a shape that is not allowed.

        This kind must allow the shape, and dimensions with the same name must be equal.
        `shape` is the shape of the array. `sizes` contains the sizes of named dimensions of the
        other arrays of the same call, by name. The dimensions of this array are added to `sizes`.
        `name` is the name of the array in the message.
        """
        shape, sizes = tuple(shape), {} if sizes is None else sizes
        dims, last = self.dims, len(shape) - len(self.dims)
        fits = last >= 0 if self.leading else last == 0
        if not fits or not (self.empty or all(shape[last:])):
            found = zip(dims, shape[last:], strict=True) if fits else ()
            named = [f"{dim} ≥ 1" for dim, size in found if not size and not dim.isdigit()]
            least = f" with {' and '.join(named)}" * bool(named)
            raise InputError(f"{name} {has(name)} shape {shape}: give {self.what}{least}")
        for dim, size in zip(dims, shape[last:], strict=True):
            who, wanted = ("", int(dim)) if dim.isdigit() else sizes.setdefault(dim, (name, size))
            if size != wanted:
                other = who if who in ("", dim) or who == name else f"{dim} of {who}"
                known = f" and {other} is {wanted}" if who not in ("", name) else ""
                raise InputError(f"{name} {has(name)} shape {shape}{known}: give {self.what}")
        if self.leading:
            self._fit_leading(name, shape[:last], sizes)

    def _fit_leading(self, name: str, leading: tuple[int, ...], sizes: Sizes) -> None:
        who, others = sizes.setdefault(ALL, (name, leading))
        try:
            together = np.broadcast_shapes(leading, others)
        except ValueError:
            together = None
        if self.leading == "...":
            fits, how = leading == others, "give the same leading dimensions"
        elif self.leading == "+...":
            fits, how = together is not None, "give leading dimensions that broadcast"
            sizes[ALL] = f"{who} and {name}" if who != name else name, together
        else:
            fits, how = together == others, "give one number, or one number for each prompt"
        if not fits:
            mine = f"{name} {has(name)} leading dimensions {leading}"
            raise InputError(f"{mine} and {who} {has(who)} {others}: {how}")

    def contains(self, name: str, entry: Any, remedy: str = "") -> InputError:
        """The error for a wrong entry, with the message `<name> contains <entry>: give <what>`.

        `name` is the name of the array, `what` are the allowed values, and `remedy` is appended to
        the message.
        """
        return InputError(f"{name} {contain(name)} {entry}: give {self.what}{remedy}")

    def _entries(self, name: str, array: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _usual(self, shape: tuple[int, ...]) -> np.ndarray:
        """An array of this shape with arbitrary entries of this kind."""
        raise NotImplementedError


@dataclass(frozen=True)
class Reals(Array):
    """The kind of parameters that are arrays of finite real numbers; they are converted to float64.

    Fractions are allowed as entries.

    A kind checks and converts the values of a parameter (`Kind`).
    """

    entries = "finite numbers"

    @property
    def wrong(self) -> tuple[Any, ...]:
        right, wrong = self.example, list(super().wrong)
        for entry in (math.nan, math.inf, -math.inf):
            one = right.copy()
            one[(0,) * right.ndim] = entry
            wrong.append(one)
        wrong += [right > 0, (right > 0).astype(object)]
        return (*wrong, np.full(right.shape, 10**400, dtype=object))

    def _entries(self, name: str, array: np.ndarray) -> np.ndarray:
        if array.dtype.kind == "b" and not array.ndim:
            raise self.error(name, bool(array))
        array = real(name, array)
        if not np.isfinite(array).all():
            raise self.contains(name, array[~np.isfinite(array)].flat[0])
        return array

    def _usual(self, shape: tuple[int, ...]) -> np.ndarray:
        if len(shape) > 1 and self.dims[-1] == self.dims[-2]:
            return np.broadcast_to(np.eye(shape[-1]), shape)
        return np.asarray(0.5 + np.arange(math.prod(shape)).reshape(shape) / 4 % 2)


@dataclass(frozen=True)
class Numbers(Reals):
    """The kind of parameters that are arrays of finite real numbers, in which integers stay exact.

    Arrays of integers are converted to int64, all other arrays to float64.

    A kind checks and converts the values of a parameter (`Kind`).
    """

    def _entries(self, name: str, array: np.ndarray) -> np.ndarray:
        whole = array.dtype.kind in "iu"
        if whole and not (array.size and int(array.max()) >= 2**63):
            return array.astype(np.int64, copy=False)
        return super()._entries(name, array)


@dataclass(frozen=True)
class Integers(Array):
    """The kind of parameters that are arrays of an integer dtype; they are converted to int64.

    Arrays of Booleans, and arrays of floats such as 1.0, are rejected.

    A kind checks and converts the values of a parameter (`Kind`).
    """

    entries = "integers"

    @property
    def wrong(self) -> tuple[Any, ...]:
        right = self.example
        return (
            *super().wrong,
            right + 0.5,
            right.astype(float),
            right > 0,
            right.astype("timedelta64[D]"),
            right.astype(object) + 2**64,
        )

    def _entries(self, name: str, array: np.ndarray) -> np.ndarray:
        for entry in array.flat if array.dtype.kind == "O" else ():
            if type(entry) is int and not -(2**63) <= entry < 2**63:
                raise self.contains(name, shown(entry), "; int64 ends at 9223372036854775807")
        if array.dtype.kind not in "iu":
            dtype = "text" if array.dtype.kind in "US" else array.dtype
            raise InputError(f"{name} {has(name)} entries of type {dtype}: give {self.what}")
        if array.dtype.kind == "u" and array.size and int(array.max()) >= 2**63:
            raise self.contains(name, array.max(), "; int64 ends at 9223372036854775807")
        return array.astype(np.int64)

    def _usual(self, shape: tuple[int, ...]) -> np.ndarray:
        return np.asarray(np.arange(math.prod(shape)).reshape(shape) % 2)


@dataclass(frozen=True)
class Signs(Array):
    """The kind of parameters that are arrays with entries −1 and +1, integers or floats.

    The arrays are converted to int64.

    A kind checks and converts the values of a parameter (`Kind`).
    """

    entries = "numbers that are −1 or +1"

    @property
    def wrong(self) -> tuple[Any, ...]:
        right = self.example
        return (*super().wrong, right > 0, right * 0, right * 2, right * math.nan)

    def _entries(self, name: str, array: np.ndarray) -> np.ndarray:
        if array.dtype.kind not in "iuf":
            raise InputError(f"{name} {has(name)} dtype {array.dtype}: give {self.what}")
        bad = (array != 1) & (array != -1)
        if bad.any():
            raise self.contains(name, array[bad].flat[0], "; for 0 and 1 give 2·x − 1")
        return array.astype(np.int64)

    def _usual(self, shape: tuple[int, ...]) -> np.ndarray:
        return np.asarray(np.arange(math.prod(shape)).reshape(shape) % 2 * 2 - 1)
