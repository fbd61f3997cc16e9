"""The public functions, the kinds of their parameters, and arguments of these kinds."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from constructions.trained.models import SHAPES
from constructions.trained.tasks.task import Task
from theory.kinds import Array, Either, Instance, Kind, Many, Maybe, Whole, kinds_of

TOPICS = (
    *("arithmetic", "computation", "graphs", "language", "memory", "regression", "retrieval"),
    *("programs", "sensitivity", "structures"),
)
PACKAGES = [f"{package}.{topic}" for package in ("theory", "constructions") for topic in TOPICS]
PACKAGES += [
    "constructions.circuits",
    "constructions.stock",
    "constructions.trained",
    "verify.interpret",
]
PACKAGES += ["constructions"]
TABLES = [
    import_module(f"of_{topic}")
    for topic in (*TOPICS, "stock", "trained", "transformer", "interpret")
]
"""What the examples of the kinds do not give, by topic: any of the following tables."""


def table(name: str) -> dict[str, Any]:
    return {key: value for each in TABLES for key, value in vars(each).get(name, {}).items()}


WITHOUT: dict[str, str] = table("WITHOUT")
"""Why a function, "package.function", or a parameter, "package.function:parameter", has no kind."""
EXAMPLES: dict[str, Callable[[], Any]] = table("EXAMPLES")
"""Of each class that parameters are of, by its name, a function that makes one."""
ARGUMENTS: dict[str, dict[str, Any]] = table("ARGUMENTS")
"""Arguments of a call that works, where the examples of the kinds make none; others stay theirs."""

FAR = 10**6
"""Beyond the limits that other arguments of the examples set."""


def public() -> dict[str, Any]:
    """The functions, and the classes that check what they are made of, by name: package.name.

    Names that two packages export are listed for the first.
    """
    found: dict[str, Any] = {}
    for package in PACKAGES:
        module = import_module(package)
        for name in module.__all__:
            it = getattr(module, name)
            if any(it is other for other in found.values()):
                continue
            if inspect.isfunction(it) or kinds_of(it) is not None or makes_itself(it):
                found[f"{package}.{name}"] = it
    described = (*Task.kinds.values(), *SHAPES.values())  # what a configuration is written with
    ours = (it for it in described if it.__module__.startswith("constructions."))
    return found | {f"{it.__module__}.{it.__name__}": it for it in ours}


def makes_itself(it: Any) -> bool:
    """Whether it is a class that does something with what it is made of."""
    return isinstance(it, type) and "__post_init__" in vars(it)


def missing(name: str, it: Any) -> Iterator[str]:
    """What of a public function has no kind: the function, or `function:parameter`."""
    kinds = kinds_of(it)
    if kinds is None and inspect.signature(it).parameters:
        yield name
    for parameter, kind in (kinds or {}).items():
        if kind is None:
            yield f"{name}:{parameter}"


def arguments(name: str, it: Any) -> dict[str, Any]:
    """An argument for each parameter without a default: an example of its kind, or a given one."""
    kinds, given = kinds_of(it) or {}, ARGUMENTS.get(name, {})
    parameters = inspect.signature(it).parameters
    chosen = {
        p: kind
        for p, kind in kinds.items()
        if parameters[p].default is inspect.Parameter.empty or p in given
    }
    sizes = {p: given.get(p, kind.example) for p, kind in chosen.items() if isinstance(kind, Whole)}
    return {p: given[p] if p in given else example(kind, sizes) for p, kind in chosen.items()}


def example(kind: Kind | None, sizes: dict[str, int]) -> Any:
    """A right value, of an array with these sizes."""
    if isinstance(kind, Maybe):
        return example(kind.kind, sizes)
    if isinstance(kind, Many) and kind.each is not None:
        return kind.into([example(kind.each, sizes)])
    if isinstance(kind, Either):
        examples = (example(each, sizes) for each in kind.kinds)
        return next((each for each in examples if each is not None), None)
    if isinstance(kind, Array):
        return kind.sample(sizes)
    if isinstance(kind, Instance) and kind.example is None:
        name = kind.of.__name__ if isinstance(kind.of, type) else ""
        return EXAMPLES.get(name, lambda: None)()
    return None if kind is None else kind.example


def wrong_arguments(name: str, it: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every parameter with every wrong value of its kind, beside right ones of the others."""
    kinds, right = kinds_of(it) or {}, arguments(name, it)
    for parameter, kind in kinds.items():
        if kind is not None:
            for value in kind.wrong:
                yield parameter, right | {parameter: value}
    chosen = {p: k.kind if isinstance(k, Maybe) else k for p, k in kinds.items() if p in right}
    known = {p for p, kind in chosen.items() if isinstance(kind, Whole)}
    for parameter, kind in chosen.items():
        others = [k for p, k in chosen.items() if p != parameter and isinstance(k, Array)]
        dims = known.union(*(each.dims for each in others))
        if isinstance(kind, Array):
            same = any(each.leading == "..." for each in others)
            for value in _other_sizes(kind, np.asarray(right[parameter]), dims, same):
                yield parameter, right | {parameter: value}
        if isinstance(kind, Array | Whole) and kind.within.named in dims:
            far = np.full_like(right[parameter], FAR) if isinstance(kind, Array) else FAR
            yield parameter, right | {parameter: far}


def _other_sizes(
    kind: Array, value: np.ndarray, dims: set[str], same: bool
) -> Iterator[np.ndarray]:
    """An array with one of the dimensions longer, or with leading ones where others have none."""
    for axis, dim in enumerate(kind.dims, start=value.ndim - len(kind.dims)):
        if dim in dims and not dim.isdigit():
            yield np.concatenate([value, value.take([0], axis=axis)], axis=axis)
    if same and kind.leading in ("...", "#..."):
        yield np.broadcast_to(value, (3, 2, *value.shape))
