"""Formulas of past counting logic as text: `#a > #b & !(c | #(b & #a = 0) >= 2)`.

    formula      conjunction | conjunction | …
    conjunction  part & part & …
    part         !part   (formula)   letter   true   false   sum comparison sum
    sum          terms with + or − between them: whole numbers, and counts #letter or #(formula)
                 with a factor before them if wanted, 2#a or 2*#a
    comparison   one of = != < <= > >=

Letters are a … z.  Spaces mean nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from theory.checks import InputError
from theory.computation.counting import (
    FALSE,
    LARGEST,
    LETTERS,
    TRUE,
    And,
    Count,
    Formula,
    Letter,
    Not,
    Or,
)

NESTED = 40  # brackets and negations in each other
LONGEST = 10_000  # signs of a text
TOKEN = re.compile(r"\s*(true|false|[a-z]|[0-9]+|[!<>]=|==|[-+*#()&|!<>=])")


def parse(text: str) -> Formula:
    """The formula of a text; `ValueError`, with the place, for one that is none."""
    if not isinstance(text, str):
        raise InputError(f"a {type(text).__name__} is no formula: give a text such as '#a > #b'")
    if len(text) > LONGEST:
        raise InputError(f"the formula has {len(text)} signs: give at most {LONGEST}")
    return _Parser(text).formula()


class _Parser:
    """Recursive descent, one function for each rule."""

    def __init__(self, text: str) -> None:
        self.text, self.deep, self.at = text, 0, 0
        self.tokens: list[tuple[str, int]] = []
        end = len(text.rstrip())
        place = 0
        while place < end:
            found = TOKEN.match(text, place)
            if found is None:
                place += len(text[place:]) - len(text[place:].lstrip())
                what = f"sign {place + 1} is {text[place]!r}"
                raise InputError(f"{self._cited()}: {what}, which no formula has")
            self.tokens.append((found[1], found.start(1)))
            place = found.end()
        self.tokens.append(("", end))

    def _cited(self) -> str:
        shown = " ".join(self.text.split())
        return f"the formula {shown if len(shown) <= 40 else shown[:39] + '…'!r} does not parse"

    def refused(self, wanted: str) -> InputError:
        token, place = self.tokens[self.at]
        got = f"sign {place + 1} is {token!r}" if token else "it ends"
        return InputError(f"{self._cited()}: {got}, where {wanted} is wanted")

    def takes(self, *tokens: str) -> str:
        """The next token if it is one of these, or ""."""
        found = self.tokens[self.at][0]
        if found not in tokens:
            return ""
        self.at += 1
        return found

    def formula(self) -> Formula:
        found = self.any_of()
        if self.tokens[self.at][0]:
            raise self.refused("& or | or its end")
        return found

    def any_of(self) -> Formula:
        return self.several("|", self.all_of, Or)

    def all_of(self) -> Formula:
        return self.several("&", self.one, And)

    def several(
        self, between: str, part: Callable[[], Formula], made: type[And] | type[Or]
    ) -> Formula:
        parts = [part()]
        while self.takes(between):
            parts.append(part())
        return parts[0] if len(parts) == 1 else made(tuple(parts))

    def one(self) -> Formula:
        token = self.tokens[self.at][0]
        if self.takes("!"):
            return Not(self.deeper(self.one))
        if self.takes("("):
            return self.closed()
        if self.takes("true", "false"):
            return TRUE if token == "true" else FALSE
        if self.takes(*LETTERS):
            return Letter(token)
        if not token.isdigit() and token not in ("#", "-"):
            raise self.refused("a formula")
        return self.comparison()

    def closed(self) -> Formula:
        found = self.deeper(self.any_of)
        if not self.takes(")"):
            raise self.refused("')'")
        return found

    def deeper(self, rule: Callable[[], Formula]) -> Formula:
        self.deep += 1
        if self.deep > NESTED:
            raise InputError(f"{self._cited()}: it is nested more than {NESTED} times")
        found = rule()
        self.deep -= 1
        return found

    def comparison(self) -> Formula:
        left, constant = self.sum()
        sign = self.takes("=", "==", "!=", "<", "<=", ">", ">=")
        if not sign:
            raise self.refused("one of = != < <= > >=")
        right, other = self.sum()
        terms = dict.fromkeys([*left, *right], 0)
        for counted in terms:
            terms[counted] = left.get(counted, 0) - right.get(counted, 0)
        kept = tuple((a, counted) for counted, a in terms.items() if a)
        bound = other - constant
        for size in (bound, *(a for a, _ in kept)):
            if abs(size) > LARGEST:
                raise InputError(f"{self._cited()}: {size} is beyond ±2^20")
        low = bound + (sign == ">") if sign in ("=", "==", "!=", ">", ">=") else None
        high = bound - (sign == "<") if sign in ("=", "==", "!=", "<", "<=") else None
        if not kept:  # numbers alone
            right_so = (low is None or low <= 0) and (high is None or high >= 0)
            return TRUE if right_so != (sign == "!=") else FALSE
        return Not(Count(kept, low, high)) if sign == "!=" else Count(kept, low, high)

    def sum(self) -> tuple[dict[Formula, int], int]:
        """What is counted with its factors, and the constant."""
        terms, constant = dict[Formula, int](), 0
        sign = self.takes("-")
        while True:
            size, counted = self.term()
            size = -size if sign == "-" else size
            if counted is None:
                constant += size
            else:
                terms[counted] = terms.get(counted, 0) + size
            sign = self.takes("+", "-")
            if not sign:
                return terms, constant

    def term(self) -> tuple[int, Formula | None]:
        token = self.tokens[self.at][0]
        size = 1
        if token.isdigit():
            self.at += 1
            if len(token) > len(str(LARGEST)):
                raise InputError(f"{self._cited()}: a number has {len(token)} digits")
            size = int(token)
            if self.tokens[self.at][0] not in ("*", "#"):
                return size, None
            self.takes("*")
        if not self.takes("#"):
            raise self.refused("a number or a count such as #a")
        token = self.tokens[self.at][0]
        if self.takes(*LETTERS):
            return size, Letter(token)
        if self.takes("true", "false"):
            return size, TRUE if token == "true" else FALSE
        if self.takes("("):
            return size, self.closed()
        raise self.refused("a letter or '('")


MAJORITY = parse("#a > #b")
"""More a than b."""
DYCK_1 = parse("#a = #b & #(#a < #b) = 0")
"""Balanced brackets, a opens and b closes: as many of both, and never more that close."""
ABC = parse("#a = #b & #b = #c & #(a & #b + #c > 0) = 0 & #(b & #c > 0) = 0")
"""aⁿbⁿcⁿ: as many of each, no a after b or c, and no b after c."""
