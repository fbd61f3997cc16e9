"""What every room of the project asks of its inputs, and how it says no.

The checks take shapes and numbers rather than arrays where they can, so that the numpy side and
the torch side share one wording. Each raises `ValueError` with one line: what is wrong with the
offending numbers, and what to do.

Shape glossary: `…` leading (batch) dimensions, `n` examples, `d` features.
"""

import json
from collections.abc import Sequence
from numbers import Real as Number
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

MOST_BYTES, MOST_LETTERS = 10**7, 60  # of a table in a file, and of a name in it


class InputError(ValueError):
    """The caller's input is wrong: one line that says what was wrong and what to do."""


T = TypeVar("T")
Real: TypeAlias = int | float | ArrayLike
"""A number, or an array of them (one per prompt, say)."""


def example_shapes(
    x_shape: Sequence[int], y_shape: Sequence[int], query_shape: Sequence[int] | None = None
) -> None:
    """Check the shapes of examples x (…, n, d), labels y (…, n) and a query x_query (…, d).

    The query's leading dimensions must broadcast with those of x. Raises `ValueError`.
    """
    x, y = tuple(x_shape), tuple(y_shape)
    if len(x) < 2 or len(y) < 1:
        raise InputError(f"x has shape {x} and y has shape {y}: x must be (…, n, d) and y (…, n)")
    if x[-2] < 1 or x[-1] < 1:
        raise InputError(
            f"x has {x[-2]} examples of dimension {x[-1]}: at least one of each is needed"
        )
    if y[-1] != x[-2]:
        raise InputError(
            f"y has {y[-1]} labels but x has {x[-2]} examples: x must be (…, n, d) and y (…, n)"
        )
    if x[:-2] != y[:-1]:
        raise InputError(
            f"x has leading dimensions {x[:-2]} but y has {y[:-1]}: give x and y the same ones"
        )
    if query_shape is None:
        return
    query = tuple(query_shape)
    if len(query) < 1 or query[-1] != x[-1]:
        raise InputError(
            f"x_query has shape {query} but the examples have dimension {x[-1]}: "
            f"x_query must be (…, {x[-1]})"
        )
    try:
        np.broadcast_shapes(query[:-1], x[:-2])
    except ValueError:
        raise InputError(
            f"x_query has leading dimensions {query[:-1]} and x has {x[:-2]}: "
            "they must broadcast; give one query per prompt"
        ) from None


def finite(name: str, is_finite: bool) -> None:
    """Raise `ValueError` unless `is_finite`, the caller's answer to "are all entries finite?"."""
    if not is_finite:
        raise InputError(f"{name} contains NaN or infinite entries: remove or impute them first")


def array_of(name: str, value: Any) -> np.ndarray:
    """`np.asarray(value)`, of tensors too; ValueError for what is not an array of numbers.

    A tensor on another device, or one that gradients flow to, is copied without them.
    """
    try:
        if callable(getattr(value, "detach", None)):
            value = value.detach().cpu()
            if str(value.dtype) == "torch.bfloat16":  # a format that numpy lacks
                value = value.float()
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError, NotImplementedError) as error:
        if "inhomogeneous" in str(error):
            has = "have" if name.endswith("s") else "has"
            raise InputError(f"{name} {has} rows of different lengths: give one array") from None
        kind = type(value).__name__
        raise InputError(
            f"{name} cannot be read as an array from this {kind}: give a dense one that holds data"
        ) from None


def real(name: str, value: Any) -> np.ndarray:
    """`value` as a float64 array; ValueError for complex entries and for what is no number."""
    array = array_of(name, value)
    numbers = array.dtype.kind in "biuf"
    if array.dtype.kind == "O":  # fractions, and integers of more than 64 bits
        numbers = all(isinstance(entry, Number) for entry in array.flat)
    if not numbers:
        raise InputError(f"{name} is of type {_kind(array)}: give real numbers")
    try:
        return array.astype(np.float64, copy=False)
    except OverflowError:
        raise InputError(f"{name} is beyond float64, which ends at 1.8e308: rescale") from None


def _kind(array: np.ndarray) -> str:
    """What someone who gave it would call it, or the first entry that is no number."""
    if array.dtype.kind in "US":
        return "text"
    if array.dtype.kind != "O":
        return str(array.dtype)
    return type(next(entry for entry in array.flat if not isinstance(entry, Number))).__name__


def positive(name: str, value: Real) -> np.ndarray:
    """`value` as a float64 array, every entry of which is finite and > 0; else `ValueError`."""
    array = real(name, value)
    bad = ~((array > 0) & (array < np.inf))
    if bad.any():
        raise InputError(
            f"{name} contains {array[bad].flat[0]}: give finite numbers greater than 0"
            if array.ndim
            else f"{name} is {array}: give a finite number greater than 0"
        )
    return array


def positive_number(name: str, value: Real) -> float:
    """`value` as a float, one finite number > 0 (a bool is none); else `ValueError`."""
    return _one(name, value, positive(name, value), "greater than 0")


