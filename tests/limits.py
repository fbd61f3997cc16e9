"""Limits of parameters: the last value is accepted, and the next one is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from refusals import rejects

from theory import machine
from theory.kinds import kinds_of


def at_most(function: Callable[..., Any], name: str, last: int) -> None:
    """Requires that `last` is the largest integer that the parameter's kind accepts.

    The function is not called: at its limit a call may take long.
    """
    kind = (kinds_of(function) or {})[name]
    assert kind is not None
    assert kind.read(name, last) == last
    with rejects(name):
        kind.read(name, last + 1)


def needs_memory(call: Callable[[], Any], monkeypatch: Any, times: int = 64) -> None:
    """Requires that a call is refused if its result alone exceeds the available memory by a byte.

    With `times` as much it is accepted.
    """
    size = np.asarray(call()).nbytes
    monkeypatch.setattr(machine, "available_memory", lambda: size - 1)
    with rejects():
        call()
    monkeypatch.setattr(machine, "available_memory", lambda: times * size)
    call()
    monkeypatch.undo()
