"""Formulas of past counting logic as text: `#a > #b & !(c | #(b & #a = 0) >= 2)`.

    formula      conjunction | conjunction | …
    conjunction  part & part & …
    part         !part   (formula)   symbol   true   false   sum comparison sum
    sum          terms joined by + or −; a term is an integer, or a count #symbol or #(formula),
                 which may have a factor, as in 2#a or 2*#a; the first term may have a sign −
    comparison   one of = == != < <= > >=

Symbols are a … z.  Spaces are ignored.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from theory.computation.counting import (
    FALSE,
    LARGEST,
    SYMBOLS,
    TRUE,
    And,
    Count,
    Formula,
    Not,
    Or,
    Symbol,
)
from theory.computation.dyck import is_dyck
from theory.computation.reading import Reader
from theory.kinds import InputError

MOST_CHARACTERS = 10_000
TOKEN = r"true|false|[0-9]+|[!<>]=|==|\S"


def parse(text: str) -> Formula:
    """Returns the formula of counting logic that a text denotes.

    Raises `ValueError` for a text that is not a formula; the message quotes the first character at
    which the grammar is violated.
    """
    reader = Reader("formula", text, TOKEN, MOST_CHARACTERS)
    found = _any_of(reader)
    if reader.next:
        reader.fail("'&', '|' or the end")
    return found


def _any_of(reader: Reader) -> Formula:
    return _several(reader, "|", _all_of, Or)


def _all_of(reader: Reader) -> Formula:
    return _several(reader, "&", _one, And)


def _several(
    reader: Reader, between: str, part: Callable[[Reader], Formula], made: type[And] | type[Or]
) -> Formula:
    parts = [part(reader)]
    while reader.skip(between):
        parts.append(part(reader))
    return parts[0] if len(parts) == 1 else made(tuple(parts))


def _one(reader: Reader) -> Formula:
    if reader.next == "!":
        with reader.nested():
            reader.take()
            return Not(_one(reader))
    if reader.next == "(":
        return _closed(reader)
    if (found := _named(reader)) is not None:
        return found
    if not _is_number(reader.next) and reader.next not in ("#", "-"):
        reader.fail("a formula")
    return _comparison(reader)


def _closed(reader: Reader) -> Formula:
    with reader.nested():
        reader.take()
        found = _any_of(reader)
    if not reader.skip(")"):
        reader.fail("')'")
    return found


def _named(reader: Reader) -> Formula | None:
    """The next symbol or constant, or None if the next token is neither."""
    if reader.next in ("true", "false"):
        return TRUE if reader.take() == "true" else FALSE
    return Symbol(reader.take()) if reader.next and reader.next in SYMBOLS else None


def _is_number(token: str) -> bool:
    return token.isascii() and token.isdigit()


def _comparison(reader: Reader) -> Formula:
    left, constant = _sum(reader)
    if reader.next not in ("=", "==", "!=", "<", "<=", ">", ">="):
        reader.fail("one of = == != < <= > >=")
    sign = reader.take()
    right, other = _sum(reader)
    terms = dict.fromkeys([*left, *right], 0)
    for counted in terms:
        terms[counted] = left.get(counted, 0) - right.get(counted, 0)
    nonzero = tuple((a, counted) for counted, a in terms.items() if a)
    bound = other - constant
    for size in (bound, *(a for a, _ in nonzero)):
        if abs(size) > LARGEST:
            raise InputError(f"{reader.cited} contains {size}: give integers from −2^20 to 2^20")
    if nonzero and sign == ">" and bound == LARGEST:  # bound + 1 would be too large
        return Not(Count(nonzero, None, bound))
    if nonzero and sign == "<" and bound == -LARGEST:
        return Not(Count(nonzero, bound, None))
    low = bound + (sign == ">") if sign in ("=", "==", "!=", ">", ">=") else None
    high = bound - (sign == "<") if sign in ("=", "==", "!=", "<", "<=") else None
    if not nonzero:  # only numbers
        true = (low is None or low <= 0) and (high is None or high >= 0)
        return TRUE if true != (sign == "!=") else FALSE
    return Not(Count(nonzero, low, high)) if sign == "!=" else Count(nonzero, low, high)


def _sum(reader: Reader) -> tuple[dict[Formula, int], int]:
    """The counted formulas of a sum with their coefficients, and its constant."""
    terms, constant = dict[Formula, int](), 0
    negative = reader.skip("-")
    while True:
        size, counted = _term(reader)
        size = -size if negative else size
        if counted is None:
            constant += size
        else:
            terms[counted] = terms.get(counted, 0) + size
        if reader.next not in ("+", "-"):
            return terms, constant
        negative = reader.take() == "-"


def _term(reader: Reader) -> tuple[int, Formula | None]:
    size = 1
    if _is_number(reader.next):
        token = reader.take()
        if len(token) > len(str(LARGEST)):
            raise InputError(
                f"{reader.cited} contains a number of {len(token)} digits: give integers from "
                "−2^20 to 2^20"
            )
        size = int(token)
        if reader.next not in ("*", "#"):
            return size, None
        reader.skip("*")
    if not reader.skip("#"):
        reader.fail("a number or a count such as #a")
    if reader.next == "(":
        return size, _closed(reader)
    if (found := _named(reader)) is None:
        reader.fail("a symbol from a to z or '('")
    return size, found


MAJORITY = parse("#a > #b")
"""Majority: words with more a than b."""
DYCK_1 = parse("#a = #b & #(#a < #b) = 0")
"""Dyck-1, where a opens and b closes: as many a as b, and no prefix with more b than a."""
ABC = parse("#a = #b & #b = #c & #(a & #b + #c > 0) = 0 & #(b & #c > 0) = 0")
"""aⁿbⁿcⁿ: equal counts of a, b and c, no a after b or c, and no b after c."""


def in_language(name: str, words: np.ndarray) -> np.ndarray:
    """Whether each prefix of words (…, T) is in a named language: booleans (…, T).

    The names are "majority", "dyck-1" and "abc".  The result is computed without counting logic.
    The module's formulas `MAJORITY`, `DYCK_1` and `ABC` define the same languages.
    """
    if name == "dyck-1":
        return is_dyck(words, 1)
    found = np.zeros(words.shape, dtype=bool)
    for i in range(words.shape[-1]):
        prefix = words[..., : i + 1]
        if name == "majority":  # the symbol in the middle, without a tie
            found[..., i] = np.sort(prefix)[..., (i + 1) // 2] == 0
        elif i % 3 == 2:
            found[..., i] = (prefix == np.repeat([0, 1, 2], (i + 1) // 3)).all(-1)
    return found
