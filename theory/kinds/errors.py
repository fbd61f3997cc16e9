"""The error for a wrong input, and the form of the value in its message."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

DIGITS = 60  # of an integer in a message
TOO_MANY_DIGITS = "set_int_max_str_digits"  # part of Python's error for an integer of too many
MOST = 6  # items of a list in a message
LONGEST = 400  # characters of a message


class InputError(ValueError):
    """The error for a wrong input, a ValueError.

    Its message is one line with the wrong value and a right value to give instead. From a message
    of more than `LONGEST` characters, which repeats a long text or list, the middle is left out.
    Of an integer with more than `DIGITS` digits, the message has the first ones and their number.
    """

    def __init__(self, message: str = "") -> None:
        message = re.sub(rf"\d{{{DIGITS + 1},}}", _shortened, " ".join(message.splitlines()))
        if len(message) > LONGEST:
            message = f"{message[: LONGEST // 2]} … {message[-LONGEST // 2 :]}"
        super().__init__(message)


class MemoryRefused(InputError):
    """The error for what needs more memory than is available.

    Its line ends with the arguments of the function that was called (`checked`).
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def given(self, arguments: str) -> None:
        """Names these arguments, if any, in place of those of a function that this one called."""
        if arguments:
            super().__init__(f"{self.message} ({arguments})")


class OutsideHypotheses(UserWarning):
    """The warning for inputs outside the hypotheses of a theorem about the model that is called.

    For example, the step size of an iteration is so large that it diverges on these inputs. A model
    warns once. `warnings.filterwarnings("ignore", category=OutsideHypotheses)` turns it off.
    """


def _shortened(digits: re.Match[str]) -> str:
    return f"{digits[0][:20]}… ({len(digits[0])} digits)"


def represented(value: Any, form: Callable[[Any], str] = repr) -> str:
    """Returns `form(value)`, or words for what Python does not print: integers of many digits,
    values in very many others, and values whose own method for it fails."""
    try:
        return form(value)
    except RecursionError:
        return "a value with too many nested ones"
    except Exception as error:
        if TOO_MANY_DIGITS in str(error):
            return "an integer of thousands of digits"
        return f"<an object of the class {type(value).__name__}>"


def shown(value: Any) -> str:
    """Returns a value as text on one line of at most 60 characters, for error messages."""
    text = " ".join(represented(value).split())
    return text if len(text) <= 60 else f"{text[:57]}…"


def shown_all(items: Iterable[Any], most: int = MOST) -> str:
    """Returns items as text, separated by commas, for error messages; after `most` items, "…".

    Items that are not text are written as by `shown`.
    """
    texts = [each if isinstance(each, str) else shown(each) for each in items]
    return ", ".join(texts[:most] + ["…"] * (len(texts) > most))
