"""Recorded answers: what functions return far beyond the sizes of their other tests.

A file of `recorded/` has one call a line, as Python, and below it, indented, a digest of what it
returns, or what its refusal names (`refusal`).  Most calls are larger than those of the claims
where that is cheap, every option has each of its values, and many calls are just inside or just
outside a limit.  Whether an answer is right is tested elsewhere, against definitions; here a change
of an answer is noticed.  After a change on purpose, `python tests/answers.py [FILE…]` writes the
digests again; the difference is read before it is committed.

A digest is a hash of all that is exact (integers, text, fractions, shapes, types), and for floats
their number and a weighted sum of their inverse hyperbolic sines, in which every entry counts, with
the sum of the weighted sizes.  Sums are the same up to 10⁻⁹ of the sizes: other machines round
differently.  A finding counts by its id, evidence, verdict and figures (`figures.py`).
"""

from __future__ import annotations

import inspect
import math
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import fields, is_dataclass
from fractions import Fraction
from hashlib import sha256
from importlib import import_module
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import figures
import mpmath
import numpy as np
import torch
from small_models import TOPICS

import constructions
import theory
import verify
from theory import machine
from theory.kinds import InputError
from verify.finding import Finding

FOLDER = Path(__file__).with_name("recorded")
REFUSED, SAME, MOST = "refused", 1e-9, 10**6
INTEGER = re.compile(r"(?<![\w.,^/−+-])-?\d+(?![\w^/]|[.,]\d| ?%)")
MODULES = (
    *(f"theory.{topic}" for topic in TOPICS),
    *("theory.programs.library.examples", "constructions.stock", "verify.interpret"),
    *("constructions.trained", "constructions.trained.flatness"),
    "constructions.trained.nearest_program",
    *("verify.evidence.statistics", "verify.evidence.groups", "verify.evidence.enclosure"),
    *("verify.evidence.agreement", "verify.evidence.rounding", "verify.regression.convergence"),
    *("verify.domains", "verify.checker"),
)
for each in MODULES:
    import_module(each)


def integers(seed: int, least: int, most: int, *shape: int) -> np.ndarray:
    """Random integers from `least` to `most`, both included."""
    return np.random.default_rng(seed).integers(least, most, shape, endpoint=True)


def reals(seed: int, *shape: int) -> np.ndarray:
    """Random numbers of the normal distribution."""
    return np.random.default_rng(seed).standard_normal(shape)


def signs(seed: int, *shape: int) -> np.ndarray:
    """Random numbers ±1."""
    return 2 * integers(seed, 0, 1, *shape) - 1


def forms(values: Any) -> list[Any]:
    """The same numbers in every form in which functions take arrays.

    They are lists, a tensor, arrays of other layouts and byte order, and of each type of the same
    kind, integers or floats, that has all the values.
    """
    array = np.asarray(values)
    types = ("i1", "u1", "i2", "i4", "i8") if array.dtype.kind in "iu" else ("f2", "f4", "f8", "g")
    with np.errstate(over="ignore"):
        typed = [array.astype(each) for each in types]
    backwards = np.flip(np.flip(array).copy())  # with negative strides
    swapped = array.astype(array.dtype.newbyteorder())
    found = [array.tolist(), torch.tensor(array), np.asfortranarray(array), backwards, swapped]
    return found + [each for each in typed if np.array_equal(each, array)]


def memory(n_bytes: int, of: Callable[[], Any]) -> Any:
    """What a call returns on a machine with so much free memory."""
    with patch.object(machine, "available_memory", lambda: n_bytes):
        return of()


def in_file(text: str, of: Callable[[Path], Any]) -> Any:
    """What a function returns for the path of a file `given` with this text."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "given"
        path.write_text(text, encoding="utf-8")
        return of(path)


def changed(model: torch.nn.Module, name: str, at: tuple[int, ...], by: float) -> torch.nn.Module:
    """The model, with `by` added to one entry of a parameter or buffer."""
    dict([*model.named_parameters(), *model.named_buffers()])[name].data[at] += by
    return model


NAMES: dict[str, Any] = {
    "theory": theory,
    "constructions": constructions,
    "verify": verify,
    "np": np,
    "math": math,
    "torch": torch,
    "Fraction": Fraction,
    "integers": integers,
    "reals": reals,
    "signs": signs,
    "forms": forms,
    "memory": memory,
    "in_file": in_file,
    "module": import_module,
    "changed": changed,
}
"""What a recorded call may use."""


def call(text: str) -> str:
    """The digest of what a call returns, or `refused` with what `refusal` says."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return digest(eval(text, dict(NAMES)))
    except InputError as error:
        return refusal(str(error))


