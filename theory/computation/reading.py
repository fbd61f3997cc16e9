"""A reader that splits formulas and expressions into tokens and reports where an error is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from theory.kinds import InputError

MOST_NESTED = 50  # levels of parentheses and of operators before one operand
MOST_SHOWN = 60  # characters of a text in an error


class Reader:
    """A reader that returns the tokens of a text one by one, and "" at the end of the text.

    `what` names the text in errors, `token` is the regular expression of a token, and `most` is the
    largest number of characters. Raises ValueError for a value that is not a text, for an empty
    text, and for a text of more than `most` characters.
    """

    def __init__(self, what: str, text: str, token: str, most: int) -> None:
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"the {what} is {text!r}: give a text")
        if len(text) > most:
            raise InputError(
                f"the {what} has {len(text)} characters: give at most {most} characters"
            )
        self.what, self.text, self.depth = what, text, 0
        found = [(match[0], match.start()) for match in re.finditer(token, text)]
        self.tokens = [*found, ("", len(text.rstrip()))]
        self.at = 0

    @property
    def cited(self) -> str:
        """The name and the beginning of the text, on one line, for use in error messages."""
        shown = " ".join(self.text.split())
        return f"{self.what} {shown if len(shown) <= MOST_SHOWN else shown[:MOST_SHOWN] + '…'!r}"

    @property
    def next(self) -> str:
        """The next token, or "" at the end of the text."""
        return self.tokens[self.at][0]

    def take(self) -> str:
        """Returns the next token and moves past this token."""
        token = self.next
        self.at += 1
        return token

    def skip(self, *tokens: str) -> bool:
        """Returns whether the next token is one of `tokens`, and if so moves past it."""
        if self.next not in tokens:
            return False
        self.at += 1
        return True

    def fail(self, wanted: str) -> NoReturn:
        """Raises ValueError, whose message requires `wanted` in place of the next token."""
        token, place = self.tokens[self.at]
        found = repr(token) if token else "the end"
        raise InputError(
            f"{self.cited}: found {found} at character {place + 1}; write {wanted} there"
        )

    @contextmanager
    def nested(self) -> Iterator[None]:
        """A context manager for a subexpression; raises ValueError beyond 50 nested levels."""
        self.depth += 1
        if self.depth > MOST_NESTED:
            place = self.tokens[self.at][1]
            raise InputError(
                f"the {self.what} has more than {MOST_NESTED} nested parts at character "
                f"{place + 1}: give a {self.what} with fewer nested parts"
            )
        yield
        self.depth -= 1
