"""Faulty functions in place of the right ones, for tests that findings fail."""

from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import count
from typing import Any

import numpy as np
import pytest

from verify.finding import Finding, Verdict

Change = Callable[[Any], Any]
Fault = Callable[[Callable[..., Any]], Callable[..., Any]]


def failing(found: Finding | Iterable[Finding]) -> set[str]:
    """The ids of the findings that fail."""
    several = [found] if isinstance(found, Finding) else found
    return {each.id for each in several if each.verdict is Verdict.FAILS}


def once(change: Change, at: int = 0) -> Fault:
    """The fault of a function that changes only the result of call number `at`.

    A single wrong value among right ones is noticed by *all* but not by *any*, and by one of the
    two extrema.
    """

    def planted(right: Callable[..., Any]) -> Callable[..., Any]:
        calls = count()

        def faulty(*given: Any, **options: Any) -> Any:
            found = right(*given, **options)
            return change(found) if next(calls) == at else found

        return faulty

    return planted


def always(change: Change) -> Fault:
    """The fault of a function that changes all results."""
    return where(lambda *given: True, change)


def where(condition: Callable[..., bool], change: Change) -> Fault:
    """The fault of a function that changes only the results for some arguments."""

    def planted(right: Callable[..., Any]) -> Callable[..., Any]:
        def faulty(*given: Any, **options: Any) -> Any:
            found = right(*given, **options)
            return change(found) if condition(*given) else found

        return faulty

    return planted


def off_by(step: Any) -> Change:
    """The change that adds `step` to a number, or to the middle entry of an array or a list."""

    def change(found: Any) -> Any:
        if not isinstance(found, np.ndarray | list | tuple):
            return found + step
        if isinstance(found, np.ndarray):
            changed = found.copy()
            changed[np.unravel_index(changed.size // 2, changed.shape)] += step
            return changed
        middle = len(found) // 2
        return type(found)([*found[:middle], found[middle] + step, *found[middle + 1 :]])

    return change


def plant(monkeypatch: pytest.MonkeyPatch, target: str, fault: Fault) -> None:
    """Puts the fault in place of the function `target`, "module.name"."""
    module, _, name = target.rpartition(".")
    owner = import_module(module)
    monkeypatch.setattr(owner, name, fault(getattr(owner, name)))