def step_size(name: str, value: Real) -> float:
    """`positive_number`, and one of the normal numbers of float64; else `ValueError`.

    Below these, products are rounded to what is left of their digits.
    """
    number = positive_number(name, value)
    if number < np.finfo(np.float64).smallest_normal:
        raise InputError(
            f"{name} is {number:g}, below the normal numbers of float64 (2.2e-308): rescale inputs"
        )
    return number


def nonnegative_number(name: str, value: Real) -> float:
    """`value` as a float, one finite number ≥ 0 (a bool is none); else `ValueError`."""
    return _one(name, value, nonnegative(name, value), "that is at least 0")


def _one(name: str, value: Real, array: np.ndarray, kind: str) -> float:
    if array.ndim or isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} is {shown(value)}: give one number {kind}")
    return float(array)


def path_of(what: str, path: Any) -> Path:
    """The path of a file with `what`, given as text or as a Path; else `ValueError`."""
    if not isinstance(path, str | Path):
        raise InputError(f"path is {shown(path)}: give where a file with {what} is")
    return Path(path)


def table(path: Path, known: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a JSON file, of which the first of those `known` has to be there; a value that
    is no object is that field alone.

    Raises `ValueError` for a file that cannot be read, for what is not JSON, and for other fields.
    """
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is no file: give one with {known[0]}")
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path} has more than {MOST_BYTES} bytes: give a smaller table")
        given: Any = json.loads(path.read_text(encoding="utf-8"))
    except InputError:  # a ValueError too
        raise
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        where = " ".join(str(error).split())
        raise InputError(f"{path} is not JSON ({where}): give {known[0]}") from None
    fields = given if isinstance(given, dict) else {known[0]: given}
    unknown = sorted(fields.keys() - set(known))
    if unknown or known[0] not in fields:
        raise InputError(
            f"{path} has {', '.join(unknown) or f'no {known[0]}'}: give {known[0]!r}, and "
            f"{' and '.join(map(repr, known[1:]))} if wanted"
        )
    name = fields.get("name", "")
    if not isinstance(name, str) or not f"{name} ".isprintable() or len(name) > MOST_LETTERS:
        raise InputError(
            f"the name in {path} is {shown(name)}: give at most {MOST_LETTERS} printable letters"
        )
    return fields


def truth(name: str, value: Any) -> bool:
    """`value`, if it is True or False; else `ValueError`."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} is {shown(value)}: give True or False")
    return bool(value)


def per_prompt(name: str, value: Real, leading: Sequence[int]) -> np.ndarray:
    """`positive(name, value)`, checked to broadcast to the `leading` dimensions of the prompts."""
    array, leading = positive(name, value), tuple(leading)
    try:
        fits = np.broadcast_shapes(array.shape, leading) == leading
    except ValueError:
        fits = False
    if not fits:
        raise InputError(
            f"{name} has shape {array.shape} and the prompts have leading dimensions {leading}: "
            "give one number, or one per prompt"
        )
    return array


def nonnegative(name: str, value: Real) -> np.ndarray:
    """`value` as a float64 array, every entry of which is finite and ≥ 0; else `ValueError`."""
    array = real(name, value)
    bad = ~((array >= 0) & (array < np.inf))
    if bad.any():
        raise InputError(f"{name} contains {array[bad].flat[0]}: give finite numbers at least 0")
    return array


def listed(name: str, value: Any) -> list[Any]:
    """The entries of a list or the like; `ValueError` for what has none."""
    try:
        return list(value)
    except (TypeError, RuntimeError):  # tensors have reasons of their own
        kind = type(value).__name__
        raise InputError(f"{name} cannot be read from this {kind}: give a list") from None


def instance(name: str, value: Any, kind: type[T], how: str) -> T:
    """`value`, if it is of this kind; else `ValueError`, which says how to make one."""
    if not isinstance(value, kind):
        raise InputError(f"{name} is {shown(value)}: give {how}")
    return value


def generator(name: str, value: Any) -> np.random.Generator:
    """The generator of a seed ≥ 0, or the one that is given; else `ValueError`."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 0:
        return np.random.default_rng(value)
    return instance(name, value, np.random.Generator, "a seed, an integer ≥ 0, or a Generator")


def step_count(name: str, k: int, most: int | None = None) -> int:
    """`k` as an int, which must be an integer ≥ 0 (a bool or a float is not one), and ≤ `most`."""
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)) or k < 0:
        raise InputError(f"{name} is {shown(k)}: give an integer that is at least 0")
    return _at_most(name, int(k), most)


def _at_most(name: str, value: int, most: int | None) -> int:
    if most is not None and value > most:
        raise InputError(f"{name} is {shown(value)}: give at most {most}")
    return value


def integer(name: str, value: int) -> int:
    """`value` as an int, which must be an integer (a bool or a float is not one)."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise InputError(f"{name} is {shown(value)}: give an integer")
    return int(value)


def finite_number(name: str, value: Real) -> float:
    """`value` as a float, one finite number (a bool is none); else `ValueError`."""
    array = real(name, value)
    finite(name, bool(np.isfinite(array).all()))
    return _one(name, value, array, "that is finite")


