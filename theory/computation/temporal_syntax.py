"""A parser for formulas of past LTL, such as `b and yesterday a or c since b`.

`temporal_logic.py` lists the operators and their precedence.
"""

from __future__ import annotations

from collections.abc import Callable

from theory.computation.kinds import Alphabet
from theory.computation.reading import Reader
from theory.computation.temporal_logic import (
    FALSE,
    TRUE,
    And,
    Formula,
    Not,
    Or,
    Since,
    Symbol,
    historically,
    once,
    yesterday,
)
from theory.kinds import checked

MOST_CHARACTERS = 2000  # the largest length of a text

UNARY: dict[str, Callable[[Formula], Formula]] = {
    "not": Not, "!": Not, "¬": Not, "~": Not,
    "yesterday": yesterday, "once": once, "historically": historically,
}  # fmt: skip


@checked
def formula(text: str, alphabet: Alphabet) -> Formula:
    """The formula of past linear temporal logic (past LTL) that a text denotes.

    An example is `a and not (b since a)`. The symbols of the alphabet, `true` and `false` are
    formulas. The operators are `not`, `yesterday`, `once`, `historically`, `since`, `and` and `or`.
    Raises ValueError if (a) the text contains a symbol that is not in the alphabet, or (b) the text
    is not a formula. The message quotes the first character at which the grammar is violated.
    """
    reader = Reader("formula", text, r"\w+|\S", MOST_CHARACTERS)
    found = _or(reader, alphabet)
    if reader.next:
        reader.fail("'since', 'and', 'or' or the end")
    return found


def _or(reader: Reader, alphabet: str) -> Formula:
    parts = [_and(reader, alphabet)]
    while reader.skip("or", "|", "∨"):
        parts.append(_and(reader, alphabet))
    return parts[0] if len(parts) == 1 else Or(tuple(parts))


def _and(reader: Reader, alphabet: str) -> Formula:
    parts = [_since(reader, alphabet)]
    while reader.skip("and", "&", "∧"):
        parts.append(_since(reader, alphabet))
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _since(reader: Reader, alphabet: str) -> Formula:
    with reader.nested():
        left = _unary(reader, alphabet)
        return Since(left, _since(reader, alphabet)) if reader.skip("since") else left


def _unary(reader: Reader, alphabet: str) -> Formula:
    with reader.nested():
        if reader.next in UNARY:
            return UNARY[reader.take()](_unary(reader, alphabet))
        if reader.skip("("):
            found = _or(reader, alphabet)
            if not reader.skip(")"):
                reader.fail("')'")
            return found
        if reader.next in ("true", "false"):
            return TRUE if reader.take() == "true" else FALSE
        if len(reader.next) != 1 or reader.next not in alphabet:
            reader.fail(f"a symbol of {alphabet!r}, an operator or '('")
        return Symbol(reader.take())
