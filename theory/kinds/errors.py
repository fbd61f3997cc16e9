"""The error for a wrong input, and the form of the value in its message."""

from __future__ import annotations

from typing import Any


class InputError(ValueError):
    """The error for a wrong input, a ValueError.

    Its message is one line with the wrong value and a right value to give instead.
    """


def shown(value: Any) -> str:
    """Returns a value as text on one line of at most 60 characters, for error messages."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer of more digits than Python prints
        text = "an integer of thousands of digits"
    return text if len(text) <= 60 else f"{text[:57]}…"
