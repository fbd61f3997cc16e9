"""The error of a wrong input, and how a message shows what was given."""

from __future__ import annotations

from typing import Any


class InputError(ValueError):
    """The caller's input is wrong: one line that says what was wrong and what to do."""


def shown(value: Any) -> str:
    """What was given, on one line and not at length."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer of more digits than Python prints
        text = "an integer of thousands of digits"
    return text if len(text) <= 60 else f"{text[:57]}…"