def step_counts(name: str, k: Real) -> np.ndarray:
    """`k` as an int64 array, every entry of which must be an integer ≥ 0; else `ValueError`."""
    array = array_of(name, k)
    if not np.issubdtype(array.dtype, np.integer) or (array < 0).any() or array.size == 0:
        raise InputError(f"{name} is {shown(k)}: give integers that are at least 0")
    return array.astype(np.int64)


def dimension(name: str, value: int, most: int | None = None) -> int:
    """`value` as an int, which must be an integer ≥ 1 (a bool or a float is not one), ≤ `most`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(f"{name} is {shown(value)}: give an integer that is at least 1")
    return _at_most(name, int(value), most)


def shown(value: Any) -> str:
    """What was given, on one line and not at length."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer of more digits than Python prints
        text = "an integer of thousands of digits"
    return text if len(text) <= 60 else f"{text[:57]}…"


def one_of(name: str, value: str, allowed: Sequence[str]) -> None:
    """Raise `ValueError` unless `value` is one of the `allowed` words."""
    if value not in allowed:
        raise InputError(f"{name} is {value!r}: give {' or '.join(map(repr, allowed))}")


def examples(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """`x` (…, n, d) and `y` (…, n) as float64 arrays of matching shapes with finite entries."""
    x, y = real("x", x), real("y", y)
    example_shapes(x.shape, y.shape)
    finite("x", bool(np.isfinite(x).all()))
    finite("y", bool(np.isfinite(y).all()))
    return x, y


def tokens(name: str, value: ArrayLike, vocabulary_size: int | None = None) -> np.ndarray:
    """`value` (…, T), T ≥ 1, as an int64 array of integers ≥ 0 and < `vocabulary_size`.

    Raises `ValueError` for another dtype (bool is not one of integers), an entry outside the
    vocabulary, ragged lists, a single number and an empty sequence.
    """
    s, has = ("", "have") if name.endswith("s") else ("s", "has")
    array = array_of(name, value)
    if array.ndim < 1:
        raise InputError(f"{name} {has} shape (): give a sequence (…, T)")
    if array.shape[-1] < 1:
        raise InputError(
            f"{name} {has} shape {array.shape}: an empty sequence has no answer; "
            "give at least one token"
        )
    if not np.issubdtype(array.dtype, np.integer):
        kind = "type text" if array.dtype.kind in "US" else f"dtype {array.dtype}"
        raise InputError(f"{name} {has} {kind}: give integers that are at least 0")
    if vocabulary_size is None:
        # What int64 cannot hold would come out negative.
        limit, known = 2**63, "int64 ends at 9223372036854775807"
    else:
        limit = dimension("vocabulary_size", vocabulary_size)
        known = f"the vocabulary has {limit}"
    if array.size and array.min() < 0:
        raise InputError(
            f"{name} contain{s} {array.min()}: "
            + (f"give numbers from 0 to {limit - 1}" if vocabulary_size else "give numbers from 0")
        )
    if array.size and int(array.max()) >= limit:
        raise InputError(
            f"{name} contain{s} {array.max()} but {known}: give numbers from 0 to {limit - 1}"
        )
    return array.astype(np.int64)


def one_sequence(name: str, value: ArrayLike, vocabulary_size: int | None = None) -> list[int]:
    """`tokens(name, value, vocabulary_size)` of a single sequence (T,), as a list."""
    array = tokens(name, value, vocabulary_size)
    if array.ndim != 1:
        raise InputError(
            f"{name} {'have' if name.endswith('s') else 'has'} shape {array.shape}: "
            "give one sequence (T,) at a time"
        )
    return array.tolist()


def signs(name: str, value: ArrayLike) -> np.ndarray:
    """`value` (…, d), d ≥ 1, as an int64 array, every entry of which is −1 or +1."""
    array = array_of(name, value)
    if array.ndim < 1 or array.shape[-1] < 1:
        raise InputError(f"{name} has shape {array.shape}: give rows (…, d) of −1 and +1")
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name} has dtype {array.dtype}: give numbers that are −1 or +1")
    bad = (array != 1) & (array != -1)
    if bad.any():
        raise InputError(
            f"{name} contains {array[bad].flat[0]}: every entry must be −1 or +1; "
            "for 0 and 1 give 2·x − 1"
        )
    return array.astype(np.int64)


def vectors(name: str, value: ArrayLike, d: int | None = None) -> np.ndarray:
    """`value` (…, d), d ≥ 1, as a float64 array of finite entries, d being the given one if any."""
    array = real(name, value)
    vector_shape(name, array.shape, d)
    finite(name, bool(np.isfinite(array).all()))
    return array


def vector_shape(name: str, shape: Sequence[int], d: int | None = None) -> None:
    """Raise `ValueError` unless `shape` is (…, d), d ≥ 1, d being the given one if any."""
    shape = tuple(shape)
    if len(shape) < 1 or shape[-1] < 1:
        raise InputError(f"{name} has shape {shape}: give vectors (…, {d or 'd'})")
    if d is not None and shape[-1] != d:
        raise InputError(f"{name} has shape {shape} but the dimension is {d}: give (…, {d})")
