"""Limits of parameters: the last value is accepted, and the next one is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_type_hints

import numpy as np
from refusals import rejects

from theory import machine
from theory.kinds import read


def limited(function: Callable[..., Any], name: str, least: Any, most: Any) -> None:
    """Requires that the kind of a parameter accepts both ends of its range, and none beyond them.

    The function is not called: at its limit a call may take long. An end may be None.
    """
    kind = get_type_hints(function, include_extras=True)[name]
    for end, step in ((least, -1), (most, 1)):
        if end is not None:
            assert read(kind, name, end) == end
            with rejects(name):
                read(kind, name, end + step)


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