def refusal(message: str) -> str:
    """`refused`, with the first word of a message, often a parameter or a path, and its integers.

    The directory of a path is left out, and so are amounts of memory.
    """
    name = next(word for word in message.split() if word not in ("the", "a", "an"))
    numbers = [] if "GiB" in message else INTEGER.findall(message)
    return " ".join([REFUSED, name.rpartition("/")[2].rstrip(":,"), *numbers])


def digest(value: Any) -> str:
    exact, floats = sha256(), [np.zeros(0)]
    for leaf in leaves(value):
        if isinstance(leaf, np.ndarray):
            floats.append(leaf.ravel())
        else:
            large = type(leaf) is int and abs(leaf) >= 2**64
            exact.update(f"{hex(leaf) if large else repr(leaf)};".encode())
    found = np.concatenate(floats)
    finite = np.isfinite(found)
    exact.update(f"{[*zip(np.flatnonzero(~finite), found[~finite], strict=True)]}".encode())
    weights = 1 + np.modf(np.arange(1, len(found) + 1) * (math.sqrt(5) - 1) / 2)[0]
    terms = weights * np.arcsinh(np.where(finite, found, 0))
    return f"{exact.hexdigest()[:12]} {len(found)} {terms.sum():.12g} {np.abs(terms).sum():.3g}"


def leaves(value: Any) -> Iterator[Any]:
    """The parts of a value in order: arrays of floats, and what is exact, with types and shapes."""
    if isinstance(value, torch.Tensor):
        yield str(value.dtype)
        value = value.detach().cpu()
        value = (value.double() if value.is_floating_point() else value).numpy()
    if isinstance(value, float | complex | np.floating | np.complexfloating):
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        yield value.shape
        if value.dtype.kind == "c":
            value = np.stack([value.real, value.imag], axis=-1)
        if value.dtype.kind == "f":
            yield value.astype(np.float64)
        else:
            yield from leaves(value.tolist())
    elif value is None or isinstance(value, bool | int | str | bytes | Fraction | np.generic):
        yield value.item() if isinstance(value, np.generic) else value
    elif isinstance(value, mpmath.mpf):  # its number is in no attribute
        yield str(value)
    elif isinstance(value, Mapping):
        yield len(value)
        for pair in value.items():
            yield from leaves(pair)
    elif isinstance(value, Set):
        yield from leaves(sorted(value, key=repr))
    elif isinstance(value, list | tuple | range):
        yield len(value)
        for each in value:
            yield from leaves(each)
    elif isinstance(value, Iterator):
        yield from leaves([*islice(value, MOST)])
    elif isinstance(value, Finding):
        numbers = figures.stated(value.as_json())
        yield from leaves([value.id, value.verdict.value, (value.evidence, numbers)])
    elif is_dataclass(value) and not isinstance(value, type):
        yield type(value).__name__
        for field in fields(value):
            yield from leaves(getattr(value, field.name))
    elif isinstance(value, type) or inspect.isroutine(value):
        yield value.__name__
    elif not hasattr(value, "__dict__"):
        if " at 0x" in (text := repr(value)):
            raise TypeError(f"{text} has no digest: record what it returns")
        yield text
    else:
        yield type(value).__name__
        of, module = vars(value).items(), isinstance(value, torch.nn.Module)
        yield from leaves({name: it for name, it in of if not (module and name.startswith("_"))})
        if module:
            yield from leaves(dict(value.named_parameters(recurse=False)))
            yield from leaves(dict(value.named_buffers(recurse=False)))
            yield from leaves(dict(value.named_children()))


def same(found: str, recorded: str) -> bool:
    """Whether two digests agree, up to rounding."""
    if found.startswith(REFUSED) or recorded.startswith(REFUSED):
        return found == recorded
    if len(found.split()) != 4:  # an error that is no refusal
        return False
    (exact, count, total, _), (*others, at, size) = found.split(), recorded.split()
    return [exact, count] == others and abs(float(total) - float(at)) <= SAME * float(size)


def recorded(file: Path) -> dict[str, str]:
    """By call, the digests of a file."""
    lines = file.read_text(encoding="utf-8").splitlines()
    found: dict[str, str] = {}
    text = ""
    for line in lines:
        if line.startswith("  "):
            found[text] = line.strip()
        elif line and not line.startswith("#"):
            text = line
            found[text] = ""
    return found


def write(file: Path) -> None:
    """Writes the digests of a file again where they differ, and prints those that took long."""
    kept = recorded(file)
    lines = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            continue
        lines.append(line)
        if line and not line.startswith("#"):
            start = time.perf_counter()
            found = call(line)
            seconds = time.perf_counter() - start
            lines.append(f"  {kept[line] if kept[line] and same(found, kept[line]) else found}")
            if seconds > 0.5:
                print(f"{seconds:.1f} s: {line}")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for file in [Path(name) for name in sys.argv[1:]] or sorted(FOLDER.glob("*.txt")):
        write(file)
